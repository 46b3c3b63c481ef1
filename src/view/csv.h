/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of a table as CSV (RFC 4180): a header, then a line for each row; lines end with CR LF.
 * Numbers are exact, in the base unit of their column. A field without a value is empty; a flag is
 * 0 or 1. Texts are UTF-8. Bytes that belong to no character, and control characters that a
 * terminal might obey, become U+FFFD.
 */
#ifndef NTPROF_VIEW_CSV_H
#define NTPROF_VIEW_CSV_H

#include <stdio.h>

#include "core/stats.h"
#include "merge/merge.h"
#include "merge/places.h"
#include "view/columns.h"

/** csv_header() - the header line for csv_row() */
void csv_header(FILE *f, const struct columns *t);

/** csv_row() - a line with all columns of a row */
void csv_row(FILE *f, const struct columns *t, const void *row);

/**
 * csv_header_of(), csv_row_of() - the same with a field in front that says what the row is about
 */
void csv_header_of(const char *name, const struct columns *t, FILE *f);
void csv_row_of(const char *what, const struct columns *t, const void *row, FILE *f);

/**
 * csv_block_header(), csv_block_row() - the same with two fields in front: the time @now, and
 * "interval" or "summary"
 */
void csv_block_header(FILE *f, const struct columns *t);
void csv_block_row(FILE *f, const char *now, bool summary, const struct columns *t,
		   const void *row);

/** csv_queues_header() - the header line for csv_queues() */
void csv_queues_header(FILE *f);

/**
 * csv_queues() - a line for each queue and operation that has something to show
 *
 * The time, and "interval" or "summary", are in front.
 */
void csv_queues(FILE *f, const struct stats *s, bool summary);

/**
 * csv_commands_header() - the header line for csv_command_of_side()
 * @side: side of the commands; NT_SIDES: the header line for csv_command_merged()
 */
void csv_commands_header(FILE *f, enum nt_side side);

/**
 * csv_command_of_side() - a line for a command of one side
 *
 * It has the columns of the command, its points in nanoseconds after the first one, and its stages
 * in nanoseconds. If stages are joined, the first of them has the time of all. The parameters are
 * those of command_print_side().
 */
void csv_command_of_side(FILE *f, const char *controller, const struct nt_record *r,
			 uint32_t missing);

/**
 * csv_command_in_flight() - the same for a command in flight
 *
 * The type is "in_flight", and the latency is the age. The parameters are those of
 * command_print_in_flight().
 */
void csv_command_in_flight(FILE *f, const char *controller, const struct nt_record *r,
			   uint64_t now);

/**
 * csv_command_merged() - the same with both sides' points and the ten stages
 *
 * The parameters are those of command_print_merged().
 */
void csv_command_merged(FILE *f, const struct machines *m, const struct merge_connection *c,
			const struct nt_record *host, const struct nt_record *target,
			bool ambiguous);

#endif /* NTPROF_VIEW_CSV_H */
