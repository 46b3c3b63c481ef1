// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a live merge costs: feeds the merge and its sums as `--host --peer` does, without the kernel and
 * the screen, and prints the CPU time per command of the host, with a peer that goes on, one that stalls and
 * one that dies, and with one that has nothing in common with the host.
 */
#include <stddef.h>
#include <sys/resource.h>

#include "merge/merge.h"
#include "merge/totals.h"
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

struct batch {
	struct nt_record *r;
	size_t nr, max;
};

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

static void feed(struct merge *m, unsigned int stream, struct batch *b)
{
	for (size_t i = 0; i < b->nr; i++) {
		if (merge_record(m, stream, &b->r[i]))
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
	struct batch batch[2] = {{0}, {0}};
	struct traffic_record r;

	if (totals_init(&totals, 0))
		abort();
	for (unsigned int i = 0; i < c->nr_queues; i++) {
		struct queue_info q[2] = {traffic_stream_queue(c, i, NT_HOST),
					  traffic_stream_queue(c, i, NT_TARGET)};

		if (fate == ABSENT)
			snprintf(q[1].subsysnqn, sizeof(q[1].subsysnqn), "nqn.another");
		if (merge_queue(m, 0, NT_HOST, &q[0]) || merge_queue(m, 1, NT_TARGET, &q[1]))
			abort();
	}
	while (traffic_next(t, &r)) {
		uint64_t since = r.at_ns - TRAFFIC_EPOCH_NS;

		if (r.at_ns >= next) {
			bool counts = since >= MEASURED_FROM_NS;
			uint64_t begin = cpu_ns();

			commands += counts ? batch[0].nr : 0;
			feed(m, 0, &batch[0]);
			feed(m, 1, &batch[1]);
			if (fate == DIES && since >= FAILS_NS)
				merge_end(m, 1);
			if (next / SECOND_NS != (next - BATCH_NS) / SECOND_NS)
				merge_expire(m, EXPIRE_NS);
			spent += counts ? cpu_ns() - begin : 0;
			next += BATCH_NS;
		}
		if (r.r.side == NT_HOST || fate == RUNS || (since < FAILS_NS && fate != ABSENT))
			put(&batch[r.r.side], &r.r);
	}
	merge_finish(m);
	merge_free(m);
	totals_free(&totals);
	traffic_free(t);
	free(batch[0].r);
	free(batch[1].r);
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
