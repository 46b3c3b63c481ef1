/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Simulated recordings, and the truth about them: what a host and a target would have recorded of
 * the same commands, for loads that repeat themselves, clocks that are wrong, and recordings that
 * do not belong together. Of the program it uses only the layout of a record and the interface of
 * the merge.
 */
#ifndef NTPROF_SCENARIO_H
#define NTPROF_SCENARIO_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "merge/merge.h"

#define US 1000LL
#define MS 1000000LL
#define SECOND 1000000000LL

/*
 * The truth about a record is the number of its command. It is stored in a point that the merge
 * does not use.
 */
#define TRUTH_HOST NT_H_SENT_CMD
#define TRUTH_TARGET NT_T_DATA_DONE

#define STREAMS_MAX 6
#define LINKS_MAX 8
#define JOBS_MAX 16
#define TAGS_MAX 64
#define STEPS_MAX 2

/* Which blocks a job reads. */
enum content {
	CONTENT_LARGE,	  /* random blocks of a large disk: none occurs twice */
	CONTENT_SMALL,	  /* random blocks of a small file */
	CONTENT_LOOP,	  /* the blocks of a small file, one after the other, again and again */
	CONTENT_SHUFFLED, /* the blocks of a small file in a shuffled order, the same each time */
	CONTENT_HOT,	  /* mostly one block */
	CONTENTS_NR,
};

/*
 * One side of one machine. True time is in nanoseconds from the beginning of the scenario.
 * @ahead_ns: CLOCK_MONOTONIC at the beginning
 * @ppm: how much faster than true time that clock runs
 * @wall_ns: error of its CLOCK_REALTIME
 * @from, @to: it records commands that end in this period; @to is 0: to the end
 * @step_at, @step_ns: when CLOCK_MONOTONIC jumps, and by how much
 * @slew_at, @slew_ns, @slew_ppm: when the clock is slewed, for how long, and how much faster it
 *                               runs then
 * @batch_ns: its records come in batches, one after each of these times; 0: each comes when it ends
 */
struct scenario_stream {
	enum nt_side side;
	int64_t ahead_ns;
	double ppm;
	int64_t wall_ns;
	int64_t from, to;
	unsigned int loss_percent;
	unsigned int nr_steps;
	int64_t step_at[STEPS_MAX], step_ns[STEPS_MAX];
	int64_t slew_at, slew_ns;
	double slew_ppm;
	int64_t batch_ns;
};

/*
 * A connection. Streams are numbers of the scenario's. If @host or @target is STREAMS_MAX, that
 * side is not recorded.
 */
struct scenario_link {
	unsigned int host, target;
	const char *subsysnqn, *hostnqn;
	uint16_t cntlid, qid;
	uint32_t slot;
	bool old_ids; /* command ids are tags, so two uses of one look the same */
	int64_t busy; /* until when the link is busy: its jobs run one after the other */
};

/*
 * @seed: chooses the blocks: two jobs with one seed read the same blocks
 * @depth: commands in flight at most
 * @every_ns: time from one beginning to the next; 0: a command begins when one has ended
 * @jitter_ns: average delay of a beginning
 * @poisson: times between beginnings are distributed exponentially
 * @blocks: of a small file
 * @turn_tags: tags are used in turn; else the lowest free one is used
 * @first_use: the generation that a tag begins with
 */
struct scenario_job {
	unsigned int link;
	uint64_t seed;
	enum content content;
	int64_t begin;
	unsigned int commands;
	unsigned int depth;
	int64_t every_ns, think_ns, jitter_ns;
	bool poisson;
	uint32_t blocks;
	bool turn_tags;
	unsigned int first_use;
};

/* @net_ns, @service_ns: means; @noise: the random part of a time, from 0 to 1 */
struct scenario {
	uint64_t random;
	struct scenario_stream stream[STREAMS_MAX];
	struct scenario_link link[LINKS_MAX];
	struct scenario_job job[JOBS_MAX];
	unsigned int nr_streams, nr_links, nr_jobs;
	int64_t net_ns, service_ns;
	double noise;
	bool live; /* records that wait for long are given up, as in a live view */
	uint64_t nr_commands;
};

/* The result. @both: commands with a record of either side */
struct verdict {
	uint64_t both, right, wrong, single, ambiguous;
	unsigned int jumps; /* jumps of a connection's clocks that the merge has found */
};

