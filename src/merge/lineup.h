/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Estimates the offsets between the clocks of recorded streams, so that both records of a command
 * can be read at about the same time even if wall clocks differ by hours. It compares samples of
 * the commands. Only what a command asked for decides whether it is in the sample, so all streams
 * sample the same commands.
 */
#ifndef NTPROF_MERGE_LINEUP_H
#define NTPROF_MERGE_LINEUP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"

struct lineup;

/** lineup_new() - for @nr streams; NULL when memory ran out */
struct lineup *lineup_new(unsigned int nr);

/**
 * lineup_add() - add a record of a stream
 * @l: lineup
 * @stream: number of the stream, below @nr
 * @r: record; it has to be of the stream's side
 *
 * Return: 0 or -ENOMEM. Memory is bounded: of many records a part is kept.
 */
int lineup_add(struct lineup *l, unsigned int stream, const struct nt_record *r);

/**
 * lineup_solve() - find the place of all streams on one axis of time
 * @l: lineup
 * @to_common: [stream] what to add to its CLOCK_MONOTONIC; in: what the wall clocks say, out:
 *             corrected for streams that have commands in common with others
 *
 * The error is some milliseconds, and what the clocks drift apart over the run.
 *
 * Return: 0 or -ENOMEM.
 */
int lineup_solve(struct lineup *l, int64_t *to_common);

/** lineup_free() - release; NULL is fine */
void lineup_free(struct lineup *l);

#endif /* NTPROF_MERGE_LINEUP_H */
