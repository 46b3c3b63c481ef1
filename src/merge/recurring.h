/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands with keys that come again: the same command id for the same address. Ids without
 * generations (before Linux 5.15, and of other initiators) are only tags, so they come again soon.
 */
#ifndef NTPROF_MERGE_RECURRING_H
#define NTPROF_MERGE_RECURRING_H

#include <stdbool.h>
#include <stdint.h>

#include "merge/offset.h"
#include "merge/pending.h"
#include "merge/topology.h"

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
 * the other began.
 */
bool recurring_is_certain(const struct recurring *c, const struct pending_pool *pool,
			  const struct endpoint *h, const struct nt_record *r, pending_id self,
			  uint64_t key, const struct offset *o, pending_id id);

/**
 * recurring_recall() - the offset when @r was sent, if the last known one is from too long before
 * or after that to tell commands apart
 * @then: filled
 *
 * A key comes again only after its tag was used 16 times. So commands of one key can be told apart
 * even then if fewer commands have passed, or if 16 of them take longer than the clocks may have
 * drifted.
 *
 * Return: false if the record has to wait, or its pair cannot be told.
 */
bool recurring_recall(const struct recurring *c, const struct endpoint *h,
		      const struct nt_record *r, uint64_t key, bool even_if_loose,
		      struct offset *then);

#endif /* NTPROF_MERGE_RECURRING_H */
