/* SPDX-License-Identifier: GPL-2.0-only */
/* Recorded commands in groups (report --by, --every), as a table, as CSV and as JSON: from one table of columns. */
#ifndef NTPROF_VIEW_GROUPS_H
#define NTPROF_VIEW_GROUPS_H

#include <stdio.h>

#include "core/text.h"
#include "merge/groups.h"
#include "view/columns_groups.h"
#include "view/json.h"

/** group_print_names() - what the ends of its NQNs, as a table has them, are of: a line each */
void group_print_names(const struct group_name *name, enum text_style style, FILE *f);

/**
 * groups_print() - the total, and a row for each group, in each interval
 * @g: finished
 * @c: what was asked for
 * @width: columns there are
 * @unicode: bars of Unicode blocks
 */
void groups_print(const struct groups *g, const struct group_choice *c, FILE *f, unsigned int width,
		  bool unicode);

/** groups_csv_header() - of groups_csv() */
void groups_csv_header(const struct group_choice *c, FILE *f);

/** groups_csv() - a line for each row, those of the others and of the total last; @input: what they are of */
void groups_csv(const struct groups *g, const struct group_choice *c, const char *input, FILE *f);

/** groups_json() - "by", "every", "rows", "others", "total", "left_out", "late" */
struct json_object *groups_json(const struct groups *g, const struct group_choice *c);

/** groups_json_by() - the names of the keys, in an array */
struct json_object *groups_json_by(const struct group_by *by);

#endif /* NTPROF_VIEW_GROUPS_H */
