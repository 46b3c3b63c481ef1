/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A latency histogram as user space accumulates it, and what it tells: percentiles and a mean.
 */
#ifndef NTPROF_CORE_HIST_H
#define NTPROF_CORE_HIST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buckets.h"

/**
 * struct hist - a latency histogram with full-width counts
 * @count: durations counted
 * @sum: their sum, nanoseconds: of 8,192 commands in flight it passes 2^64 on the 27th day
 * @bytes: data transferred by the commands counted; 0 for stages
 * @max: the longest, nanoseconds, exact
 * @buckets: see nt_bucket()
 */
struct hist {
	uint64_t count;
	unsigned __int128 sum;
	uint64_t bytes;
	uint64_t max;
	uint64_t buckets[NT_BUCKETS];
};

/**
 * hist_empty() - nothing to add
 *
 * Of a command that ended while an interval was read, the interval may have the count and the next one
 * the nanoseconds.
 */
bool hist_empty(const struct hist *h);

/**
 * hist_count_in() - one more duration, where it is counted in several histograms
 * @h: histogram
 * @bucket: nt_bucket() of @ns
 * @ns: nanoseconds
 */
static inline __attribute__((always_inline)) void hist_count_in(struct hist *h, unsigned int bucket,
								uint64_t ns)
{
	h->buckets[bucket]++;
	h->count++;
	h->sum += ns;
	if (h->max < ns)
		h->max = ns;
}

/**
 * hist_count() - one more duration
 * @h: histogram
 * @ns: nanoseconds
 */
static inline void hist_count(struct hist *h, uint64_t ns)
{
	hist_count_in(h, nt_bucket(ns), ns);
}

/**
 * hist_account() - all but the buckets of some more durations
 * @h: histogram, to whose buckets the caller adds them
 * @count: how many
 * @sum: nanoseconds of all together
 * @bytes: data of their commands
 * @max: longest of them, nanoseconds
 */
void hist_account(struct hist *h, uint64_t count, unsigned __int128 sum, uint64_t bytes,
		  uint64_t max);

/**
 * hist_merge() - add one histogram to another
 * @into: sum of both afterwards
 * @from: left as it is
 */
void hist_merge(struct hist *into, const struct hist *from);

/**
 * hist_percentile() - the duration that a share of the commands did not exceed
 * @h: histogram
 * @percent: above 0, at most 100
 *
 * Nearest rank: the ceil(percent / 100 * count)-th shortest duration. It is told as the middle of
 * its bucket, never above @h->max, and so is within 1/64 (1.6 %) of the exact one up to 2^36 ns.
 *
 * Return: nanoseconds, 0 when the histogram is empty.
 */
uint64_t hist_percentile(const struct hist *h, double percent);

/* A share of one in parts of it, so that percentiles such as 99.99 are whole numbers: 10^7 are one percent. */
#define HIST_PARTS 1000000000u
#define HIST_PARTS_OF_PERCENT 10000000u

/**
 * hist_tells() - whether there are enough durations for a percentile
 * @h: histogram
 * @parts: of HIST_PARTS, above 0 and below that
 *
 * It takes 1 / (1 - p) of them: of fewer, no duration is above it but by chance, and what hist_percentile() returns is
 * the maximum under another name. That is 2 for p50, 10 for p90, 100 for p99 and 1000 for p99.9. Below p50 it takes 1 / p,
 * as what is returned would be the minimum.
 */
bool hist_tells(const struct hist *h, uint32_t parts);

/** hist_min() - what no duration is below, as the lowest bucket has it: within 1/32 of the shortest; 0 when empty */
uint64_t hist_min(const struct hist *h);

/** hist_mean() - mean duration in nanoseconds, 0 when empty */
double hist_mean(const struct hist *h);

#endif /* NTPROF_CORE_HIST_H */
