/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints figures as lines for scripts: plain numbers, durations in nanoseconds. */
#ifndef NTPROF_VIEW_NUMBERS_H
#define NTPROF_VIEW_NUMBERS_H

#include <stdbool.h>
#include <stdio.h>

#include "core/stats.h"
#include "merge/totals.h"

/**
 * numbers_print_side() - print the whole run of one side, for each operation:
 *   commands OP COUNT
 *   measured OP COUNT (only for a sample)
 *   percentiles OP P50 P90 P99 P99.9 MAX
 *   stage OP STAGE MEAN P50 P99 MAX SUM
 */
void numbers_print_side(const struct stats *s, FILE *f);

/**
 * numbers_print_merged() - print merged commands:
 *   merged OP COUNT MEAN P50 P99 MAX SUM
 *   merged_stage OP STAGE MEAN P50 P99 MAX SUM
 *   merged_queue NQN CNTLID QID OP COUNT, then the ten SUMs, UNSPLIT, its SUM, HOST and TARGET
 *   merged_error OP NAME COUNT ...
 *   arrival_joined COUNT network NS: commands with arrivals that may be too late, and the sum of
 *                                their network_transmission
 *   file_reads COUNT page_cache COUNT: reads of files with buffered I/O, and how many of them the
 *                                      page cache answered (only if there are any)
 *   unsplit COUNT
 *   cancelled COUNT
 *   negative_stages COUNT worst NS
 * For each OP the SUMs of its merged_stage lines, including "unsplit", add up to the SUM of its
 * merged line.
 *
 * Return: 0 or -ENOMEM; on -ENOMEM the lines of queues are missing.
 */
int numbers_print_merged(const struct totals *m, FILE *f);

#endif /* NTPROF_VIEW_NUMBERS_H */
