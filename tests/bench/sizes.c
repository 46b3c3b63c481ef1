// SPDX-License-Identifier: GPL-2.0-only
/*
 * What machines of different sizes need. The maps of a side are loaded as on such a machine.
 * Made-up connections and commands take from the pools what real ones take (tests/bench/bpf). User
 * space is that of src/trace, with the number of CPUs of such a machine. Run it as root; NVMe/TCP
 * is not needed.
 *
 *   sizes            a line for each machine; exits with 1 if something was lost or needed more
 *                    than allowed
 *   sizes idle       CPU time of user space in an interval with all queues of each machine idle
 *
 * A command ends on the CPU of its queue. All commands of a connection are in flight at the same
 * time.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/time.h"
#include "trace/collect.h"
#include "trace/connections.h"
#include "trace/give_back.h"
#include "trace/histograms.h"
#include "trace/in_flight.h"
#include "trace/load.h"
#include "trace/missed.h"
#include "trace/private.h"

#include "bpf/simulated.h"
#include "view/view.h"

#define MIB (1024 * 1024)
#define IDLE_ROUNDS 100
#define TERMINAL_COLUMNS 120
#define TERMINAL_LINES 50
/* Number of intervals after which unused histograms and unused banks have been given back. */
#define QUIET_INTERVALS 30

/**
 * struct made_up - a made-up machine
 * @connections: number of connected controllers
 * @queues: number of I/O queues of each
 * @tags: number of commands of each I/O queue
 * @most: limit of locked memory, in MiB; 0: no limit
 */
static const struct made_up {
	const char *text;
	enum nt_side side;
	unsigned int online, possible;
	unsigned int connections, queues, tags;
	unsigned int most;
} machines[] = {
	{"4 CPUs, 1 controller, 4 queues of 128", NT_HOST, 4, 4, 1, 4, 128, 8},
	{"4 CPUs, 1 host, 4 queues of 128", NT_TARGET, 4, 4, 1, 4, 256, 8},
	{"16 CPUs, 16 queues of 128", NT_HOST, 16, 16, 1, 16, 128, 16},
	{"16 CPUs, 1 host, 16 queues of 128", NT_TARGET, 16, 16, 1, 16, 256, 16},
	{"128 CPUs, 8 controllers of 128 queues of 128", NT_HOST, 128, 128, 8, 128, 128, 128},
	{"128 CPUs, 8 hosts of 128 queues of 128", NT_TARGET, 128, 128, 8, 128, 256, 128},
	{"4 of 512 CPUs, 1 controller, 4 queues of 128", NT_HOST, 4, 512, 1, 4, 128, 9},
	{"4 of 512 CPUs, 1 host, 4 queues of 128", NT_TARGET, 4, 512, 1, 4, 256, 9},
	{"64 CPUs, 64 hosts of 64 queues of 128", NT_TARGET, 64, 64, 64, 64, 256, 256},
	{"4 CPUs, 1 controller, 1 queue of 4096", NT_HOST, 4, 4, 1, 1, 4096, 0},
	{"4 CPUs, 1 host, 1 queue of 4096 commands", NT_TARGET, 4, 4, 1, 1, 4096, 0},
	{"4 CPUs, 64 controllers of 15 queues of 128", NT_HOST, 4, 4, 64, 15, 128, 0},
	{"4 CPUs, 64 hosts of 15 queues of 128", NT_TARGET, 4, 4, 64, 15, 256, 0},
	{"128 of 512 CPUs, 8 controllers of 128 queues", NT_HOST, 128, 512, 8, 128, 128, 0},
};
#define MACHINES_NR (sizeof(machines) / sizeof(machines[0]))

static const struct made_up *machine;

static void fail(const char *what, int err)
{
	fprintf(stderr, "sizes: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(2);
}

/* src/trace calls these: see LDFLAGS in the Makefile. */
long __real_sysconf(int name);
long __wrap_sysconf(int name);
int __wrap_libbpf_num_possible_cpus(void);
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);

long __wrap_sysconf(int name)
{
	return machine && name == _SC_NPROCESSORS_ONLN ? (long)machine->online
						       : __real_sysconf(name);
}

int __wrap_libbpf_num_possible_cpus(void)
{
	return (int)machine->possible;
}

/* A folder of this program stands in for the host's sysfs. */
static char sysfs[] = "/tmp/sizes.XXXXXX";
static const char class[] = "/sys/class/nvme";

