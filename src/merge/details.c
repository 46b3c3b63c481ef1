// SPDX-License-Identifier: GPL-2.0-only
#include "merge/details.h"

#include <errno.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/names.h"
#include "core/segments.h"

/*
 * Room for every pair of points, for each side and shape: some may be missing, so any two may
 * follow each other.
 */
#define POINTS ((size_t)NT_FILE_POINTS_END)
#define DETAILS_MAX (DETAILS_OF * NT_SHAPES_NR * POINTS * POINTS)

/* The points of a shape that bound its stages, in their order. */
struct chain {
	unsigned int nr;
	uint8_t point[SEGMENTS_OF_SHAPE_MAX + 1];
};

/* @beside: [side] bits of the points that bound no stage, but the first of the table */
struct details {
	struct chain chain[NT_SIDES][NT_SHAPES_NR];
	uint32_t beside[NT_SIDES];
	struct detail *detail[DETAILS_MAX];
	uint64_t unordered;
};

static void chain_make(struct chain *c, enum nt_side side, unsigned int shape)
{
	size_t nr;
	const struct segment *s = segments_of(side, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (!(s[i].shapes & 1u << shape))
			continue;
		if (!c->nr)
			c->point[c->nr++] = s[i].from;
		c->point[c->nr++] = s[i].to;
	}
}

struct details *details_new(void)
{
	struct details *d = calloc(1, sizeof(*d));

	for (unsigned int side = 0; d && side < NT_SIDES; side++) {
		d->beside[side] = ((1u << points_nr((enum nt_side)side)) - 1) & ~1u &
				  ~segments_points((enum nt_side)side);
		for (unsigned int shape = 0; shape < NT_SHAPES_NR; shape++)
			chain_make(&d->chain[side][shape], (enum nt_side)side, shape);
	}
	return d;
}

void details_free(struct details *d)
{
	for (size_t i = 0; d && i < DETAILS_MAX; i++)
		free(d->detail[i]);
	free(d);
}

/* Where the intervals of a side and shape are in @detail: [point from][point to] */
static size_t at_of(enum detail_of of, enum nt_shape shape)
{
	return (shape * (size_t)DETAILS_OF + of) * POINTS * POINTS;
}

/* Return: NULL when memory ran out. */
static __attribute__((noinline)) struct detail *detail_make(struct details *d, size_t at,
							    bool beside)
{
	const size_t of = at / (POINTS * POINTS);
	struct detail *detail = calloc(1, sizeof(*detail));

	if (!detail)
		return NULL;
	detail->of = (enum detail_of)(of % DETAILS_OF);
	detail->shape = (enum nt_shape)(of / DETAILS_OF);
	detail->from = at / POINTS % POINTS;
	detail->to = at % POINTS;
	detail->beside = beside;
	d->detail[at] = detail;
	return detail;
}

/* Return: 0 or -ENOMEM */
static inline int count(struct details *d, size_t at, bool beside, int64_t ns)
{
	struct detail *detail = d->detail[at] ?: detail_make(d, at, beside);

	if (!detail)
		return -ENOMEM;
	if (ns < 0)
		detail->below += ns;
	hist_count(&detail->time, ns < 0 ? 0 : (uint64_t)ns);
	return 0;
}

/* Nothing is counted of a command whose points are out of order. */
static bool is_ordered(const struct chain *c, const struct nt_record *r)
{
	uint64_t last = 0;

	for (unsigned int i = 0; i < c->nr; i++) {
		uint64_t ns = r->points[c->point[i]];

		if (ns && ns < last)
			return false;
		if (ns)
			last = ns;
	}
	return true;
}

/*
 * Points that bound no stage follow the point before them in the table, but may be later than
 * others.
 */
static int add_beside(struct details *d, const struct nt_record *r, enum nt_side side, size_t at)
{
	int err = 0;

	for (uint32_t bits = d->beside[side]; bits && !err; bits &= bits - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(bits);

		if (r->points[i] && r->points[i - 1] && r->points[i] >= r->points[i - 1])
			err = count(d, at + (i - 1) * POINTS + i, true,
				    (int64_t)(r->points[i] - r->points[i - 1]));
	}
	return err;
}

