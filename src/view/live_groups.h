/* SPDX-License-Identifier: GPL-2.0-only */
/* The groups of a live view (live --by) as CSV and as JSON. */
#ifndef NTPROF_VIEW_LIVE_GROUPS_H
#define NTPROF_VIEW_LIVE_GROUPS_H

#include <stdio.h>

#include "core/stats.h"
#include "view/columns_groups.h"
#include "view/json.h"

/**
 * live_groups_csv() - a line for each group that has something to tell, with the time and "interval" or "summary" in front
 * @header: a line of names comes first
 *
 * Return: 0 or -ENOMEM.
 */
int live_groups_csv(FILE *f, const struct stats *s, bool summary, const struct group_choice *c,
		    bool header);

/** live_groups_json() - "by", "rows" and "late" */
struct json_object *live_groups_json(const struct stats *s, bool summary,
				     const struct group_choice *c);

#endif /* NTPROF_VIEW_LIVE_GROUPS_H */
