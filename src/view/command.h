/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One line a command, in key=value pairs: what it was, its latency, its points and its stages. Time and
 * points are nanoseconds of the side's own clock, points as distances from the side's first one.
 */
#ifndef NTPROF_VIEW_COMMAND_H
#define NTPROF_VIEW_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "merge/machines.h"
#include "merge/merge.h"

/**
 * command_print_side() - a command of the side that is traced, with its stages
 * @f: where to
 * @controller: what its controller is called
 * @r: its record
 * @missing: bits of the points that nothing gives, see core/segments.h
 */
void command_print_side(FILE *f, const char *controller, const struct nt_record *r,
			uint32_t missing);

/** command_print_stages() - the end of such a line: " | ", and its stages; @latency: of the command */
void command_print_stages(FILE *f, const struct nt_record *r, uint32_t missing, uint64_t latency);

/**
 * command_print_in_flight() - a command of the side that is traced, which has not ended yet
 * @f: where to
 * @controller: what its controller is called
 * @r: what is known of it; NT_F_IN_FLIGHT is set
 * @missing: bits of the points that nothing gives, see core/segments.h
 * @now: CLOCK_MONOTONIC nanoseconds
 *
 * The line has "still in flight after" its age in nanoseconds where others have their latency, the points
 * that it has passed, and the stage that it is in.
 */
void command_print_in_flight(FILE *f, const char *controller, const struct nt_record *r,
			     uint32_t missing, uint64_t now);

/**
 * command_print_merged() - a command of recorded streams
 * @f: where to
 * @m: what its streams are of
 * @c: its connection
 * @host: the host's record, or NULL
 * @target: the target's record, or NULL
 * @ambiguous: a single record that more than one of the other side might belong to
 *
 * A command of which both are there is "merged" and has the ten stages, of which some are
 * one where its machines lack points; else it is "host_only",
 * "target_only" or "ambiguous".
 */
void command_print_merged(FILE *f, const struct machines *m, const struct merge_connection *c,
			  const struct nt_record *host, const struct nt_record *target,
			  bool ambiguous);

#endif /* NTPROF_VIEW_COMMAND_H */
