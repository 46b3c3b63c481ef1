/* SPDX-License-Identifier: GPL-2.0-only */
/* The verb report: its state while it reads, groups and prints. */
#ifndef NTPROF_CLI_REPORT_STATE_H
#define NTPROF_CLI_REPORT_STATE_H

#include <stdbool.h>

#include "merge/unmatched.h"
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
 * struct report - the state
 * @inputs: @nr of them
 * @unmatched: [input] its own figures, until something of it is matched
 * @places: [input] its names of places
 * @matched: [input] something of it is matched
 * @alone: [input] there is no recording of the other side to merge with
 * @merged: totals of merged commands
 * @edges: [input] times of its bursts
 * @cut: records of one side only, because the other side's burst did not cover the command
 * @filter: the commands that are reported
 * @nr_matched, @nr_taken: merged commands, and those of them that @filter selects
 * @commands: print a line for each command
 * @choice: the groups that were asked for; NULL: none
 * @groups: groups of merged commands
 * @limits: the rates that network and drives can carry; NULL: not given
 * @limited: the traffic to compare with them, until @limited_ns
 * @with_stages: show the table of stages beside the groups: figures were asked for, but no groups
 * @figures: of the intervals in @details; NULL without
 * @first_ns, @last_ns: when the first merged command began and the last one ended, after the start
 *                      of their hosts' recordings
 * @burst_ns: [input] time in which it was recorded, if in bursts; 0: all of its time
 * @format: format of the output
 * @result: error of the merge's callbacks
 */
struct report {
	struct input *inputs;
	struct unmatched *unmatched;
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
