// SPDX-License-Identifier: GPL-2.0-only
#include "core/recent.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

#define SLOT_NS (RECENT_NS / 10)

/* Takes the oldest slot out of the sum. */
static void drop_oldest(struct recent *r)
{
	struct recent_slot *s = &r->slot[0];

	for (size_t i = 0; i < s->nr; i++) {
		r->h.buckets[s->bucket[i].bucket] -= s->bucket[i].nr;
		r->h.count -= s->bucket[i].nr;
	}
	r->h.sum -= s->sum;
	r->h.bytes -= s->bytes;
	r->ns -= s->ns;
	free(s->bucket);
	memmove(s, s + 1, --r->nr * sizeof(*s));
	r->h.max = 0;
	for (unsigned int i = 0; i < r->nr; i++)
		if (r->slot[i].max > r->h.max)
			r->h.max = r->slot[i].max;
}

/* Return: 0 or -ENOMEM. */
static int add_to_slot(struct recent_slot *s, const struct hist *h)
{
	uint64_t left = h->count;

	for (unsigned int b = 0; b < NT_BUCKETS && left; b++) {
		struct recent_bucket *new;

		if (!h->buckets[b])
			continue;
		new = ARRAY_INSERT(s->bucket, s->nr, s->nr);
		if (!new)
			return -ENOMEM;
		*new = (struct recent_bucket){b, h->buckets[b]};
		left -= h->buckets[b];
	}
	s->sum += h->sum;
	s->bytes += h->bytes;
	if (h->max > s->max)
		s->max = h->max;
	return 0;
}

static uint64_t p99_of(const struct hist *interval, const struct hist *window)
{
	if (hist_tells(interval, RECENT_P99))
		return hist_percentile(interval, 99);
	return interval->count && hist_tells(window, RECENT_P99) ? hist_percentile(window, 99) : 0;
}

static bool is_empty(const struct recent *r)
{
	for (unsigned int i = 0; i < RECENT_HISTORY; i++)
		if (r->p99[i])
			return false;
	return !r->h.count;
}

int recent_add(struct recent **recent, const struct hist *interval, uint64_t now, uint64_t ns)
{
	struct recent *r = *recent;
	struct recent_slot *last;
	int err;

	if (!r && !interval->count)
		return 0;
	if (!r)
		r = *recent = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	while (r->nr && now - r->slot[0].began_ns > RECENT_NS)
		drop_oldest(r);
	last = r->nr ? &r->slot[r->nr - 1] : NULL;
	if (!last || (now - last->began_ns >= SLOT_NS && r->nr < RECENT_SLOTS)) {
		last = &r->slot[r->nr++];
		*last = (struct recent_slot){.began_ns = now - ns};
	}
	err = add_to_slot(last, interval);
	last->ns += ns;
	r->ns += ns;
	hist_merge(&r->h, interval);
	memmove(r->p99 + 1, r->p99, sizeof(r->p99) - sizeof(r->p99[0]));
	r->p99[0] = p99_of(interval, &r->h);
	if (!err && is_empty(r)) {
		recent_free(r);
		*recent = NULL;
	}
	return err;
}

void recent_merge(struct recent *into, const struct recent *from)
{
	hist_merge(&into->h, &from->h);
	if (from->ns > into->ns)
		into->ns = from->ns;
	for (unsigned int i = 0; i < RECENT_HISTORY; i++)
		if (from->p99[i] > into->p99[i])
			into->p99[i] = from->p99[i];
}

void recent_free(struct recent *r)
{
	for (unsigned int i = 0; r && i < r->nr; i++)
		free(r->slot[i].bucket);
	free(r);
}
