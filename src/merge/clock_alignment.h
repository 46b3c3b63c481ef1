/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Estimates the offsets between the clocks of recorded streams, so that both records of a command
 * can be read at about the same time even if wall clocks differ by hours. It compares samples of
 * the commands. Only what a command asked for decides whether it is in the sample, so all streams
 * sample the same commands.
 */
#ifndef NTPROF_MERGE_CLOCK_ALIGNMENT_H
#define NTPROF_MERGE_CLOCK_ALIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "merge/connection.h"
#include "merge/merge.h"
#include "shared/record.h"

struct clock_alignment;

/** clock_alignment_new() - for @nr streams; NULL when memory ran out */
struct clock_alignment *clock_alignment_new(unsigned int nr);

/**
 * clock_alignment_add() - add a record of a stream
 * @l: alignment
 * @stream: number of the stream, below @nr
 * @r: record; it has to be of the stream's side
 *
 * Return: 0 or -ENOMEM. Memory is bounded: of many records a part is kept.
 */
int clock_alignment_add(struct clock_alignment *l, unsigned int stream, const struct nt_record *r);

/**
 * clock_alignment_solve() - find the place of all streams on one axis of time
 * @l: alignment
 * @to_common: [stream] what to add to its CLOCK_MONOTONIC; in: what the wall clocks say, out:
 *             corrected for streams that have commands in common with others
 *
 * The error is some milliseconds, and what the clocks drift apart over the run.
 *
 * Return: 0 or -ENOMEM.
 */
int clock_alignment_solve(struct clock_alignment *l, int64_t *to_common);

/** clock_alignment_free() - release; NULL is fine */
void clock_alignment_free(struct clock_alignment *l);

/*
 * Keeps streams that are read side by side on one axis of time. A merge finds better offsets than
 * the first estimates, and clocks drift.
 */

/**
 * axis_correct() - move streams to where their connections say that they belong
 * @m: has the matches so far
 * @nr: number of streams
 * @to_common: [stream] what to add to its CLOCK_MONOTONIC; corrected. Of streams that are linked by
 *             connections, directly or through others, the first is not moved.
 * @linked: [stream] set for those with a matched connection to another
 *
 * Return: 0 or -ENOMEM.
 */
int axis_correct(const struct merge *m, unsigned int nr, int64_t *to_common, bool *linked);

/*
 * Finds the commands that a stream recorded in bursts cannot have: those that did not pass within
 * one burst. Knows when the bursts of each stream were, by its own clock.
 */

struct edges;

/** edges_new() - for @nr streams, without bursts so far; NULL when memory ran out */
struct edges *edges_new(unsigned int nr);

/**
 * edges_burst() - a stream was recorded from @began_ns to @ended_ns; bursts come in order of time
 *
 * Return: 0 or -ENOMEM.
 */
int edges_burst(struct edges *e, unsigned int stream, uint64_t began_ns, uint64_t ended_ns);

/**
 * edges_cut() - whether the other side's stream was not recorded for all of a command
 * @e: edges
 * @c: the command's connection; its offset converts times to the other clock
 * @r: the record of one side
 *
 * Return: false also where that is not known, or where the stream was recorded all the time.
 */
bool edges_cut(const struct edges *e, const struct merge_connection *c, const struct nt_record *r);

/** edges_free() - release; NULL is fine */
void edges_free(struct edges *e);

#endif /* NTPROF_MERGE_CLOCK_ALIGNMENT_H */
