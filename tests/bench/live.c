// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a live merge costs: reads the peer's stream and feeds the merge and its sums as `--host --peer` does,
 * without the kernel and the screen, and prints the CPU time per command of the host, with a peer that goes on, one that stalls and
 * one that dies, and with one that has nothing in common with the host.
 */
#define _GNU_SOURCE /* pipe2(), F_SETPIPE_SZ */
#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#include "merge/merge.h"
#include "merge/totals.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "traffic.h"

#define SECOND_NS 1000000000ULL
#define LASTS_NS (60 * SECOND_NS)
/* The peer is there for so long; what is measured begins later. */
#define FAILS_NS (10 * SECOND_NS)
#define MEASURED_FROM_NS (20 * SECOND_NS)
/* As the live merge expires what waits, each interval. */
#define EXPIRE_NS (5 * SECOND_NS)
/* A recorder sends so often. */
#define BATCH_NS 200000000ULL
#define ROUNDS 3

enum fate { RUNS, STALLS, DIES, ABSENT, FATES };

static const char *const fates[FATES] = {"runs", "has stalled", "has died", "was never there"};

/* More than a batch of the peer's records takes. */
#define PIPE_BYTES (1 << 20)

/* Commands of the host that have not been fed. */
struct batch {
	struct nt_record *r;
	size_t nr, max;
};

/* The peer's stream, as its recorder writes it and the merge's side reads it. */
struct peer {
	int fd[2];
	struct stream_writer *w;
	struct stream_reader *r;
};

static void peer_begin(struct peer *p)
{
	struct stream_header h = {.side = NT_TARGET,
				  .source = "tracepoints",
				  .kernel = "6.1.0",
				  .program = "ntprof-bpf " NTPROF_VERSION};

	if (pipe2(p->fd, O_NONBLOCK | O_CLOEXEC) ||
	    fcntl(p->fd[1], F_SETPIPE_SZ, PIPE_BYTES) < PIPE_BYTES)
		abort();
	p->w = traffic_must(stream_writer_new(p->fd[1], &h));
	p->r = traffic_must(stream_reader_new(p->fd[0]));
}

static void peer_tell(struct peer *p, const struct stream_event *e)
{
	if (stream_write(p->w, e))
		abort();
}

static void peer_end(struct peer *p)
{
	stream_writer_free(p->w);
	stream_reader_free(p->r);
	close(p->fd[0]);
	close(p->fd[1]);
}

/* What has come. */
static void peer_read_all(struct peer *p, struct merge *m)
{
	struct stream_event e;
	int err = 0;

	while (!err && stream_read(p->r, &e) > 0) {
		if (e.type == STREAM_QUEUE)
			err = merge_queue(m, 1, NT_TARGET, &e.queue);
		else if (e.type == STREAM_RECORD)
			err = merge_record(m, 1, &e.record);
	}
	if (err)
		abort();
}

static uint64_t cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * SECOND_NS +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static void on_matched(void *context, const struct merge_connection *c,
		       const struct nt_record *host, const struct nt_record *target)
{
	if (totals_add(context, c, host, target))
		abort();
}

static void put(struct batch *b, const struct nt_record *r)
{
	if (b->nr == b->max) {
		b->max = b->max ? 2 * b->max : 4096;
		b->r = traffic_must(realloc(b->r, b->max * sizeof(*b->r)));
	}
	b->r[b->nr++] = *r;
}

static void feed(struct merge *m, struct batch *b)
{
	for (size_t i = 0; i < b->nr; i++) {
		if (merge_record(m, 0, &b->r[i]))
			abort();
	}
	b->nr = 0;
}

/* Return: CPU time per command in nanoseconds. */
static double run(enum fate fate, const struct traffic_config *c)
{
	struct totals totals;
	struct merge_callbacks callbacks = {.matched = on_matched, .context = &totals};
	struct merge *m = traffic_must(merge_new(&callbacks));
	uint64_t next = TRAFFIC_EPOCH_NS + BATCH_NS, spent = 0, commands = 0;
	struct traffic *t = traffic_new(c);
	struct batch batch = {0};
	struct traffic_record r;
	struct peer peer;

	if (totals_init(&totals, 0))
		abort();
	peer_begin(&peer);
	for (unsigned int i = 0; i < c->nr_queues; i++) {
		struct queue_info q = traffic_stream_queue(c, i, NT_HOST);
		struct stream_event e = {.type = STREAM_QUEUE,
					 .queue = traffic_stream_queue(c, i, NT_TARGET)};

		if (fate == ABSENT)
			snprintf(e.queue.subsysnqn, sizeof(e.queue.subsysnqn), "nqn.another");
		peer_tell(&peer, &e);
		if (merge_queue(m, 0, NT_HOST, &q))
			abort();
	}
	while (traffic_next(t, &r)) {
		uint64_t since = r.at_ns - TRAFFIC_EPOCH_NS;

		if (r.at_ns >= next) {
			bool counts = since >= MEASURED_FROM_NS;
			uint64_t begin;

			if (stream_flush(peer.w))
				abort();
			begin = cpu_ns();
			commands += counts ? batch.nr : 0;
			feed(m, &batch);
			peer_read_all(&peer, m);
			if (fate == DIES && since >= FAILS_NS)
				merge_end(m, 1);
			if (next / SECOND_NS != (next - BATCH_NS) / SECOND_NS)
				merge_expire(m, EXPIRE_NS);
			spent += counts ? cpu_ns() - begin : 0;
			next += BATCH_NS;
		}
		if (r.r.side == NT_HOST)
			put(&batch, &r.r);
		else if (fate == RUNS || (since < FAILS_NS && fate != ABSENT))
			peer_tell(&peer,
				  &(struct stream_event){.type = STREAM_RECORD, .record = r.r});
	}
	merge_finish(m);
	merge_free(m);
	totals_free(&totals);
	traffic_free(t);
	free(batch.r);
	peer_end(&peer);
	return (double)spent / (double)commands;
}

int main(void)
{
	/* 8 queues of depth 8 that rest, together 20,000 commands a second. */
	struct traffic_config c = {
		.stream = {{NT_HOST, 0, 0}, {NT_TARGET, 50000 * (int64_t)SECOND_NS, 100}},
		.nr_streams = 2,
		.nr_queues = 8,
		.seed = 88172645463325252ULL,
		.percent = {60, 25, 10, 5},
		.network_ns = 20000,
		.device_ns = 1000000,
		.think_ns = 2100000,
	};
	double best[FATES] = {0};

	for (unsigned int i = 0; i < c.nr_queues; i++)
		c.queue[i] = (struct traffic_queue){.target = 1,
						    .nqn = "nqn.2024-01.org.example:benchmark",
						    .cntlid = 1,
						    .qid = (uint16_t)(i + 1),
						    .slot = i + 1,
						    .gen = 1,
						    .depth = 8,
						    .end_ns = LASTS_NS};
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int fate = 0; fate < FATES; fate++) {
			double ns = run((enum fate)fate, &c);

			if (!round || ns < best[fate])
				best[fate] = ns;
		}
	}
	for (unsigned int fate = 0; fate < FATES; fate++)
		printf("live, a peer that %-16s %6.0f ns a command\n", fates[fate], best[fate]);
	return 0;
}
