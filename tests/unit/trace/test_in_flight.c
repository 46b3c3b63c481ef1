// SPDX-License-Identifier: GPL-2.0-only
/* Reports about commands in flight, from the states that BPF programs leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/device.h"
#include "core/overdue.h"
#include "core/time.h"
#include "trace/collect.h"
#include "trace/connections.h"
#include "trace/in_flight.h"
#include "trace/private.h"
#include "trace/tracer.h"

/* No machine has a controller with this number. */
#define INSTANCE 40404
#define SLOTS 2
#define SECOND 1000000000ULL

/* The memory that is otherwise shared with the kernel. */
static struct shared {
	struct nt_knobs knobs;
	struct nt_control control;
	struct nt_cmd cmds[3 * NT_CHUNK_CMDS];
	char *bank;
	struct nt_pool rings[NT_POOLS_NR];
	__u16 numbers[NT_FREE_MAX];
	uint8_t items[3];
	struct nt_slot_bucket slot_index[1 << NT_SLOT_INDEX_BITS];
	struct slot_gone gone[SLOTS];
	uint8_t instances[INSTANCE + 1];
	struct nt_counters counters;
	uint32_t alikes[NT_ALIKE];
	struct nt_queue queues[SLOTS];
	struct nt_names names[SLOTS];
	struct nt_controller controllers[INSTANCE + 1];
	uint32_t swept_gen[SLOTS];
	struct nt_record told;
	unsigned int nr_told;
} shared;

static void on_record(void *context, const struct nt_record *r)
{
	shared.told = *r;
	shared.nr_told++;
}

static void *no_bank(struct pool *p, uint32_t nr)
{
	return NULL;
}

static struct tracer tracer_of(enum nt_side side)
{
	struct tracer t = {
		.o = {.side = side,
		      .overdue_ns = SECOND,
		      .no_histograms = true,
		      .on_record = on_record},
		.object = {.knobs = &shared.knobs,
			   .control = &shared.control,
			   .counters = &shared.counters,
			   .slot_index = shared.slot_index,
			   .alikes = shared.alikes,
			   .queues = shared.queues,
			   .names = shared.names,
			   .controllers = shared.controllers},
		.cpus = 1,
		.nr_slots = SLOTS,
		.gone = shared.gone,
		.instances = shared.instances,
		.swept_gen = shared.swept_gen,
		.missed = {{.fd = -1, .twin_fd = -1}},
		.nr_missed = 1,
	};

	memset(&shared, 0, sizeof(shared));
	shared.control.slots_seen = SLOTS;
	shared.bank = (char *)shared.cmds;
	for (unsigned int i = 0; i < NT_POOLS_NR; i++)
		t.object.pools[i] = (struct pool){
			.ring = &shared.rings[i],
			.numbers = shared.numbers,
			.add = no_bank,
			.per_bank = 3,
		};
	t.object.pools[NT_POOL_CMDS].item_bytes = NT_CHUNK_CMDS * sizeof(struct nt_cmd);
	t.object.pools[NT_POOL_CMDS].nr_banks = 1;
	t.object.pools[NT_POOL_CMDS].bank = &shared.bank;
	t.object.pools[NT_POOL_CMDS].items = shared.items;
	for (unsigned int slot = 0; slot < SLOTS; slot++)
		shared.queues[slot] = (struct nt_queue){
			.object = 0x1000,
			.gen = 3,
			.identified = 3,
			.instance = INSTANCE,
			.qid = (uint16_t)(slot + 4),
			.cntlid = 7,
			.controller = 1,
			.chunk = {slot + 1},
		};
	assert_int_equal(in_flight_init(&t), 0);
	assert_int_equal(connections_init(&t), 0);
	return t;
}

static void tracer_done(struct tracer *t)
{
	in_flight_free(t);
	connections_free(t);
}

/* Sets the subsystem that the host's controller is connected to. */
static void controller_name(const char *nqn)
{
	strcpy(shared.controllers[INSTANCE].names[1].subsysnqn, nqn);
	shared.controllers[INSTANCE].named[1] = 2;
}

/* Makes a measured command that has been in flight for @age. */
static struct nt_cmd *wait_in(unsigned int slot, unsigned int tag, uint32_t gen, uint64_t age)
{
	struct nt_cmd *c = &shared.cmds[(slot + 1) * NT_CHUNK_CMDS + tag];

