// SPDX-License-Identifier: GPL-2.0-only
#include "core/stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/segments.h"

static int compare(const struct error_count *a, const struct error_count *b)
{
	int c = strverscmp(a->controller, b->controller);

	if (!c)
		c = strcmp(a->peer, b->peer);
	if (!c)
		c = strcmp(a->other, b->other);
	if (!c)
		c = (a->qid > b->qid) - (a->qid < b->qid);
	if (!c)
		c = (a->op > b->op) - (a->op < b->op);
	return c ?: (a->status > b->status) - (a->status < b->status);
}

/* Return: the index of @key, or where it has to be inserted; @found says which. */
static size_t find(const struct errors *e, const struct error_count *key, bool *found)
{
	size_t at = BISECT(i, 0, e->nr, compare(key, &e->row[i]) > 0);

	*found = at < e->nr && !compare(key, &e->row[at]);
	return at;
}

static int insert(struct errors *e, size_t at, const struct error_count *key)
{
	struct error_count *row = ARRAY_INSERT(e->row, e->nr, at);

	if (!row)
		return -ENOMEM;
	*row = *key;
	return 0;
}

static void count(struct error_count *row, uint64_t interval, uint64_t total)
{
	row->interval += interval;
	row->total += total;
	if (interval)
		row->quiet = 0;
}

/*
 * Adds the row that has counted nothing for longest to the others. Return: whether there is room
 * now
 */
static bool make_room(struct errors *e)
{
	struct error_count key = {.status = ERRORS_OTHER}, *quiet = NULL;
	bool found;
	size_t at;

	for (size_t i = 0; i < e->nr; i++)
		if (e->row[i].status != ERRORS_OTHER &&
		    e->row[i].quiet > (quiet ? quiet->quiet : 0))
			quiet = &e->row[i];
	if (!quiet)
		return false;
	key.op = quiet->op;
	key.total = quiet->total;
	memmove(quiet, quiet + 1, (size_t)(e->row + --e->nr - quiet) * sizeof(*quiet));
	at = find(e, &key, &found);
	if (found)
		count(&e->row[at], 0, key.total);
	else if (insert(e, at, &key))
		return false;
	return e->nr < ERRORS_MAX;
}

int errors_add(struct errors *e, const char *controller, const char *peer, uint16_t qid,
	       enum nt_op op, uint16_t status, uint64_t n)
{
	return errors_add_of(e, controller, peer, "", qid, op, status, n);
}

int errors_add_of(struct errors *e, const char *controller, const char *peer, const char *other,
		  uint16_t qid, enum nt_op op, uint16_t status, uint64_t n)
{
	struct error_count key = {.qid = qid,
				  .op = op,
				  .status = status == ERRORS_OTHER ? status
								   : status & NT_STATUS_MASK};
	bool found;
	size_t at;
	int err;

	snprintf(key.controller, sizeof(key.controller), "%s", controller);
	snprintf(key.peer, sizeof(key.peer), "%s", peer);
	snprintf(key.other, sizeof(key.other), "%s", other);
	at = find(e, &key, &found);
	if (!found && e->nr >= ERRORS_MAX) {
		if (!make_room(e))
			key = (struct error_count){.op = op, .status = ERRORS_OTHER};
		at = find(e, &key, &found);
	}
	if (!found) {
		err = insert(e, at, &key);
		if (err)
			return err;
	}
	count(&e->row[at], n, n);
	return 0;
}

int errors_fold(struct errors *into, struct errors *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		struct error_count *r = &from->row[i];
		int err;

		if (!r->total)
			continue;
		err = errors_add_of(into, r->controller, r->peer, r->other, r->qid, r->op,
				    r->status, r->total);
		if (err)
			return err;
		r->total = r->interval = 0;
	}
	return 0;
}

void errors_begin_interval(struct errors *e)
{
	for (size_t i = 0; i < e->nr; i++) {
		e->row[i].quiet += e->row[i].quiet < UINT32_MAX;
		e->row[i].interval = 0;
	}
}

void errors_free(struct errors *e)
{
	free(e->row);
	*e = (struct errors){0};
}

/* The members that identify a row. Names are as long as in struct stats_row. */
struct row_key {
	char controller[sizeof(((struct stats_row *)0)->controller)];
	char peer[sizeof(((struct stats_row *)0)->peer)];
	char other[sizeof(((struct stats_row *)0)->other)];
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
		c = strcmp(k->other, r->other);
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
	struct stats_row *row = ARRAY_MAKE(s->rows, s->nr_rows, at, sizeof(*row));

	if (!row)
		return NULL;
	memcpy(row->controller, k->controller, sizeof(row->controller));
	memcpy(row->peer, k->peer, sizeof(row->peer));
	memcpy(row->other, k->other, sizeof(row->other));
	row->qid = k->qid;
	row->op = k->op;
	row->shared = k->shared;
	return row;
}

