/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adds up the records of commands in a live view, in groups that its histograms cannot make: for
 * the last interval and for the run. Groups past LIVE_GROUPS_MAX are one group, the others.
 */
#ifndef NTPROF_VIEW_LIVE_GROUPS_H
#define NTPROF_VIEW_LIVE_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "core/group.h"
#include "core/stats.h"
#include "merge/flights.h"

/* More groups than a user looks at. Each takes some 7 KiB. */
#ifndef LIVE_GROUPS_MAX
#define LIVE_GROUPS_MAX 1024u
#endif

struct live_groups;

/**
 * struct live_groups_row - a group, or all others
 * @row: its latencies; the members that identify a queue are not filled, and neither are commands
 *       in flight
 * @failed_interval, @failed_total: commands that ended with an error, or were given up; no other
 *         member counts them
 * @seen_interval, @seen_total: numbers of commands in flight when a command began, including
 *         itself; an interval has the numbers that became known in it, see live_groups_interval()
 */
struct live_groups_row {
	struct group_name name;
	struct stats_row row;
	uint64_t failed_interval;
	uint64_t failed_total;
	struct flights_seen seen_interval;
	struct flights_seen seen_total;
};

/** live_groups_new() - begin; @by: the keys of groups; NULL if memory ran out */
struct live_groups *live_groups_new(const struct group_by *by);

/**
 * live_groups_add() - a command has ended; @name: its name by all keys
 *
 * Return: 0 or -ENOMEM.
 */
int live_groups_add(struct live_groups *t, const struct group_name *name,
		    const struct nt_record *r);

/**
 * live_groups_interval() - an interval is over; it has what was added since the last call
 * @s: the same interval. A command that was in flight at the end of the previous interval either
 *     has its record by the end of this one, or is still in flight. So the numbers are known for
 *     commands that began before all commands that were in flight then
 *
 * Return: 0 or -ENOMEM.
 */
int live_groups_interval(struct live_groups *t, const struct stats *s);

/**
 * live_groups_finish() - no more commands will come: the numbers in flight of all commands are
 * known for the run
 *
 * Return: 0 or -ENOMEM.
 */
int live_groups_finish(struct live_groups *t);

/** live_groups_seen() - numbers of commands in flight when a command began, for all groups together
 */
const struct flights_seen *live_groups_seen(const struct live_groups *t, bool summary);

/**
 * live_groups_late() - commands that are missing in the numbers in flight of others, which had been
 * counted before, see FLIGHTS_MAX
 */
uint64_t live_groups_late(const struct live_groups *t);

/** live_groups_nr() - number of rows; the others, if there are any, are the last one */
size_t live_groups_nr(const struct live_groups *t);

/** live_groups_row() - row @i, in the order of names; valid until the next live_groups_add() */
const struct live_groups_row *live_groups_row(const struct live_groups *t, size_t i);

/** live_groups_free() - release; @t may be NULL */
void live_groups_free(struct live_groups *t);

#endif /* NTPROF_VIEW_LIVE_GROUPS_H */
