/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recorded commands in groups, and in intervals of time: what each group's took in each interval. Knows neither files nor
 * screens; memory is bounded by the limits below, and what is past them is counted together.
 */
#ifndef NTPROF_MERGE_GROUPS_H
#define NTPROF_MERGE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/group.h"
#include "core/hist.h"
#include "merge/flights.h"

/* More groups than anybody would look at; commands of the rest are counted as "others". */
#ifndef GROUPS_MAX
#define GROUPS_MAX 1024u
#endif
/* Groups times intervals that have commands: a day of seconds of one group, of some 2 KiB each. */
#ifndef GROUP_CELLS_MAX
#define GROUP_CELLS_MAX 86400u
#endif

/* What lies between two powers of two of a histogram has a piece of memory, where there is any. */
#define GROUP_PIECES (NT_OVERFLOW_BUCKET / NT_SUB_BUCKETS + 1)

/**
 * struct group_cell - what a group's commands took in an interval
 * @count, @sum, @bytes, @max: as in struct hist; @min: the shortest
 * @failed: those that ended with an error, or were given up, and are in nothing else
 * @stand_for: how many commands, of which these are a sample; @stand_for_bytes: their data
 * @piece: of the buckets, NT_SUB_BUCKETS each
 * @in_flight: what commands saw that began
 */
struct group_cell {
	uint64_t count;
	uint64_t sum;
	uint64_t bytes;
	uint64_t min;
	uint64_t max;
	uint64_t failed;
	uint64_t stand_for;
	uint64_t stand_for_bytes;
	uint64_t *piece[GROUP_PIECES];
	struct flights_seen in_flight;
};

/** group_cell_hist() - @h is filled with what was counted */
void group_cell_hist(const struct group_cell *c, struct hist *h);

/**
 * struct group_command - a command
 * @after_ns: when it began, after its recording did
 * @at_ns: the same on a clock that all have in common
 * @latency, @bytes: what it took, and transferred
 * @failed: it did not end well, and its latency is not to count
 * @stands_for: how many commands, of which it is a sample
 */
struct group_command {
	uint64_t after_ns;
	uint64_t at_ns;
	uint64_t latency;
	uint32_t bytes;
	bool failed;
	uint32_t stands_for;
};

/**
 * struct group_row - what there is to show of a group in an interval
 * @name: valid until groups_free()
 * @cell: NULL: there were no commands
 * @from_ns: when the interval begins; @has_from: there are intervals
 * @seconds: how long it is
 */
struct group_row {
	const struct group_name *name;
	const struct group_cell *cell;
	bool has_from;
	uint64_t from_ns;
	double seconds;
};

/** struct grouping - what is asked for: intervals of @every_ns, 0 for none */
struct grouping {
	struct group_by by;
	uint64_t every_ns;
};

struct groups;

/** groups_new() - begin; NULL when memory ran out */
struct groups *groups_new(const struct grouping *how);

/** groups_how() - as groups_new() was told */
const struct grouping *groups_how(const struct groups *g);

/** groups_add() - count a command; @name: all that is known of it; Return: 0 or -ENOMEM */
int groups_add(struct groups *g, const struct group_name *name, const struct group_command *c);

/**
 * groups_finish() - no more will come
 * @from_ns, @to_ns: from when to when commands were looked for, after the recording began
 * @measured_ns: how much of that time; 0: all of it
 *
 * Return: 0 or -ENOMEM.
 */
int groups_finish(struct groups *g, uint64_t from_ns, uint64_t to_ns, uint64_t measured_ns);

/** groups_nr() - how many groups there are, others aside */
size_t groups_nr(const struct groups *g);

/** groups_name() - of one of them, in the order of names */
const struct group_name *groups_name(const struct groups *g, size_t i);

/** groups_rows() - how many rows there are, in the order of time and then of names: of groups alone */
size_t groups_rows(const struct groups *g);

/** groups_row() - one of them; @r is filled */
void groups_row(const struct groups *g, size_t i, struct group_row *r);

/** groups_total() - of all commands, whatever their groups */
void groups_total(const struct groups *g, struct group_row *r);

/** groups_others() - of those that found no room; Return: whether there were any */
bool groups_others(const struct groups *g, struct group_row *r);

/** groups_left_out() - rows that groups_rows() does not have: without commands, where there would be too many */
uint64_t groups_left_out(const struct groups *g);

/** groups_late() - commands whose beginning came too late to be told what was in flight */
uint64_t groups_late(const struct groups *g);

/** groups_free() - release; NULL is fine */
void groups_free(struct groups *g);

#endif /* NTPROF_MERGE_GROUPS_H */
