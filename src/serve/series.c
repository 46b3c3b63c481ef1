// SPDX-License-Identifier: GPL-2.0-only
#include "serve/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"

/*
 * A group in the table. @g: first, so that a pointer to it is one to the entry; @at: index in
 * &series_table.groups
 */
struct entry {
	struct series_group g;
	uint32_t at;
	UT_hash_handle hh;
};

/*
 * Lines of a page: those of a series without statuses, and of a status; and the most bytes of a
 * line besides the labels of the group. See put_series() in serve/page.c.
 */
#define SERIES_LINES 40
#define STATUS_LINES 2
#define LINE_REST 100

/* The worth of a series. If there is no room, a series of less worth gives way to one of more. */
enum worth { DEAD, DEAD_IO, UNUSED, ADMIN, UNUSED_IO, OTHER_IO, IO };

/* A series that may give way: of the operation @op of the group @at, with its worth. */
struct candidate {
	enum worth worth;
	uint64_t lived;
	uint32_t at;
	unsigned int op;
};

/**
 * struct series_table - all groups and their series
 * @groups: @nr_groups entries, NULL if freed; none below @free_from is NULL
 * @nr: number of series in @groups, at most @max
 * @bytes: what they take of a page, at most @max_bytes
 * @candidate: @nr_candidates, in the order in which they give way; those before @next have, or are
 *             worth more now
 * @least: a lower bound of the worth of all series that are not behind @next
 * @collection: its number; @since_ms: when the collection before it was; @now_ms: when it is
 * @others, @gone: have a series for each operation, which @nr does not count
 * @turnover: [true]: limits which series give way to reads and writes; [false]: to the rest
 */
struct series_table {
	struct entry *by_labels;
	struct entry **groups;
	size_t nr_groups;
	uint32_t free_from;
	unsigned int nr;
	unsigned int max;
	uint64_t bytes;
	uint64_t max_bytes;
	struct candidate *candidate;
	size_t nr_candidates;
	size_t next;
	enum worth least;
	uint64_t collection;
	uint64_t since_ms;
	uint64_t now_ms;
	uint32_t ids;
	struct series_group others;
	struct series_group gone;
	struct turnover turnover[2];
};

const char *series_own_name(const char *nqn)
{
	if (!strcmp(nqn, SERIES_OTHER))
		return "(" SERIES_OTHER ")";
	return strcmp(nqn, SERIES_GONE) ? nqn : "(" SERIES_GONE ")";
}

static int last_group_init(struct series_group *g, const char *labels, uint64_t now_ms)
{
	g->labels = strdup(labels);
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		g->of[op] = calloc(1, sizeof(*g->of[op]));
		if (!g->of[op])
			return -ENOMEM;
		g->of[op]->created_ms = now_ms;
	}
	return g->labels ? 0 : -ENOMEM;
}

struct series_table *series_new(unsigned int max, uint64_t bytes, const char *others,
				const char *gone, uint64_t now_ms)
{
	struct series_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->max = max;
	t->max_bytes = bytes;
	t->since_ms = t->now_ms = now_ms;
	turnover_init(&t->turnover[false], max);
	turnover_init(&t->turnover[true], max);
	if (!last_group_init(&t->others, others, now_ms) &&
	    !last_group_init(&t->gone, gone, now_ms))
		return t;
	series_free(t);
	return NULL;
}

static void series_release(struct series *s)
{
	if (s)
		free(s->status);
	free(s);
}

static void group_release(struct series_group *g)
{
	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		series_release(g->of[op]);
	free(g->labels);
}

static void entry_free(struct series_table *t, struct entry *e)
{
	HASH_DEL(t->by_labels, e);
	t->groups[e->at] = NULL;
	if (e->at < t->free_from)
		t->free_from = e->at;
	group_release(&e->g);
	free(e);
}

static void group_begin(struct series_group *g)
{
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		struct series *s = g->of[op];

		if (!s)
			continue;
		memset(&s->now, 0, sizeof(s->now));
		if (!s->told)
			continue;
		s->errors += s->held;
		s->held = 0;
	}
}

/*
 * The rows of this collection may not have come yet, so a group of the last one still counts as
 * alive.
 */
static bool is_alive(const struct series_table *t, const struct series_group *g)
{
	return t->collection - g->lived <= 1;
}

static bool has_any(const struct series_group *g)
{
	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		if (g->of[op])
			return true;
	return false;
}

void series_begin(struct series_table *t, uint64_t now_ms)
{
	t->collection++;
	t->next = t->nr_candidates;
	t->least = DEAD;
	t->since_ms = t->now_ms;
	t->now_ms = now_ms;
	turnover_add(&t->turnover[false], t->since_ms, now_ms);
	turnover_add(&t->turnover[true], t->since_ms, now_ms);
	for (size_t i = 0; i < t->nr_groups; i++) {
		struct entry *e = t->groups[i];

		if (!e)
			continue;
		group_begin(&e->g);
		if (!is_alive(t, &e->g) && !has_any(&e->g))
			entry_free(t, e);
	}
	group_begin(&t->others);
	group_begin(&t->gone);
}

