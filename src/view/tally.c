// SPDX-License-Identifier: GPL-2.0-only
#include "view/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/span.h"
#include "core/statuses.h"

/* @next, @next_failed: of the interval that is not over yet */
struct group {
	struct tally_row shown;
	struct hist next;
	uint64_t next_failed;
};

struct tally {
	struct group_by by;
	struct group *sorted[TALLY_GROUPS_MAX];
	size_t nr;
	struct group *last; /* that was added to: commands often come one after the other */
	struct group others;
	bool any_others;
};

struct tally *tally_new(const struct group_by *by)
{
	struct tally *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->by = *by;
	t->others.shown.name.kind = GROUP_OTHERS;
	t->others.shown.name.op = NT_OPS_NR;
	t->others.shown.row.op = NT_OPS_NR;
	t->others.shown.row.shared = true;
	return t;
}

void tally_free(struct tally *t)
{
	for (size_t i = 0; t && i < t->nr; i++)
		free(t->sorted[i]);
	free(t);
}

/* Return: NULL when memory ran out. */
static struct group *insert(struct tally *t, size_t at, const struct group_name *name)
{
	struct group *g = calloc(1, sizeof(*g));

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

/* Return: NULL when memory ran out. */
static struct group *group_of(struct tally *t, const struct group_name *name)
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
	if (t->nr < TALLY_GROUPS_MAX)
		return insert(t, low, name);
	t->any_others = true;
	return &t->others;
}

int tally_add(struct tally *t, const struct group_name *name, const struct nt_record *r)
{
	bool well = !(r->flags & NT_F_CANCELLED) && !status_is_error(r->status);
	uint64_t latency = record_latency_ns(r);
	unsigned int bucket = nt_bucket(latency);
	struct group_name only;
	struct group *g;

	memcpy(&only, name, sizeof(only));
	group_name_only(&only, &t->by);
	g = group_of(t, &only);
	if (!g)
		return -ENOMEM;
	if (g != &t->others)
		t->last = g;
	/* As in groups of recorded commands: those that failed have a latency only beside their status. */
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

static void group_interval(struct group *g)
{
	struct hist *shown = &g->shown.row.interval;

	g->shown.failed_interval = g->next_failed;
	g->next_failed = 0;
	if (hist_empty(shown) && hist_empty(&g->next))
		return;
	*shown = g->next;
	memset(&g->next, 0, sizeof(g->next));
}

void tally_interval(struct tally *t)
{
	for (size_t i = 0; i < t->nr; i++)
		group_interval(t->sorted[i]);
	group_interval(&t->others);
}

size_t tally_nr(const struct tally *t)
{
	return t->nr + t->any_others;
}

const struct tally_row *tally_row(const struct tally *t, size_t i)
{
	return i < t->nr ? &t->sorted[i]->shown : &t->others.shown;
}
