/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The intervals between points (report --detail), as a table, as CSV and as JSON. All come from one
 * table of columns.
 */
#ifndef NTPROF_VIEW_DETAILS_H
#define NTPROF_VIEW_DETAILS_H

#include <stdio.h>

#include "merge/details.h"
#include "view/columns_groups.h"
#include "view/json.h"

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

#endif /* NTPROF_VIEW_DETAILS_H */