struct stats_row *stats_row(struct stats *s, const char *controller, const char *peer, uint16_t qid,
			    enum nt_op op, bool shared)
{
	return stats_row_of(s, controller, peer, "", qid, op, shared);
}

static size_t rows_max(enum nt_op op)
{
	return op == NT_OP_ADMIN || op == NT_OP_FABRICS ? STATS_ROWS_CONNECTING : STATS_ROWS_MAX;
}

struct stats_row *stats_row_of(struct stats *s, const char *controller, const char *peer,
			       const char *other, uint16_t qid, enum nt_op op, bool shared)
{
	struct row_key k = {.qid = qid, .op = op, .shared = shared};
	size_t at;

	snprintf(k.controller, sizeof(k.controller), "%s", controller);
	snprintf(k.peer, sizeof(k.peer), "%s", peer);
	if (s->by_other)
		snprintf(k.other, sizeof(k.other), "%s", other);
	at = BISECT(i, 0, s->nr_rows, row_compare(&k, s->rows[i]) > 0);
	if (at < s->nr_rows && !row_compare(&k, s->rows[at]))
		return s->rows[at];
	if (!shared && s->nr_rows >= rows_max(op))
		return stats_others(s, op);
	return row_insert(s, at, &k);
}

struct stats_row *stats_others(struct stats *s, enum nt_op op)
{
	return stats_row(s, STATS_OTHERS, "", 0, op, true);
}

/* Compares the controllers and operations, in the order of rows. */
static int stages_compare(const struct stats_row *r, const struct stats_stages *of)
{
	int c = strverscmp(r->controller, of->controller);

	if (!c)
		c = strcmp(r->peer, of->peer);
	if (!c)
		c = strcmp(r->other, of->other);
	return c ?: (int)r->op - (int)of->op;
}

static size_t stages_at(const struct stats *s, const struct stats_row *row)
{
	return BISECT(i, 0, s->nr_stages, stages_compare(row, s->stages[i]) > 0);
}

size_t stats_stages_at(const struct stats *s, const struct stats_row *row)
{
	size_t at = stages_at(s, row);

	return !row->shared && at < s->nr_stages && !stages_compare(row, s->stages[at])
		       ? at
		       : s->nr_stages;
}

struct stats_stages *stats_stages_find(const struct stats *s, const struct stats_row *row)
{
	size_t at = stats_stages_at(s, row);

	return at < s->nr_stages ? s->stages[at] : NULL;
}

static void stages_remove(struct stats *s, size_t at)
{
	free(s->stages[at]);
	memmove(&s->stages[at], &s->stages[at + 1], (--s->nr_stages - at) * sizeof(*s->stages));
}

/* Gives up the stages that have counted nothing for longest. Return: whether there is room now */
static bool stages_make_room(struct stats *s)
{
	size_t quiet = 0;

	for (size_t i = 1; i < s->nr_stages; i++)
		if (s->stages[i]->idle > s->stages[quiet]->idle)
			quiet = i;
	if (!s->nr_stages || !s->stages[quiet]->idle)
		return false;
	for (size_t i = 0; i < s->nr_rows; i++)
		if (!stages_compare(s->rows[i], s->stages[quiet]))
			s->rows[i]->unstaged_total = true;
	stages_remove(s, quiet);
	return true;
}

struct stats_stages *stats_stages_make(struct stats *s, struct stats_row *row)
{
	struct stats_stages *of = stats_stages_find(s, row);

	if (of || row->shared)
		return of;
	if (s->nr_stages < STATS_STAGES_MAX || stages_make_room(s))
		of = ARRAY_MAKE(s->stages, s->nr_stages, stages_at(s, row), sizeof(*of));
	if (!of) {
		row->unstaged_interval = row->unstaged_total = true;
		return NULL;
	}
	memcpy(of->controller, row->controller, sizeof(of->controller));
	memcpy(of->peer, row->peer, sizeof(of->peer));
	memcpy(of->other, row->other, sizeof(of->other));
	of->op = row->op;
	return of;
}

/* Removes the stages of controllers that have no row any more. */
static void stages_tidy(struct stats *s)
{
	for (size_t i = 0; i < s->nr_stages; i++)
		s->stages[i]->has_row = false;
	for (size_t i = 0; i < s->nr_rows; i++) {
		struct stats_stages *of = stats_stages_find(s, s->rows[i]);

		if (of)
			of->has_row = true;
	}
	for (size_t i = s->nr_stages; i-- > 0;)
		if (!s->stages[i]->has_row)
			stages_remove(s, i);
}

