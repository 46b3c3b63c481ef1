/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps streams that are read side by side on one axis of time. A merge finds better offsets than
 * the first estimates, and clocks drift.
 */
#ifndef NTPROF_MERGE_AXIS_H
#define NTPROF_MERGE_AXIS_H

#include <stdbool.h>
#include <stdint.h>

#include "merge/merge.h"

/**
 * axis_correct() - move streams to where their connections say that they belong
 * @m: what has been matched so far
 * @nr: number of streams
 * @to_common: [stream] what to add to its CLOCK_MONOTONIC; corrected. Of streams that are linked by
 *             connections, directly or through others, the first is not moved.
 * @linked: [stream] set for those with a matched connection to another
 *
 * Return: 0 or -ENOMEM.
 */
int axis_correct(const struct merge *m, unsigned int nr, int64_t *to_common, bool *linked);

#endif /* NTPROF_MERGE_AXIS_H */
