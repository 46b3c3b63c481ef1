// SPDX-License-Identifier: GPL-2.0-only
#include "merge/lineup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "merge/offset.h"
#include "merge/pending.h"

/* The most samples of a stream; when there are more, every second is dropped, in all streams alike. */
#ifndef SAMPLES_MAX
#define SAMPLES_MAX 16384
#endif
/* Of commands that look alike in every respect, the pairs of so many are tried. */
#define ALIKE_MAX 16
/* The most differences of time between two streams that are looked at. */
#define DIFFERENCES_MAX (4 * SAMPLES_MAX)
/* Offsets that agree to this, and to what clocks drift, agree: commands take some time. */
#define AGREE_NS 20000000LL
/* So many have to agree, and twice as many as on anything else. */
#define VOTES_MIN 3

struct sample {
	uint64_t key;
	uint64_t at;
};

struct samples {
	enum nt_side side;
	struct sample *s;
	unsigned int nr;
};

struct lineup {
	struct samples *streams;
	unsigned int nr;
	uint64_t mask; /* samples are those whose key has these bits clear */
	int64_t *differences;
};

struct lineup *lineup_new(unsigned int nr)
{
	struct lineup *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->nr = nr;
	l->streams = calloc(nr, sizeof(*l->streams));
	l->differences = malloc(DIFFERENCES_MAX * sizeof(*l->differences));
	if (l->streams && l->differences)
		return l;
	lineup_free(l);
	return NULL;
}

void lineup_free(struct lineup *l)
{
	if (!l)
		return;
	for (unsigned int i = 0; l->streams && i < l->nr; i++)
		free(l->streams[i].s);
	free(l->streams);
	free(l->differences);
	free(l);
}

static void thin_out(struct lineup *l)
{
	l->mask = l->mask << 1 | 1;
	for (unsigned int i = 0; i < l->nr; i++) {
		struct samples *s = &l->streams[i];
		unsigned int kept = 0;

		for (unsigned int k = 0; k < s->nr; k++) {
			if (!(s->s[k].key & l->mask))
				s->s[kept++] = s->s[k];
		}
		s->nr = kept;
	}
}

int lineup_add(struct lineup *l, unsigned int stream, const struct nt_record *r)
{
	uint64_t key = pending_key(r, r->cntlid, r->qid);
	struct samples *s = &l->streams[stream];
	uint64_t at = r->side == NT_HOST ? r->points[NT_H_SEND_CMD] : r->points[NT_T_CMD];

	if (key & l->mask || !at)
		return 0;
	if (!s->s) {
		s->s = malloc(SAMPLES_MAX * sizeof(*s->s));
		if (!s->s)
			return -ENOMEM;
	}
	s->side = (enum nt_side)r->side;
	/* The same command over and over has one key: then there is nothing that thins out. */
	if (s->nr == SAMPLES_MAX)
		thin_out(l);
	if (s->nr < SAMPLES_MAX)
		s->s[s->nr++] = (struct sample){key, at};
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static unsigned int alike(const struct samples *s, unsigned int from)
{
	unsigned int i = from;

	while (i < s->nr && s->s[i].key == s->s[from].key)
		i++;
	return i - from;
}

/* Time of @b less time of @a, for all pairs of samples that may be one command. */
static unsigned int differences(const struct samples *a, const struct samples *b, int64_t *d)
{
	unsigned int i = 0, j = 0, nr = 0;

	while (i < a->nr && j < b->nr) {
		unsigned int in_a = alike(a, i), in_b = alike(b, j);

		if (a->s[i].key == b->s[j].key) {
			for (unsigned int x = 0; x < in_a && x < ALIKE_MAX; x++) {
				for (unsigned int y = 0;
				     y < in_b && y < ALIKE_MAX && nr < DIFFERENCES_MAX; y++)
					d[nr++] = (int64_t)(b->s[j + y].at - a->s[i + x].at);
			}
		}
		if (a->s[i].key <= b->s[j].key) {
			bool both = a->s[i].key == b->s[j].key;

			i += in_a;
			if (both)
				j += in_b;
		} else {
			j += in_b;
		}
	}
	return nr;
}

/* How long a stream lasted, as its samples have it. */
static uint64_t duration(const struct samples *s)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (unsigned int i = 0; i < s->nr; i++) {
		if (s->s[i].at < first)
			first = s->s[i].at;
		if (s->s[i].at > last)
			last = s->s[i].at;
	}
	return s->nr ? last - first : 0;
}

/*
 * The densest @window of the sorted @d, but for the elements from @but_low to @but_high. Return: how many
 * it has, from @low to @high.
 */
static unsigned int densest(const int64_t *d, unsigned int nr, int64_t window, unsigned int but_low,
			    unsigned int but_high, unsigned int *low, unsigned int *high)
{
	unsigned int first = 0, best = 0;

	for (unsigned int i = 0; i < nr; i++) {
		if (i >= but_low && i <= but_high) {
			first = i + 1;
			continue;
		}
		while ((uint64_t)d[i] - (uint64_t)d[first] > (uint64_t)window)
			first++;
		if (i - first + 1 > best) {
			best = i - first + 1;
			*low = first;
			*high = i;
		}
	}
	return best;
}

/* Time of @b less time of @a, if the samples agree on it. */
static bool difference(struct lineup *l, const struct samples *a, const struct samples *b,
		       int64_t *result)
{
	unsigned int nr = differences(a, b, l->differences);
	uint64_t lasted = duration(a) > duration(b) ? duration(a) : duration(b);
	int64_t window = AGREE_NS + (int64_t)(lasted / (1000000 / OFFSET_DRIFT_PPM));
	unsigned int low = 0, high = 0, other_low, other_high;
	unsigned int votes, rival;

	qsort(l->differences, nr, sizeof(*l->differences), by_value);
	votes = densest(l->differences, nr, window, nr, nr, &low, &high);
	rival = densest(l->differences, nr, window, low, high, &other_low, &other_high);
	if (votes < VOTES_MIN || votes < 2 * rival)
		return false;
	*result = l->differences[low + (high - low) / 2];
	return true;
}

/*
 * Puts onto the axis what has commands in common with the stream @first, which is there, or with one
 * that this has put there: every two streams are compared once at most. @order: room for all
 */
static void place(struct lineup *l, int64_t *to_common, bool *placed, unsigned int *order,
		  unsigned int first)
{
	unsigned int nr = 1;

	placed[first] = true;
	order[0] = first;
	for (unsigned int done = 0; done < nr; done++) {
		unsigned int k = order[done];

		for (unsigned int i = 0; i < l->nr; i++) {
			int64_t d;

			if (placed[i] || l->streams[i].side == l->streams[k].side ||
			    !difference(l, &l->streams[k], &l->streams[i], &d))
				continue;
			to_common[i] = (int64_t)((uint64_t)to_common[k] - (uint64_t)d);
			placed[i] = true;
			order[nr++] = i;
		}
	}
}

int lineup_solve(struct lineup *l, int64_t *to_common)
{
	bool *placed = calloc(l->nr, sizeof(*placed));
	unsigned int *order = calloc(l->nr, sizeof(*order));
	int err = placed && order ? 0 : -ENOMEM;

	for (unsigned int i = 0; !err && i < l->nr; i++) {
		if (l->streams[i].nr)
			qsort(l->streams[i].s, l->streams[i].nr, sizeof(struct sample), by_key);
	}
	/* One of those that have nothing to do with each other stays where its wall clock says. */
	for (unsigned int i = 0; !err && i < l->nr; i++) {
		if (!placed[i])
			place(l, to_common, placed, order, i);
	}
	free(placed);
	free(order);
	return err;
}
