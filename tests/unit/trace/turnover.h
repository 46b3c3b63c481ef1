/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Thousands of connections come and go. Programs take items from the pools for them, and user space
 * gives the items back. The tests check the remaining items. SIDE: NT_HOST or NT_TARGET. A folder
 * of the test stands in for the host's sysfs.
 */
#include <dirent.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/programs.h"
#include "bpf/simulated.h"
#include "core/hash.h"
#include "in_range.h"
#include "rows_add_up.h"
#include "trace/collect.h"
#include "trace/connections.h"
#include "trace/give_back.h"
#include "trace/histograms.h"
#include "trace/in_flight.h"
#include "trace/private.h"

/* NOLINTBEGIN(misc-redundant-expression): SIDE is one of the two when it is compared. */

#define CONNECTIONS 10000
/* Enough for tests that do not need all of these. */
#define SOME_CONNECTIONS 2000
#define INSTANCES (PROGRAMS_SLOTS / PROGRAMS_QID_STRIDE)
#define QUEUES 3 /* of a connection, the admin queue included */
#define CPUS 8
/*
 * A histogram is given back after ten idle intervals, and a bank ten intervals later. This is more
 * than both.
 */
#define QUIET_INTERVALS 40

static struct {
	struct programs p;
	struct tracer t;
	struct stats s;
	char sysfs[64];
	uint64_t connected;
	const char *name;   /* of the other side */
	bool untold;	    /* the ring buffer has no room for names */
	unsigned int banks; /* banks that were added and not removed */
	uint64_t passed_ns; /* besides what the clock says */
} m;

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);

DIR *__wrap_opendir(const char *path)
{
	return __real_opendir(strcmp(path, "/sys/class/nvme") ? path : m.sysfs);
}

uint64_t __real_monotonic_ns(void);
uint64_t __wrap_monotonic_ns(void);

uint64_t __wrap_monotonic_ns(void)
{
	return __real_monotonic_ns() + m.passed_ns;
}

static const char *controller_path(unsigned int instance)
{
	static char path[sizeof(m.sysfs) + 16];

	snprintf(path, sizeof(path), "%s/nvme%u", m.sysfs, instance);
	return path;
}

static void *bank_add(struct pool *p, uint32_t nr)
{
	enum nt_pool_id id = (enum nt_pool_id)(p - m.t.object.pools);
	void *at = nr < PROGRAMS_BANKS ? m.p.bank[id][nr] : NULL;

	m.banks += at != NULL;
	return at;
}

static bool bank_remove(struct pool *p, uint32_t nr)
{
	const char *at = p->bank[nr];

	for (size_t i = 0; i < p->per_bank * p->item_bytes; i++)
		assert_int_equal(at[i], 0);
	m.banks--;
	return true;
}

static const struct {
	uint32_t per_bank;
	size_t item_bytes;
} kinds[NT_POOLS_NR] = {
	[NT_POOL_CMDS] = {1 << NT_CMDS_BITS, NT_CHUNK_CMDS * sizeof(struct nt_cmd)},
	[NT_POOL_HISTS] = {1 << NT_HISTS_BITS, sizeof(struct nt_hist)},
	[NT_POOL_STAGES] = {1 << NT_STAGES_BITS, sizeof(struct nt_stage_hists)},
	[NT_POOL_JOINS] = {PROGRAMS_JOINS, 0},
};