	*c = (struct nt_cmd){
		.owner = 0x10000 + tag * 0x100,
		.r = {.slot = slot, .gen = gen, .cid = (uint16_t)tag, .op = NT_OP_READ},
	};
	c->r.points[0] = monotonic_ns() - age;
	return c;
}

static void overdue_command_is_of_its_connection(void **state)
{
	struct tracer t = tracer_of(NT_TARGET);

	wait_in(1, 0, 3, 2 * SECOND);
	assert_int_equal(in_flight_look(&t), 0);
	assert_int_equal(shared.nr_told, 1);
	assert_int_equal(shared.told.qid, 5);
	assert_int_equal(shared.told.cntlid, 7);
	assert_int_equal(shared.told.flags, NT_F_IN_FLIGHT);
	tracer_done(&t);
}

/* A large machine has a hundred thousand slots, of which few are used. */
static void no_slot_is_looked_at_behind_those_with_a_queue(void **state)
{
	struct tracer t = tracer_of(NT_TARGET);

	wait_in(1, 0, 3, SECOND);
	shared.control.slots_seen = 1;
	assert_int_equal(in_flight_count(&t), 0);
	shared.control.slots_seen = 2;
	assert_int_equal(in_flight_count(&t), 1);
	/* More than there are: see slot_seen(). */
	shared.control.slots_seen = ~0u;
	assert_int_equal(in_flight_count(&t), 1);
	tracer_done(&t);
}

/*
 * The time between two looks is a tenth of the threshold, and at most a second. No command here is
 * older than a machine that has just been started.
 */
static void looks_are_as_far_apart_as_the_threshold_asks(void **state)
{
	static const struct {
		uint64_t overdue_ns, since_ns;
		bool looks;
	} cases[] = {
		{SECOND / 100, SECOND / 10, true},
		{12 * SECOND, SECOND + SECOND / 10, true},
		{12 * SECOND, 0, false},
		{5 * SECOND, 0, false},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tracer t = tracer_of(NT_HOST);

		t.o.overdue_ns = cases[i].overdue_ns;
		wait_in(1, 0, 3, 13 * SECOND);
		t.overdue_looked_ns = monotonic_ns() - cases[i].since_ns;
		assert_int_equal(in_flight_look(&t), 0);
		assert_int_equal(shared.nr_told, cases[i].looks);
		tracer_done(&t);
	}
}

/* The record belongs to the ring buffer and must not be changed, so a copy is. */
static void command_that_was_told_as_overdue_is_marked_when_it_ends(void **state)
{
	struct tracer t = tracer_of(NT_HOST);
	struct nt_record r, marked;

	r = wait_in(1, 0, 3, 2 * SECOND)->r;
	assert_int_equal(in_flight_look(&t), 0);
	assert_int_equal(shared.nr_told, 1);
	assert_ptr_equal(in_flight_ended(&t, &r, &marked), &marked);
	assert_int_equal(marked.flags, NT_F_WAS_OVERDUE);
	assert_int_equal(marked.points[0], r.points[0]);
	assert_int_equal(r.flags, 0);
	/* The next command of the same kind was not overdue. */
	assert_ptr_equal(in_flight_ended(&t, &r, &marked), &r);
	tracer_done(&t);
}

/* The last connection of the slot has gone. Its identity must not be taken for the next one's. */
static void overdue_connect_is_of_no_controller_yet(void **state)
{
	struct tracer t = tracer_of(NT_TARGET);

	shared.queues[1].gen = 4;
	wait_in(1, 0, 4, 2 * SECOND);
	assert_int_equal(in_flight_look(&t), 0);
	assert_int_equal(shared.nr_told, 1);
	assert_int_equal(shared.told.qid, 0);
	assert_int_equal(shared.told.cntlid, NT_CNTLID_NONE);
	tracer_done(&t);

	t = tracer_of(NT_HOST);
	shared.queues[1].gen = 5;
	wait_in(1, 0, 5, 2 * SECOND)->r.flags = NT_F_CONNECT;
	assert_int_equal(in_flight_look(&t), 0);
	assert_int_equal(shared.nr_told, 1);
	/* A host's slot determines the queue id. */
	assert_int_equal(shared.told.qid, 5);
	assert_int_equal(shared.told.cntlid, NT_CNTLID_NONE);
	assert_int_equal(shared.told.flags, NT_F_IN_FLIGHT);
	tracer_done(&t);
}

