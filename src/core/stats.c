// SPDX-License-Identifier: GPL-2.0-only
/* Accumulated histograms and counters, and the names and sums that the tables of points give. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strverscmp() */
#endif
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/stats.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

bool hist_empty(const struct hist *h)
{
	return !h->count && !h->sum;
}

void hist_account(struct hist *h, uint64_t count, uint64_t sum, uint64_t bytes, uint64_t max)
{
	h->count += count;
	h->sum += sum;
	h->bytes += bytes;
	if (max > h->max)
		h->max = max;
}

void hist_merge(struct hist *into, const struct hist *from)
{
	if (hist_empty(from))
		return;
	hist_account(into, from->count, from->sum, from->bytes, from->max);
	for (unsigned int b = 0; b < NT_BUCKETS; b++)
		into->buckets[b] += from->buckets[b];
}

/*
 * 99.9 is not a binary fraction: a product a few ulps above a whole number must not become the next
 * rank.
 */
static uint64_t percentile_rank(uint64_t count, double percent)
{
	double exact = percent / 100 * (double)count * (1 - 4 * DBL_EPSILON);
	uint64_t rank;

	if (exact >= (double)count)
		return count;
	rank = exact > 0 ? (uint64_t)exact : 0;
	return (double)rank < exact || !rank ? rank + 1 : rank;
}

static uint64_t bucket_middle(const struct hist *h, unsigned int bucket)
{
	uint64_t low = nt_bucket_low(bucket), middle;

	/* The last bucket has no upper bound but the longest duration itself. */
	if (bucket == NT_OVERFLOW_BUCKET)
		middle = low + (h->max > low ? (h->max - low) / 2 : 0);
	else
		middle = low + (nt_bucket_low(bucket + 1) - low) / 2;
	return middle < h->max ? middle : h->max;
}

uint64_t hist_percentile(const struct hist *h, double percent)
{
	uint64_t rank, seen = 0;

	if (!h->count)
		return 0;
	rank = percentile_rank(h->count, percent);
	for (unsigned int b = 0; b < NT_BUCKETS; b++) {
		seen += h->buckets[b];
		if (seen >= rank)
			return bucket_middle(h, b);
	}
	return h->max;
}

double hist_mean(const struct hist *h)
{
	return h->count ? (double)h->sum / (double)h->count : 0;
}

/* What identifies a row; @controller and @peer as long as struct stats_row keeps them. */
struct row_key {
	char controller[sizeof(((struct stats_row *)0)->controller)];
	char peer[sizeof(((struct stats_row *)0)->peer)];
	uint16_t qid;
	enum nt_op op;
	bool shared;
};

static int row_compare(const struct row_key *k, const struct stats_row *r)
{
	int c = strverscmp(k->controller, r->controller);

	if (!c)
		c = strcmp(k->peer, r->peer);
	if (!c)
		c = (int)k->shared - (int)r->shared;
	if (!c)
		c = (int)k->qid - (int)r->qid;
	if (!c)
		c = (int)k->op - (int)r->op;
	return c;
}

static struct stats_row *row_insert(struct stats *s, size_t at, const struct row_key *k)
{
	struct stats_row **rows, *row;

	rows = reallocarray(s->rows, s->nr_rows + 1, sizeof(*rows));
	if (!rows)
		return NULL;
	s->rows = rows;
	row = calloc(1, sizeof(*row));
	if (!row)
		return NULL;
	memcpy(row->controller, k->controller, sizeof(row->controller));
	memcpy(row->peer, k->peer, sizeof(row->peer));
	row->qid = k->qid;
	row->op = k->op;
	row->shared = k->shared;
	memmove(rows + at + 1, rows + at, (s->nr_rows - at) * sizeof(*rows));
	rows[at] = row;
	s->nr_rows++;
	return row;
}

struct stats_row *stats_row(struct stats *s, const char *controller, const char *peer, uint16_t qid,
			    enum nt_op op, bool shared)
{
	struct row_key k = {.qid = qid, .op = op, .shared = shared};
	size_t low = 0, high = s->nr_rows;

	snprintf(k.controller, sizeof(k.controller), "%s", controller);
	snprintf(k.peer, sizeof(k.peer), "%s", peer);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = row_compare(&k, s->rows[middle]);