struct series_group *series_others(struct series_table *t)
{
	return &t->others;
}

static enum worth worth(const struct series_table *t, const struct series_group *g, unsigned int op,
			bool used)
{
	const bool io = op == NT_OP_READ || op == NT_OP_WRITE;

	if (!is_alive(t, g))
		return io && used ? DEAD_IO : DEAD;
	if (io)
		return used ? IO : UNUSED_IO;
	if (!used)
		return UNUSED;
	return op == NT_OP_ADMIN || op == NT_OP_FABRICS ? ADMIN : OTHER_IO;
}

static uint64_t bytes_of(const struct series *s)
{
	return (uint64_t)s->line_bytes * (SERIES_LINES + STATUS_LINES * s->nr_status);
}

/* Those of the others and of the gone take no room from the rest. Return: 0 or -ENOMEM. */
static int status_add(struct series_table *t, struct series *s, uint16_t status, uint64_t n)
{
	const uint32_t bytes = STATUS_LINES * s->line_bytes;
	struct series_status *new;
	unsigned int i = 0;

	while (i < s->nr_status && s->status[i].status != status)
		i++;
	if (i == s->nr_status && status != ERRORS_OTHER &&
	    (i + 1 >= SERIES_STATUSES_MAX || (bytes && t->bytes + bytes > t->max_bytes)))
		return status_add(t, s, ERRORS_OTHER, n);
	if (i == s->nr_status) {
		new = ARRAY_INSERT(s->status, s->nr_status, i);
		if (!new)
			return -ENOMEM;
		*new = (struct series_status){.status = status};
		t->bytes += bytes;
	}
	s->status[i].n += n;
	return 0;
}

/* Adds what was counted to the group @gone. Return: 0, or -ENOMEM: then the series stays */
static int give_way(struct series_table *t, struct series_group *g, unsigned int op)
{
	struct series *s = g->of[op], *gone = t->gone.of[op];

	for (unsigned int i = 0; i < s->nr_status; i++)
		if (status_add(t, gone, s->status[i].status, s->status[i].n))
			return -ENOMEM;
	for (unsigned int i = 0; i < EXPOSITION_BUCKETS; i++)
		gone->hist.below[i] += s->hist.below[i];
	gone->hist.sum += s->hist.sum;
	gone->all.commands += s->all.commands;
	gone->all.bytes += s->all.bytes;
	gone->errors += s->errors + s->held;
	gone->used |= s->used;
	t->bytes -= bytes_of(s);
	series_release(s);
	g->of[op] = NULL;
	t->nr--;
	return 0;
}

/* Of groups without rows, the one whose rows went first gives way. */
static int in_order(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int c = (x->worth > y->worth) - (x->worth < y->worth);

	if (!c && x->worth <= DEAD_IO)
		c = (x->lived > y->lived) - (x->lived < y->lived);
	if (!c)
		c = (x->at > y->at) - (x->at < y->at);
	return c ?: (x->op > y->op) - (x->op < y->op);
}

/* Finds all series that may give way. If memory ran out, there are none until the next collection.
 */
static void find_candidates(struct series_table *t)
{
	if (!t->candidate)
		t->candidate = calloc(t->max, sizeof(*t->candidate));
	t->nr_candidates = t->next = 0;
	t->least = IO;
	for (uint32_t at = 0; t->candidate && at < t->nr_groups; at++) {
		const struct series_group *g = t->groups[at] ? &t->groups[at]->g : NULL;

		for (unsigned int op = 0; g && op < NT_OPS_NR; op++) {
			enum worth is = g->of[op] ? worth(t, g, op, g->of[op]->used) : IO;

			if (is < IO)
				t->candidate[t->nr_candidates++] =
					(struct candidate){is, g->lived, at, op};
		}
	}
	if (t->nr_candidates)
		qsort(t->candidate, t->nr_candidates, sizeof(*t->candidate), in_order);
}

/*
 * One search for all of a collection, and another where series that were made since are worth less:
 * hosts may come and go by the thousand, and none should cost a search.
 *
 * Return: the next series of less worth than @wanted, NULL if there is none
 */
static const struct candidate *next_candidate(struct series_table *t, enum worth wanted)
{
	for (;;) {
		const struct candidate *c =
			t->next < t->nr_candidates ? &t->candidate[t->next] : NULL;
		const struct series_group *g;
		enum worth is;

		if (!c || c->worth >= wanted) {
			if (t->least >= wanted)
				return NULL;
			find_candidates(t);
			continue;
		}
		t->next++;
		g = &t->groups[c->at]->g;
		is = g->of[c->op] ? worth(t, g, c->op, g->of[c->op]->used) : IO;
		if (is == c->worth)
			return c;
		if (is < t->least)
			t->least = is;
	}
}

