// SPDX-License-Identifier: GPL-2.0-only
#include "view/live_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/span.h"
#include "core/statuses.h"
#include "core/time.h"

/* @next, @next_failed, @next_seen: of the current interval, which is not over yet. */
struct live_group {
	struct live_groups_row shown;
	struct hist next;
	uint64_t next_failed;
	struct flights_seen next_seen;
	struct flights_group in_flight;
};

struct live_groups {
	struct group_by by;
	struct live_group *sorted[LIVE_GROUPS_MAX];
	size_t nr;
	/* the last group that was added to: consecutive commands are often of one group */
	struct live_group *last;
	struct live_group others;
	bool any_others;
	struct live_group all; /* only its numbers in flight are used */
	struct flights flights;
	uint64_t
		/* nothing that began before this was in flight at the end of the last interval */
		told_until;
};

struct live_groups *live_groups_new(const struct group_by *by)
{
	struct live_groups *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->by = *by;
	t->others.shown.name.kind = GROUP_OTHERS;
	t->others.shown.name.op = NT_OPS_NR;
	t->others.shown.row.op = NT_OPS_NR;
	t->others.shown.row.shared = true;
	return t;
}

void live_groups_free(struct live_groups *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++) {
		flights_group_free(&t->sorted[i]->in_flight);
		free(t->sorted[i]);
	}
	flights_group_free(&t->others.in_flight);
	flights_group_free(&t->all.in_flight);
	flights_free(&t->flights);
	free(t);
}

/* Return: NULL if memory ran out. */
static struct live_group *insert(struct live_groups *t, size_t at, const struct group_name *name)
{
	struct live_group *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	memcpy(&g->shown.name, name, sizeof(*name));
	g->shown.row.op = name->op;
	g->shown.row.qid = name->queue;
	g->shown.row.shared = name->shared || !group_has(&t->by, GROUP_QUEUE);
	memmove(t->sorted + at + 1, t->sorted + at, (t->nr - at) * sizeof(t->sorted[0]));
	t->sorted[at] = g;
	t->nr++;
	return g;
}

/* Return: NULL if memory ran out. */
static struct live_group *group_of(struct live_groups *t, const struct group_name *name)
{
	size_t low = 0, high = t->nr;

	if (t->last && !group_name_order(name, &t->last->shown.name, &t->by))
		return t->last;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = group_name_order(name, &t->sorted[middle]->shown.name, &t->by);

		if (!c)
			return t->sorted[middle];
		if (c < 0)
			high = middle;
		else
			low = middle + 1;
	}
	if (t->nr < LIVE_GROUPS_MAX)
		return insert(t, low, name);
	t->any_others = true;
	return &t->others;
}

int live_groups_add(struct live_groups *t, const struct group_name *name, const struct nt_record *r)
{
	bool well = !(r->flags & NT_F_CANCELLED) && !status_is_error(r->status);
	uint64_t latency = record_latency_ns(r), begin = record_begin_ns(r);
	unsigned int bucket = nt_bucket(latency);
	struct flight flight = {.begin = begin, .end = ns_add(begin, latency)};
	struct group_name only;
	struct live_group *g;

	memcpy(&only, name, sizeof(only));
	group_name_only(&only, &t->by);
	g = group_of(t, &only);
	if (!g)
		return -ENOMEM;
	if (g != &t->others)
		t->last = g;
	flight.group[0] = &t->all.in_flight;
	flight.seen[0] = &t->all.next_seen;
	flight.group[1] = &g->in_flight;
	flight.seen[1] = &g->next_seen;
	if (latency && flights_add(&t->flights, &flight))
		return -ENOMEM;
	/*
	 * The latency of a failed command counts only in groups by status, as in groups of recorded
	 * commands.
	 */
	if (!well && (!latency || !group_has(&t->by, GROUP_STATUS))) {
		g->next_failed++;
		g->shown.failed_total++;
		return 0;
	}
	hist_count_in(&g->next, bucket, latency);
	hist_count_in(&g->shown.row.total, bucket, latency);
	g->next.bytes += r->length;
	g->shown.row.total.bytes += r->length;
	return 0;
}

/* Moves the new numbers in flight to the last interval, and adds them to the run. */
static void group_seen(struct live_group *g)
{
	struct flights_seen *total = &g->shown.seen_total, *next = &g->next_seen;

	total->count += next->count;
	total->sum += next->sum;
	if (next->most > total->most)
		total->most = next->most;
	g->shown.seen_interval = *next;
	*next = (struct flights_seen){.count = 0};
}

static void group_interval(struct live_group *g)
{
	struct hist *shown = &g->shown.row.interval;

	group_seen(g);
	g->shown.failed_interval = g->next_failed;
	g->next_failed = 0;
	if (hist_empty(shown) && hist_empty(&g->next))
		return;
	*shown = g->next;
	memset(&g->next, 0, sizeof(g->next));
}

/* When the oldest command began that is in flight; if there is none, the time of the look. */
static uint64_t oldest_began(const struct stats *s)
{
	uint64_t oldest = 0;

	for (size_t i = 0; i < s->nr_rows; i++)
		if (s->rows[i]->waiting.oldest_ns > oldest)
			oldest = s->rows[i]->waiting.oldest_ns;
	return s->looked_ns > oldest ? s->looked_ns - oldest : 0;
}

int live_groups_interval(struct live_groups *t, const struct stats *s)
{
	int err = flights_until(&t->flights, t->told_until);

	t->told_until = oldest_began(s);
	for (size_t i = 0; i < t->nr; i++)
		group_interval(t->sorted[i]);
	group_interval(&t->others);
	group_seen(&t->all);
	return err;
}

int live_groups_finish(struct live_groups *t)
{
	int err = flights_finish(&t->flights);

	for (size_t i = 0; i < t->nr; i++)
		group_seen(t->sorted[i]);
	group_seen(&t->others);
	group_seen(&t->all);
	return err;
}

const struct flights_seen *live_groups_seen(const struct live_groups *t, bool summary)
{
	return summary ? &t->all.shown.seen_total : &t->all.shown.seen_interval;
}

uint64_t live_groups_late(const struct live_groups *t)
{
	return t->flights.late;
}

size_t live_groups_nr(const struct live_groups *t)
{
	return t->nr + t->any_others;
}

const struct live_groups_row *live_groups_row(const struct live_groups *t, size_t i)
{
	return i < t->nr ? &t->sorted[i]->shown : &t->others.shown;
}
