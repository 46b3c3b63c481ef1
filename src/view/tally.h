/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the records of commands add up to in a live view, in groups that its histograms do not tell: of the last interval
 * and of the run. Groups past the most are one, the others.
 */
#ifndef NTPROF_VIEW_TALLY_H
#define NTPROF_VIEW_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "core/group.h"
#include "core/stats.h"
#include "merge/flights.h"

/* More groups than anybody would look at, of some 7 KiB each. */
#ifndef TALLY_GROUPS_MAX
#define TALLY_GROUPS_MAX 1024u
#endif

struct tally;

/**
 * struct tally_row - a group, or all others
 * @row: its latencies; what identifies a row of queues is not filled in, and nothing of it is in flight
 * @failed_interval, @failed_total: those that ended with an error, or were given up, and are in nothing else
 * @seen_interval, @seen_total: what commands saw in flight when they began, themselves included: an interval tells of those
 *                              of which it is known by then, see tally_interval()
 */
struct tally_row {
	struct group_name name;
	struct stats_row row;
	uint64_t failed_interval;
	uint64_t failed_total;
	struct flights_seen seen_interval;
	struct flights_seen seen_total;
};

/** tally_new() - begin; @by: the keys of groups; NULL when memory ran out */
struct tally *tally_new(const struct group_by *by);

/** tally_add() - a command has ended; @name: all that is known of it; Return: 0 or -ENOMEM */
int tally_add(struct tally *t, const struct group_name *name, const struct nt_record *r);

/**
 * tally_interval() - an interval is over: what was added since the last one is of it
 * @s: the same interval; what was in flight at the end of the one before has its record by the end of this one, or is in
 *     flight still. Commands that began before all that were are those that know what they saw
 *
 * Return: 0 or -ENOMEM.
 */
int tally_interval(struct tally *t, const struct stats *s);

/** tally_finish() - no more will come: of the run, all have seen what they saw; Return: 0 or -ENOMEM */
int tally_finish(struct tally *t);

/** tally_seen() - what commands saw that began, whatever their groups */
const struct flights_seen *tally_seen(const struct tally *t, bool summary);

/** tally_late() - commands that are in nothing that others saw: these were told before, see FLIGHTS_MAX */
uint64_t tally_late(const struct tally *t);

/** tally_nr() - how many rows there are; the others, if there are any, are the last one */
size_t tally_nr(const struct tally *t);

/** tally_row() - one of them, in the order of names; valid until the next tally_add() */
const struct tally_row *tally_row(const struct tally *t, size_t i);

/** tally_free() - release; NULL is fine */
void tally_free(struct tally *t);

#endif /* NTPROF_VIEW_TALLY_H */
