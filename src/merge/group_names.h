/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The name of a recorded command by the keys of --by, and what it adds to a group: for commands of
 * both sides, or of one.
 */
#ifndef NTPROF_MERGE_GROUP_NAMES_H
#define NTPROF_MERGE_GROUP_NAMES_H

#include "core/queue.h"
#include "merge/connection.h"
#include "merge/groups.h"
#include "merge/places.h"

/**
 * struct group_recorder - the recording that a command is from
 * @machine: name of its host, if there are several hosts; NULL: "nvme0" is enough
 * @source: [side] where the points are from; NULL for a side that is not there
 * @stream: that of the host, or else of the only side. Controllers of another stream are other
 *          controllers.
 * @began_ns: when the recording began, its own clock
 * @to_common: what to add to its times for the common clock
 * @sample: one command in this many was measured; 0 and 1: every one
 * @places: the recording's names of devices, paths and origins; NULL: none
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

/** group_name_merged() - fill @name with the keys of @by; @r: the host's record */
void group_name_merged(struct group_name *name, const struct group_by *by,
		       const struct merge_connection *c, const struct nt_record *r,
		       const struct group_recorder *who);

/**
 * group_name_side() - the same for a command of one side; @q: NULL if its queue was not announced
 */
void group_name_side(struct group_name *name, const struct group_by *by, enum nt_side side,
		     const struct queue_info *q, const struct nt_record *r,
		     const struct group_recorder *who);

/**
 * groups_add_record() - count a command in the group of this name
 * @r: its record; its latency counts. That of a failed command counts only where groups are by
 *     status.
 *
 * Return: 0 or -ENOMEM.
 */
int groups_add_record(struct groups *g, const struct group_name *name, const struct nt_record *r,
		      const struct group_recorder *who);

#endif /* NTPROF_MERGE_GROUP_NAMES_H */
