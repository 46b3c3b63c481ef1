// SPDX-License-Identifier: GPL-2.0-only
/*
 * The live view with a tracer that traces the same in every interval, for the scripts of
 * tests/live. It is not a test by itself.
 *
 *   live ARGUMENTS OF THE LIVE VIEW...
 *
 * The environment variable TARGET_STREAM names a file or a FIFO that gets the target's stream of
 * the same commands.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "cli/tracer.h"
#include "cli/verbs.h"
#include "core/array.h"
#include "core/time.h"
#include "stream/writer.h"
#include "traffic.h"

#define MS 1000000ULL
/*
 * Commands of an interval: as many as a queue of 8 commands that take 100 ms each does in half a
 * second.
 */
#define MERGED_COMMANDS 40

/* There are more reads than writes, and too few of both for a p99.9. */
static const struct {
	uint16_t qid;
	enum nt_op op;
	unsigned int commands;
	uint64_t latency_ns;
} rows[] = {
	{1, NT_OP_READ, 15, 1 * MS},
	{2, NT_OP_WRITE, 5, 2 * MS},
};

static struct traffic *traffic;
static struct stream_writer *target;
static struct nt_record host_records[MERGED_COMMANDS];

static void fill(struct stats *s)
{
	static uint64_t began_ns;
	static unsigned int interval;
	uint64_t now = monotonic_ns();

	s->driver = "nvme_tcp";
	s->source = "stock";
	s->controllers = 1;
	s->queues = ARRAY_SIZE(rows);
	s->seconds = began_ns ? (double)(now - began_ns) / 1e9 : 0;
	s->elapsed += s->seconds;
	s->passed = s->elapsed;
	began_ns = now;
	/*
	 * The number differs in each interval, so that the scripts see when the screen is not
	 * redrawn.
	 */
	interval++;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct stats_row *row = stats_row(s, "nvme0", "nqn.2024-01.org.example:one",
						  rows[i].qid, rows[i].op, false);

		for (unsigned int n = 0; row && n < rows[i].commands + interval % 5; n++) {
			hist_count(&row->interval, rows[i].latency_ns);
			hist_count(&row->total, rows[i].latency_ns);
			for (unsigned int k = 0; k < NT_HOST_STAGES_NR;
			     k += k + 1 == NT_HS_DEVICE ? 2 : 1) {
				hist_count(&s->stage_interval[rows[i].op][k],
					   rows[i].latency_ns / (NT_HOST_STAGES_NR - 1));
				hist_count(&s->stage_total[rows[i].op][k],
					   rows[i].latency_ns / (NT_HOST_STAGES_NR - 1));
			}
		}
	}
}

static void make(struct nt_record *r, uint64_t n)
{
	*r = host_records[n % MERGED_COMMANDS];
}

/* Adds the commands of an interval on both sides. */
static void both_sides(void)
{
	uint64_t records = 0;
	struct traffic_record r;

	while (records < MERGED_COMMANDS && traffic_next(traffic, &r)) {
		struct stream_event e = {.type = STREAM_RECORD, .record = r.r};

		if (r.r.side == NT_TARGET)
			stream_write(target, &e);
		else
			host_records[(traced.nr + records++) % MERGED_COMMANDS] = r.r;
	}
	stream_flush(target);
	if (write(traced.records_fd, &records, sizeof(records)) < 0)
		perror("eventfd");
}

static int begin_target(const char *to)
{
	static struct traffic_config config;
	static struct queue_info host_queue;
	/* A FIFO can be opened for reading and writing before there is a reader. */
	int fd = open(to, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	const struct stream_header header = {.side = NT_TARGET, .hostname = "target"};
	struct stream_event clock = {.type = STREAM_CLOCK, .clock = instant_now()},
			    queue = {.type = STREAM_QUEUE};

	config = traffic_of_one_queue();
	config.think_ns = 100 * MS;
	config.commands = 0;
	host_queue = traffic_stream_queue(&config, 0, NT_HOST);
	queue.queue = traffic_stream_queue(&config, 0, NT_TARGET);
	traffic = traffic_new(&config);
	target = stream_writer_new(fd, &header);
	traced.queue = &host_queue;
	traced.make = make;
	traced.collecting = both_sides;
	return !target || stream_write(target, &clock) || stream_write(target, &queue) ||
	       stream_flush(target);
}

int main(int argc, char **argv)
{
	const char *stream = getenv("TARGET_STREAM");

	traced.fill = fill;
	traced.records_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (stream && begin_target(stream))
		return EXIT_FAILURE;
	return verb_live.main(argc, argv);
}