static inline uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static inline uint64_t draw(struct scenario *s, uint64_t n)
{
	s->random = mix(s->random);
	return n ? (s->random >> 16) % n : 0;
}

/* Between 0 and 1, both excluded. */
static inline double draw_unit(struct scenario *s)
{
	return ((double)draw(s, 1u << 30) + 0.5) / (1u << 30);
}

static inline int64_t draw_exponential(struct scenario *s, int64_t mean)
{
	return (int64_t)(-log(draw_unit(s)) * (double)mean);
}

/* A time with the given @mean. A part of it is random, and a few are much longer. */
static inline int64_t draw_time(struct scenario *s, int64_t mean)
{
	int64_t t = (int64_t)((double)mean * (1 - s->noise)) +
		    draw_exponential(s, (int64_t)((double)mean * s->noise));

	return draw(s, 500) ? t : t + draw_exponential(s, 20 * mean);
}

static inline int64_t clock_of(const struct scenario_stream *m, int64_t at)
{
	int64_t ns = m->ahead_ns + at + (int64_t)((double)at * m->ppm / 1e6);

	for (unsigned int i = 0; i < m->nr_steps; i++)
		ns += at >= m->step_at[i] ? m->step_ns[i] : 0;
	if (at > m->slew_at)
		ns += (int64_t)((double)(at - m->slew_at < m->slew_ns ? at - m->slew_at
								      : m->slew_ns) *
				m->slew_ppm / 1e6);
	return ns;
}

/* The block that command @n of a job reads. */
static inline uint64_t block_of(const struct scenario_job *j, uint64_t n)
{
	switch (j->content) {
	case CONTENT_SMALL:
		return mix(j->seed + mix(n)) % j->blocks;
	case CONTENT_LOOP:
		return n % j->blocks;
	case CONTENT_SHUFFLED:
		return mix(j->seed + mix(n % j->blocks)) % (4 * (uint64_t)j->blocks);
	case CONTENT_HOT:
		if (mix(j->seed + mix(n) + 1) % 100 < 90)
			return 7;
		return mix(j->seed + mix(n)) % (1 << 28);
	default:
		return mix(j->seed + mix(n)) % (1 << 28);
	}
}

/* A record of a stream. @order: its end by the wall clock, which readers sort by */
struct scenario_record {
	int64_t order;
	unsigned int stream;
	struct nt_record r;
};

struct recording {
	struct scenario_record *record;
	size_t nr, max;
	uint8_t *sides; /* [command]: bits of the sides that recorded it */
	size_t max_sides;
};

static inline void recording_add(struct recording *out, struct scenario *s, unsigned int stream,
				 const struct nt_record *r, int64_t end, uint64_t id)
{
	const struct scenario_stream *m = &s->stream[stream];

	if (end < m->from || (m->to && end > m->to) || draw(s, 100) < m->loss_percent)
		return;
	if (out->nr == out->max) {
		out->max = out->max ? 2 * out->max : 4096;
		out->record = realloc(out->record, out->max * sizeof(*out->record));
		assert_non_null(out->record);
	}
	while (id >= out->max_sides) {
		size_t max = out->max_sides ? 2 * out->max_sides : 4096;

		out->sides = realloc(out->sides, max);
		assert_non_null(out->sides);
		memset(out->sides + out->max_sides, 0, max - out->max_sides);
		out->max_sides = max;
	}
	out->sides[id] |= (uint8_t)(1 << r->side);
	end += m->wall_ns + (int64_t)draw(s, 50 * US);
	if (m->batch_ns)
		end = (end / m->batch_ns + 1) * m->batch_ns;
	out->record[out->nr++] = (struct scenario_record){.order = end, .stream = stream, .r = *r};
}

static inline void point(struct nt_record *r, const struct scenario_stream *m, unsigned int p,
			 int64_t at)
{
	r->points[p] = (uint64_t)clock_of(m, at);
}

