// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the two streams of a simulated run, which tests/bench/report gives to the program:
 *
 *   generate -n COMMANDS HOST.ntp TARGET.ntp
 *
 * 8 queues of depth 32, mostly random reads of 4 KiB, some 200,000 commands a second; the target's
 * wall clock is three hours off and its clocks gain 100 ppm.
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

/* One side's stream as it is written. */
struct output {
	const char *path;
	const struct traffic_stream *clock;
	int64_t wall_ns;       /* wall clock - the stream's clock */
	uint64_t next_tick_ns; /* on the simulation's clock */
	bool told[QUEUES];
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

static void generate(uint64_t commands, const char *host_path, const char *target_path)
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
	struct traffic *t;

	c.commands = commands;
	for (unsigned int i = 0; i < QUEUES; i++)
		c.queue[i] = (struct traffic_queue){.target = 1,
						    .nqn = "nqn.2024-01.org.example:benchmark",
						    .cntlid = 1,
						    .qid = (uint16_t)(i + 1),
						    .slot = i + 1,
						    .gen = 1,
						    .depth = DEPTH};
	t = traffic_new(&c);
	for (unsigned int i = 0; i < 2; i++)
		open_output(&out[i], &c, i);
	while (traffic_next(t, &r))
		write_record(&out[r.stream], &c, &r);
	for (unsigned int i = 0; i < 2; i++)
		close_output(&out[i], r.at_ns);
	traffic_free(t);
}

int main(int argc, char **argv)
{
	uint64_t commands = 0;
	char *end = "";
	int opt;

	while ((opt = getopt(argc, argv, "n:")) == 'n')
		commands = strtoull(optarg, &end, 10);
	if (opt != -1 || argc - optind != 2 || !commands || *end) {
		fprintf(stderr, "usage: generate -n COMMANDS HOST.ntp TARGET.ntp\n");
		return 2;
	}
	generate(commands, argv[optind], argv[optind + 1]);
	return 0;
}