		if (!c)
			return s->rows[middle];
		if (c < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return row_insert(s, low, &k);
}

/* Most are empty, and together they are large. */
static void hist_clear(struct hist *h)
{
	if (!hist_empty(h))
		memset(h, 0, sizeof(*h));
}

void stats_begin_interval(struct stats *s)
{
	for (size_t i = 0; i < s->nr_rows; i++)
		hist_clear(&s->rows[i]->interval);
	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
			hist_clear(&s->stage_interval[op][i]);
	memset(s->counters_interval, 0, sizeof(s->counters_interval));
}

void stats_free(struct stats *s)
{
	for (size_t i = 0; i < s->nr_rows; i++)
		free(s->rows[i]);
	free(s->rows);
	s->rows = NULL;
	s->nr_rows = 0;
}

#define NAME_SECOND(id, name, ...) name,
#define NAME_THIRD(id, name, what) what,

static const char *name_get(const char *const *names, size_t nr, unsigned int i)
{
	return i < nr ? names[i] : "unknown";
}

const char *source_name(enum nt_source source)
{
#define SOURCE_NAME(id, name) [NT_##id] = name,
	static const char *const names[] = {NT_SOURCE_NAMES(SOURCE_NAME)};

	return source < NT_SOURCES ? names[source] : "none";
}

const char *side_name(enum nt_side side)
{
	static const char *const names[] = {[NT_HOST] = "host", [NT_TARGET] = "target"};

	return name_get(names, ARRAY_SIZE(names), side);
}

const char *op_name(enum nt_op op)
{
	static const char *const names[] = {NT_OPS(NAME_SECOND)};

	return name_get(names, ARRAY_SIZE(names), op);
}

const char *shape_name(enum nt_shape shape)
{
	static const char *const names[] = {NT_SHAPES(NAME_SECOND)};

	return name_get(names, ARRAY_SIZE(names), shape);
}

const char *stage_name(enum nt_side side, unsigned int stage)
{
	static const char *const host[] = {NT_HOST_STAGES(NAME_SECOND)};
	static const char *const target[] = {NT_TARGET_STAGES(NAME_SECOND)};

	return side == NT_HOST ? name_get(host, ARRAY_SIZE(host), stage)
			       : name_get(target, ARRAY_SIZE(target), stage);
}

unsigned int stages_nr(enum nt_side side)
{
	return side == NT_HOST ? (unsigned int)NT_HOST_STAGES_NR
			       : (unsigned int)NT_TARGET_STAGES_NR;
}

bool stage_may_be_absent(enum nt_side side, unsigned int stage)
{
	unsigned int shapes = 0;

#define SHAPES(st, of, from, to) shapes |= stage == NT_##st ? (of) : 0;
	if (side == NT_HOST) {
		NT_HOST_SEGMENTS(SHAPES)
	} else {
		NT_TARGET_SEGMENTS(SHAPES)
	}
#undef SHAPES
	return shapes != NT_SHAPES_ALL;
}

const char *point_name(enum nt_side side, unsigned int point)
{
	static const char *const host[] = {NT_HOST_POINTS(NAME_SECOND)};
	static const char *const target[] = {NT_TARGET_POINTS(NAME_SECOND)};

	return side == NT_HOST ? name_get(host, ARRAY_SIZE(host), point)
			       : name_get(target, ARRAY_SIZE(target), point);
}

unsigned int points_nr(enum nt_side side)
{
	return side == NT_HOST ? (unsigned int)NT_HOST_POINTS_NR
			       : (unsigned int)NT_TARGET_POINTS_NR;
}

const char *stats_counter_name(unsigned int counter)
{
	static const char *const names[STATS_COUNTERS_NR] = {
		NT_COUNTERS(NAME_SECOND)[STATS_PROBE_MISSED] = "probe_missed",
		[STATS_IN_FLIGHT] = "in_flight",
	};

	return name_get(names, ARRAY_SIZE(names), counter);
}

const char *stats_counter_help(unsigned int counter)
{
	static const char *const help[STATS_COUNTERS_NR] = {
		NT_COUNTERS(NAME_THIRD)[STATS_PROBE_MISSED] =
			"runs of a BPF program that the kernel skipped because one was under way",
		[STATS_IN_FLIGHT] = "commands begun and not ended when the run ended: not a loss",
	};

	return name_get(help, ARRAY_SIZE(help), counter);
}

struct segment {
	unsigned int stage;
	unsigned int shapes;
	unsigned int from;
	unsigned int to;
};

#define SEGMENT_ROW(stage, shapes, from, to) {NT_##stage, shapes, NT_##from, NT_##to},

bool record_stages(const struct nt_record *r, uint64_t stage[NT_STAGES_MAX])
{
	static const struct segment host[] = {NT_HOST_SEGMENTS(SEGMENT_ROW)};
	static const struct segment target[] = {NT_TARGET_SEGMENTS(SEGMENT_ROW)};
	const struct segment *segments = r->side == NT_HOST ? host : target;
	size_t nr = r->side == NT_HOST ? ARRAY_SIZE(host) : ARRAY_SIZE(target);

	memset(stage, 0, NT_STAGES_MAX * sizeof(*stage));
	if (r->side >= NT_SIDES || r->shape >= NT_SHAPES_NR)
		return false;
	for (size_t i = 0; i < nr; i++) {
		const struct segment *g = &segments[i];
		uint64_t from = r->points[g->from], to = r->points[g->to];

		if (!(g->shapes & (1u << r->shape)))
			continue;
		if (!from && r->side == NT_HOST && g->from == NT_H_SUBMIT)
			continue;
		if (!from || to < from) {
			memset(stage, 0, NT_STAGES_MAX * sizeof(*stage));
			return false;
		}
		stage[g->stage] += to - from;
	}
	return true;
}
