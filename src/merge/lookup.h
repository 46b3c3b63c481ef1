/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which of the records that wait could be the other side's of a command: those that asked for the same,
 * of a half that may be the partner, at a time that agrees with what is known of the clocks.
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
 * struct lookup - what waits for a record
 * @nr: how many would do; 2: more than one
 * @any: some ask for the same, whether they would do or not
 * @id: the last of them that was looked at, valid if there is one
 * @bounds: what it and the record say of the offset
 */
struct lookup {
	pending_id id;
	struct offset_bounds bounds;
	unsigned int nr;
	bool any;
};

/**
 * lookup_partner() - look among the records of a half's partner
 * @pool: where they wait
 * @h: half of the record, which has a partner
 * @r: the record
 * @key: its pending_key()
 * @o: offset that they have to agree with
 * @l: filled
 */
void lookup_partner(const struct pending_pool *pool, const struct half *h,
		    const struct nt_record *r, uint64_t key, const struct offset *o,
		    struct lookup *l);

/**
 * lookup_doubt() - mark those that would do for a record as doubtful
 * @pool: where they wait
 * @t: which halves there are
 * @h: half of the record; without a partner all records count that wait at halves which may be it
 * @r: the record
 * @key: its pending_key()
 * @given_up: the record is given up, so that those that would do at its time are forsaken as well
 *
 * Return: whether there are any.
 */
bool lookup_doubt(struct pending_pool *pool, const struct topology *t, const struct half *h,
		  const struct nt_record *r, uint64_t key, bool given_up);

/**
 * lookup_candidates() - the bounds of all pairs that a waiting record could be one command with
 * @pool: where all wait
 * @id: the record's number
 * @other: half of the other side, whose records are looked at
 * @prior: offset that they have to agree with, if it is known
 * @b: bounds, to which these are appended
 * @nr: how many there are already
 * @max: how many there may be: the newest come first
 *
 * Return: how many there are now.
 */
size_t lookup_candidates(const struct pending_pool *pool, pending_id id, const struct half *other,
			 const struct offset *prior, struct offset_bounds *b, size_t nr,
			 size_t max);

#endif /* NTPROF_MERGE_LOOKUP_H */
