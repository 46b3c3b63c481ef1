/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds out which two halves are one connection, and how far apart their clocks are: by the offset on
 * which the most pairs of records agree that could be one command.
 */
#ifndef NTPROF_MERGE_ALIGN_H
#define NTPROF_MERGE_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "merge/pending.h"
#include "merge/topology.h"

/**
 * align_half() - look for the partner of a half, or for the offset between their clocks, or both
 * @t: what is known; the partners that are found are bound
 * @pool: the records that wait
 * @h: a half whose records do
 * @patient: it has waited long enough: decide by what there is
 * @from: filled when found: the offset from which on, and back, records of @h and its partner can be matched
 *
 * Return: true when found.
 */
bool align_half(struct topology *t, const struct pending_pool *pool, struct half *h, bool patient,
		struct offset_bounds *from);

/**
 * align_possible() - whether records wait at another half that may be the partner
 * @t: what is known
 * @h: half
 * @but: not this one; NULL: any
 * @known: the offset between their clocks has to be known
 *
 * Return: also false where there are so many of one name that nothing would tell them apart.
 */
bool align_possible(const struct topology *t, const struct half *h, const struct half *but,
		    bool known);

#endif /* NTPROF_MERGE_ALIGN_H */