/* The command is about to be counted as died. */
static void command_of_a_closed_connection_is_not_overdue(void **state)
{
	struct tracer t = tracer_of(NT_TARGET);

	wait_in(1, 0, 3, 2 * SECOND);
	wait_in(1, 1, 4, 2 * SECOND);
	shared.queues[1].gen = 4;
	shared.queues[1].dead_gen = 3;
	assert_int_equal(in_flight_look(&t), 0);
	assert_int_equal(shared.nr_told, 1);
	assert_int_equal(shared.told.cid, 1);
	tracer_done(&t);
}

int __real_overdue_tell(struct overdue *o, const struct nt_record *r);
int __wrap_overdue_tell(struct overdue *o, const struct nt_record *r);

static struct nt_cmd *next_begins;

/* Between the copy of a command and its record, the next one may begin in its place. */
int __wrap_overdue_tell(struct overdue *o, const struct nt_record *r)
{
	if (next_begins) {
		next_begins->owner = 0x50000;
		next_begins->r.points[0] = monotonic_ns();
		next_begins->task = (struct nt_task){.pid = 222, .comm = "next"};
	}
	return __real_overdue_tell(o, r);
}

static void overdue_command_has_its_own_process(void **state)
{
	struct tracer t = tracer_of(NT_HOST);
	struct origin o;

	t.o.origins = NT_ORIGIN_TASK;
	t.origins = origins_new(false);
	assert_non_null(t.origins);
	next_begins = wait_in(1, 0, 3, 2 * SECOND);
	next_begins->task = (struct nt_task){.pid = 111, .comm = "first"};
	assert_int_equal(in_flight_look(&t), 0);
	next_begins = NULL;
	assert_int_equal(shared.nr_told, 1);
	origins_get(t.origins, ORIGIN_OF(shared.told.flags), &o);
	assert_int_equal(o.pid, 111);
	assert_string_equal(o.comm, "first");
	origins_free(t.origins);
	tracer_done(&t);
}

/* Its beginning is not known, is after the look, or was not long ago. */
static void command_that_is_not_known_to_be_old_is_not_overdue(void **state)
{
	struct tracer t = tracer_of(NT_HOST);

	t.o.overdue_ns = 1000 * SECOND;
	wait_in(1, 0, 3, 0)->r.points[0] = 0;
	wait_in(1, 1, 3, 0)->r.points[0] = monotonic_ns() + 100 * SECOND;
	wait_in(1, 2, 3, 2 * SECOND);
	t.overdue_looked_ns = 0;
	assert_int_equal(in_flight_look(&t), 0);
	assert_int_equal(shared.nr_told, 0);
	tracer_done(&t);
}

/* Another connection has its slot, and has commands in flight as well. */
static void command_of_an_earlier_connection_has_no_row(void **state)
{
	struct tracer t = tracer_of(NT_TARGET);
	struct stats s = {0};

	strcpy(shared.names[1].subsysnqn, "nqn.a");
	strcpy(shared.names[1].hostnqn, "nqn.host");
	wait_in(1, 0, 1, SECOND);
	wait_in(1, 1, 3, SECOND);
	assert_int_equal(in_flight_rows(&t, &s, monotonic_ns()), 0);
	assert_int_equal(s.nr_rows, 1);
	assert_int_equal(s.rows[0]->waiting.commands, 1);
	stats_free(&s);
	tracer_done(&t);
}

/*
 * While a controller resets, it keeps commands to send them again, and its Connect is not answered
 * yet.
 */
static void host_commands_wait_across_a_connect(void **state)
{
	struct tracer t = tracer_of(NT_HOST);
	struct stats s = {0};

	controller_name("nqn.a");
	wait_in(1, 0, 3, 60 * SECOND);
	shared.queues[1].gen = 5;
	wait_in(1, 1, 5, 20 * SECOND)->r.op = NT_OP_FABRICS;
	assert_int_equal(in_flight_rows(&t, &s, monotonic_ns()), 0);
	assert_int_equal(s.nr_rows, 2);
	assert_string_equal(s.rows[0]->peer, "nqn.a");
	assert_int_equal(s.rows[0]->op, NT_OP_READ);
	assert_int_equal(s.rows[0]->waiting.commands, 1);
	assert_true(s.rows[0]->waiting.oldest_ns >= 60 * SECOND);
	assert_int_equal(s.rows[1]->waiting.commands, 1);
	stats_free(&s);
	tracer_done(&t);
}

