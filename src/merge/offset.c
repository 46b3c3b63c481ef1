// SPDX-License-Identifier: GPL-2.0-only
#include "merge/offset.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* First length of a window; doubled whenever OFFSET_SAMPLES are full. */
#define SPAN_NS 100000000ULL

/* Keeps the tighter one of two neighbours, so that half as many windows cover the same time. */
static void thin_out(struct offset *o)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < o->nr; i += 2) {
		const struct offset_bounds *a = &o->sample[i], *b = &o->sample[i + 1];
		bool second = i + 1 < o->nr && b->high - b->low < a->high - a->low;

		o->sample[kept++] = second ? *b : *a;
	}
	o->nr = kept;
	o->span_ns *= 2;
}

static void sample_add(struct offset *o, const struct offset_bounds *b)
{
	struct offset_bounds *last = o->nr ? &o->sample[o->nr - 1] : NULL;

	if (last && b->at < o->last_ns + o->span_ns) {
		if (b->high - b->low < last->high - last->low && b->at >= o->last_ns)
			*last = *b;
		return;
	}
	if (o->nr == OFFSET_SAMPLES)
		thin_out(o);
	o->sample[o->nr++] = *b;
	o->last_ns = b->at / o->span_ns * o->span_ns;
}

void offset_set(struct offset *o, const struct offset_bounds *b, double rate)
{
	if (!o->span_ns)
		o->span_ns = SPAN_NS;
	o->known = true;
	o->now = *b;
	/* Bounds widen by OFFSET_DRIFT_PPM anyway, so a slower rate is not needed. */
	o->rate = fabs(rate) * 1e6 > OFFSET_DRIFT_PPM ? rate : 0;
	o->width = b->high - b->low;
	o->crossed = 0;
}

void offset_jumped(struct offset *o, const struct offset_bounds *found)
{
	struct offset_bounds before = offset_widened(&o->now, found->at, 0);

	/* The former bounds may have been wrong by less than a millisecond. */
	if (!o->known && o->now.at &&
	    (found->low > before.high + 1000000 || found->high < before.low - 1000000))
		o->jumps++;
}

/* Narrows the bounds. @now: the known bounds at the time of @seen */
static inline void narrow(struct offset *o, struct offset_bounds now, struct offset_bounds seen)
{
	if (seen.low > now.high + OFFSET_CROSSED_NS || seen.high < now.low - OFFSET_CROSSED_NS)
		o->crossed += OFFSET_CROSSED_WEIGHT;
	else
		o->crossed -= o->crossed > 0;
	if (seen.low > now.high) {
		/* Time stamps are not as exact as the bounds: take the nearest offset seen. */
		now.low = now.high = seen.low;
	} else if (seen.high < now.low) {
		now.low = now.high = seen.high;
	} else {
		if (now.low < seen.low)
			now.low = seen.low;
		if (now.high > seen.high)
			now.high = seen.high;
	}
	o->now = now;
	o->width = now.high - now.low;
}

void offset_learn(struct offset *o, const struct offset_bounds *b)
{
	if (b->at > o->now.at)
		narrow(o, offset_at(o, b->at), *b);
	else
		narrow(o, o->now, offset_widened(b, o->now.at, o->rate));
	sample_add(o, b);
}

void offset_then(const struct offset *o, uint64_t at, struct offset *then)
{
	const struct offset_bounds *nearest = &o->now;

	for (unsigned int i = 0; i < o->nr; i++)
		if (offset_apart(o->sample[i].at, at) < offset_apart(nearest->at, at))
			nearest = &o->sample[i];
	then->known = true;
	then->now = *nearest;
	then->rate = o->rate;
	then->width = nearest->high - nearest->low;
	then->nr = 0;
	then->span_ns = o->span_ns;
	then->crossed = 0;
}

bool offset_follow(struct offset_bounds *now, const struct offset_bounds *b, double rate)
{
	struct offset_bounds at = offset_widened(now, b->at, rate);

	if (b->low > at.high + OFFSET_SLACK_NS || b->high < at.low - OFFSET_SLACK_NS)
		return false;
	if (b->low <= at.high && b->high >= at.low) {
		at.low = at.low < b->low ? b->low : at.low;
		at.high = at.high > b->high ? b->high : at.high;
	}
	*now = at;
	return true;
}

