/* SPDX-License-Identifier: GPL-2.0-only */
/* One line a command of which one or both sides were recorded, in key=value pairs. */
#ifndef NTPROF_VIEW_COMMAND_LINE_H
#define NTPROF_VIEW_COMMAND_LINE_H

#include <stdbool.h>
#include <stdio.h>

#include "merge/merge.h"

/**
 * view_command() - what it was, its latency, the points of each side and the stages
 * @f: where to
 * @c: its connection
 * @host: the host's record, or NULL
 * @target: the target's record, or NULL
 * @ambiguous: a single record that more than one of the other side might belong to
 *
 * Time and points are nanoseconds of the side's own clock, points as distances from the side's first
 * one. A command of which both are there is "merged" and has the ten stages; else it is "host_only",
 * "target_only" or "ambiguous".
 */
void view_command(FILE *f, const struct merge_connection *c, const struct nt_record *host,
		  const struct nt_record *target, bool ambiguous);

#endif /* NTPROF_VIEW_COMMAND_LINE_H */