/* The command begins while the states are read. */
static void what_begins_during_the_look_has_an_age(void **state)
{
	struct tracer t = tracer_of(NT_HOST);
	uint64_t now = monotonic_ns();
	struct stats s = {0};

	controller_name("nqn.a");
	wait_in(1, 0, 3, 0);
	assert_int_equal(in_flight_rows(&t, &s, now), 0);
	assert_int_equal(s.nr_rows, 1);
	assert_int_equal(s.rows[0]->waiting.commands, 1);
	assert_true(s.rows[0]->waiting.oldest_ns > 0);
	assert_true(s.rows[0]->waiting.oldest_ns < 60 * SECOND);
	stats_free(&s);
	tracer_done(&t);
}

/*
 * Between two bursts of all points a command has its ends alone. What else is in its state is of
 * the command that was there in an earlier burst.
 */
static void a_command_is_in_a_stage_only_in_its_burst(void **state)
{
	static const struct {
		uint16_t began, now;
		bool known;
	} cases[] = {{0, 0, false}, {0, 7, false}, {6, 7, false}, {7, 0, false}, {7, 7, true}};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tracer t = tracer_of(NT_TARGET);
		struct waiting_stage stages = {0};
		struct stats s = {0};
		struct nt_cmd *c;

		t.o.ends = t.o.stages = true;
		strcpy(shared.names[1].subsysnqn, "nqn.a");
		strcpy(shared.names[1].hostnqn, "nqn.host");
		shared.control.burst = cases[i].now;
		c = wait_in(1, 0, 3, SECOND);
		c->r.cntlid = cases[i].began;
		c->r.points[NT_T_EXEC] = c->r.points[0];
		assert_int_equal(in_flight_rows(&t, &s, monotonic_ns()), 0);
		assert_int_equal(s.nr_rows, 1);
		assert_int_equal(s.rows[0]->waiting.commands, 1);
		assert_true(s.rows[0]->waiting.oldest_ns >= SECOND);
		assert_int_equal(s.rows[0]->waiting.at_device, cases[i].known);
		for (unsigned int k = 0; k < NT_STAGES_MAX; k++)
			waiting_stage_add(&stages, &s.rows[0]->waiting.stage[k]);
		assert_int_equal(stages.commands, cases[i].known);
		stats_free(&s);
		tracer_done(&t);
	}
}

/* Both points are needed: a command is at the device between the two. */
static void commands_at_the_device_are_known_where_both_points_are(void **state)
{
	static const struct {
		enum nt_side side;
		uint32_t missing;
		bool counts, stages, knows;
	} cases[] = {
		{NT_TARGET, 0, false, false, true},
		{NT_TARGET, 1u << NT_T_RX, false, false, true},
		{NT_TARGET, 1u << NT_T_EXEC, false, false, false},
		{NT_TARGET, 1u << NT_T_DONE, false, false, false},
		{NT_TARGET, 0, true, false, false},
		{NT_TARGET, 0, false, true, false},
		{NT_HOST, 0, false, false, false},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tracer t = tracer_of(cases[i].side);
		struct stats s = {0};

		t.missing = cases[i].missing;
		t.o.stages = cases[i].stages;
		shared.knobs.count_all = cases[i].counts;
		assert_int_equal(collect_all(&t, &s), 0);
		assert_int_equal(s.waiting_at_device, cases[i].knows);
		tracer_done(&t);
	}
}

/* Commands that have died are no longer in flight, even at the last look. */
static void what_has_died_when_tracing_ends_is_counted_once(void **state)
{
	struct tracer t = tracer_of(NT_TARGET);
	struct stats s = {0};

	wait_in(0, 0, 3, SECOND);
	wait_in(1, 0, 3, SECOND);
	wait_in(1, 1, 3, SECOND);
	shared.queues[1].dead_gen = 3;
	t.detached = true;
	assert_int_equal(collect_in_flight(&t), 1);
	/* Its socket closes after the commands were counted. */
	shared.queues[0].dead_gen = 3;
	assert_int_equal(collect_all(&t, &s), 0);
	assert_int_equal(s.counters_total[NT_CNT_DIED], 2);
	tracer_done(&t);
}

/* A slot may have served several connections between two looks. */
static void commands_of_every_connection_that_closed_have_died(void **state)
{
	struct tracer t = tracer_of(NT_TARGET);
	struct stats s = {0};

	wait_in(1, 0, 1, SECOND);
	wait_in(1, 1, 2, SECOND);
	wait_in(1, 2, 3, SECOND);
	shared.queues[1].dead_gen = 2;
	assert_int_equal(collect_all(&t, &s), 0);
	assert_int_equal(s.counters_total[NT_CNT_DIED], 2);
	assert_int_equal(in_flight_count(&t), 1);
	tracer_done(&t);
}

