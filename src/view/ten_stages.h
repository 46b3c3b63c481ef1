/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merged commands as text: the ten stages per operation and per connection, figures for scripts, and
 * the story of single commands. Shared by the live view and the report.
 */
#ifndef NTPROF_VIEW_TEN_STAGES_H
#define NTPROF_VIEW_TEN_STAGES_H

#include <stdbool.h>
#include <stdio.h>

#include "merge/totals.h"

/**
 * view_merged_stages() - a table: for each operation and stage mean, p50, p99, max, share and a bar
 * @m: what to show
 * @f: where to
 * @width: columns there are; bars take what is left, within reason
 * @unicode: bars of Unicode blocks
 *
 * Prints nothing when there was no command.
 */
void view_merged_stages(const struct totals *m, FILE *f, unsigned int width, bool unicode);

/**
 * view_merged_connections() - a table: a row for each connection and operation, with its commands, mean
 * latency, and the mean of each stage
 */
void view_merged_connections(const struct totals *m, FILE *f);

/**
 * view_merged_numbers() - for scripts, nanoseconds, one line each:
 *   merged OP COUNT MEAN P50 P99 MAX SUM
 *   merged_stage OP STAGE MEAN P50 P99 MAX SUM
 *   merged_queue NQN CNTLID QID OP COUNT, then the ten SUMs
 *   unsplit COUNT
 *   negative_stages COUNT worst NS
 */
void view_merged_numbers(const struct totals *m, FILE *f);

/**
 * view_merged_story() - both sides' points of one command on one time axis (the host's clock; the
 * target's points are placed by the middle of the offset's bounds), each step with its stage and
 * duration, then the ten stages
 */
void view_merged_story(const struct slow_command *c, FILE *f);

/**
 * view_connection() - one line on what became of a connection's records:
 *   connection NQN cntlid C queue Q: matched M, host only H, target only T, ambiguous A, clock offset
 *   NS ns +- NS ns, drift PPM ppm
 * The NQN may come from a hostile stream: unprintable bytes are escaped.
 */
void view_connection(const struct merge_connection *c, FILE *f);

/** view_connections() - the lines of all of them, in the order of their names; Return: 0 or -ENOMEM */
int view_connections(const struct merge *m, FILE *f);

#endif /* NTPROF_VIEW_TEN_STAGES_H */
