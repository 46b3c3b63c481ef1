/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the waiting records that could be the other side's record of a command: they asked for the
 * same, wait at an endpoint that may be the partner, and their times agree with what is known of
 * the clocks.
 */
#ifndef NTPROF_MERGE_LOOKUP_H
#define NTPROF_MERGE_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/record.h"
#include "merge/offset.h"
#include "merge/pending.h"
#include "merge/topology.h"

/**
 * struct lookup - the records that match a record
 * @id: the last match, valid if there is one
 * @bounds: of the offset, by the record and @id
 * @nr: number of matches; 2: more than one
 * @any: some records ask for the same, whether they match or not
 */
struct lookup {
	pending_id id;
	struct offset_bounds bounds;
	unsigned int nr;
	bool any;
};

/**
 * lookup_partner() - look among the records of an endpoint's partner
 * @pool: where they wait
 * @h: endpoint of the record; it has a partner
 * @r: the record
 * @key: its pending_key()
 * @o: offset with which a match has to agree
 * @l: filled
 */
void lookup_partner(const struct pending_pool *pool, const struct endpoint *h,
		    const struct nt_record *r, uint64_t key, const struct offset *o,
		    struct lookup *l);

/**
 * lookup_doubt() - mark the matches of a record as doubtful
 * @pool: where they wait
 * @t: all endpoints
 * @h: endpoint of the record; without a partner, records at all endpoints that may be the partner
 * count
 * @r: the record
 * @key: its pending_key()
 * @given_up: the record is given up, so matches at its time are forsaken as well
 *
 * Return: whether there are any.
 */
bool lookup_doubt(struct pending_pool *pool, const struct topology *t, const struct endpoint *h,
		  const struct nt_record *r, uint64_t key, bool given_up);

/**
 * lookup_candidates() - append the bounds of all pairs that a waiting record may form
 * @pool: where all wait
 * @id: number of the record
 * @other: endpoint of the other side; its records are candidates
 * @prior: offset with which a pair has to agree, if it is known
 * @b: bounds, to which these are appended
 * @nr: number of bounds that are there already
 * @max: the most bounds that there may be; the newest records come first
 *
 * Return: number of bounds that are there now.
 */
size_t lookup_candidates(const struct pending_pool *pool, pending_id id,
			 const struct endpoint *other, const struct offset *prior,
			 struct offset_bounds *b, size_t nr, size_t max);

#endif /* NTPROF_MERGE_LOOKUP_H */