DIR *__wrap_opendir(const char *path)
{
	return __real_opendir(strcmp(path, class) ? path : sysfs);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	char at[128];

	if (strncmp(path, class, strlen(class)))
		return __real_fopen(path, mode);
	snprintf(at, sizeof(at), "%s%s", sysfs, path + strlen(class));
	return __real_fopen(at, mode);
}

static void sysfs_write(const char *controller, const char *attribute, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", sysfs, controller, attribute);
	f = __real_fopen(path, "we");
	if (!f || fputs(text, f) < 0 || fclose(f))
		fail(path, errno);
}

/* Controller @i is added with @queues queues, its admin queue included, or is removed. */
static void sysfs_controller(unsigned int i, unsigned int queues)
{
	static const char *const attributes[] = {"transport", "queue_count", "sqsize"};
	char path[128], text[16];

	snprintf(text, sizeof(text), "nvme%u", i);
	snprintf(path, sizeof(path), "%s/%s", sysfs, text);
	if (queues) {
		char count[16];

		if (mkdir(path, 0700))
			fail(path, errno);
		snprintf(count, sizeof(count), "%u\n", queues);
		sysfs_write(text, "transport", "tcp\n");
		sysfs_write(text, "queue_count", count);
		sysfs_write(text, "sqsize", "127\n");
		return;
	}
	for (size_t k = 0; k < sizeof(attributes) / sizeof(attributes[0]); k++) {
		char file[192];

		snprintf(file, sizeof(file), "%s/%s", path, attributes[k]);
		unlink(file);
	}
	rmdir(path);
}

struct simulation {
	struct tracer t;
	struct refusals refused;
	struct stats s;
	int program_fd;
	unsigned int calls;
};

static int on_call(void *context, void *data, size_t size)
{
	struct simulation *m = context;

	m->calls++;
	return 0;
}

/* Like tracer_open(). */
static void simulation_open(struct simulation *m)
{
	struct tracer *t = &m->t;
	struct bpf_program *p;
	int err;

	*m = (struct simulation){0};
	t->o.side = machine->side;
	t->refused = &m->refused;
	err = load_open(t);
	if (err)
		fail("open", err);
	for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
		t->object.knobs->into[i] = t->into[i] = (uint8_t)i;
	if (t->o.side == NT_HOST)
		t->object.knobs->slots = t->nr_slots;
	bpf_object__for_each_program (p, t->object.obj) {
		bpf_program__set_autoload(p, !strcmp(bpf_program__name(p), "simulate"));
	}
	err = load_finish(t);
	if (err)
		fail(m->refused.nr ? m->refused.of[0].why : "load", err);
	err = connections_init(t) ?: collect_init(t) ?: in_flight_init(t) ?: trace_errors_init(t)
	      ?: histograms_init(t) ?: give_back_init(t);
	if (err)
		fail("init", err);
	t->calls = ring_buffer__new(bpf_map__fd(object_map(&t->object, "calls")), on_call, m, NULL);
	if (!t->calls)
		fail("calls", errno);
	m->program_fd =
		bpf_program__fd(bpf_object__find_program_by_name(t->object.obj, "simulate"));
	give_back_keep(t, 0, 0);
	give_back_supply(t);
}

static void simulation_close(struct simulation *m)
{
	struct tracer *t = &m->t;

	ring_buffer__free(t->calls);
	collect_free(t);
	histograms_free(t);
	give_back_free(t);
	in_flight_free(t);
	trace_errors_free(t);
	connections_free(t);
	object_close(&t->object);
	stats_free(&m->s);
}

/* User space looks at the pools as soon as programs call it. */
static void run(struct simulation *m, struct simulated s)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &s, .ctx_size_in = sizeof(s));
	int err = bpf_prog_test_run_opts(m->program_fd, &opts);

	if (err)
		fail("run", err);
	if (ring_buffer__consume(m->t.calls) > 0)
		give_back_supply(&m->t);
}

static void interval(struct simulation *m)
{
	int err;

	stats_begin_interval(&m->s);
	err = collect_all(&m->t, &m->s);
	if (err)
		fail("collect", err);
	give_back_supply(&m->t);
}

/* The slot of queue @qid of connection @i; @qid 0 is the admin queue. */
static uint32_t slot_of(const struct simulation *m, unsigned int i, unsigned int qid)
{
	return machine->side == NT_HOST ? i * m->t.object.knobs->qid_stride + qid
					: i * (machine->queues + 1) + qid;
}