/* A command begins at @at. Return: when it has ended. */
static inline int64_t scenario_command(struct scenario *s, struct recording *out,
				       const struct scenario_job *j, uint64_t n, int64_t at,
				       uint16_t cid)
{
	static const struct scenario_stream nowhere;
	const struct scenario_link *l = &s->link[j->link];
	const struct scenario_stream *hm = l->host < STREAMS_MAX ? &s->stream[l->host] : &nowhere;
	const struct scenario_stream *tm =
		l->target < STREAMS_MAX ? &s->stream[l->target] : &nowhere;
	uint64_t id = s->nr_commands++, what = mix(j->seed ^ mix(n + 77));
	struct nt_record h = {
		.cid = cid,
		.qid = l->qid,
		.cntlid = l->cntlid,
		.slot = l->slot,
		.gen = 1,
		.nsid = 1,
		.length = 4096,
		.slba = 4096 + 8 * block_of(j, n),
		.op = NT_OP_READ,
		.opcode = 2,
		.shape = NT_SHAPE_READ,
	};
	struct nt_record t;
	int64_t sent, arrived, done, answered, back, end;
	bool r2t = false;

	if (what % 10 < 3) {
		r2t = what % 10 == 0;
		h.op = NT_OP_WRITE;
		h.opcode = 1;
		h.length = r2t ? 65536 : 4096;
		h.shape = r2t ? NT_SHAPE_R2T_WRITE : NT_SHAPE_INLINE_WRITE;
	}
	t = h;
	t.side = NT_TARGET;
	t.slot += 1000;
	sent = at + 1000 + draw_time(s, 2000);
	point(&h, hm, NT_H_SUBMIT, at);
	point(&h, hm, NT_H_QUEUE_RQ, at + 1000);
	point(&h, hm, NT_H_SEND_CMD, sent);
	arrived = sent + draw_time(s, s->net_ns);
	point(&t, tm, NT_T_RX, arrived);
	point(&t, tm, NT_T_CMD, arrived + 2000);
	done = arrived + 2000;
	if (r2t) {
		point(&t, tm, NT_T_SEND_R2T, done);
		back = done + draw_time(s, s->net_ns);
		point(&h, hm, NT_H_R2T_RX, back);
		point(&h, hm, NT_H_R2T, back + 1000);
		point(&h, hm, NT_H_SEND_DATA, back + 3000);
		done = back + 3000 + draw_time(s, s->net_ns);
		point(&t, tm, NT_T_DATA_RX, done);
		point(&t, tm, NT_T_DATA, done + 1000);
		done += 1000;
	}
	point(&t, tm, NT_T_EXEC, done + 1000);
	done += 1000 + draw_time(s, s->service_ns);
	point(&t, tm, NT_T_DONE, done);
	answered = done + draw_time(s, 2000);
	point(&t, tm, NT_T_SEND, answered);
	point(&t, tm, NT_T_SENT, answered + 3000);
	back = answered + draw_time(s, s->net_ns);
	point(&h, hm, NT_H_RX, back);
	end = back + 2000 + draw_time(s, 3000);
	point(&h, hm, NT_H_CQE, back + 2000);
	point(&h, hm, NT_H_COMPLETE, end);
	h.points[TRUTH_HOST] = id + 1;
	t.points[TRUTH_TARGET] = id + 1;
	if (l->host < STREAMS_MAX)
		recording_add(out, s, l->host, &h, end, id);
	if (l->target < STREAMS_MAX)
		recording_add(out, s, l->target, &t, answered + 3000, id);
	return end;
}

static inline void scenario_job(struct scenario *s, struct recording *out,
				const struct scenario_job *j)
{
	struct scenario_link *l = &s->link[j->link];
	int64_t begin = j->begin > l->busy ? j->begin : l->busy;
	int64_t free_at[TAGS_MAX] = {0}, at = begin, next = begin;
	unsigned int use[TAGS_MAX], last = 0;

	for (unsigned int i = 0; i < j->depth; i++)
		use[i] = j->first_use;
	for (uint64_t n = 0; n < j->commands; n++) {
		unsigned int tag = 0;

		for (unsigned int i = 0; i < j->depth; i++)
			if (free_at[i] < free_at[tag])
				tag = i;
		/* A command begins when its time has come and a tag is free. */
		if (j->every_ns) {
			at = next + draw_exponential(s, j->jitter_ns);
			next += j->poisson ? draw_exponential(s, j->every_ns) : j->every_ns;
		} else {
			at = free_at[tag] ? free_at[tag] + draw_time(s, j->think_ns) : at + 1000;
		}
		if (at < free_at[tag])
			at = free_at[tag];
		for (unsigned int i = 0; i < j->depth; i++) {
			unsigned int k = j->turn_tags ? (last + 1 + i) % j->depth : i;

			if (free_at[k] <= at) {
				tag = k;
				break;
			}
		}
		last = tag;
		free_at[tag] = scenario_command(
			s, out, j, n, at, (uint16_t)((l->old_ids ? 0 : use[tag] % 16 << 12) | tag));
		use[tag]++;
		if (l->busy < free_at[tag])
			l->busy = free_at[tag];
	}
}

