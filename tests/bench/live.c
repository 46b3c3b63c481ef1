// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a live merge costs. Reads the peer's stream and feeds the merge and its sums as `--host
 * --peer` does, but without the kernel and the screen. Prints the CPU time per command of the host
 * with a peer that goes on, one that stalls, one that dies, and one that has nothing in common with
 * the host.
 *
 *   live             all of these, the best of some rounds
 *   live FATE        one of them, once: "runs", "stalls", "dies" or "absent"; prints how many
 *                    commands were measured
 *
 * With the latter, valgrind can count instructions, which are the same in every run: those of the
 * function measured_turn() and, for the peer's recorder, of measured_write().
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#include "merge/merge.h"
#include "merge/totals.h"
#include "merge/why.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "traffic.h"

#define SECOND_NS 1000000000ULL
#define LASTS_NS (40 * SECOND_NS)
/* How long the peer is there. Measuring begins later. */
#define FAILS_NS (10 * SECOND_NS)
#define MEASURED_FROM_NS (20 * SECOND_NS)
/* The age at which the live merge gives up waiting records, in each interval. */
#define EXPIRE_NS (5 * SECOND_NS)
/* How often a recorder sends. */
#define BATCH_NS 200000000ULL
#define ROUNDS 3

enum fate { RUNS, STALLS, DIES, ABSENT, FATES };

static const struct {
	const char *word, *text;
} fates[FATES] = {
	[RUNS] = {"runs", "runs"},
	[STALLS] = {"stalls", "has stalled"},
	[DIES] = {"dies", "has died"},
	[ABSENT] = {"absent", "was never there"},
};

/* More than a batch of the peer's records. */
#define PIPE_BYTES (1 << 20)

/* The host's commands that have not been fed yet. */
struct batch {
	struct nt_record *r;
	size_t nr, max;
};

/* The peer's stream. Its recorder writes it, and the merge reads it. */
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

/* Reads everything that has come. */
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

/* As peer/live_merge.c has it. */
#define WHY_ONE_IN 16u
static struct why *why;

static void on_matched(void *context, const struct merge_connection *c,
		       const struct nt_record *host, const struct nt_record *target)
{
	struct totals *t = context;
	struct why_command command = {.c = c,
				      .r = host,
				      .target = target,
				      .cpu = ORIGIN_NO_CPU,
				      .begin_ns = record_begin_ns(host)};
	unsigned int stands_for;

	if (totals_add(t, c, host, target))
		abort();
	if (!t->last.row)
		return;
	command.nr = t->last.into ? NT_MERGED_STAGES_NR : 0;
	command.stage = t->last.stage;
	command.into = t->last.into;
	stands_for = why_stands_for(why, host);
	if ((stands_for && why_add(why, &command, stands_for)) ||
	    (why_to_follow(why) && why_follow(why, c, host)))
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

/*
 * Handles everything that has come since the last turn. @died: the peer sends nothing more;
 * @interval: an interval is over
 */
static void take_turn(struct merge *m, struct batch *b, struct peer *p, bool died, bool interval)
{
	feed(m, b);
	peer_read_all(p, m);
	if (died)
		merge_end(m, 1);
	if (interval)
		while (merge_expire(m, EXPIRE_NS))
			;
}

/* take_turn() under a name of its own, so that valgrind can count it. */
__attribute__((noinline)) static void measured_turn(struct merge *m, struct batch *b,
						    struct peer *p, bool died, bool interval)
{
	take_turn(m, b, p, died, interval);
}

__attribute__((noinline)) static void measured_write(struct peer *p, const struct nt_record *r)
{
	peer_tell(p, &(struct stream_event){.type = STREAM_RECORD, .record = *r});
}

/* The cost of these commands. */
struct live_cost {
	uint64_t cpu_ns, commands;
};

static struct live_cost run(enum fate fate, const struct traffic_config *c)
{
	struct totals totals;
	struct merge_callbacks callbacks = {.matched = on_matched, .context = &totals};
	struct merge *m = traffic_must(merge_new(&callbacks));
	uint64_t next = TRAFFIC_EPOCH_NS + BATCH_NS;
	struct live_cost cost = {0};
	struct traffic *t = traffic_new(c);
	struct batch batch = {0};
	struct traffic_record r;
	struct peer peer;

	why = why_new(WHY_ONE_IN);
	if (!why || totals_init(&totals, 0))
		abort();
	totals_by_ctrl(&totals);
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
			bool died = fate == DIES && since >= FAILS_NS;
			bool interval = next / SECOND_NS != (next - BATCH_NS) / SECOND_NS;
			uint64_t begin;

			if (stream_flush(peer.w))
				abort();
			begin = cpu_ns();
			cost.commands += counts ? batch.nr : 0;
			(counts ? measured_turn : take_turn)(m, &batch, &peer, died, interval);
			cost.cpu_ns += counts ? cpu_ns() - begin : 0;
			next += BATCH_NS;
		}
		if (r.r.side == NT_HOST)
			put(&batch, &r.r);
		else if (fate == RUNS || (since < FAILS_NS && fate != ABSENT))
			measured_write(&peer, &r.r);
	}
	merge_finish(m);
	merge_free(m);
	totals_free(&totals);
	traffic_free(t);
	free(batch.r);
	peer_end(&peer);
	return cost;
}

/* 8 queues of depth 8 with pauses between commands: together 20,000 commands a second. */
static void configure(struct traffic_config *c)
{
	*c = (struct traffic_config){
		.stream = {{NT_HOST, 0, 0}, {NT_TARGET, 50000 * (int64_t)SECOND_NS, 100}},
		.nr_streams = 2,
		.nr_queues = 8,
		.seed = 88172645463325252ULL,
		.percent = {60, 25, 10, 5},
		.network_ns = 20000,
		.device_ns = 1000000,
		.think_ns = 2100000,
	};
	for (unsigned int i = 0; i < c->nr_queues; i++)
		c->queue[i] = (struct traffic_queue){.target = 1,
						     .nqn = "nqn.2024-01.org.example:benchmark",
						     .cntlid = 1,
						     .qid = (uint16_t)(i + 1),
						     .slot = i + 1,
						     .gen = 1,
						     .depth = 8,
						     .end_ns = LASTS_NS};
}

static int run_one(const char *word, const struct traffic_config *c)
{
	for (unsigned int fate = 0; fate < FATES; fate++) {
		if (strcmp(word, fates[fate].word) != 0)
			continue;
		printf("%" PRIu64 "\n", run((enum fate)fate, c).commands);
		return 0;
	}
	fprintf(stderr, "usage: live [runs|stalls|dies|absent]\n");
	return 2;
}

int main(int argc, char **argv)
{
	double best[FATES] = {0};
	struct traffic_config c;

	configure(&c);
	if (argc > 1)
		return run_one(argv[1], &c);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int fate = 0; fate < FATES; fate++) {
			struct live_cost cost = run((enum fate)fate, &c);
			double ns = (double)cost.cpu_ns / (double)cost.commands;

			if (!round || ns < best[fate])
				best[fate] = ns;
		}
	}
	for (unsigned int fate = 0; fate < FATES; fate++)
		printf("live, a peer that %-16s %6.0f ns a command\n", fates[fate].text,
		       best[fate]);
	return 0;
}
