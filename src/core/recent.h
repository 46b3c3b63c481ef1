/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last ten seconds of a histogram, for percentiles where an interval has too few commands; and
 * the p99 of the last intervals.
 */
#ifndef NTPROF_CORE_RECENT_H
#define NTPROF_CORE_RECENT_H

#include <stddef.h>
#include <stdint.h>

#include "core/hist.h"

#define RECENT_NS 10000000000ULL
/* Each has a second, and one is being left behind. */
#define RECENT_SLOTS 12
/* So many intervals are in the history of p99. */
#define RECENT_HISTORY 16
/* The percentile that tells whether an interval has enough commands, see hist_tells(). */
#define RECENT_P99 (990 * (HIST_PARTS / 1000))

/**
 * struct recent - the last ten seconds of a row
 * @h: the sum of the slots; its max is not exact, but that of the slot that has it
 * @ns: how long the slots were collected for
 * @p99: of the last intervals, the latest first, or of @h where they have too few commands; 0: not
 *       known
 * @slot: @nr of them, the oldest first
 */
struct recent {
	struct hist h;
	uint64_t ns;
	uint64_t p99[RECENT_HISTORY];
	unsigned int nr;
	struct recent_slot {
		uint64_t began_ns;
		uint64_t ns;
		uint64_t bytes;
		uint64_t max;
		unsigned __int128 sum;
		struct recent_bucket {
			uint32_t bucket;
			uint64_t nr;
		} * bucket;
		size_t nr;
	} slot[RECENT_SLOTS];
};

/**
 * recent_add() - add an interval that has ended
 * @r: made with the first commands, and released when there were none for as long as it remembers
 * @now: CLOCK_MONOTONIC nanoseconds
 * @ns: length of the interval
 *
 * Return: 0 or -ENOMEM.
 */
int recent_add(struct recent **r, const struct hist *interval, uint64_t now, uint64_t ns);

/** recent_merge() - add up what can be shown: @h, and of @ns and @p99 the most */
void recent_merge(struct recent *into, const struct recent *from);

/** recent_free() - release; NULL is fine */
void recent_free(struct recent *r);

#endif /* NTPROF_CORE_RECENT_H */
