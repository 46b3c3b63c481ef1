/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of a table as RFC 4180 has them: a header, one row a line, lines end with CR LF. Numbers are exact, in the
 * base unit of their column; a field without a value is empty, a flag is 0 or 1. Texts are UTF-8; what is no
 * character, or a control character that a terminal might obey, is U+FFFD.
 */
#ifndef NTPROF_VIEW_CSV_H
#define NTPROF_VIEW_CSV_H

#include <stdio.h>

#include "merge/machines.h"
#include "merge/merge.h"
#include "core/stats.h"
#include "view/columns.h"

/** csv_header() - of csv_row() */
void csv_header(FILE *f, const struct columns *t);

/** csv_row() - a line of all columns of a row */
void csv_row(FILE *f, const struct columns *t, const void *row);

/** csv_header_of(), csv_row_of() - the same with a field in front: what the rows are of */
void csv_header_of(const char *name, const struct columns *t, FILE *f);
void csv_row_of(const char *what, const struct columns *t, const void *row, FILE *f);

/** csv_block_header(), csv_block_row() - the same with the time, which is @now, and "interval" or "summary", in front */
void csv_block_header(FILE *f, const struct columns *t);
void csv_block_row(FILE *f, const char *now, bool summary, const struct columns *t,
		   const void *row);

/** csv_queues_header() - of csv_queues() */
void csv_queues_header(FILE *f);

/** csv_queues() - a line for each queue and operation that has something to tell, with the time and "interval" or
 * "summary" in front
 */
void csv_queues(FILE *f, const struct stats *s, bool summary);

/**
 * csv_commands_header() - of csv_command_of_side()
 * @side: NT_SIDES: of csv_command_merged()
 */
void csv_commands_header(FILE *f, enum nt_side side);

/**
 * csv_command_of_side() - columns of what it was, its points in nanoseconds after the first one, its stages in
 * nanoseconds; of stages that are one, the first has what they took together
 *
 * Takes what command_print_side() does.
 */
void csv_command_of_side(FILE *f, const char *controller, const struct nt_record *r,
			 uint32_t missing);

/** csv_command_in_flight() - of type "in_flight", its latency is its age; takes what command_print_in_flight() does */
void csv_command_in_flight(FILE *f, const char *controller, const struct nt_record *r,
			   uint64_t now);

/** csv_command_merged() - the same with both sides' points and the ten stages; takes what command_print_merged() does */
void csv_command_merged(FILE *f, const struct machines *m, const struct merge_connection *c,
			const struct nt_record *host, const struct nt_record *target,
			bool ambiguous);

#endif /* NTPROF_VIEW_CSV_H */