static int setup(void **state)
{
	struct tracer *t = &m.t;

	memset(&m, 0, sizeof(m));
	programs_begin(&m.p);
	m.name = "nqn.2024-01.io.ntprof:turnover";
	t->o.side = SIDE;
	t->cpus = CPUS;
	t->nr_slots = PROGRAMS_SLOTS;
	t->errors_fd = -1;
	t->missed[0].fd = t->missed[0].twin_fd = -1;
	t->nr_missed = 1;
	for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
		t->into[i] = (uint8_t)i;
	t->object = (struct object){
		.knobs = m.p.knobs,
		.control = m.p.control,
		.counters = m.p.counters,
		.hist_index = m.p.hist_index,
		.stages_of = m.p.stages_of,
		.slot_index = m.p.slot_index,
		.past = m.p.past,
		.hists_shared = m.p.hists_shared,
		.alikes = m.p.alikes,
		.queues = m.p.queues,
		.names = m.p.names,
		.controllers = m.p.controllers,
	};
	for (unsigned int i = 0; i < NT_POOLS_NR; i++) {
		struct pool *p = &t->object.pools[i];

		*p = (struct pool){
			.ring = &m.p.pools[i],
			.numbers = m.p.free[i],
			.add = bank_add,
			.remove = bank_remove,
			.per_bank = kinds[i].per_bank,
			.item_bytes = kinds[i].item_bytes ?: m.p.joins_bytes,
			.max_banks = PROGRAMS_BANKS,
		};
		assert_int_equal(pool_init(p), 0);
	}
	strcpy(m.sysfs, "/tmp/turnover.XXXXXX");
	assert_non_null(mkdtemp(m.sysfs));
	give_back_supply(t);
	return connections_init(t) ?: collect_init(t) ?: in_flight_init(t) ?: histograms_init(t)
	       ?: give_back_init(t);
}

static int teardown(void **state)
{
	collect_free(&m.t);
	histograms_free(&m.t);
	give_back_free(&m.t);
	in_flight_free(&m.t);
	connections_free(&m.t);
	for (unsigned int i = 0; i < NT_POOLS_NR; i++)
		pool_close(&m.t.object.pools[i]);
	stats_free(&m.s);
	for (unsigned int i = 0; i < INSTANCES; i++)
		rmdir(controller_path(i));
	return rmdir(m.sysfs);
}

static void interval(void)
{
	stats_begin_interval(&m.s);
	assert_int_equal(collect_all(&m.t, &m.s), 0);
	assert_rows_add_up(&m.s);
}

static void run(uint64_t what, uint64_t slot, uint64_t owner, uint64_t tag, uint64_t op,
		uint64_t cpu)
{
	struct simulated s = {what, slot, owner, tag, op, cpu};

	simulate((__u64 *)&s);
	/* Programs call user space before a pool is empty. */
	if (*m.p.calls)
		give_back_supply(&m.t);
	*m.p.calls = 0;
}

static uint32_t slot_of(unsigned int instance, unsigned int qid)
{
	return instance * PROGRAMS_QID_STRIDE + qid;
}

/* A host's controllers have a number, and names by number. */
static struct nt_names *names_of(unsigned int instance, struct nt_queue *q, uint32_t *who)
{
	struct nt_controller *c = &m.p.controllers[instance];
	uint16_t number = (uint16_t)(m.connected + 1);

	if (SIDE == NT_TARGET) {
		*who = ++q->gen;
		return &m.p.names[q - m.p.queues];
	}
	*who = q->controller = number;
	q->gen += (q->gen ^ number) & 1 ? 1 : 2;
	c->named[number & 1] = number + 1u;
	return &c->names[number & 1];
}

/* Like identity_tell(). */
static void tell(uint32_t slot, uint32_t who, const struct nt_queue *q,
		 const struct nt_names *names)
{
	const struct nt_identity identity = {.slot = slot,
					     .who = who,
					     .instance = q->instance,
					     .qid = q->qid,
					     .cntlid = q->cntlid,
					     .names = *names};

	if (!m.untold && (SIDE == NT_TARGET || !q->qid))
		connections_learn(&m.t, &identity);
}

/* The queues of each connection have other addresses. */
static void connect_queue(unsigned int instance, unsigned int qid)
{
	uint32_t slot = slot_of(instance, qid), who;
	struct nt_queue *q = &m.p.queues[slot];
	struct nt_names *names = names_of(instance, q, &who);
	uint64_t address = 0xffff888000000000ULL + (m.connected * QUEUES + qid) * 0x800;

	q->object = q->queue = address;
	q->instance = instance;
	q->qid = (uint16_t)qid;
	q->cntlid = (uint16_t)(instance + 1);
	q->identified = q->gen;
	strcpy(SIDE == NT_HOST ? names->subsysnqn : names->hostnqn, m.name);
	tell(slot, who, q, names);
	run(SIMULATED_CONNECT, slot, address, 0, 0, 0);
	run(SIMULATED_JOIN, slot, 0, 0, 0, 0);
}

