// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the two streams of a simulated run, which tests/bench/report gives to the program:
 *
 *   generate [-l LOAD] -n COMMANDS HOST.ntp TARGET.ntp
 *
 * 8 queues of depth 32 with mostly random reads of 4 KiB, some 200,000 commands a second, or
 * another of the loads below. The target's wall clock is three hours off, and its clocks gain 100
 * ppm. Prints how many commands both sides have.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "core/names.h"
#include "core/time.h"
#include "stream/writer.h"
#include "traffic.h"

#define QUEUES 8
#define DEPTH 32
#define SECOND_NS 1000000000ULL
/* The host's wall clock when the simulation begins: 2024-01-01. */
#define WALL_NS 1704067200000000000LL
#define HOURS_NS (3600 * (int64_t)SECOND_NS)

/*
 * @late_percent: percentage of responses that are 3 s late
 * @target_late: the target records from the second second on
 * @target_percent: percentage of the commands that the target's stream has; they are then of
 *                  another subsystem
 * @unmatched: the host has the first endpoint of the commands, the target the second endpoint
 * @runs: the host's stream is of one run, the target's of the next one, which reads the same blocks
 *        in the same order
 */
static const struct load {
	const char *name;
	unsigned int depth;
	unsigned int hot_percent;
	unsigned int late_percent;
	bool target_late;
	unsigned int target_percent;
	bool unmatched;
	bool runs;
} loads[] = {
	{.name = "unique", .depth = DEPTH},
	{.name = "hot", .depth = DEPTH, .hot_percent = 90, .target_late = true},
	{.name = "one-block", .depth = 1, .hot_percent = 100, .target_late = true},
	{.name = "absent", .depth = DEPTH, .target_percent = 1},
	{.name = "late", .depth = DEPTH, .late_percent = 1},
	{.name = "apart", .depth = DEPTH, .unmatched = true},
	{.name = "apart-one-block", .depth = DEPTH, .hot_percent = 100, .unmatched = true},
	{.name = "runs", .depth = DEPTH, .runs = true},
};

/* One side's stream. */
struct output {
	const char *path;
	const struct traffic_stream *clock;
	int64_t wall_ns;       /* wall clock less the stream's clock */
	uint64_t next_tick_ns; /* by the simulation's clock */
	bool told[QUEUES];
	bool another; /* the stream is of another subsystem */
	int fd;
	struct stream_writer *w;
};

static void die(const char *path, int err)
{
	fprintf(stderr, "generate: %s: %s\n", path, strerror(err));
	exit(1);
}

static void put(struct output *o, const struct stream_event *e)
{
	int err = stream_write(o->w, e);

	if (err)
		die(o->path, -err);
}

static struct instant clock_at(const struct output *o, uint64_t ns)
{
	uint64_t monotonic = traffic_clock(o->clock, ns);

	return (struct instant){
		.monotonic_ns = monotonic,
		.realtime_ns = o->wall_ns +
			       (int64_t)(monotonic - traffic_clock(o->clock, TRAFFIC_EPOCH_NS)),
	};
}

