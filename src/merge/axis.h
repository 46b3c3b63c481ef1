/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps streams that are read side by side on one axis of time: what a merge has learnt of their clocks is
 * better than what they began with, and clocks drift.
 */
#ifndef NTPROF_MERGE_AXIS_H
#define NTPROF_MERGE_AXIS_H

#include <stdbool.h>
#include <stdint.h>

#include "merge/merge.h"

/**
 * axis_correct() - put streams where their connections say that they belong
 * @m: what has been matched so far
 * @nr: how many streams there are
 * @to_common: [stream] what to add to its CLOCK_MONOTONIC; corrected. Of streams that connections link,
 *             directly or by others, the first stays where it is.
 * @linked: [stream] set for those that connections link to another
 *
 * Return: 0 or -ENOMEM.
 */
int axis_correct(const struct merge *m, unsigned int nr, int64_t *to_common, bool *linked);

#endif /* NTPROF_MERGE_AXIS_H */
