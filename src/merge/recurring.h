/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Command ids that have no generations, before Linux 5.15 and of other initiators: they are tags alone, and come again soon.
 */
#ifndef NTPROF_MERGE_RECURRING_H
#define NTPROF_MERGE_RECURRING_H

#include <stdbool.h>
#include <stdint.h>

#include "merge/offset.h"
#include "merge/topology.h"

#define RECURRING_MAX 65536

/** struct recurring - @recent: hashes of keys of late, and whether they have come again */
struct recurring {
	uint32_t recent[RECURRING_MAX];
};

/** recurring_note() - a record of a half has come. @key: see pending_key(). Those of long ago are forgotten */
void recurring_note(struct recurring *c, struct half *h, const struct nt_record *r, uint64_t key);

/**
 * recurring_is_certain() - whether the only record that would do is of the same command
 * @h: a half that has a partner
 * @r, @other: its record, and the one of its partner; @key: of both
 * @o: offset of their clocks
 *
 * Return: false if it may be of the command that had the id before, or had it next. Where ids have no generations that may
 * be one of which a record was lost. Both are of one tag, and so one after the other.
 */
bool recurring_is_certain(const struct recurring *c, const struct half *h,
			  const struct nt_record *r, uint64_t key, const struct offset *o,
			  const struct nt_record *other);

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
