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

#include "core/record.h"

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

#endif /* NTPROF_MERGE_CLOCK_ALIGNMENT_H */
