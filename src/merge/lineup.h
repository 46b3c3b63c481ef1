/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines up recorded streams roughly, so that both records of a command can be read at about the same
 * time, though wall clocks may differ by hours: from a sample of the commands that is the same in
 * all streams, as it depends on what was asked for alone.
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
 * lineup_add() - a stream has this record
 * @l: lineup
 * @stream: its number, below @nr
 * @r: record; its side has to be the stream's
 *
 * Return: 0 or -ENOMEM. Memory is bounded: of many records a part is kept.
 */
int lineup_add(struct lineup *l, unsigned int stream, const struct nt_record *r);

/**
 * lineup_solve() - put all streams onto one axis of time
 * @l: lineup
 * @to_common: [stream] what to add to its CLOCK_MONOTONIC; in: what the wall clocks say, out: corrected
 *             for streams that have commands in common with others
 *
 * Good to some milliseconds, and to what the clocks drift apart over the run.
 *
 * Return: 0 or -ENOMEM.
 */
int lineup_solve(struct lineup *l, int64_t *to_common);

/** lineup_free() - release; NULL is fine */
void lineup_free(struct lineup *l);

#endif /* NTPROF_MERGE_LINEUP_H */
