/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recorded commands in groups and in intervals of time: latencies and bytes of each group in each
 * interval. Knows neither files nor screens. Memory is bounded by the limits below; anything
 * past them is counted together.
 */
#ifndef NTPROF_MERGE_GROUPS_H
#define NTPROF_MERGE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/group.h"
#include "core/hist.h"
#include "core/stats.h"
#include "merge/merged_stages.h"

/*
 * Counts how many commands were in flight when one began. Records come when commands have ended, so
 * commands wait here until all that began before them may have come. Memory is bounded.
 */

/*
 * The most commands that wait. A command during which this many others began and ended is missing
 * in their counts of commands in flight. @late of struct flights counts such commands.
 */
#ifndef FLIGHTS_MAX
#define FLIGHTS_MAX 16384u
#endif
/* The most commands of one group in flight: 64 queues of the greatest depth that Linux has. */
#define FLIGHTS_OF_GROUP_MAX 262144u

/**
 * struct flights_seen - what beginning commands saw: how many were in flight, themselves included
 */
struct flights_seen {
	uint64_t count;
	uint64_t sum;
	uint64_t most;
};

/**
 * struct flights_group - ends of the commands in flight, a heap with the earliest on top; all zero
 * at the beginning
 * @bytes: of all of them
 */
struct flights_group {
	struct flights_end {
		uint64_t ns;
		uint32_t bytes;
	} * end;
	unsigned int nr;
	uint64_t bytes;
};

/**
 * struct flight - a command: its beginning and end, its group, and where what it saw is added
 * @number: which one it is, and @bytes: of its data, both for @told of &struct flights
 */
struct flight {
	uint64_t begin;
	uint64_t end;
	struct flights_group *group;
	struct flights_seen *seen;
	uint64_t number;
	uint32_t bytes;
};

/**
 * struct flights - commands that wait, a heap with the earliest beginning on top; all zero at the
 * beginning but for @seen, @most and @told
 * @all: the group of all commands
 * @seen: where what they saw of it is added
 * @most: the most commands that wait; 0: FLIGHTS_MAX
 * @told: called with the group of a command when that has begun there; NULL: not called
 * @frontier: all commands that began before this have been counted
 * @late: commands that are not counted: they came when those that ran at the same time had been
 *        counted, or too many of a group were in flight
 */
struct flights {
	struct flights_group all;
	struct flights_seen *seen;
	unsigned int most;
	void (*told)(void *context, const struct flight *command, const struct flights_group *saw);
	void *context;
	struct flight *wait;
	unsigned int nr;
	uint64_t frontier;
	uint64_t late;
};

/** flights_add() - a command has ended; Return: 0 or -ENOMEM */
int flights_add(struct flights *f, const struct flight *command);

/**
 * flights_until() - all commands that began before @ns have come: count them; Return: 0 or -ENOMEM
 */
int flights_until(struct flights *f, uint64_t ns);

/** flights_finish() - no more commands will come: count all that wait; Return: 0 or -ENOMEM */
int flights_finish(struct flights *f);

/** flights_free(), flights_group_free() - release */
void flights_free(struct flights *f);
void flights_group_free(struct flights_group *g);

/* More groups than a user would look at; commands of further ones are counted as "others". */
#ifndef GROUPS_MAX
#define GROUPS_MAX 1024u
#endif
/* The most pairs of a group and an interval with commands: one group by seconds for a day. */
#ifndef GROUP_CELLS_MAX
#define GROUP_CELLS_MAX 86400u
#endif

/*
 * A histogram in pieces: the buckets between two powers of two are allocated together when one is
 * used. All pairs of all groups have at most GROUP_PIECES_MAX pieces, 128 MiB; commands past that
 * are counted as "others".
 */
#define GROUP_PIECES (NT_OVERFLOW_BUCKET / NT_SUB_BUCKETS + 1)
#ifndef GROUP_PIECES_MAX
#define GROUP_PIECES_MAX (1u << 19)
#endif

_Static_assert(NT_MERGED_STAGES_NR >= NT_STAGES_MAX, "room for either's stages");

/**
 * struct group_split - the stages of a command
 * @of: whose stages: of a side, or the ten of NT_SIDES; @nr of them
 * @ns, @into: [stage] as merged_split() and stage_split() have them
 */
struct group_split {
	enum nt_side of;
	unsigned int nr;
	int64_t ns[NT_MERGED_STAGES_NR];
	uint8_t into[NT_MERGED_STAGES_NR];
};

/**
 * struct group_stages - the stages of the commands of a group
 * @of: as in struct group_split
 * @commands: those that could be split
 * @sum: [stage] nanoseconds of all of them, negative times included
 * @joined: [stage] bits of the stages that are in that sum
 */