/* Begins or ends the commands with tags @from to @to - 1. */
static void commands(bool end, unsigned int instance, unsigned int qid, unsigned int from,
		     unsigned int to)
{
	static const enum nt_op io[] = {NT_OP_READ, NT_OP_WRITE, NT_OP_FLUSH};
	uint32_t slot = slot_of(instance, qid);

	for (unsigned int tag = from; tag < to; tag++)
		run(end ? SIMULATED_END : SIMULATED_BEGIN, slot,
		    0xffff900000000000ULL + (slot << 12 | tag) * 0x180, tag,
		    !tag  ? NT_OP_FABRICS
		    : qid ? io[tag % 3]
			  : NT_OP_ADMIN,
		    (m.connected + tag) % CPUS);
}

/*
 * Some connections have deep queues. On a target, every third connection closes before some of its
 * commands are answered. A host ends all commands.
 */
static void connection(unsigned int instance)
{
	unsigned int left = m.t.o.side == NT_TARGET && m.connected % 3 == 0 ? 2 : 0;

	for (unsigned int qid = 0; qid < QUEUES; qid++) {
		unsigned int tags = qid && m.connected % 50 == 0 ? 300 : 6;

		connect_queue(instance, qid);
		commands(false, instance, qid, 0, tags);
		commands(true, instance, qid, 0, tags - left);
	}
	m.connected++;
}

static void disconnect(unsigned int instance)
{
	for (unsigned int qid = 0; qid < QUEUES; qid++) {
		struct nt_queue *q = &m.p.queues[slot_of(instance, qid)];

		q->dead_gen = q->gen;
	}
	rmdir(controller_path(instance));
}

static void come(unsigned int instance)
{
	mkdir(controller_path(instance), 0700);
	connection(instance);
}

static unsigned int index_entries(void)
{
	unsigned int n = 0;

	for (uint32_t b = 0; b < 1 << NT_SLOT_INDEX_BITS; b++)
		for (unsigned int i = 0; i < NT_SLOT_WAYS; i++)
			n += m.p.slot_index[b].at[i] != 0;
	return n;
}

static void assert_nothing_is_taken(void)
{
	for (unsigned int i = 0; i < NT_POOLS_NR; i++) {
		const struct pool *p = &m.t.object.pools[i];

		if (pool_taken(p))
			fail_msg("%u of pool %u are taken", pool_taken(p), i);
	}
	for (uint32_t b = 0; b < 1 << NT_HIST_INDEX_BITS; b++)
		for (unsigned int i = 0; i < NT_HIST_WAYS; i++)
			assert_int_equal(m.p.hist_index[b].at[i] & NT_HIST_NR_MASK, 0);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		for (unsigned int op = 0; op < NT_OPS_NR; op++)
			assert_int_equal(m.p.stages_of[cpu].at[op], 0);
	assert_int_equal(index_entries(), 0);
	assert_int_equal(collect_in_flight(&m.t), 0);
}

static uint64_t durations(void)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m.s.nr_rows; i++) {
		assert_false(m.s.rows[i]->shared);
		n += m.s.rows[i]->total.count;
	}
	return n;
}

/* Checks that every command has ended, or has died with its connection. */
static void assert_nothing_is_lost(void)
{
	const uint64_t *n = m.s.counters_total;
	uint64_t began = 0;

	for (uint64_t i = 0; i < m.connected; i++)
		began += QUEUES * 6 + (i % 50 ? 0 : (QUEUES - 1) * 294);
	for (unsigned int i = 0; i < NT_COUNTERS_NR; i++)
		if (i != NT_CNT_DIED && n[i])
			fail_msg("%s is %lu", counter_name(i), (unsigned long)n[i]);
	assert_int_equal(n[NT_CNT_DIED],
			 SIDE == NT_TARGET ? (m.connected + 2) / 3 * QUEUES * 2 : 0);
	assert_int_equal(durations() + n[NT_CNT_DIED], began);
}

