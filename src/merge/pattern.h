/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The offset between two halves whose commands all look alike (one block over and over): no pair of
 * records tells anything, but the times between one command and the next do. Each pair that a record
 * could be half of is an offset on trial; those on which the records that follow find nobody drop out.
 */
#ifndef NTPROF_MERGE_PATTERN_H
#define NTPROF_MERGE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "merge/offset.h"
#include "merge/pending.h"
#include "merge/topology.h"

/**
 * struct pattern - what came of the trial
 * @vote: the offset that lasted longest, how many records found somebody on it, and how many did on the one
 *        that came next, or as a half repeats itself
 * @in_range: records that should have, the other half having been recorded at the time
 * @refuted: offsets that were found wrong, and times at which a half does not repeat itself; the fewer
 * @lasted: the one that lasted longest did so to the end
 */
struct pattern {
	struct offset_vote vote;
	size_t in_range;
	size_t refuted;
	bool lasted;
};

/**
 * pattern_find() - try the offsets that records of one half have with another
 * @pool: where they wait
 * @few, @many: halves of one connection, perhaps; the one with fewer records, and the other
 * @prior: offset that they have to agree with, if it is known
 * @p: filled, with no votes if there is nothing to go by
 *
 * Return: 0 or -ENOMEM.
 */
int pattern_find(const struct pending_pool *pool, const struct half *few, const struct half *many,
		 const struct offset *prior, struct pattern *p);

/** pattern_least() - how many records it has to explain; @patient: there will not be more to go by */
static inline size_t pattern_least(bool patient)
{
	return patient ? 16 : 192;
}

/** pattern_convinces() - whether that cannot be chance; @patient: there will not be more to go by */
bool pattern_convinces(const struct pattern *p, bool patient);

#endif /* NTPROF_MERGE_PATTERN_H */