static inline int by_order(const void *a, const void *b)
{
	const struct scenario_record *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x < y ? -1 : x > y;
}

static inline void verdict_matched(void *context, const struct merge_connection *c,
				   const struct nt_record *host, const struct nt_record *target)
{
	struct verdict *v = context;

	if (host->points[TRUTH_HOST] == target->points[TRUTH_TARGET])
		v->right++;
	else
		v->wrong++;
}

static inline void verdict_single(void *context, const struct merge_connection *c,
				  const struct nt_record *r, bool ambiguous)
{
	struct verdict *v = context;

	(*(ambiguous ? &v->ambiguous : &v->single))++;
}

static inline void tell_queue(const struct scenario *s, struct merge *m, unsigned int i,
			      enum nt_side side)
{
	const struct scenario_link *l = &s->link[i];
	unsigned int stream = side == NT_HOST ? l->host : l->target;
	struct queue_info q = {.slot = side == NT_HOST ? l->slot : l->slot + 1000,
			       .gen = 1,
			       .instance = i,
			       .cntlid = l->cntlid,
			       .qid = l->qid,
			       .sqsize = 127};

	snprintf(q.subsysnqn, sizeof(q.subsysnqn), "%s", l->subsysnqn);
	snprintf(q.hostnqn, sizeof(q.hostnqn), "%s", l->hostnqn);
	if (stream < STREAMS_MAX)
		assert_int_equal(merge_queue(m, stream, side, &q), 0);
}

static inline void tell_queues(const struct scenario *s, struct merge *m)
{
	for (unsigned int i = 0; i < s->nr_links; i++) {
		tell_queue(s, m, i, NT_HOST);
		tell_queue(s, m, i, NT_TARGET);
	}
}

/* Feeds the records in the order in which files are read side by side: by wall clock. */
static inline void scenario_run(struct scenario *s, struct verdict *v)
{
	struct merge *m = merge_new(&(struct merge_callbacks){verdict_matched, verdict_single, v});
	struct recording out = {0};
	size_t left[STREAMS_MAX] = {0};

	*v = (struct verdict){0};
	assert_non_null(m);
	for (unsigned int i = 0; i < s->nr_jobs; i++)
		scenario_job(s, &out, &s->job[i]);
	for (uint64_t i = 0; i < out.max_sides; i++)
		v->both += out.sides[i] == 3;
	if (out.nr)
		qsort(out.record, out.nr, sizeof(*out.record), by_order);
	for (unsigned int i = 0; i < s->nr_streams; i++)
		assert_int_equal(merge_stream(m, i, s->stream[i].side), 0);
	tell_queues(s, m);
	for (size_t i = 0; i < out.nr; i++)
		left[out.record[i].stream]++;
	for (unsigned int i = 0; i < s->nr_streams; i++)
		if (!left[i])
			merge_end(m, i);
	for (size_t i = 0; i < out.nr; i++) {
		assert_int_equal(merge_record(m, out.record[i].stream, &out.record[i].r), 0);
		if (!--left[out.record[i].stream])
			merge_end(m, out.record[i].stream);
		if (s->live && i % 64 == 0)
			while (merge_expire(m, 5 * SECOND))
				;
	}
	merge_finish(m);
	assert_int_equal(merge_pending(m), 0);
	for (unsigned int i = 0; i < merge_connections(m); i++)
		v->jumps += merge_connection(m, i)->jumps;
	assert_int_equal(2 * (v->right + v->wrong) + v->single + v->ambiguous +
				 merge_strays(m)->records,
			 out.nr);
	merge_free(m);
	free(out.record);
	free(out.sides);
}

#endif /* NTPROF_SCENARIO_H */
