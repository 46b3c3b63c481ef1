/* SPDX-License-Identifier: GPL-2.0-only */
/* A histogram's buckets by powers of two, which fit on a screen. */
#ifndef NTPROF_VIEW_OCTAVES_H
#define NTPROF_VIEW_OCTAVES_H

#include "core/hist.h"
#include "view/columns.h"

/* Powers of two that the buckets of a histogram cover; the last one has no upper bound. */
#define OCTAVES_NR (NT_MAX_BITS + 1)

/** octaves_of() - the power of two that a bucket is in; also 0 for 0 ns */
static inline unsigned int octaves_of(unsigned int bucket)
{
	return 63 - (unsigned int)__builtin_clzll(nt_bucket_low(bucket) | 1);
}

/** octaves_count() - sum up a histogram's buckets by powers of two; element 0 also counts 0 ns */
void octaves_count(const struct hist *h, uint64_t counts[OCTAVES_NR]);

/**
 * struct octaves_row - commands from the power of two @low to the power of two @high, exclusive;
 * OCTAVES_NR: no upper bound
 */
struct octaves_row {
	unsigned int low;
	unsigned int high;
	uint64_t commands;
};

enum octaves_column {
	OCTAVES_FROM,
	OCTAVES_TO, /* "inf" if there is no bound */
	OCTAVES_COMMANDS,
};

/* Rows are struct octaves_row. */
extern const struct columns octaves_columns;

#endif /* NTPROF_VIEW_OCTAVES_H */
