/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the offset between two endpoints with commands that all look alike (one block over and
 * over). No pair of records says anything then, but the times between one command and the next do.
 * Each possible pair of a first record gives a candidate offset, which is tried on the records that
 * follow. It is dropped when too many of them have no pair at that offset.
 */
#ifndef NTPROF_MERGE_PATTERN_H
#define NTPROF_MERGE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "merge/offset.h"
#include "merge/pending.h"
#include "merge/topology.h"

/**
 * struct pattern - result of the trial
 * @vote: the offset that lasted longest. Its votes are the records with a pair at that offset; its
 *        rival has those of the next best offset, or of the endpoint compared with itself.
 * @in_range: records that should have a pair, as the other endpoint was recorded at the time
 * @refuted: offsets that were found wrong, or times at which the endpoint was found not to repeat
 *           itself, whichever are fewer
 * @lasted: the offset that lasted longest lasted to the end
 */
struct pattern {
	struct offset_vote vote;
	size_t in_range;
	size_t refuted;
	bool lasted;
};

/* The most records that a pattern covers. */
#define PATTERN_LENGTH 1024
/* More steps of all trials say nothing: with load that is fully regular, trials do not end. */
#define PATTERN_STEPS_MAX (1u << 16)

/**
 * pattern_find() - try the offsets between the records of one endpoint and those of another
 * @pool: where the records wait
 * @few, @many: endpoints that may be of one connection; @few has fewer records
 * @prior: offset with which they have to agree, if it is known
 * @steps_max: steps of all trials after which it ends, at most PATTERN_STEPS_MAX
 * @p: filled; without votes if nothing can be said
 *
 * Return: 0 or -ENOMEM.
 */
int pattern_find(const struct pending_pool *pool, const struct endpoint *few,
		 const struct endpoint *many, const struct offset *prior, unsigned int steps_max,
		 struct pattern *p);

/**
 * pattern_least() - how many records the offset has to explain; @patient: no more records will come
 */
static inline size_t pattern_least(bool patient)
{
	return patient ? 16 : 192;
}

/**
 * pattern_convinces() - whether the result is too clear to be chance; @patient: no more records
 * will come
 */
bool pattern_convinces(const struct pattern *p, bool patient);

#endif /* NTPROF_MERGE_PATTERN_H */
