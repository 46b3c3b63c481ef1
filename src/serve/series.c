// SPDX-License-Identifier: GPL-2.0-only
#include "serve/series.h"

#include <stdlib.h>
#include <string.h>

/* uthash gives up by itself unless told not to. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* A label set that was seen; @folded ones are known by a hash only, as their number is not bounded by SERIES_MAX. */
struct entry {
	UT_hash_handle hh;
	struct series s;
};

/* Label sets that have no series are counted one by one up to here: rows that a machine may have, and more. */
#define FOLDED_MAX 65536

struct series_table {
	struct entry *by_labels;
	struct entry *order[SERIES_MAX];
	size_t nr;
	struct series others;
	uint64_t *folded; /* hashes of label sets, sorted */
	size_t nr_folded;
};

/* FNV-1a */
static uint64_t hash(const char *labels)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (const char *c = labels; *c; c++)
		h = (h ^ (unsigned char)*c) * 0x100000001b3ULL;
	return h;
}

struct series_table *series_new(const char *labels_of_others)
{
	struct series_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->others.labels = strdup(labels_of_others);
	if (!t->others.labels) {
		free(t);
		return NULL;
	}
	return t;
}

static void zero(struct series *s)
{
	memset(&s->now, 0, sizeof(s->now));
}

void series_begin(struct series_table *t)
{
	for (size_t i = 0; i < t->nr; i++)
		zero(&t->order[i]->s);
	zero(&t->others);
}

/* Return: whether @labels are counted among those that have no series. */
static bool fold(struct series_table *t, const char *labels)
{
	const uint64_t h = hash(labels);
	size_t low = 0, high = t->nr_folded;
	uint64_t *grown;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->folded[middle] == h)
			return true;
		if (t->folded[middle] < h)
			low = middle + 1;
		else
			high = middle;
	}
	if (t->nr_folded == FOLDED_MAX)
		return true;
	grown = reallocarray(t->folded, t->nr_folded + 1, sizeof(*grown));
	if (!grown)
		return false;
	t->folded = grown;
	memmove(grown + low + 1, grown + low, (t->nr_folded - low) * sizeof(*grown));
	grown[low] = h;
	t->nr_folded++;
	return true;
}

struct series *series_get(struct series_table *t, const char *labels)
{
	struct entry *e;

	HASH_FIND_STR(t->by_labels, labels, e);
	if (e)
		return &e->s;
	if (!strcmp(labels, t->others.labels))
		return &t->others;
	if (t->nr == SERIES_MAX)
		return fold(t, labels) ? &t->others : NULL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->s.labels = strdup(labels);
	if (!e->s.labels) {
		free(e);
		return NULL;
	}
	HASH_ADD_KEYPTR(hh, t->by_labels, e->s.labels, strlen(labels), e);
	if (!e->hh.tbl) {
		free(e->s.labels);
		free(e);
		return NULL;
	}
	t->order[t->nr++] = e;
	return &e->s;
}

size_t series_folded(const struct series_table *t)
{
	return t->nr_folded;
}

static bool is_of_something(const struct series *s)
{
	return s->told.below[EXPOSITION_BUCKETS - 1] || s->now.all.commands || s->now.errors ||
	       s->now.waiting.commands;
}

const struct series *series_next(const struct series_table *t, size_t *at)
{
	size_t i = (*at)++;

	if (i < t->nr)
		return &t->order[i]->s;
	return i == t->nr && (t->nr_folded || is_of_something(&t->others)) ? &t->others : NULL;
}

void series_free(struct series_table *t)
{
	if (!t)
		return;
	HASH_CLEAR(hh, t->by_labels);
	for (size_t i = 0; i < t->nr; i++) {
		free(t->order[i]->s.labels);
		free(t->order[i]);
	}
	free(t->others.labels);
	free(t->folded);
	free(t);
}
