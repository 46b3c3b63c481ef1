/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recorded commands in groups and in intervals of time: latencies and bytes of each group in each
 * interval. Knows neither files nor screens. Memory is bounded by the limits below; what is past
 * them is counted together.
 */
#ifndef NTPROF_MERGE_GROUPS_H
#define NTPROF_MERGE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/group.h"
#include "core/hist.h"
#include "merge/flights.h"

/* More groups than a user would look at; commands of further ones are counted as "others". */
#ifndef GROUPS_MAX
#define GROUPS_MAX 1024u
#endif
/*
 * The most pairs of a group and an interval with commands: one group by seconds for a day, some 2
 * KiB each.
 */
#ifndef GROUP_CELLS_MAX
#define GROUP_CELLS_MAX 86400u
#endif

/*
 * A histogram in pieces: the buckets between two powers of two are allocated together when one is
 * used.
 */
#define GROUP_PIECES (NT_OVERFLOW_BUCKET / NT_SUB_BUCKETS + 1)

/**
 * struct group_cell - the commands of a group in an interval
 * @count, @sum, @bytes, @max: as in struct hist
 * @min: the shortest latency
 * @failed: commands that ended with an error or were given up; they are in nothing else
 * @stand_for: how many commands these are a sample of
 * @stand_for_bytes: data of those commands
 * @piece: buckets, NT_SUB_BUCKETS each
 * @in_flight: how many commands were in flight when these began
 */
struct group_cell {
	uint64_t count;
	unsigned __int128 sum;
	uint64_t bytes;
	uint64_t min;
	uint64_t max;
	uint64_t failed;
	uint64_t stand_for;
	uint64_t stand_for_bytes;
	uint64_t *piece[GROUP_PIECES];
	struct flights_seen in_flight;
};

/** group_cell_hist() - fill @h with the cell's histogram */
void group_cell_hist(const struct group_cell *c, struct hist *h);

/**
 * struct group_command - a command
 * @after_ns: when it began, from the beginning of its recording
 * @at_ns: the same on the clock that all recordings have in common
 * @latency, @bytes: how long it took, and how much it transferred
 * @failed: it did not end well, and its latency does not count
 * @stands_for: how many commands it is a sample of
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
 * struct group_row - a row to show: a group in an interval
 * @name: valid until groups_free()
 * @cell: NULL: no commands
 * @has_from: there are intervals
 * @from_ns: when the interval begins
 * @seconds: its length
 */
struct group_row {
	const struct group_name *name;
	const struct group_cell *cell;
	bool has_from;
	uint64_t from_ns;
	double seconds;
};

/** struct grouping - the groups that the user wants, and intervals of @every_ns; 0: no intervals */
struct grouping {
	struct group_by by;
	uint64_t every_ns;
};

struct groups;

/** groups_new() - no commands yet; NULL when memory ran out */
struct groups *groups_new(const struct grouping *how);

/** groups_how() - what was given to groups_new() */
const struct grouping *groups_how(const struct groups *g);

/** groups_add() - count a command; @name: all that is known of it; Return: 0 or -ENOMEM */
int groups_add(struct groups *g, const struct group_name *name, const struct group_command *c);

/**
 * groups_finish() - no more commands will come
 * @from_ns, @to_ns: the time in which commands were counted, from the beginning of the recording
 * @measured_ns: how much of that time was recorded; 0: all of it
 *
 * Return: 0 or -ENOMEM.
 */
int groups_finish(struct groups *g, uint64_t from_ns, uint64_t to_ns, uint64_t measured_ns);

/** groups_nr() - number of groups, without "others" */
size_t groups_nr(const struct groups *g);

/** groups_name() - name of group @i, in the order of names */
const struct group_name *groups_name(const struct groups *g, size_t i);

/**
 * groups_rows() - number of rows, in the order of time and then of names; without "others" and the
 * total
 */
size_t groups_rows(const struct groups *g);

/** groups_row() - fill @r with row @i */
void groups_row(const struct groups *g, size_t i, struct group_row *r);

/** groups_total() - the row of all commands */
void groups_total(const struct groups *g, struct group_row *r);

/** groups_others() - the row of commands past the limits; Return: whether there are any */
bool groups_others(const struct groups *g, struct group_row *r);

/**
 * groups_left_out() - rows without commands that groups_rows() leaves out, because there would be
 * too many
 */
uint64_t groups_left_out(const struct groups *g);

/**
 * groups_late() - commands missing in the counts of commands in flight: see &struct flights, @late
 */
uint64_t groups_late(const struct groups *g);

/** groups_free() - release; NULL is fine */
void groups_free(struct groups *g);

#endif /* NTPROF_MERGE_GROUPS_H */