/* Intervals beside the chain, between @nr points that are all there and in order. */
static int add_between(struct details *d, const struct nt_record *r, size_t at,
		       const unsigned char *point, unsigned int nr)
{
	int err = 0;

	for (unsigned int i = 1; i < nr; i++)
		if (!r->points[point[i - 1]] || r->points[point[i]] < r->points[point[i - 1]])
			return 0;
	for (unsigned int i = 1; i < nr && !err; i++) {
		unsigned int from = record_point(r, point[i - 1]), to = record_point(r, point[i]);

		if (to == NT_T_DONE && r->flags & NT_F_CACHED)
			to = NT_FILE_CACHE;
		err = count(d, at + from * POINTS + to, true,
			    (int64_t)(r->points[point[i]] - r->points[point[i - 1]]));
	}
	return err;
}

/* What the target's disk or file had, if that is known. It lies between exec and done. */
static int add_disk(struct details *d, const struct nt_record *r, size_t at)
{
	static const unsigned char disk[] = {NT_T_EXEC, NT_TD_ISSUE, NT_TD_DONE, NT_T_DONE},
				   file[] = {NT_T_EXEC, NT_TD_ISSUE, NT_T_DONE},
				   at_once[] = {NT_T_EXEC, NT_T_DONE};

	if (!(r->flags & NT_F_FILE))
		return add_between(d, r, at, disk, ARRAY_SIZE(disk));
	if (r->points[NT_TD_ISSUE])
		return add_between(d, r, at, file, ARRAY_SIZE(file));
	return r->flags & NT_F_CACHED ? add_between(d, r, at, at_once, ARRAY_SIZE(at_once)) : 0;
}

/* Return: 0, 1 if the points are out of order, or -ENOMEM. */
static int add_side(struct details *d, const struct nt_record *r, enum nt_side side)
{
	const struct chain *c = &d->chain[side][r->shape];
	const size_t at = at_of((enum detail_of)side, (enum nt_shape)r->shape);
	unsigned int from = NT_POINTS_MAX;

	if (!is_ordered(c, r)) {
		d->unordered++;
		return 1;
	}
	for (unsigned int i = 0; i < c->nr; i++) {
		unsigned int to = c->point[i];

		if (!r->points[to])
			continue;
		if (from < NT_POINTS_MAX && count(d, at + from * POINTS + to, false,
						  (int64_t)(r->points[to] - r->points[from])))
			return -ENOMEM;
		from = to;
	}
	return add_beside(d, r, side, at) ?: side == NT_TARGET ? add_disk(d, r, at) : 0;
}

/* A round trip as the host saw it, less the time that the target had it. */
static int add_trip(struct details *d, const struct nt_record *host, const struct nt_record *target,
		    unsigned int sent, unsigned int back, unsigned int came, unsigned int answered)
{
	const size_t at = at_of(DETAIL_NETWORK, (enum nt_shape)host->shape);
	const __u64 *h = host->points, *t = target->points;

	if (!h[sent] || !h[back] || !t[came] || !t[answered])
		return 0;
	return count(d, at + sent * POINTS + back, true,
		     (int64_t)(h[back] - h[sent]) - (int64_t)(t[answered] - t[came]));
}

int details_add(struct details *d, const struct nt_record *host, const struct nt_record *target)
{
	const struct nt_record *both[NT_SIDES] = {[NT_HOST] = host, [NT_TARGET] = target};
	int ret = 0;

	for (unsigned int i = 0; i < NT_SIDES && ret >= 0; i++) {
		int added = 0;

		if (both[i] && both[i]->shape < NT_SHAPES_NR)
			added = add_side(d, both[i], (enum nt_side)i);
		if (added)
			ret = added;
	}
	if (ret || !host || !target || host->shape != target->shape || host->shape >= NT_SHAPES_NR)
		return ret < 0 ? ret : 0;
	if (host->shape != NT_SHAPE_R2T_WRITE)
		return add_trip(d, host, target, NT_H_SEND_CMD, NT_H_RX, NT_T_RX, NT_T_SEND);
	return add_trip(d, host, target, NT_H_SEND_CMD, NT_H_R2T_RX, NT_T_RX, NT_T_SEND_R2T)
		       ?: add_trip(d, host, target, NT_H_SEND_DATA, NT_H_RX, NT_T_DATA_RX,
				   NT_T_SEND);
}

const struct detail *details_get(const struct details *d, size_t i)
{
	for (size_t k = 0; k < DETAILS_MAX; k++)
		if (d->detail[k] && !i--)
			return d->detail[k];
	return NULL;
}

uint64_t details_unordered(const struct details *d)
{
	return d->unordered;
}
