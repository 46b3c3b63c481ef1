/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands whose key comes again: the same id for the same address. Ids that have no generations, before Linux 5.15 and of
 * other initiators, are tags alone, and come again soon.
 */
#ifndef NTPROF_MERGE_RECURRING_H
#define NTPROF_MERGE_RECURRING_H

#include <stdbool.h>
#include <stdint.h>

#include "merge/offset.h"
#include "merge/pending.h"
#include "merge/topology.h"

#define RECURRING_MAX 65536

/** struct recurring - @recent: hashes of keys of late, and whether they have come again */
struct recurring {
	uint32_t recent[RECURRING_MAX];
};

/** recurring_note() - a record of a half has come. @key: see pending_key(). Those of long ago are forgotten */
void recurring_note(struct recurring *c, struct half *h, const struct nt_record *r, uint64_t key);

/** recurring_recurs() - whether either side of a connection has had the key again of late */
bool recurring_recurs(const struct recurring *c, const struct half *h, uint64_t key);

/**
 * recurring_is_certain() - whether the only record that would do for another is of the same command
 * @h: a half that has a partner
 * @r: its record, which is @self if it waits; @key: of both
 * @o: offset of their clocks
 * @id: the record that would do
 *
 * Return: false if it may be of another command, as far as others that wait tell. Where a key comes again, another may be at
 * its time if a clock has jumped, which is so if many find nobody. Where ids have no generations it may be the command that
 * had the id before, or had it next, and a record of each was lost. Both are of one tag, and so one after the other.
 */
bool recurring_is_certain(const struct recurring *c, const struct pending_pool *pool,
			  const struct half *h, const struct nt_record *r, pending_id self,
			  uint64_t key, const struct offset *o, pending_id id);

/**
 * recurring_recall() - the offset when @r was sent, where the last that is known is of too long before or after to tell
 * commands apart
 * @then: filled
 *
 * Those of one key are told apart even so, as they come when the tag has been used 16 times: if fewer commands have passed,
 * or 16 of them take longer.
 *
 * Return: false if it has to wait, or cannot be told.
 */
bool recurring_recall(const struct recurring *c, const struct half *h, const struct nt_record *r,
		      uint64_t key, bool even_if_loose, struct offset *then);

#endif /* NTPROF_MERGE_RECURRING_H */