void offset_learn_back(struct offset *o, const struct offset_bounds *b)
{
	narrow(o, offset_at(o, b->at), *b);
}

double offset_drift_ppm(const struct offset *o)
{
	double weights = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0;

	if (o->nr < 2)
		return 0;
	/* Relative to the first sample, so that a double holds every nanosecond. */
	for (int pass = 0; pass < 2; pass++) {
		for (unsigned int i = 0; i < o->nr; i++) {
			const struct offset_bounds *s = &o->sample[i];
			double width = (double)(s->high - s->low) + 1000;
			double x = (double)(int64_t)(s->at - o->sample[0].at);
			double y = (double)(s->low - o->sample[0].low) +
				   (double)(s->high - s->low) / 2;
			double w = 1e6 / (width * width);

			if (!pass) {
				weights += w;
				mean_x += w * x;
				mean_y += w * y;
			} else {
				xx += w * (x - mean_x) * (x - mean_x);
				xy += w * (x - mean_x) * (y - mean_y);
			}
		}
		if (!pass) {
			mean_x /= weights;
			mean_y /= weights;
		}
	}
	return xx > 0 ? xy / xx * 1e6 : 0;
}

/* An end of an interval of offsets: @step is added to the number of open intervals. */
struct edge {
	int64_t offset;
	int step;
};

/* Beginnings come first: intervals that only touch overlap. */
static int by_offset(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return y->step - x->step;
}

/*
 * Finds where most bounds overlap, without those that contain all of @except (if not NULL). Return:
 * how many overlap there.
 */
static size_t deepest(const struct offset_bounds *b, size_t nr, struct edge *edges,
		      const struct offset_bounds *except, struct offset_bounds *where)
{
	size_t n = 0, depth = 0, best = 0;

	for (size_t i = 0; i < nr; i++) {
		if (except && b[i].low <= except->low && b[i].high >= except->high)
			continue;
		edges[n++] = (struct edge){b[i].low, 1};
		edges[n++] = (struct edge){b[i].high, -1};
	}
	qsort(edges, n, sizeof(*edges), by_offset);
	for (size_t i = 0; i < n; i++) {
		if (edges[i].step < 0) {
			depth--;
			continue;
		}
		if (++depth <= best)
			continue;
		best = depth;
		/* The next edge is another beginning, which overlaps even more, or an end. */
		where->low = edges[i].offset;
		where->high = edges[i + 1].offset;
	}
	return best;
}

int offset_vote(struct offset_bounds *b, size_t nr, uint64_t at, double rate, struct offset_vote *v)
{
	struct offset_bounds elsewhere;
	struct edge *edges;

	memset(v, 0, sizeof(*v));
	if (!nr)
		return 0;
	edges = malloc(2 * nr * sizeof(*edges));
	if (!edges)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		b[i] = offset_widened(&b[i], at, rate);
	v->rate = rate;
	v->best.at = at;
	v->votes = deepest(b, nr, edges, NULL, &v->best);
	v->rival = deepest(b, nr, edges, &v->best, &elsewhere);
	free(edges);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double middle(const struct offset_bounds *b)
{
	return (double)b->low + (double)(b->high - b->low) / 2;
}

double offset_rate(const struct offset_bounds *b, size_t nr, double *slopes)
{
	size_t endpoint = nr / 2, n = 0;
	double rate;

	for (size_t i = 0; i + endpoint < nr; i++) {
		const struct offset_bounds *x = &b[i], *y = &b[i + endpoint];

		if (y->at > x->at)
			slopes[n++] = (middle(y) - middle(x)) / (double)(y->at - x->at);
	}
	if (!n)
		return 0;
	qsort(slopes, n, sizeof(*slopes), by_value);
	rate = slopes[n / 2];
	return rate > OFFSET_RATE_MAX ? OFFSET_RATE_MAX : fmax(rate, -OFFSET_RATE_MAX);
}