/*
 * @intervals: between the end of a connection and the next one in its place; 0: it is replaced at
 * once
 */
static void thousands_come_and_go(unsigned int connections, unsigned int intervals)
{
	unsigned int banks;

	for (unsigned int i = 0; i < connections; i++) {
		unsigned int instance = i % INSTANCES;

		if (i >= INSTANCES)
			disconnect(instance);
		for (unsigned int k = 0; k < intervals; k++)
			interval();
		come(instance);
		if (i % 2)
			interval();
	}
	interval();
	banks = m.banks;
	assert_int_not_equal(pool_taken(&m.t.object.pools[NT_POOL_CMDS]), 0);
	for (unsigned int i = 0; i < INSTANCES; i++)
		disconnect(i);
	for (unsigned int i = 0; i < QUIET_INTERVALS; i++)
		interval();
	assert_nothing_is_taken();
	assert_nothing_is_lost();
	assert_true(m.banks <= banks);
	assert_uint_in_range(m.banks, NT_POOLS_NR, 2 * NT_POOLS_NR);
}

static void connections_leave_nothing_taken(void **state)
{
	thousands_come_and_go(SOME_CONNECTIONS, 3);
}

/* User space does not see that the earlier connection has gone. */
static void connections_that_replace_each_other_leave_nothing_taken(void **state)
{
	thousands_come_and_go(CONNECTIONS, 0);
}

/* The index contains only existing connections, however many there were before. */
static void index_has_those_that_are_there(void **state)
{
	for (unsigned int i = 0; i < SOME_CONNECTIONS; i++) {
		if (i >= INSTANCES)
			disconnect(i % INSTANCES);
		come(i % INSTANCES);
		if (i % 10 == 9)
			interval();
	}
	interval();
	assert_int_equal(index_entries(), INSTANCES * QUEUES);
}

/* After the peak, all banks are removed except the first and at most one more. */
static void banks_go_back(void **state)
{
	const struct pool *pools = m.t.object.pools;
	unsigned int most;

	for (unsigned int i = 0; i < INSTANCES; i++) {
		m.connected -= m.connected % 50; /* so that each has deep queues */
		come(i);
		m.connected += 49;
		interval();
	}
	most = m.banks;
	assert_true(pools[NT_POOL_HISTS].nr_there > 2 && pools[NT_POOL_STAGES].nr_there > 2);
	for (unsigned int i = 0; i < INSTANCES; i++)
		disconnect(i);
	for (unsigned int i = 0; i < QUIET_INTERVALS; i++)
		interval();
	assert_nothing_is_taken();
	assert_true(m.banks < most);
	for (unsigned int i = 0; i < NT_POOLS_NR; i++)
		assert_uint_in_range(pools[i].nr_there, 1, 2);
}

/* The histogram of the queue's reads on the CPU that ended the last one. */
static struct nt_hist *hist_of_reads(uint32_t slot)
{
	const struct nt_queue *q = &m.p.queues[slot];
	uint16_t nr = q->hist[NT_OP_READ];

	assert_int_not_equal(nr, 0);
	return pool_at(&m.t.object.pools[NT_POOL_HISTS], nr);
}

static void read_once(uint32_t slot)
{
	run(SIMULATED_BEGIN, slot, 0xffff900000000000ULL, 1, NT_OP_READ, 0);
	run(SIMULATED_END, slot, 0xffff900000000000ULL, 1, NT_OP_READ, 0);
}

/*
 * A command that ends while the histograms are read belongs to the next interval, but is counted in
 * this one.
 */
static void maximum_is_of_the_interval_that_is_read(void **state)
{
	const uint32_t slot = slot_of(0, 1);
	struct nt_hist *h;

	mkdir(controller_path(0), 0700);
	connect_queue(0, 1);
	read_once(slot);
	h = hist_of_reads(slot);
	h->max[m.p.control->epoch & 1] = 100300;
	interval();
	assert_int_equal(m.s.rows[0]->interval.max, 100300);
	read_once(slot);
	interval();
	assert_int_equal(m.s.rows[0]->interval.max, 100000);
	/*
	 * A maximum that was stored late, when the interval before had been read already, is
	 * counted in this interval.
	 */
	read_once(slot);
	h->max[(m.p.control->epoch - 1) & 1] = 100250;
	interval();
	assert_int_equal(m.s.rows[0]->interval.max, 100250);
	read_once(slot);
	h->max_epoch[(m.p.control->epoch + 1) & 1] = m.p.control->epoch + 1;
	h->max[(m.p.control->epoch + 1) & 1] = 100200;
	interval();
	assert_int_equal(m.s.rows[0]->interval.max, 100200);
	rmdir(controller_path(0));
}