/*
 * Each measured command that is selected gets a record with its state when the connection closed.
 */
static void what_died_has_a_record_if_it_is_asked_for(void **state)
{
	static const struct {
		unsigned int select;
		uint64_t slower_ns;
		unsigned int told;
	} cases[] = {
		{NT_SELECT_NONE, 0, 0},
		{NT_SELECT_ALL, 0, 2},
		{NT_SELECT_SLOWER, 100 * SECOND, 1},
		{NT_SELECT_SLOWER, 900 * SECOND, 0},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tracer t = tracer_of(NT_TARGET);
		struct stats s = {0};

		t.o.select = cases[i].select;
		t.o.only.slower_ns = cases[i].slower_ns;
		wait_in(1, 0, 3, 2 * SECOND);
		wait_in(1, 1, 3, 500 * SECOND);
		wait_in(1, 2, 3, 500 * SECOND)->owner |= NT_UNMEASURED;
		wait_in(1, 3, 3, 500 * SECOND)->owner |= NT_RELEASED;
		shared.queues[1].dead_gen = 3;
		assert_int_equal(collect_all(&t, &s), 0);
		assert_int_equal(s.counters_total[NT_CNT_DIED], 3);
		assert_int_equal(shared.nr_told, cases[i].told);
		if (cases[i].told) {
			assert_int_equal(shared.told.cid, 1);
			assert_int_equal(shared.told.flags, NT_F_CANCELLED);
			assert_int_equal(shared.told.side, NT_TARGET);
		}
		tracer_done(&t);
	}
}

/* Makes a command that has ended after @latency, and whose answer has not left TCP. */
static struct nt_cmd *wait_out(unsigned int slot, unsigned int tag, uint32_t gen, uint64_t latency)
{
	struct nt_cmd *c = wait_in(slot, tag, gen, latency);

	c->owner |= NT_RELEASED;
	c->out = NT_OUT_ENDED;
	c->r.qid = 9;
	c->r.cntlid = 8;
	c->r.points[NT_T_SENT] = c->r.points[0] + latency;
	return c;
}

/* Its record is handed over without the finer point, once, and by one side only. */
static void what_waits_to_leave_tcp_is_handed_over_at_the_end(void **state)
{
	struct tracer t = tracer_of(NT_TARGET);
	struct nt_cmd *c;

	shared.knobs.fine = true;
	c = wait_out(1, 5, 3, SECOND / 2);
	wait_out(1, 1, 3, SECOND / 2)->out = NT_OUT_NO_NOTE | NT_OUT_ENDED;
	wait_out(1, 2, 3, SECOND / 2)->out = NT_OUT_ENDED | NT_OUT_LEFT;
	wait_out(1, 3, 3, SECOND / 2)->out = NT_OUT_LEFT;
	/* While tracing goes on, its answer may still leave. */
	assert_int_equal(tracer_drain(&t), 0);
	assert_int_equal(shared.nr_told, 0);
	t.detached = true;
	/* Not 0: the caller counts once more what is in flight. */
	assert_int_equal(tracer_drain(&t), 1);
	assert_int_equal(shared.nr_told, 1);
	assert_int_equal(shared.told.cid, 5);
	assert_int_equal(shared.told.flags, 0);
	/* The program that ended it has filled this in. */
	assert_int_equal(shared.told.qid, 9);
	assert_int_equal(shared.told.cntlid, 8);
	assert_int_equal(c->out, NT_OUT_NO_NOTE);
	assert_int_equal(tracer_drain(&t), 0);
	assert_int_equal(shared.nr_told, 1);
	tracer_done(&t);
}

/* Its note may not have led to it: see is_last_of() in bpf/state.bpf.h. */
static void what_waits_is_handed_over_when_its_connection_has_closed(void **state)
{
	struct tracer t = tracer_of(NT_TARGET);
	struct stats s = {0};

	shared.knobs.fine = true;
	wait_out(1, 5, 2, SECOND / 2);
	wait_out(1, 6, 3, SECOND / 2);
	shared.queues[1].dead_gen = 2;
	assert_int_equal(collect_all(&t, &s), 0);
	assert_int_equal(shared.nr_told, 1);
	assert_int_equal(shared.told.cid, 5);
	assert_int_equal(shared.told.flags, 0);
	assert_int_equal(s.counters_total[NT_CNT_DIED], 0);
	tracer_done(&t);
}

