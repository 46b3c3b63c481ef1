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
#include "view/columns.h"
#include "view/commands.h"

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

/**
 * csv_queues() - a line for each queue and operation that has something to show
 *
 * The time, and "interval" or "summary", are in front.
 */
void csv_queues(FILE *f, const struct stats *s, bool summary);

/**
 * csv_commands_header() - the header line for csv_command()
 * @side: side of the commands; NT_SIDES: they are of recorded streams
 * @has_origin: lines end with where each command comes from
 */
void csv_commands_header(FILE *f, enum nt_side side, bool has_origin);

/**
 * csv_command() - a line for a command
 *
 * It has the columns of the command, its points in nanoseconds after the first one of their side,
 * and its stages in nanoseconds. If stages are joined, the first of them has the time of all. The
 * type of a command in flight is "in_flight".
 */
void csv_command(FILE *f, const struct command_line *c);

#endif /* NTPROF_VIEW_CSV_H */