/* As many states as the queues' sizes ask for. These are 0's based. */
static void states_of_all_queues_are_there_in_any_case(void **state)
{
	static const uint16_t sizes[QUEUES] = {31, NT_CHUNK_CMDS - 1, NT_CHUNK_CMDS};

	mkdir(controller_path(0), 0700);
	for (unsigned int qid = 0; qid < QUEUES; qid++) {
		connect_queue(0, qid);
		m.p.queues[slot_of(0, qid)].sqsize = sizes[qid];
	}
	interval();
	assert_int_equal(m.t.object.pools[NT_POOL_CMDS].least, 1 + 1 + 2);
	rmdir(controller_path(0));
}

/* A connection with @reads reads, one after the other. */
static void connection_of(const char *name, unsigned int reads)
{
	m.name = name;
	connect_queue(0, 1);
	for (unsigned int i = 0; i < reads; i++) {
		run(SIMULATED_BEGIN, slot_of(0, 1), 0x10000, 1, NT_OP_READ, 0);
		run(SIMULATED_END, slot_of(0, 1), 0x10000, 1, NT_OP_READ, 0);
	}
	m.connected++;
}

/*
 * Checks that the rows of the name @name have @reads reads, and no other rows do. NULL: the row of
 * unknown connections
 */
static void assert_reads(const char *name, uint64_t reads)
{
	uint64_t n = 0, in_stages = 0;

	for (size_t i = 0; i < m.s.nr_rows; i++) {
		const struct stats_row *r = m.s.rows[i];

		if (name ? !strcmp(r->peer, name) : r->shared)
			n += r->interval.count;
	}
	assert_int_equal(n, reads);
	for (size_t i = 0; i < m.s.nr_stages; i++)
		if (name && !strcmp(m.s.stages[i]->peer, name))
			in_stages += staged_in(m.s.stages[i]->interval);
	assert_int_equal(in_stages, name ? reads : 0);
}

static void assert_others_have_gone(void)
{
	for (unsigned int i = 0; i < 6; i++)
		interval();
	/* Only the histogram of the last connection is left. */
	assert_int_equal(pool_taken(&m.t.object.pools[NT_POOL_HISTS]), 1);
	assert_int_equal(HASH_COUNT(m.t.ident), SIDE == NT_HOST && !m.untold ? 2 : 1);
}

/* A host's controller is identified on its admin queue. */
static void admin_queue(const char *name)
{
	m.name = name;
	if (SIDE == NT_HOST)
		connect_queue(0, 0);
}

/*
 * Where no stages are left, commands are in those of the machine, and the rows say so. When there
 * are some again, new commands are in those of the controller.
 */
static void stages_past_the_limit_are_told(void **state)
{
	struct nt_pool *ring = &m.p.pools[NT_POOL_STAGES];
	const struct stats_row *a = NULL;

	m.p.knobs->stages_kept = ring->given - ring->taken;
	admin_queue("a");
	connection_of("a", 10);
	interval();
	assert_int_equal(m.s.nr_stages, 0);
	assert_int_equal(staged(&m.s, NT_OP_READ), 10);
	for (size_t i = 0; i < m.s.nr_rows; i++)
		if (m.s.rows[i]->op == NT_OP_READ)
			a = m.s.rows[i];
	assert_non_null(a);
	assert_true(a->unstaged_interval && a->unstaged_total);
	m.p.knobs->stages_kept = 0;
	interval();
	read_once(slot_of(0, 1));
	interval();
	read_once(slot_of(0, 1));
	interval();
	assert_int_equal(m.s.nr_stages, 1);
	assert_int_equal(staged_in(m.s.stages[0]->interval), 1);
	assert_false(a->unstaged_interval);
	assert_true(a->unstaged_total);
}

