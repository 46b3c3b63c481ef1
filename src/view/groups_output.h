/* SPDX-License-Identifier: GPL-2.0-only */
/* The groups of a live view (live --by) as CSV and as JSON. */
#ifndef NTPROF_VIEW_GROUPS_OUTPUT_H
#define NTPROF_VIEW_GROUPS_OUTPUT_H

#include <stdio.h>

#include "core/stats.h"
#include "view/columns_groups.h"
#include "view/json.h"

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

#endif /* NTPROF_VIEW_GROUPS_OUTPUT_H */
