/* SPDX-License-Identifier: GPL-2.0-only */
/* The report of recorded streams as a JSON object. */
#ifndef NTPROF_VIEW_JSON_REPORT_H
#define NTPROF_VIEW_JSON_REPORT_H

#include "merge/blocked.h"
#include "merge/merge.h"
#include "merge/places.h"
#include "merge/tcp_history.h"
#include "merge/totals.h"
#include "merge/unmatched.h"
#include "stream/reader.h"
#include "view/columns_groups.h"
#include "view/commands.h"
#include "view/json.h"
#include "view/limits.h"
#include "view/why.h"

/**
 * struct json_report - data of a report; @unmatched has kept what unmatched_stats() needs of each
 * input
 * @cut: number of records of one side only, because the other side was not recorded all the time
 * @filtered: the report is about @nr_taken of the @nr_matched merged commands only
 * @merged: merged commands, after totals_sort()
 * @choice: groups that the user asked for, or NULL
 * @groups: groups of merged commands
 * @limits: limits of network and drives, and how near the traffic came to them; or NULL
 * @figures: figures of intervals between points, or NULL
 * @details: such figures of merged commands
 * @blocked: what others did meanwhile, of the slowest commands; NULL: not known
 * @tcp: what the inputs have of TCP connections; NULL: not asked for
 * @nr_retransmitted: merged commands that waited for what TCP sent again
 * @path_events: what happened to hosts' controllers
 * @why: [input, and @nr: merged commands] where slow commands come from; NULL: not asked for
 */
struct json_report {
	struct input *inputs;
	unsigned int nr;
	struct unmatched *unmatched;
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
	const struct why_view *why;
	const struct blocked_reader *blocked;
	const struct tcp_history *tcp;
	uint64_t nr_retransmitted;
	const struct path_events *path_events;
};

/**
 * json_report() - an object of type "report"
 *
 * It has "inputs", "connections", "strays", "outside_bursts", "selected", "merged" and "slowest",
 * and "groups", "details", "tcp", "why" and "path_events" if there are any. An input of which
 * nothing is matched has "alone", with its own figures and the reason.
 */
struct json_object *json_report(const struct json_report *r);

/*
 * A command as a JSON object: its columns; "points", with an object for each known side, in
 * nanoseconds after that side's first point; and "stages" in nanoseconds, null if some are unknown.
 */

/**
 * json_command() - an object of type "command" or "in_flight"
 *
 * A command in flight has "stage", the stage that it is in, in place of "stages"; null if unknown.
 */
struct json_object *json_command(const struct command_line *c);

/** json_command_write() - write what json_command() makes as one line; Return: 0 or -EIO */
int json_command_write(FILE *f, const struct command_line *c);

/**
 * json_command_slow() - the same for one of the slowest commands; "story" has all points in the
 * order of time
 */
struct json_object *json_command_slow(const struct slow_command *c, const struct instant *clock);

/** json_command_stages() - add "stages" */
void json_command_stages(struct json_object *o, const struct command_stages *s);

#endif /* NTPROF_VIEW_JSON_REPORT_H */
