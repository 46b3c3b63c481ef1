/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints one line for each command, in key=value pairs: its description, its latency, its points
 * and its stages. Times and points are nanoseconds of the side's own clock; points are distances
 * from the side's first point.
 */
#ifndef NTPROF_VIEW_COMMAND_H
#define NTPROF_VIEW_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "merge/machines.h"
#include "merge/merge.h"

/**
 * command_print_side() - print a command of the side that is traced, with its stages
 * @f: output
 * @controller: name of its controller
 * @r: its record
 * @missing: bits of the points that nothing gives, see core/segments.h
 */
void command_print_side(FILE *f, const char *controller, const struct nt_record *r,
			uint32_t missing);

/**
 * command_print_stages() - print the end of such a line: " | " and the stages
 * @latency: latency of the command
 */
void command_print_stages(FILE *f, const struct nt_record *r, uint32_t missing, uint64_t latency);

/**
 * command_print_in_flight() - print a command of the side that is traced, which has not ended yet
 * @f: output
 * @controller: name of its controller
 * @r: its record so far; NT_F_IN_FLIGHT is set
 * @missing: bits of the points that nothing gives, see core/segments.h
 * @now: CLOCK_MONOTONIC nanoseconds
 *
 * Instead of the latency, the line has "still in flight after" and the command's age in
 * nanoseconds, then the points that it has passed, and the stage that it is in.
 */
void command_print_in_flight(FILE *f, const char *controller, const struct nt_record *r,
			     uint32_t missing, uint64_t now);

/**
 * command_print_merged() - print a command of recorded streams
 * @f: output
 * @m: the machines of the streams
 * @c: its connection
 * @host: the host's record, or NULL
 * @target: the target's record, or NULL
 * @ambiguous: a record without a pair, because more than one record of the other side fits
 *
 * A command with both records is "merged" and has the ten stages; some of them are joined if its
 * machines lack points. Otherwise it is "host_only", "target_only" or "ambiguous".
 */
void command_print_merged(FILE *f, const struct machines *m, const struct merge_connection *c,
			  const struct nt_record *host, const struct nt_record *target,
			  bool ambiguous);

#endif /* NTPROF_VIEW_COMMAND_H */
