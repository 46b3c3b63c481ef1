// SPDX-License-Identifier: GPL-2.0-only
#include "merge/details.h"

#include <errno.h>
#include <stdlib.h>

#include "core/segments.h"

/*
 * Room for every pair of points, for each side and shape: some may be missing, so any two may
 * follow each other.
 */
#define DETAILS_MAX (DETAILS_OF * NT_SHAPES_NR * NT_POINTS_MAX * NT_POINTS_MAX)

/* What a struct detail is of, without its histogram, which is too large to make for each command.
 */
struct interval {
	enum detail_of of;
	enum nt_shape shape;
	unsigned int from;
	unsigned int to;
	bool beside;
};

/* The points of a shape that bound its stages, in their order. */
struct chain {
	unsigned int nr;
	uint8_t point[SEGMENTS_OF_SHAPE_MAX + 1];
};

struct details {
	struct chain chain[NT_SIDES][NT_SHAPES_NR];
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

	for (unsigned int side = 0; d && side < NT_SIDES; side++)
		for (unsigned int shape = 0; shape < NT_SHAPES_NR; shape++)
			chain_make(&d->chain[side][shape], (enum nt_side)side, shape);
	return d;
}

void details_free(struct details *d)
{
	for (size_t i = 0; d && i < DETAILS_MAX; i++)
		free(d->detail[i]);
	free(d);
}

static int count(struct details *d, const struct interval *what, int64_t ns)
{
	size_t at = what->shape * DETAILS_OF + what->of;
	struct detail **detail;

	at = (at * NT_POINTS_MAX + what->from) * NT_POINTS_MAX + what->to;
	detail = &d->detail[at];
	if (!*detail) {
		*detail = calloc(1, sizeof(**detail));
		if (!*detail)
			return -ENOMEM;
		**detail = (struct detail){.of = what->of,
					   .shape = what->shape,
					   .from = what->from,
					   .to = what->to,
					   .beside = what->beside};
	}
	if (ns < 0)
		(*detail)->below += ns;
	hist_count(&(*detail)->time, ns < 0 ? 0 : (uint64_t)ns);
	return 0;
}

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
static int add_beside(struct details *d, const struct nt_record *r, enum nt_side side)
{
	uint32_t bounds = segments_points(side);
	unsigned int nr = side == NT_HOST ? (unsigned int)NT_HOST_POINTS_NR
					  : (unsigned int)NT_TARGET_POINTS_NR;
	int err = 0;

	for (unsigned int i = 1; i < nr && !err; i++) {
		const struct interval what = {(enum detail_of)side, (enum nt_shape)r->shape, i - 1,
					      i, .beside = true};

		if (bounds & 1u << i || !r->points[i] || !r->points[i - 1] ||
		    r->points[i] < r->points[i - 1])
			continue;
		err = count(d, &what, (int64_t)(r->points[i] - r->points[i - 1]));
	}
	return err;
}

/* Return: 0, 1 if the points are out of order, or -ENOMEM. */
static int add_side(struct details *d, const struct nt_record *r, enum nt_side side)
{
	const struct chain *c = &d->chain[side][r->shape];
	unsigned int from = NT_POINTS_MAX;

	if (!is_ordered(c, r)) {
		d->unordered++;
		return 1;
	}
	for (unsigned int i = 0; i < c->nr; i++) {
		unsigned int to = c->point[i];
		const struct interval what = {.of = (enum detail_of)side,
					      .shape = (enum nt_shape)r->shape,
					      .from = from,
					      .to = to};

		if (!r->points[to])
			continue;
		if (from < NT_POINTS_MAX &&
		    count(d, &what, (int64_t)(r->points[to] - r->points[from])))
			return -ENOMEM;
		from = to;
	}
	return add_beside(d, r, side);
}

/* A round trip as the host saw it, less the time that the target had it. */
static int add_trip(struct details *d, const struct nt_record *host, const struct nt_record *target,
		    unsigned int sent, unsigned int back, unsigned int came, unsigned int answered)
{
	const struct interval what = {DETAIL_NETWORK, (enum nt_shape)host->shape, sent, back,
				      .beside = true};
	const __u64 *h = host->points, *t = target->points;

	if (!h[sent] || !h[back] || !t[came] || !t[answered])
		return 0;
	return count(d, &what, (int64_t)(h[back] - h[sent]) - (int64_t)(t[answered] - t[came]));
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