/* With a sample, programs look only for measured commands, and only these are tracked. */
static void tracked_are_those_that_are_measured(void **state)
{
	struct stats s = {0};

	for (int sampled = 0; sampled < 2; sampled++) {
		struct tracer t = tracer_of(NT_TARGET);

		shared.knobs.sample_below = sampled ? 1000 : 0;
		shared.control.tracked = 5;
		wait_in(1, 0, 3, SECOND);
		wait_in(1, 1, 3, SECOND)->owner |= NT_UNMEASURED;
		wait_in(1, 2, 3, SECOND)->owner |= NT_UNMEASURED;
		shared.queues[1].dead_gen = 3;
		memset(&s, 0, sizeof(s));
		assert_int_equal(collect_all(&t, &s), 0);
		assert_int_equal(s.counters_total[NT_CNT_DIED], 3);
		assert_int_equal(shared.control.tracked, sampled ? 4 : 5);
		tracer_done(&t);
	}
}

static uint32_t tracked_next(struct tracer *t, struct stats *s)
{
	stats_begin_interval(s);
	assert_int_equal(collect_all(t, s), 0);
	return shared.control.tracked;
}

/* See enum nt_tracked. */
static void selected_are_tracked_until_none_was_in_flight_for_an_interval(void **state)
{
	struct tracer t = tracer_of(NT_TARGET);
	struct stats s = {0};
	struct nt_cmd *c;

	shared.knobs.tracks = true;
	assert_int_equal(tracked_next(&t, &s), NT_TRACKED_NONE);
	shared.control.tracked = NT_TRACKED_SOME;
	c = wait_in(1, 0, 3, SECOND);
	for (int i = 0; i < 3; i++)
		assert_int_equal(tracked_next(&t, &s), NT_TRACKED_FADING);
	/* It has ended, and programs still look for it. */
	c->r.flags |= NT_F_COUNTED;
	assert_int_equal(tracked_next(&t, &s), NT_TRACKED_FADING);
	c->owner |= NT_RELEASED;
	/* One that has begun and ended since. */
	shared.control.tracked = NT_TRACKED_SOME;
	assert_int_equal(tracked_next(&t, &s), NT_TRACKED_FADING);
	assert_int_equal(tracked_next(&t, &s), NT_TRACKED_NONE);
	assert_int_equal(tracked_next(&t, &s), NT_TRACKED_NONE);
	tracer_done(&t);
}

static struct tracer tracer_of_bursts(enum nt_side side)
{
	struct tracer t = tracer_of(side);

	t.o.bursts = true;
	t.o.sample = 10;
	shared.knobs.sample_below = 1000;
	t.edges_due = true;
	return t;
}

/*
 * This happens when a burst has ended, to commands that are measured and to those that are only
 * counted.
 */
static void what_a_burst_leaves_in_flight_is_an_edge_once(void **state)
{
	struct tracer t = tracer_of_bursts(NT_TARGET);
	struct stats s = {0};

	wait_in(0, 0, 3, SECOND);
	wait_in(1, 1, 3, SECOND)->owner |= NT_UNMEASURED;
	wait_in(1, 2, 3, SECOND)->owner |= NT_RELEASED;
	shared.control.tracked = 1;
	assert_int_equal(collect_all(&t, &s), 0);
	assert_int_equal(s.counters_interval[COUNTER_BURST_EDGE], 2);
	assert_int_equal(s.counters_total[COUNTER_BURST_EDGE], 2);
	assert_int_equal(in_flight_count(&t), 0);
	assert_int_equal(shared.control.tracked, 0);
	stats_begin_interval(&s);
	assert_int_equal(collect_all(&t, &s), 0);
	assert_int_equal(s.counters_interval[COUNTER_BURST_EDGE], 0);
	assert_int_equal(s.counters_total[COUNTER_BURST_EDGE], 2);
	tracer_done(&t);
}

/* They stay in flight during a burst, however often they are looked at. */
static void what_is_in_flight_in_a_burst_is_no_edge(void **state)
{
	struct tracer t = tracer_of_bursts(NT_TARGET);
	struct stats s = {0};

	t.edges_due = false;
	wait_in(0, 0, 3, SECOND);
	assert_int_equal(collect_all(&t, &s), 0);
	assert_int_equal(s.counters_total[COUNTER_BURST_EDGE], 0);
	assert_int_equal(in_flight_count(&t), 1);
	tracer_done(&t);
}

