/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A histogram's buckets for the latencies that the user wants to see. The first bucket is below a
 * minimum. The second one begins at the minimum and is 2^shift microseconds wide. Each further one
 * ends twice as far from the minimum as the one before.
 */
#ifndef NTPROF_VIEW_SCALE_H
#define NTPROF_VIEW_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/hist.h"
#include "view/columns.h"

/*
 * With doubling widths, these buckets reach from one microsecond to beyond the longest latency that
 * histograms distinguish.
 */
#define SCALE_BUCKETS 32u
#define SCALE_SHIFT_MAX 24u

/**
 * struct scale - if all zero: buckets from 1 us on; @on: the user has asked for it, otherwise
 * powers of two are shown
 */
struct scale {
	bool on;
	uint64_t min_ns;
	unsigned int shift;
};

/** struct scale_row - a bucket; the last one has no upper bound */
struct scale_row {
	uint64_t from;
	uint64_t to;
	bool endless;
	uint64_t commands;
};

enum scale_column {
	SCALE_FROM,
	SCALE_TO, /* "inf" if there is no upper bound */
	SCALE_COMMANDS,
};

/* Rows are struct scale_row. */
extern const struct columns scale_columns;

/**
 * scale_count() - fill @row, from the first bucket that is not empty to the last one
 *
 * The buckets of a histogram have their own bounds. A bucket that overlaps two buckets of the scale
 * is counted where its middle is, so bounds are exact to 1/64.
 * Return: number of rows.
 */
unsigned int scale_count(const struct scale *s, const struct hist *h,
			 struct scale_row row[SCALE_BUCKETS]);

#endif /* NTPROF_VIEW_SCALE_H */
