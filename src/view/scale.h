/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A histogram's buckets around the latencies that somebody wants to see: one of what is below a minimum, then from there
 * on the first of 2^shift microseconds, and each next one up to twice as far from the minimum.
 */
#ifndef NTPROF_VIEW_SCALE_H
#define NTPROF_VIEW_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/hist.h"
#include "view/columns.h"

/* Buckets whose width doubles reach from one microsecond past the longest that histograms tell apart. */
#define SCALE_BUCKETS 32u
#define SCALE_SHIFT_MAX 24u

/** struct scale - all zero: buckets from 1 us on; @on: it is asked for, else powers of two are shown */
struct scale {
	bool on;
	uint64_t min_ns;
	unsigned int shift;
};

/** struct scale_row - a bucket; the last one has no end */
struct scale_row {
	uint64_t from;
	uint64_t to;
	bool endless;
	uint64_t commands;
};

enum scale_column {
	SCALE_FROM,
	SCALE_TO, /* "inf" where there is no end */
	SCALE_COMMANDS,
};

/* Of struct scale_row. */
extern const struct columns scale_columns;

/**
 * scale_count() - @row is filled: from the first bucket that has counted something to the last one
 *
 * The buckets of a histogram have their own bounds: one that lies in two is counted where its middle is, so that bounds
 * are true to 1/64.
 * Return: how many rows there are.
 */
unsigned int scale_count(const struct scale *s, const struct hist *h,
			 struct scale_row row[SCALE_BUCKETS]);

#endif /* NTPROF_VIEW_SCALE_H */