static void connect_queue(struct simulation *m, unsigned int i, unsigned int qid)
{
	uint32_t slot = slot_of(m, i, qid);
	struct nt_queue *q = &m->t.object.queues[slot];
	uint64_t address = 0xffff888000000000ULL + slot * 0x800ULL;
	struct nt_names *names;

	if (slot >= m->t.nr_slots)
		fail("there are more queues than slots", ENOSPC);
	q->gen += machine->side == NT_HOST && q->gen ? 2 : 1;
	q->object = q->queue = address;
	q->instance = i;
	q->qid = (uint16_t)qid;
	q->cntlid = (uint16_t)(i + 1);
	if (machine->side == NT_HOST) {
		q->controller = 1;
		m->t.object.controllers[i].named[1] = 2;
		names = &m->t.object.controllers[i].names[1];
	} else {
		names = &m->t.object.names[slot];
	}
	snprintf(names->subsysnqn, sizeof(names->subsysnqn), "nqn.2024-01.io.ntprof:simulated");
	snprintf(names->hostnqn, sizeof(names->hostnqn), "nqn.2024-01.io.ntprof:host%u", i);
	q->identified = q->gen;
	run(m, (struct simulated){SIMULATED_CONNECT, slot, address, 0, 0, 0});
	run(m, (struct simulated){SIMULATED_JOIN, slot, 0, 0, 0, 0});
}

/* First all commands of a queue begin, then all end. */
static void use_queue(struct simulation *m, unsigned int i, unsigned int qid, unsigned int tags,
		      const enum nt_op *ops, unsigned int nr_ops)
{
	uint32_t slot = slot_of(m, i, qid);
	unsigned int cpu = (qid ? qid - 1 : 0) % machine->online;

	for (unsigned int end = 0; end < 2; end++)
		for (unsigned int tag = 0; tag < tags; tag++)
			run(m, (struct simulated){end ? SIMULATED_END : SIMULATED_BEGIN, slot,
						  0xffff900000000000ULL +
							  ((uint64_t)slot << 12 | tag) * 0x180,
						  tag, ops[tag % nr_ops], cpu});
}

static void use(struct simulation *m)
{
	static const enum nt_op connect[] = {NT_OP_FABRICS}, admin[] = {NT_OP_ADMIN},
				both[] = {NT_OP_READ, NT_OP_WRITE};

	for (unsigned int i = 0; i < machine->connections; i++) {
		sysfs_controller(i, machine->queues + 1);
		for (unsigned int qid = 0; qid <= machine->queues; qid++) {
			connect_queue(m, i, qid);
			use_queue(m, i, qid, 1, connect, 1);
		}
		use_queue(m, i, 0, 32, admin, 1);
	}
	for (unsigned int i = 0; i < machine->connections; i++)
		for (unsigned int qid = 1; qid <= machine->queues; qid++)
			use_queue(m, i, qid, machine->tags, both, 2);
}

static void leave(struct simulation *m)
{
	for (unsigned int i = 0; i < machine->connections; i++) {
		sysfs_controller(i, 0);
		for (unsigned int qid = 0; qid <= machine->queues; qid++) {
			struct nt_queue *q = &m->t.object.queues[slot_of(m, i, qid)];

			q->dead_gen = q->gen;
		}
	}
}

static uint64_t counted(const struct simulation *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->s.nr_rows; i++)
		n += m->s.rows[i]->shared ? 0 : m->s.rows[i]->total.count;
	return n;
}

static uint64_t lost(const struct simulation *m)
{
	return m->s.counters_total[NT_CNT_NO_SLOT] + m->s.counters_total[NT_CNT_HIST_FULL] +
	       m->s.counters_total[NT_CNT_NO_START] + m->s.counters_total[NT_CNT_OVERWRITTEN];
}

/* The memory of a map, according to the kernel. */
static size_t memlock_of(int fd)
{
	char path[64], line[128];
	size_t bytes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "memlock: %zu", &bytes);
	if (f)
		fclose(f);
	return bytes;
}

