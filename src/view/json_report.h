/* SPDX-License-Identifier: GPL-2.0-only */
/* What report tells of recorded streams, as JSON objects. */
#ifndef NTPROF_VIEW_JSON_REPORT_H
#define NTPROF_VIEW_JSON_REPORT_H

#include "merge/apart.h"
#include "merge/machines.h"
#include "merge/merge.h"
#include "merge/totals.h"
#include "stream/input.h"
#include "view/columns_groups.h"
#include "view/limits.h"
#include "view/json.h"

/**
 * struct json_report - what there is: of each input what apart_stats() wants is kept in @apart
 * @cut: records of one side only, because the other's burst did not last
 * @filtered: not all commands are told of, but @nr_taken of the @nr_matched that are merged
 * @merged: totals_sort() has been called
 * @choice: what groups are asked for, or NULL; @groups: of merged commands
 * @limits: what network and drives can carry, and how near to that it came; or NULL
 * @figures: of intervals between points, or NULL; @details: of merged commands
 */
struct json_report {
	struct input *inputs;
	unsigned int nr;
	struct apart *apart;
	const struct merge *merge;
	const struct machines *machines;
	uint64_t cut;
	bool filtered;
	uint64_t nr_matched;
	uint64_t nr_taken;
	struct totals *merged;
	const struct group_choice *choice;
	const struct groups *groups;
	const struct limits *limits;
	const struct figures *figures;
	const struct details *details;
};

/**
 * json_report() - of type "report": "inputs", "connections", "strays", "outside_bursts", "selected", "merged", "slowest", and
 *		   "groups" and "details" where there are any
 *
 * An input of which nothing is matched has "alone", what it tells by itself, and why.
 */
struct json_object *json_report(const struct json_report *r);

#endif /* NTPROF_VIEW_JSON_REPORT_H */