static void open_output(struct output *o, const struct traffic_config *c, unsigned int stream)
{
	struct stream_header h = {.side = c->stream[stream].side,
				  .source = "tracepoints",
				  .kernel = "6.1.0",
				  .program = "ntprof-bpf " NTPROF_VERSION};

	o->clock = &c->stream[stream];
	o->next_tick_ns = TRAFFIC_EPOCH_NS;
	snprintf(h.hostname, sizeof(h.hostname), "%s", side_name(h.side));
	snprintf(h.boot_id, sizeof(h.boot_id), "00000000-0000-4000-8000-00000000000%u", stream);
	o->fd = open(o->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (o->fd < 0)
		die(o->path, errno);
	o->w = stream_writer_new(o->fd, &h);
	if (!o->w)
		die(o->path, errno);
}

static void write_record(struct output *o, const struct traffic_config *c,
			 const struct traffic_record *r)
{
	struct stream_event e;

	for (; o->next_tick_ns <= r->at_ns; o->next_tick_ns += SECOND_NS) {
		e = (struct stream_event){.type = STREAM_LOSSES};
		put(o, &e);
		e = (struct stream_event){.type = STREAM_CLOCK};
		e.clock = clock_at(o, o->next_tick_ns);
		put(o, &e);
	}
	if (!o->told[r->queue]) {
		o->told[r->queue] = true;
		e = (struct stream_event){.type = STREAM_QUEUE};
		e.queue = traffic_stream_queue(c, r->queue, o->clock->side);
		if (o->another)
			snprintf(e.queue.subsysnqn, sizeof(e.queue.subsysnqn), "nqn.another");
		put(o, &e);
	}
	e.type = STREAM_RECORD;
	e.record = r->r;
	put(o, &e);
}

static void close_output(struct output *o, uint64_t last_ns)
{
	struct stream_event e = {.type = STREAM_END};

	e.end.clock = clock_at(o, last_ns);
	put(o, &e);
	stream_writer_free(o->w);
	if (close(o->fd))
		die(o->path, errno);
}

static void say_both(const struct load *l, uint64_t commands, uint64_t missed)
{
	printf("%" PRIu64 "\n",
	       l->target_percent || l->unmatched || l->runs ? 0 : commands - missed);
}

/* Whether a record is in its stream. @run: 0, or 1 for the second run */
static bool is_recorded(const struct load *l, const struct traffic_record *r, uint64_t commands,
			unsigned int run)
{
	if (l->runs)
		return (r->r.side == NT_HOST) == !run;
	if (l->unmatched)
		return (r->id < commands / 2) == (r->r.side == NT_HOST);
	if (r->r.side == NT_HOST)
		return true;
	if (l->target_late && r->at_ns < TRAFFIC_EPOCH_NS + SECOND_NS)
		return false;
	return !l->target_percent || r->id % 100 < l->target_percent;
}

static void generate(const struct load *l, uint64_t commands, const char *host_path,
		     const char *target_path)
{
	static struct traffic_config c = {
		.stream = {{NT_HOST, 0, 0}, {NT_TARGET, 50000 * (int64_t)SECOND_NS, 100}},
		.nr_streams = 2,
		.nr_queues = QUEUES,
		.seed = 88172645463325252ULL,
		.percent = {60, 25, 10, 5},
		.network_ns = 20000,
		.device_ns = 1000000,
		.think_ns = 50000,
	};
	struct output out[2] = {
		{.path = host_path, .wall_ns = WALL_NS},
		{.path = target_path, .wall_ns = WALL_NS + 3 * HOURS_NS},
	};
	struct traffic_record r = {.at_ns = TRAFFIC_EPOCH_NS};
	uint64_t missed = 0;
	struct traffic *t;

	c.commands = commands;
	c.hot_percent = l->hot_percent;
	c.late_percent = l->late_percent;
	c.late_ns = 3 * SECOND_NS;
	if (l->hot_percent) {
		memset(c.percent, 0, sizeof(c.percent));
		c.percent[NT_SHAPE_READ] = 100;
	}
	for (unsigned int i = 0; i < QUEUES; i++)
		c.queue[i] = (struct traffic_queue){.target = 1,
						    .nqn = "nqn.2024-01.org.example:benchmark",
						    .cntlid = 1,
						    .qid = (uint16_t)(i + 1),
						    .slot = i + 1,
						    .gen = 1,
						    .depth = l->depth};
	for (unsigned int i = 0; i < 2; i++) {
		out[i].another = i && l->target_percent;
		open_output(&out[i], &c, i);
	}
	for (unsigned int run = 0; run <= l->runs; run++) {
		c.seed += run;
		t = traffic_new(&c);
		while (traffic_next(t, &r)) {
			if (is_recorded(l, &r, commands, run))
				write_record(&out[r.stream], &c, &r);
			else
				missed++;
		}
		traffic_free(t);
	}
	for (unsigned int i = 0; i < 2; i++)
		close_output(&out[i], r.at_ns);
	say_both(l, commands, missed);
}

static const struct load *load_named(const char *name)
{
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		if (!strcmp(loads[i].name, name))
			return &loads[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct load *l = &loads[0];
	uint64_t commands = 0;
	char *end = "";
	int opt;

	while ((opt = getopt(argc, argv, "l:n:")) == 'n' || opt == 'l') {
		if (opt == 'n')
			commands = strtoull(optarg, &end, 10);
		else
			l = load_named(optarg);
	}
	if (opt != -1 || argc - optind != 2 || !commands || *end || !l) {
		fprintf(stderr, "usage: generate [-l LOAD] -n COMMANDS HOST.ntp TARGET.ntp\n");
		return 2;
	}
	generate(l, commands, argv[optind], argv[optind + 1]);
	return 0;
}