/*
 * Makes room for a series of the worth @wanted that takes @bytes of a page. Return: whether there
 * is room
 */
static bool make_room(struct series_table *t, enum worth wanted, uint64_t bytes)
{
	struct turnover *turnover = &t->turnover[wanted == IO];
	const struct candidate *c;

	while (t->nr >= t->max || t->bytes + bytes > t->max_bytes) {
		c = turnover_any(turnover) ? next_candidate(t, wanted) : NULL;
		if (!c || give_way(t, &t->groups[c->at]->g, c->op))
			return false;
		turnover_take(turnover);
	}
	if (wanted < t->least)
		t->least = wanted;
	return true;
}

/* Return: NULL if there is no room or no memory. */
static struct series *series_make(struct series_table *t, struct series_group *g, unsigned int op,
				  bool used)
{
	struct series new = {.created_ms = t->since_ms,
			     .line_bytes = (uint32_t)strlen(g->labels) + LINE_REST};
	struct series *s;

	if (!make_room(t, worth(t, g, op, used), bytes_of(&new)))
		return NULL;
	s = malloc(sizeof(*s));
	if (!s)
		return NULL;
	*s = new;
	g->of[op] = s;
	t->nr++;
	t->bytes += bytes_of(s);
	return s;
}

/* Return: whether there is room for another group. */
static bool place_make(struct series_table *t, uint32_t *at)
{
	struct entry **place;

	for (*at = t->free_from; *at < t->nr_groups; ++*at)
		if (!t->groups[*at])
			break;
	t->free_from = *at;
	if (*at < t->nr_groups)
		return true;
	place = ARRAY_INSERT(t->groups, t->nr_groups, t->nr_groups);
	if (place)
		*place = NULL;
	return place;
}

static struct entry *entry_make(struct series_table *t, const char *labels)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->g.labels = strdup(labels);
	if (e->g.labels && place_make(t, &e->at)) {
		HASH_ADD_KEYPTR(hh, t->by_labels, e->g.labels, strlen(labels), e);
		if (hash_added(e)) {
			t->groups[e->at] = e;
			e->g.id = ++t->ids;
			return e;
		}
	}
	free(e->g.labels);
	free(e);
	return NULL;
}

struct series_group *series_group(struct series_table *t, const char *labels, uint32_t ops,
				  uint32_t *at)
{
	struct entry *e;

	if (!strcmp(labels, t->others.labels))
		return &t->others;
	if (!strcmp(labels, t->gone.labels))
		return &t->gone;
	HASH_FIND_STR(t->by_labels, labels, e);
	if (!e)
		e = entry_make(t, labels);
	if (!e)
		return NULL;
	e->g.lived = t->collection;
	*at = e->at;
	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		if (ops & 1u << op && !e->g.of[op])
			series_make(t, &e->g, op, false);
	return &e->g;
}

struct series_group *series_group_at(struct series_table *t, uint32_t at, uint32_t id)
{
	struct entry *e = at < t->nr_groups ? t->groups[at] : NULL;

	if (!e || e->g.id != id)
		return NULL;
	e->g.lived = t->collection;
	return &e->g;
}

struct series *series_count(struct series_table *t, struct series_group *g, enum nt_op op)
{
	struct series *s = g->of[op] ?: series_make(t, g, op, true);

	g->seen |= 1u << op;
	if (!s)
		s = t->others.of[op];
	s->used = true;
	return s;
}

int series_error(struct series_table *t, struct series *s, uint16_t status, uint64_t n)
{
	if (s->told)
		s->errors += n;
	else
		s->held += n;
	return status_add(t, s, status, n);
}

size_t series_folded(const struct series_table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nr_groups; i++) {
		const struct series_group *g = t->groups[i] ? &t->groups[i]->g : NULL;

		for (unsigned int op = 0; g && is_alive(t, g) && op < NT_OPS_NR; op++)
			n += g->seen & 1u << op && !g->of[op];
	}
	return n;
}

const struct series_group *series_next(const struct series_table *t, size_t *at)
{
	while (*at < t->nr_groups && !t->groups[*at])
		++*at;
	if (*at < t->nr_groups)
		return &t->groups[(*at)++]->g;
	switch ((*at)++ - t->nr_groups) {
	case 0:
		return &t->others;
	case 1:
		return &t->gone;
	default:
		return NULL;
	}
}

void series_free(struct series_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr_groups; i++)
		if (t->groups[i])
			entry_free(t, t->groups[i]);
	group_release(&t->others);
	group_release(&t->gone);
	free(t->groups);
	free(t->candidate);
	free(t);
}
