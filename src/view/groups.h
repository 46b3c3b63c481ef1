/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recorded commands in groups (report --by, --every), as a table, as CSV and as JSON. All come from
 * one table of columns.
 */
#ifndef NTPROF_VIEW_GROUPS_H
#define NTPROF_VIEW_GROUPS_H

#include <stdio.h>

#include "core/stats.h"
#include "core/text.h"
#include "merge/details.h"
#include "merge/groups.h"
#include "view/columns_groups.h"
#include "view/path_events.h"
#include "view/json.h"

/**
 * group_print_names() - print the full NQNs of a group, a line for each, because a table shows only
 * their ends
 */
void group_print_names(const struct group_name *name, enum text_style style, FILE *f);

/**
 * group_print_names_once() - the same of group @i of those that @at gives, without the names that
 * groups before have
 */
void group_print_names_once(const struct group_name *(*at)(const void *context, size_t i),
			    const void *context, size_t i, enum text_style style, FILE *f);

/**
 * groups_print() - print the total, and a row for each group in each interval
 * @g: finished
 * @c: what the user asked for
 * @width: columns of the terminal
 * @unicode: draw bars with Unicode blocks
 * @between: events, which are shown between the rows of two intervals; NULL: none
 */
void groups_print(const struct groups *g, const struct group_choice *c, FILE *f, unsigned int width,
		  bool unicode, const struct path_lines *between);

/** groups_csv_header() - print the header of groups_csv() */
void groups_csv_header(const struct group_choice *c, FILE *f);

/**
 * groups_csv() - print a line for each row; the others and the total come last; @input: the first
 * cell of each line
 */
void groups_csv(const struct groups *g, const struct group_choice *c, const char *input, FILE *f);

/** groups_json() - an object with "by", "every", "rows", "others", "total", "left_out", "late" */
struct json_object *groups_json(const struct groups *g, const struct group_choice *c);

/* The groups of a live view (live --by) as CSV and as JSON. */

/**
 * groups_output_csv() - print a line for each group that has figures; each begins with the time and
 * "interval" or "summary"
 * @header: print a line of column names first
 *
 * Return: 0 or -ENOMEM.
 */
int groups_output_csv(FILE *f, const struct stats *s, bool summary, const struct group_choice *c,
		      bool header);

/** groups_output_json() - an object with "by", "rows" and "late" */
struct json_object *groups_output_json(const struct stats *s, bool summary,
				       const struct group_choice *c);

/*
 * The intervals between points (report --detail), as a table, as CSV and as JSON. All come from one
 * table of columns.
 */

/* The columns that identify an interval, and the figures. */
#define DETAIL_COLUMNS_MAX (7 + FIGURES_MAX)

/** struct detail_row - a row of struct detail_table */
struct detail_row {
	struct hist_row base;
	const struct detail *d;
};

/**
 * struct detail_table - @columns, with rows of struct detail_row; @figures: strings to which
 * @column points
 */
struct detail_table {
	struct columns columns;
	struct column column[DETAIL_COLUMNS_MAX];
	struct figures figures;
};

/**
 * detail_table_make() - fill @t; @f: figures that the user asked for; if empty, the default ones
 */
void detail_table_make(struct detail_table *t, const struct figures *f);

/** details_print() - print a row for each interval */
void details_print(const struct details *d, const struct figures *figures, FILE *f);

/**
 * details_csv_header(), details_csv() - the same as lines of CSV; @input: the first cell of each
 * line
 */
void details_csv_header(const struct figures *figures, FILE *f);
void details_csv(const struct details *d, const struct figures *figures, const char *input,
		 FILE *f);

/** details_json() - an array with an object for each interval */
struct json_object *details_json(const struct details *d, const struct figures *figures);

#endif /* NTPROF_VIEW_GROUPS_H */
