/* SPDX-License-Identifier: GPL-2.0-only */
/* A latency histogram as user space accumulates it, with percentiles and a mean. */
#ifndef NTPROF_CORE_HIST_H
#define NTPROF_CORE_HIST_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/buckets.h"

/**
 * struct hist - a latency histogram with full-width counts
 * @count: number of durations
 * @sum: sum of the durations in nanoseconds; with 8,192 commands in flight it exceeds 2^64 on the
 *       27th day
 * @bytes: data transferred by the commands counted; 0 for stages
 * @max: the longest duration in nanoseconds, exact
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
 * hist_empty() - whether there is nothing to add
 *
 * Both count and sum have to be zero. If a command ended while an interval was being read, the
 * interval may have the count and the next one the nanoseconds.
 */
bool hist_empty(const struct hist *h);

/**
 * hist_count_in() - add a duration, if several histograms count it
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
 * hist_count() - add a duration
 * @h: histogram
 * @ns: nanoseconds
 */
static inline void hist_count(struct hist *h, uint64_t ns)
{
	hist_count_in(h, nt_bucket(ns), ns);
}

/**
 * hist_account() - add everything but the buckets of some durations
 * @h: histogram; the caller adds to its buckets
 * @count: number of durations
 * @sum: their sum in nanoseconds
 * @bytes: data of their commands
 * @max: the longest of them, nanoseconds
 */
void hist_account(struct hist *h, uint64_t count, unsigned __int128 sum, uint64_t bytes,
		  uint64_t max);

/**
 * hist_merge() - add one histogram to another
 * @into: the sum of both afterwards
 * @from: not changed
 */
void hist_merge(struct hist *into, const struct hist *from);

/**
 * hist_percentile() - the duration that a share of the commands did not exceed
 * @h: histogram
 * @percent: above 0, at most 100
 *
 * Nearest rank: the ceil(percent / 100 * count)-th shortest duration. The result is the middle of
 * its bucket, never above @h->max, and so is within 1/64 (1.6 %) of the exact one up to 2^36 ns.
 *
 * Return: nanoseconds, 0 when the histogram is empty.
 */
uint64_t hist_percentile(const struct hist *h, double percent);

/*
 * A share of one in parts, so that percentiles such as 99.99 are whole numbers: 10^7 parts are one
 * percent.
 */
#define HIST_PARTS 1000000000u
#define HIST_PARTS_OF_PERCENT 10000000u
/* Digits after the decimal point of a percentile. */
#define HIST_PERCENT_DIGITS 7

/** hist_parts_parse() - parts of HIST_PARTS of a text such as "p99.9"; 0 if it is no percentile */
uint32_t hist_parts_parse(const char *text);

/**
 * hist_tells() - whether there are enough durations for a percentile
 * @h: histogram
 * @parts: percentile, above 0 and below HIST_PARTS
 *
 * A percentile p needs 1 / (1 - p) durations: 2 for p50, 10 for p90, 100 for p99 and 1000 for
 * p99.9. With fewer, a duration is above it only by chance, and hist_percentile() would return the
 * maximum under another name. Below p50 it needs 1 / p, as hist_percentile() would return the
 * minimum.
 */
bool hist_tells(const struct hist *h, uint32_t parts);

/** hist_min() - lower bound of all durations, within 1/32 of the shortest one; 0 when empty */
uint64_t hist_min(const struct hist *h);

/** hist_mean() - mean duration in nanoseconds, 0 when empty */
double hist_mean(const struct hist *h);

#endif /* NTPROF_CORE_HIST_H */
