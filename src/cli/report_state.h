/* SPDX-License-Identifier: GPL-2.0-only */
/* The verb report: what it knows while it reads, groups and prints. */
#ifndef NTPROF_CLI_REPORT_STATE_H
#define NTPROF_CLI_REPORT_STATE_H

#include <stdbool.h>

#include "merge/apart.h"
#include "merge/edges.h"
#include "merge/details.h"
#include "merge/filter.h"
#include "merge/machines.h"
#include "merge/merge.h"
#include "merge/places.h"
#include "merge/totals.h"
#include "stream/input.h"
#include "view/columns_groups.h"
#include "view/format.h"
#include "view/limits.h"

/**
 * struct report - what has been read
 * @inputs: @nr of them
 * @apart: [input], until something of it is matched
 * @places: [input] what it calls places
 * @matched: [input]
 * @alone: [input], no other side is there to merge with
 * @merged: what merged commands add up to
 * @edges: [input] when its bursts were
 * @cut: records of one side only, because the other's burst did not last
 * @filter: which commands are told of
 * @nr_matched, @nr_taken: merged commands, and those of them that are in @filter
 * @commands: print a line for each
 * @choice: what groups are asked for; NULL: none
 * @groups: merged commands in groups
 * @limits: what network and drives can carry, NULL: nobody says; @limited: what they did, until @limited_ns
 * @with_stages: the table of stages is shown beside the groups: figures were asked for, and no groups
 * @figures: of the intervals in @details; NULL without
 * @first_ns, @last_ns: when the first merged command began and the last one ended, after their hosts' recordings began
 * @burst_ns: [input] it was recorded in so much of its time; 0: all of it
 * @format: what it looks like
 * @result: of what the merge called back for
 */
struct report {
	struct input *inputs;
	struct apart *apart;
	struct places **places;
	bool *matched;
	bool *alone;
	unsigned int nr;
	struct merge *merge;
	struct machines machines;
	struct totals merged;
	struct edges *edges;
	uint64_t cut;
	struct filter *filter; /* NULL: all of them */
	uint64_t nr_matched;
	uint64_t nr_taken;
	bool commands;
	const struct group_choice *choice;
	struct groups *groups;
	struct limits *limits;
	struct groups *limited;
	uint64_t limited_ns;
	bool with_stages;
	const struct figures *figures;
	struct details *details;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t *burst_ns;
	enum output_format format;
	int result;
};

#endif /* NTPROF_CLI_REPORT_STATE_H */