static void what_began_before_a_burst_is_an_edge_and_no_loss(void **state)
{
	struct tracer t = tracer_of_bursts(NT_HOST);
	struct stats s = {0};

	t.edges_due = false;
	shared.counters.n[NT_CNT_NO_START] = 3;
	assert_int_equal(collect_all(&t, &s), 0);
	shared.counters.n[NT_CNT_NO_START] = 5;
	stats_begin_interval(&s);
	assert_int_equal(collect_all(&t, &s), 0);
	assert_int_equal(s.counters_total[NT_CNT_NO_START], 0);
	assert_int_equal(s.counters_interval[COUNTER_BURST_EDGE], 2);
	assert_int_equal(s.counters_total[COUNTER_BURST_EDGE], 5);
	tracer_done(&t);
}

static void measured_time_is_that_of_the_bursts(void **state)
{
	struct tracer t = tracer_of_bursts(NT_HOST);
	struct stats s = {0};

	t.began_ns = monotonic_ns() - 100 * SECOND;
	t.measured_ns = t.collected_ns = 3 * SECOND;
	t.measured_ns += SECOND;
	t.bursts = 4;
	assert_int_equal(collect_all(&t, &s), 0);
	assert_true(s.seconds == 1 && s.elapsed == 4 && s.passed >= 100);
	assert_int_equal(s.bursts, 4);
	/* Between two bursts nothing is added. */
	assert_int_equal(collect_all(&t, &s), 0);
	assert_true(s.seconds == 0 && s.elapsed == 4);
	/* Within a burst, its time so far is added. */
	t.measures = true;
	t.attached_ns = monotonic_ns() - 7 * SECOND;
	t.detached_ns = 0;
	assert_int_equal(collect_all(&t, &s), 0);
	assert_true(s.seconds >= 7 && s.elapsed >= 11 && s.elapsed < s.passed);
	tracer_done(&t);
}

/* The last interval is collected after all programs were detached, which takes seconds. */
static void measured_time_is_without_attaching_and_detaching(void **state)
{
	struct tracer t = tracer_of_bursts(NT_HOST);
	struct stats s = {0};
	uint64_t now = monotonic_ns();

	t.o.bursts = false;
	t.measures = true;
	t.began_ns = now - 100 * SECOND;
	t.attached_ns = now - 90 * SECOND;
	assert_int_equal(collect_all(&t, &s), 0);
	assert_true(s.seconds >= 90 && s.seconds < 99);
	assert_true(s.elapsed == s.seconds);
	t.detached_ns = t.attached_ns + 95 * SECOND;
	stats_begin_interval(&s);
	assert_int_equal(collect_all(&t, &s), 0);
	assert_true(s.elapsed == 95);
	assert_true(s.seconds <= 5);
	tracer_done(&t);
}

static bool quiet_after(struct tracer *t, struct stats *s)
{
	stats_begin_interval(s);
	assert_int_equal(collect_all(t, s), 0);
	return s->quiet;
}

/* A host whose commands are few sends a Keep Alive every few seconds, on the admin queue. */
static void an_interval_without_commands_of_io_queues_is_quiet(void **state)
{
	struct tracer t = tracer_of(NT_TARGET);
	struct stats s = {0};
	struct nt_queue *admin = &shared.queues[0], *io = &shared.queues[1];

	admin->qid = 0;
	shared.control.epoch = 10;
	/* What only connections change has to be read once. */
	assert_false(quiet_after(&t, &s));
	assert_true(quiet_after(&t, &s));
	admin->begun = shared.control.epoch;
	assert_true(quiet_after(&t, &s));
	io->begun = shared.control.epoch;
	assert_true(in_flight_any(&t));
	assert_false(quiet_after(&t, &s));
	assert_true(in_flight_any(&t));
	assert_true(quiet_after(&t, &s));
	assert_false(in_flight_any(&t));
	/* One that began before waits. */
	t.looks[1].found = true;
	assert_false(quiet_after(&t, &s));
	t.looks[1].found = false;
	assert_true(quiet_after(&t, &s));
	t.looked_ns -= STATS_QUIET_NS;
	assert_false(quiet_after(&t, &s));
	assert_true(quiet_after(&t, &s));
	t.detached = true;
	assert_false(quiet_after(&t, &s));
	stats_free(&s);
	tracer_done(&t);
}