struct group_stages {
	enum nt_side of;
	uint64_t commands;
	__int128 sum[NT_MERGED_STAGES_NR];
	uint32_t joined[NT_MERGED_STAGES_NR];
};

/** group_stages_name() - the name of a stage and of those joined with it; Return: @buf */
const char *group_stages_name(const struct group_stages *s, unsigned int stage, char *buf,
			      size_t size);

/**
 * struct group_cell - the commands of a group in an interval
 * @count, @sum, @bytes, @max: as in struct hist
 * @min: the shortest latency
 * @failed: commands that ended with an error or were given up; they are in nothing else
 * @stand_for: how many commands these are a sample of
 * @stand_for_bytes: data of those commands
 * @piece: buckets, NT_SUB_BUCKETS each
 * @in_flight: how many commands were in flight when these began
 * @stages: the stages of those in @count that could be split
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
	struct group_stages stages;
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
 * @split: its stages; NULL: not known
 */
struct group_command {
	uint64_t after_ns;
	uint64_t at_ns;
	uint64_t latency;
	uint32_t bytes;
	bool failed;
	uint32_t stands_for;
	const struct group_split *split;
};

/* The most seconds of all groups together, 4 bytes each: 64 MiB. */
#ifndef GROUP_SECONDS_MAX
#define GROUP_SECONDS_MAX (1u << 24)
#endif

/**
 * struct group_seconds - how many commands of a group began in each second since the recording
 * began; those that failed are not in it
 * @count: of @nr seconds; none began in later ones
 * @past: some seconds found no room
 */
struct group_seconds {
	uint32_t *count;
	size_t nr;
	bool past;
};

/**
 * struct group_lows - the seconds of a row that are recorded from their beginning to their end
 * @of: NULL: they were not counted, or of a sample, or in bursts only, or found no room
 * @from, @to: the first one, and the one after the last
 */
struct group_lows {
	const struct group_seconds *of;
	uint64_t from;
	uint64_t to;
};

/**
 * group_lows_rate() - the rate of commands that a share of the seconds does not exceed: with the
 * seconds in the order of their rates, that of the one where they reach the share
 * @parts: the share, of HIST_PARTS
 * @rate: set to commands in a second
 *
 * Return: false if it is not known, as there are too few seconds (see hist_tells()) or memory ran
 * out.
 */
bool group_lows_rate(const struct group_lows *l, uint32_t parts, uint32_t *rate);

/**
 * struct group_row - a row to show: a group in an interval
 * @name: valid until groups_free()
 * @cell: NULL: no commands
 * @all_paths: commands in the interval of all groups that differ from it in path and controller
 *             alone; 0: paths are no groups
 * @has_from: there are intervals
 * @from_ns: when the interval begins
 * @seconds: its length
 * @lows: of --stats iops-p1
 */
struct group_row {
	const struct group_name *name;
	const struct group_cell *cell;
	uint64_t all_paths;
	bool has_from;
	uint64_t from_ns;
	double seconds;
	struct group_lows lows;
};

/**
 * struct grouping - the groups that the user wants, and intervals of @every_ns; 0: no intervals
 * @seconds: count the commands of each second as well
 */
struct grouping {
	struct group_by by;
	uint64_t every_ns;
	bool seconds;
};

struct groups;

/** groups_new() - no commands yet; NULL when memory ran out */
struct groups *groups_new(const struct grouping *how);

/** groups_how() - the argument of groups_new() */
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

/** groups_total() - the row of all commands, after groups_finish() */
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

/*
 * Adds up the records of commands in a live view, in groups that its histograms cannot make: for
 * the last interval and for the run. Groups past LIVE_GROUPS_MAX are one group, the others.
 */

/* More groups than a user looks at. Each takes some 25 KiB, and 10 KiB more on a screen. */
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

/** live_groups_add() - a command has ended; @name: its name by all keys; Return: 0 or -ENOMEM */
int live_groups_add(struct live_groups *t, const struct group_name *name,
		    const struct nt_record *r);

/**
 * live_groups_interval() - an interval is over; it has all that was added since the last call
 * @s: the same interval. A command that was in flight at the end of the previous interval either
 *     has its record by the end of this one, or is still in flight. So the numbers are known for
 *     commands that began before all commands that were in flight then
 *
 * Return: 0 or -ENOMEM.
 */
int live_groups_interval(struct live_groups *t, const struct stats *s);

/**
 * live_groups_remember() - add the last interval to &live_groups_row.row.recent, for a screen; call
 * it after live_groups_interval()
 * @s: the same interval
 * @now: CLOCK_MONOTONIC nanoseconds
 *
 * Return: 0 or -ENOMEM.
 */
int live_groups_remember(struct live_groups *t, const struct stats *s, uint64_t now);

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

#endif /* NTPROF_MERGE_GROUPS_H */
