/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the waiting records that could be the other side's record of a command: they asked for the
 * same, wait at an endpoint that may be the partner, and their times agree with the known offsets
 * of the clocks.
 */
#ifndef NTPROF_MERGE_LOOKUP_H
#define NTPROF_MERGE_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merge/offset.h"
#include "merge/pending.h"
#include "merge/topology.h"
#include "shared/record.h"

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

/*
 * Commands with keys that come again: the same command id for the same address. Ids without
 * generations (before Linux 5.15, and of other initiators) are only tags, so they come again soon.
 */

#ifndef RECURRING_MAX
#define RECURRING_MAX 65536
#endif

/** struct recurring - @recent: hashes of recent keys, and whether these have come again */
struct recurring {
	uint32_t recent[RECURRING_MAX];
};

/**
 * recurring_note() - note a record of an endpoint; keys of long ago are forgotten. @key: see
 * pending_key()
 */
void recurring_note(struct recurring *c, struct endpoint *h, const struct nt_record *r,
		    uint64_t key);

/** recurring_recurs() - whether the key has come again of late, on either side of a connection */
bool recurring_recurs(const struct recurring *c, const struct endpoint *h, uint64_t key);

/**
 * recurring_is_certain() - whether the only possible pair of a record is of the same command
 * @h: an endpoint that has a partner
 * @r: its record
 * @self: number of @r if it waits, or 0
 * @key: of both records
 * @o: offset of their clocks
 * @id: the possible pair
 *
 * Return: false if it may be of another command, as far as waiting records show.
 *
 * Where a key comes again, another command may be at the same time if a clock has jumped. A clock
 * may have jumped if many records have no match.
 *
 * Where ids have no generations, the two records may be of two commands that had the id one after
 * the other, if the other record of each was lost. Both commands have one tag, so one ended before
 * the other began. Where other ids of the host have generations, the other began in the next
 * connection.
 */
bool recurring_is_certain(const struct recurring *c, const struct pending_pool *pool,
			  const struct endpoint *h, const struct nt_record *r, pending_id self,
			  uint64_t key, const struct offset *o, pending_id id);

/**
 * recurring_recall() - the offset when @r was sent, if the last known one is from too long before
 * or after that to tell commands apart
 * @then: filled
 *
 * A key comes again only after its tag was used 16 times. So commands of one key can be
 * distinguished even then if fewer commands have passed, or if 16 of them take longer than the
 * clocks may have drifted.
 *
 * Return: false if the record has to wait, or its pair cannot be determined.
 */
bool recurring_recall(const struct recurring *c, const struct endpoint *h,
		      const struct nt_record *r, uint64_t key, bool even_if_loose,
		      struct offset *then);

#endif /* NTPROF_MERGE_LOOKUP_H */