/* Whether the connection of the row has ended, and the row has nothing in this interval. */
static bool has_ended(const struct stats_row *r,
		      bool (*ended)(const void *context, const struct stats_row *row),
		      const void *context)
{
	return !r->shared && hist_empty(&r->interval) && !r->others_interval.commands &&
	       !r->waiting.commands && ended(context, r);
}

static int by_time(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Sets @last_ns so that STATS_ENDED_MAX rows stay if those that ended at that time or before are
 * removed; 0: all may stay. @nr: number of rows that have ended. Return: 0 or -ENOMEM
 */
static int last_to_go(const struct stats *s, size_t nr, uint64_t *last_ns)
{
	uint64_t *times;
	size_t n = 0;

	*last_ns = 0;
	if (nr <= STATS_ENDED_MAX)
		return 0;
	times = calloc(nr, sizeof(*times));
	if (!times)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr_rows; i++)
		if (s->rows[i]->ended_ns)
			times[n++] = s->rows[i]->ended_ns;
	qsort(times, n, sizeof(*times), by_time);
	*last_ns = times[n - STATS_ENDED_MAX - 1];
	free(times);
	return 0;
}

static void fold_row(struct stats_row *gone, const struct stats_row *row)
{
	hist_merge(&gone->total, &row->total);
	gone->others_total.commands += row->others_total.commands;
	gone->others_total.bytes += row->others_total.bytes;
}

static bool goes(const struct stats_row *r, uint64_t last_ns)
{
	return r->ended_ns && r->ended_ns <= last_ns;
}

/*
 * Removes the rows that ended at @last_ns or before. Return: 0 or -ENOMEM; then no row is removed
 */
static int fold_rows(struct stats *s, uint64_t last_ns)
{
	struct stats_row *gone[NT_OPS_NR];
	unsigned int ops = 0;
	size_t left = 0;

	for (size_t i = 0; i < s->nr_rows; i++)
		if (goes(s->rows[i], last_ns))
			ops |= 1u << s->rows[i]->op;
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		gone[op] = ops & 1u << op ? stats_row(s, STATS_GONE, "", 0, (enum nt_op)op, true)
					  : NULL;
		if (!gone[op] && ops & 1u << op)
			return -ENOMEM;
	}
	for (size_t i = 0; i < s->nr_rows; i++) {
		struct stats_row *r = s->rows[i];

		if (!goes(r, last_ns)) {
			s->rows[left++] = r;
			continue;
		}
		fold_row(gone[r->op], r);
		recent_free(r->recent);
		free(r);
	}
	s->rows_gone += s->nr_rows - left;
	s->nr_rows = left;
	stages_tidy(s);
	return 0;
}

int stats_fold(struct stats *s, uint64_t now,
	       bool (*ended)(const void *context, const struct stats_row *row), const void *context)
{
	uint64_t first = now, last;
	size_t nr = 0;
	int err;

	for (size_t i = 0; i < s->nr_rows; i++) {
		struct stats_row *r = s->rows[i];

		if (!has_ended(r, ended, context)) {
			r->ended_ns = 0;
			continue;
		}
		nr++;
		if (!r->ended_ns)
			r->ended_ns = now;
		if (r->ended_ns < first)
			first = r->ended_ns;
	}
	err = last_to_go(s, nr, &last);
	if (err)
		return err;
	if (now > STATS_ENDED_NS && last < now - STATS_ENDED_NS)
		last = now - STATS_ENDED_NS;
	return nr && first <= last ? fold_rows(s, last) : 0;
}

/* Skips empty histograms: most are empty, and together they are large. */
static void hist_clear(struct hist *h)
{
	if (!hist_empty(h))
		memset(h, 0, sizeof(*h));
}

void stats_lacks(struct stats *s, uint32_t missing)
{
	uint64_t known = 0;

	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		known += s->stage_total[op][NT_HS_NSTACK_COMPLETION].count;
	s->missing = missing;
	if (s->side == NT_HOST && !known && s->counters_total[NT_CNT_ARRIVAL_MISSING])
		s->missing |= NT_HOST_ARRIVALS;
}

void stats_begin_interval(struct stats *s)
{
	for (size_t i = 0; i < s->nr_rows; i++) {
		hist_clear(&s->rows[i]->interval);
		s->rows[i]->others_interval = (struct workload){0};
		s->rows[i]->waiting = (struct waiting){0};
		s->rows[i]->unstaged_interval = false;
	}
	for (size_t i = 0; i < s->nr_stages; i++) {
		s->stages[i]->idle += s->stages[i]->idle < UINT32_MAX;
		for (unsigned int k = 0; k < NT_STAGES_MAX; k++)
			hist_clear(&s->stages[i]->interval[k]);
	}
	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
			hist_clear(&s->stage_interval[op][i]);
	errors_begin_interval(&s->errors);
	memset(s->alike_interval, 0, sizeof(s->alike_interval));
	memset(s->counters_interval, 0, sizeof(s->counters_interval));
}