#if defined(STRANGERS_COME)
/*
 * The one stage that the ends of a target's command bound is its latency, which is in the rows. So
 * programs take no stages for it, and the stages of the controller have all commands.
 */
static void a_target_of_ends_takes_no_stages(void **state)
{
	const uint32_t taken = m.p.pools[NT_POOL_STAGES].taken;

	m.t.o.ends = true;
	m.p.knobs->ends = 1;
	m.p.knobs->stages_kept = UINT32_MAX;
	admin_queue("a");
	connection_of("a", 10);
	interval();
	read_once(slot_of(0, 1));
	interval();
	assert_int_equal(m.p.pools[NT_POOL_STAGES].taken, taken);
	assert_int_equal(m.s.nr_stages > 0, 1);
	for (size_t i = 0; i < m.s.nr_rows; i++)
		assert_false(m.s.rows[i]->unstaged_total);
	m.p.knobs->ends = 0;
	m.p.knobs->stages_kept = 0;
}
#endif

static void connections_of_one_slot_have_rows_of_their_own(void **state)
{
	static const struct {
		const char *name;
		unsigned int reads;
	} of[] = {{"a", 100}, {"b", 10}, {"c", 1}, {"d", 1000}};

	for (unsigned int n = 2; n <= 4; n++) {
		for (unsigned int i = 0; i < n; i++) {
			admin_queue(of[i].name);
			connection_of(of[i].name, of[i].reads);
		}
		interval();
		for (unsigned int i = 0; i < n; i++)
			assert_reads(of[i].name, of[i].reads);
		assert_others_have_gone();
	}
}

/*
 * Names that were not sent are found by looking: that of a slot's last connection, on a host those
 * of the last two.
 */
static void commands_of_connections_that_nobody_knows_are_told(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d"};

	m.untold = true;
	for (unsigned int i = 0; i < 4; i++)
		connection_of(names[i], 10);
	interval();
	assert_reads("d", 10);
	assert_reads(NULL, SIDE == NT_HOST ? 20 : 30);
	assert_reads("a", 0);
	assert_others_have_gone();
}

/* Each slot has had three connections when user space looks. */
static void connections_between_two_looks_leave_nothing_taken(void **state)
{
	for (unsigned int i = 0; i < SOME_CONNECTIONS; i++) {
		if (i >= INSTANCES)
			disconnect(i % INSTANCES);
		come(i % INSTANCES);
		/* Unused items are given back at the second look. */
		if (i % (3 * INSTANCES) == 0)
			interval();
		if (i % (3 * INSTANCES) == 0)
			interval();
	}
	for (unsigned int i = 0; i < INSTANCES; i++)
		disconnect(i);
	for (unsigned int i = 0; i < QUIET_INTERVALS; i++)
		interval();
	assert_nothing_is_taken();
	assert_nothing_is_lost();
}

/* Identities past the limit are not kept, and cost no memory. */
static void names_beyond_the_last_are_not_kept(void **state)
{
	struct nt_identity identity = {.slot = 1, .names.subsysnqn = "nqn.a"};

	for (identity.who = 1; identity.who <= CONNECTIONS_NAMED_MAX; identity.who++) {
		assert_int_equal(HASH_COUNT(m.t.ident), identity.who - 1);
		identity.slot = identity.who % PROGRAMS_SLOTS;
		connections_learn(&m.t, &identity);
	}
	connections_learn(&m.t, &identity);
	assert_int_equal(HASH_COUNT(m.t.ident), CONNECTIONS_NAMED_MAX);
	for (unsigned int i = 0; i < 6; i++)
		interval();
	assert_int_equal(HASH_COUNT(m.t.ident), 0);
}

#if defined(STRANGERS_COME)
/* Each slot has been so many connections' between two looks. */
#define AT_A_TIME 4
/* gcc says it by a macro, clang by a feature. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define STRANGERS 50000
#else
#define STRANGERS 1000000
#endif
/* Most do no more than connect. */
#define READS_EVERY 16

