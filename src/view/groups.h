/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recorded commands in groups (report --by, --every), as a table, as CSV and as JSON. All come from
 * one table of columns.
 */
#ifndef NTPROF_VIEW_GROUPS_H
#define NTPROF_VIEW_GROUPS_H

#include <stdio.h>

#include "core/text.h"
#include "merge/groups.h"
#include "view/columns_groups.h"
#include "view/json.h"

/**
 * group_print_names() - print the full NQNs of a group, a line for each, because a table shows only
 * their ends
 */
void group_print_names(const struct group_name *name, enum text_style style, FILE *f);

/**
 * groups_print() - print the total, and a row for each group in each interval
 * @g: finished
 * @c: what the user asked for
 * @width: columns of the terminal
 * @unicode: draw bars with Unicode blocks
 */
void groups_print(const struct groups *g, const struct group_choice *c, FILE *f, unsigned int width,
		  bool unicode);

/** groups_csv_header() - print the header of groups_csv() */
void groups_csv_header(const struct group_choice *c, FILE *f);

/**
 * groups_csv() - print a line for each row; the others and the total come last; @input: the first
 * cell of each line
 */
void groups_csv(const struct groups *g, const struct group_choice *c, const char *input, FILE *f);

/** groups_json() - an object with "by", "every", "rows", "others", "total", "left_out", "late" */
struct json_object *groups_json(const struct groups *g, const struct group_choice *c);

/** groups_json_by() - an array with the names of the keys */
struct json_object *groups_json_by(const struct group_by *by);

#endif /* NTPROF_VIEW_GROUPS_H */