void waiting_stage_add(struct waiting_stage *into, const struct waiting_stage *from)
{
	into->commands += from->commands;
	if (from->oldest_ns > into->oldest_ns)
		into->oldest_ns = from->oldest_ns;
}

void waiting_add(struct waiting *into, const struct waiting *from)
{
	into->commands += from->commands;
	into->at_device += from->at_device;
	if (from->oldest_ns > into->oldest_ns)
		into->oldest_ns = from->oldest_ns;
	for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
		waiting_stage_add(&into->stage[i], &from->stage[i]);
}

void stats_wait(struct stats_row *row, const struct nt_record *r, bool measured, uint64_t now)
{
	uint64_t begin = record_begin_ns(r);
	int stage = measured ? record_stage_under_way(r) : -1;
	struct waiting one = {.commands = 1};

	/*
	 * The recorded arrival of a packet may be a little later than the real one, and later than
	 * now.
	 */
	if (begin && begin < now)
		one.oldest_ns = now - begin;
	if (stage >= 0)
		one.stage[stage] = (struct waiting_stage){1, one.oldest_ns};
	if (measured && r->side == NT_TARGET && r->points[NT_T_EXEC] && !r->points[NT_T_DONE])
		one.at_device = 1;
	waiting_add(&row->waiting, &one);
}

/*
 * The number of commands, all of them different, from which an estimate would be as good as from
 * these. If there are k equal commands, the sample has all of them or none, so they add to the
 * variance in proportion to k^2.
 */
static double distinct(const uint32_t alike[NT_ALIKE])
{
	double n = 0, squares = 0;

	for (unsigned int i = 0; i < NT_ALIKE; i++) {
		n += alike[i];
		squares += (double)alike[i] * alike[i];
	}
	return squares > 0 ? n * n / squares : 0;
}

bool stats_sample(const struct stats *s, bool summary, uint64_t *measured, uint64_t *all)
{
	bool few = distinct(summary ? s->alike_total : s->alike_interval) < STATS_DISTINCT_MIN;
	double expected, off;

	*measured = *all = 0;
	for (size_t i = 0; i < s->nr_rows; i++) {
		const struct stats_row *r = s->rows[i];

		*measured += summary ? r->total.count : r->interval.count;
		*all += summary ? r->others_total.commands : r->others_interval.commands;
	}
	*all += *measured;
	if (s->sample <= 1)
		return false;
	if (!s->counted)
		return few && *all;
	expected = (double)*all / s->sample;
	off = (double)*measured - expected;
	if (few && expected >= 2.0 * STATS_DISTINCT_MIN)
		return true;
	return off * off > 25 * expected * (1 - 1.0 / s->sample);
}

const struct stats_row *stats_stalled(const struct stats *s)
{
	const struct stats_row *oldest = NULL;

	for (size_t i = 0; i < s->nr_rows; i++)
		if (!oldest || s->rows[i]->waiting.oldest_ns > oldest->waiting.oldest_ns)
			oldest = s->rows[i];
	return oldest && oldest->waiting.oldest_ns >= STATS_STALLED_NS ? oldest : NULL;
}

void stalls_look(struct stalls *t, const struct stats *s, uint64_t now)
{
	const struct stats_row *oldest = stats_stalled(s);
	bool was = t->now;

	t->now = oldest != NULL;
	if (!oldest)
		return;
	if (!t->nr) {
		t->first_ns = now;
		t->at_once =
			(double)oldest->waiting.oldest_ns + STATS_STALLED_NS >= s->passed * 1e9;
	}
	t->nr += !was;
	if (t->longest_ns < oldest->waiting.oldest_ns)
		t->longest_ns = oldest->waiting.oldest_ns;
	memcpy(t->controller, oldest->controller, sizeof(t->controller));
	t->qid = oldest->qid;
	t->op = oldest->op;
}

int stats_remember(const struct stats *s, uint64_t now)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->nr_rows; i++)
		err = recent_add(&s->rows[i]->recent, &s->rows[i]->interval, now,
				 (uint64_t)(s->seconds * 1e9));
	return err;
}

void stats_free(struct stats *s)
{
	for (size_t i = 0; i < s->nr_rows; i++) {
		recent_free(s->rows[i]->recent);
		free(s->rows[i]);
	}
	free(s->rows);
	for (size_t i = 0; i < s->nr_stages; i++)
		free(s->stages[i]);
	free(s->stages);
	errors_free(&s->errors);
	tcp_rows_free(&s->tcp);
	disk_rows_free(&s->disks);
	path_events_free(&s->path_events);
	s->rows = NULL;
	s->stages = NULL;
	s->nr_rows = s->nr_stages = 0;
	s->rows_gone = 0;
}