/* The memory of all maps, according to the kernel, and of the pools' banks. */
static size_t locked(const struct simulation *m)
{
	struct bpf_map *map;
	size_t bytes = 0;

	bpf_object__for_each_map (map, m->t.object.obj) {
		bytes += memlock_of(bpf_map__fd(map));
	}
	for (unsigned int i = 0; i < NT_POOLS_NR; i++)
		bytes += pool_bytes(&m->t.object.pools[i]);
	return bytes;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static double mib(size_t bytes)
{
	return (double)bytes / MIB;
}

/* Return: whether something was lost or needed more than allowed. */
static int measure(struct simulation *m)
{
	uint64_t commands = (uint64_t)machine->connections *
			    (machine->queues + 1 + 32 + (uint64_t)machine->queues * machine->tags);
	struct pool *pools = m->t.object.pools;
	struct cost cost;
	size_t first, last, left;
	uint32_t taken = 0;
	int failed;

	first = locked(m);
	interval(m);
	use(m);
	interval(m);
	last = locked(m);
	cost_fill(&m->t, &cost);
	failed = lost(m) || counted(m) != commands ||
		 (machine->most && last > (size_t)machine->most * MIB);
	printf("%-46s %-6s %6.1f %6.1f %6.1f %6.1f %6.1f %6.1f %6.1f", machine->text,
	       machine->side == NT_HOST ? "host" : "target", mib(first), mib(last),
	       mib(cost.map_bytes), mib(pool_bytes(&pools[NT_POOL_CMDS])),
	       mib(pool_bytes(&pools[NT_POOL_HISTS])), mib(pool_bytes(&pools[NT_POOL_STAGES])),
	       mib(pool_bytes(&pools[NT_POOL_JOINS])));
	leave(m);
	for (unsigned int i = 0; i < QUIET_INTERVALS; i++)
		interval(m);
	left = locked(m);
	for (unsigned int i = 0; i < NT_POOLS_NR; i++)
		taken += pool_taken(&pools[i]);
	failed |= taken != 0;
	printf(" %6.1f %6u %9" PRIu64 " %4" PRIu64 " %5u %s\n", mib(left), machine->most,
	       counted(m), lost(m), taken, failed ? "FAILED" : "");
	fflush(stdout);
	return failed;
}

/*
 * How long an interval takes, and how long it takes to show it, in nanoseconds: the best of some
 * rounds.
 */
static void time_interval(struct simulation *m, struct view_options *v, uint64_t *taken,
			  uint64_t *shown)
{
	uint64_t begin, between, end;

	*taken = *shown = ~0ULL;
	for (unsigned int i = 0; i < IDLE_ROUNDS; i++) {
		begin = cpu_ns();
		interval(m);
		between = cpu_ns();
		if (view_interval(&m->s, v))
			fail("view", EIO);
		end = cpu_ns();
		if (between - begin < *taken)
			*taken = between - begin;
		if (end - between < *shown)
			*shown = end - between;
	}
}

static void measure_idle(struct simulation *m)
{
	uint64_t taken, text, terminal, json;
	FILE *f = __real_fopen("/dev/null", "we");
	struct view_options v;

	if (!f)
		fail("/dev/null", errno);
	use(m);
	for (unsigned int i = 0; i < QUIET_INTERVALS; i++)
		interval(m);
	view_setup(&v, f);
	time_interval(m, &v, &taken, &text);
	v.redraw = v.unicode = true;
	v.columns = TERMINAL_COLUMNS;
	v.lines = TERMINAL_LINES;
	time_interval(m, &v, &taken, &terminal);
	view_setup(&v, f);
	view_format(&v, FORMAT_JSON);
	time_interval(m, &v, &taken, &json);
	printf("%-46s %-6s %6u queues %8u slots %5zu rows %8.3f ms, shown %8.3f, on a terminal %8.3f, as JSON %8.3f\n",
	       machine->text, machine->side == NT_HOST ? "host" : "target", m->s.queues,
	       m->t.nr_slots, m->s.nr_rows, (double)taken / 1e6, (double)text / 1e6,
	       (double)terminal / 1e6, (double)json / 1e6);
	fflush(stdout);
	fclose(f);
	leave(m);
}

int main(int argc, char **argv)
{
	bool idle = argc > 1 && !strcmp(argv[1], "idle");
	static struct simulation m;
	int failed = 0;

	if (!idle)
		printf("%-46s %-6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %9s %4s %s\n", "MiB", "side",
		       "empty", "full", "as -v", "states", "hists", "stages", "joins", "gone",
		       "most", "commands", "lost", "taken");
	if (!mkdtemp(sysfs))
		fail(sysfs, errno);
	for (size_t i = 0; i < MACHINES_NR; i++) {
		machine = &machines[i];
		simulation_open(&m);
		if (idle)
			measure_idle(&m);
		else
			failed |= measure(&m);
		simulation_close(&m);
	}
	rmdir(sysfs);
	return failed;
}