/* Return: how many commands */
static unsigned int stranger(unsigned int slot)
{
	const unsigned int commands = m.connected % READS_EVERY ? 1 : 2;
	static char name[64];
	struct nt_queue *q = &m.p.queues[slot];

	/* No two have one name, and they come in no order. */
	snprintf(name, sizeof(name), "nqn.2014-08.org.nvmexpress:uuid:%016llx",
		 (unsigned long long)hash_mix(m.connected));
	m.name = name;
	q->dead_gen = q->gen;
	connect_queue(slot / PROGRAMS_QID_STRIDE, slot % PROGRAMS_QID_STRIDE);
	for (unsigned int tag = 0; tag < commands; tag++) {
		run(SIMULATED_BEGIN, slot, 0x10000 + tag * 0x180, tag,
		    tag ? NT_OP_READ : NT_OP_FABRICS, 0);
		run(SIMULATED_END, slot, 0x10000 + tag * 0x180, tag,
		    tag ? NT_OP_READ : NT_OP_FABRICS, 0);
	}
	m.connected++;
	return commands;
}

/* A million hosts that were never seen before, 128 a second: no table grows with them, and no
 * command is lost. */
static void strangers_take_the_memory_of_some(void **state)
{
	const uint64_t *n = m.s.counters_total;
	uint64_t began = 0, rows = 0;
	size_t used = 0;

	for (unsigned int i = 0; m.connected < STRANGERS; i++) {
		/* All tables have what they keep. A sanitizer's allocator says 0. */
		if (m.connected < STRANGERS / 2)
			used = mallinfo2().uordblks;
		for (unsigned int k = 0; k < AT_A_TIME * PROGRAMS_SLOTS; k++)
			began += stranger(k % PROGRAMS_SLOTS);
		m.passed_ns += 1000000000;
		stats_begin_interval(&m.s);
		assert_int_equal(collect_all(&m.t, &m.s), 0);
		if (i % 100 == 0)
			assert_rows_add_up(&m.s);
		assert_true(m.s.nr_rows <=
			    STATS_ENDED_MAX + 2 * AT_A_TIME * PROGRAMS_SLOTS + NT_OPS_NR);
		assert_true(HASH_COUNT(m.t.ident) <= 8 * AT_A_TIME * PROGRAMS_SLOTS);
	}
	assert_uint_in_range(mallinfo2().uordblks, 0, used + 65536);
	for (unsigned int i = 0; i < 2 * STATS_ENDED_NS / 1000000000 + QUIET_INTERVALS; i++) {
		for (unsigned int slot = 0; slot < PROGRAMS_SLOTS; slot++)
			m.p.queues[slot].dead_gen = m.p.queues[slot].gen;
		m.passed_ns += 1000000000;
		interval();
	}
	/* That of reads, and that of Connect. */
	assert_int_equal(m.s.nr_rows, 2);
	for (size_t i = 0; i < m.s.nr_rows; i++)
		rows += m.s.rows[i]->total.count;
	assert_int_equal(rows, began);
	assert_int_equal(m.s.rows_gone, began);
	for (unsigned int i = 0; i < NT_COUNTERS_NR; i++)
		assert_int_equal(n[i], 0);
	assert_nothing_is_taken();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(connections_leave_nothing_taken),
		TEST(connections_that_replace_each_other_leave_nothing_taken),
		TEST(index_has_those_that_are_there),
		TEST(banks_go_back),
		TEST(maximum_is_of_the_interval_that_is_read),
		TEST(states_of_all_queues_are_there_in_any_case),
		TEST(connections_of_one_slot_have_rows_of_their_own),
		TEST(stages_past_the_limit_are_told),
		TEST(commands_of_connections_that_nobody_knows_are_told),
		TEST(connections_between_two_looks_leave_nothing_taken),
		TEST(names_beyond_the_last_are_not_kept),
#if defined(STRANGERS_COME)
		TEST(strangers_take_the_memory_of_some),
		TEST(a_target_of_ends_takes_no_stages),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
/* NOLINTEND(misc-redundant-expression) */