/* tracer_has_worked() begins each period anew. */
static void bursts_of_all_points_are_for_io_queues_with_commands(void **state)
{
	struct tracer t = tracer_of(NT_TARGET);
	struct stats s = {0};
	struct nt_queue *admin = &shared.queues[0], *io = &shared.queues[1];

	admin->qid = 0;
	shared.control.epoch = 10;
	t.o.stages = true;
	/* The first one learns what programs are needed. */
	assert_true(tracer_has_worked(&t));
	admin->begun = shared.control.epoch;
	quiet_after(&t, &s);
	assert_false(tracer_has_worked(&t));
	io->begun = shared.control.epoch;
	for (int i = 0; i < 5; i++)
		quiet_after(&t, &s);
	assert_true(tracer_has_worked(&t));
	quiet_after(&t, &s);
	assert_false(tracer_has_worked(&t));
	/* Not collected yet. */
	io->begun = shared.control.epoch;
	assert_true(tracer_has_worked(&t));
	io->begun -= 5;
	assert_false(tracer_has_worked(&t));
	/* One that has not ended. */
	t.looks[1].found = true;
	quiet_after(&t, &s);
	assert_true(tracer_has_worked(&t));
	/* Bursts of all that is traced find out themselves. */
	t.o.stages = false;
	t.looks[1].found = false;
	assert_true(tracer_has_worked(&t));
	assert_true(tracer_has_worked(&t));
	stats_free(&s);
	tracer_done(&t);
}

/*
 * After the pause another connection may have the slot, at the same address, and its Connect was
 * not seen.
 */
static void connections_are_new_after_a_pause(void **state)
{
	struct tracer t = tracer_of_bursts(NT_TARGET);

	shared.queues[0].pdu_time = 5;
	connections_forget(&t);
	assert_int_equal(shared.queues[0].dead_gen, shared.queues[0].gen);
	assert_int_equal(shared.queues[0].pdu_time, 0);
	tracer_done(&t);

	t = tracer_of_bursts(NT_HOST);
	shared.queues[1].queue = 0x2000;
	shared.queues[1].sending = 7;
	connections_forget(&t);
	assert_int_equal(shared.queues[1].object, 0);
	assert_int_equal(shared.queues[1].queue, 0);
	assert_int_equal(shared.queues[1].sending, 0);
	tracer_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overdue_command_is_of_its_connection),
		cmocka_unit_test(no_slot_is_looked_at_behind_those_with_a_queue),
		cmocka_unit_test(looks_are_as_far_apart_as_the_threshold_asks),
		cmocka_unit_test(command_that_was_told_as_overdue_is_marked_when_it_ends),
		cmocka_unit_test(overdue_connect_is_of_no_controller_yet),
		cmocka_unit_test(command_of_a_closed_connection_is_not_overdue),
		cmocka_unit_test(command_that_is_not_known_to_be_old_is_not_overdue),
		cmocka_unit_test(command_of_an_earlier_connection_has_no_row),
		cmocka_unit_test(overdue_command_has_its_own_process),
		cmocka_unit_test(what_died_has_a_record_if_it_is_asked_for),
		cmocka_unit_test(what_waits_to_leave_tcp_is_handed_over_at_the_end),
		cmocka_unit_test(what_waits_is_handed_over_when_its_connection_has_closed),
		cmocka_unit_test(tracked_are_those_that_are_measured),
		cmocka_unit_test(selected_are_tracked_until_none_was_in_flight_for_an_interval),
		cmocka_unit_test(host_commands_wait_across_a_connect),
		cmocka_unit_test(what_begins_during_the_look_has_an_age),
		cmocka_unit_test(a_command_is_in_a_stage_only_in_its_burst),
		cmocka_unit_test(commands_at_the_device_are_known_where_both_points_are),
		cmocka_unit_test(what_has_died_when_tracing_ends_is_counted_once),
		cmocka_unit_test(commands_of_every_connection_that_closed_have_died),
		cmocka_unit_test(what_a_burst_leaves_in_flight_is_an_edge_once),
		cmocka_unit_test(what_is_in_flight_in_a_burst_is_no_edge),
		cmocka_unit_test(what_began_before_a_burst_is_an_edge_and_no_loss),
		cmocka_unit_test(measured_time_is_that_of_the_bursts),
		cmocka_unit_test(measured_time_is_without_attaching_and_detaching),
		cmocka_unit_test(an_interval_without_commands_of_io_queues_is_quiet),
		cmocka_unit_test(bursts_of_all_points_are_for_io_queues_with_commands),
		cmocka_unit_test(connections_are_new_after_a_pause),
	};

	return cmocka_run_group_tests_name("in_flight", tests, NULL, NULL);
}
