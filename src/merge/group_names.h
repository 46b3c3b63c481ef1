/* SPDX-License-Identifier: GPL-2.0-only */
/* What a recorded command is called by the keys of --by, and what it counts for: of both sides, or of one. */
#ifndef NTPROF_MERGE_GROUP_NAMES_H
#define NTPROF_MERGE_GROUP_NAMES_H

#include "core/queue.h"
#include "merge/connection.h"
#include "merge/groups.h"
#include "merge/places.h"

/**
 * struct group_recorder - who recorded a command
 * @machine: its host's name, where there are several hosts; NULL: "nvme0" tells enough
 * @source: [side] where its points are from; NULL of a side that is not there
 * @stream: of its host, or else of the side that there is: controllers of another one are others
 * @began_ns: when that recording began, and @to_common what to add to its times for the clock of all
 * @sample: one command in so many was measured; 0 and 1: every one
 * @places: what its recording calls devices, paths and origins; NULL: nothing
 */
struct group_recorder {
	const char *machine;
	const char *source[NT_SIDES];
	unsigned int stream;
	uint64_t began_ns;
	int64_t to_common;
	uint32_t sample;
	const struct places *places;
};

/** group_name_merged() - @name is filled, as far as it is @by that; @r: the host's record */
void group_name_merged(struct group_name *name, const struct group_by *by,
		       const struct merge_connection *c, const struct nt_record *r,
		       const struct group_recorder *who);

/** group_name_side() - the same of a command of one side; @q: NULL of a queue that nobody told of */
void group_name_side(struct group_name *name, const struct group_by *by, enum nt_side side,
		     const struct queue_info *q, const struct nt_record *r,
		     const struct group_recorder *who);

/**
 * groups_add_record() - count a command of that name
 * @r: whose latency counts, which is that of one that failed as well where groups are by status
 *
 * Return: 0 or -ENOMEM.
 */
int groups_add_record(struct groups *g, const struct group_name *name, const struct nt_record *r,
		      const struct group_recorder *who);

#endif /* NTPROF_MERGE_GROUP_NAMES_H */
