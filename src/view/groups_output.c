// SPDX-License-Identifier: GPL-2.0-only
#include "view/groups_output.h"

#include <errno.h>

#include "view/csv.h"
#include "view/group_histograms.h"
#include "view/groups.h"
#include "view/visible_rows.h"
#include "view/rfc3339.h"

int groups_output_csv(FILE *f, const struct stats *s, bool summary, const struct group_choice *c,
		      bool header)
{
	const struct view_state state = {.choice = c};
	char now[RFC3339_LEN];
	struct group_table t;
	struct visible_rows p;
	int err;

	group_table_make(&t, c, GROUPS_FOR_LIVE, summary, false);
	if (header)
		csv_block_header(f, &t.columns);
	rfc3339_now(now);
	err = visible_rows_make(&p, s, &state, summary);
	for (size_t i = 0; !err && i < p.nr; i++)
		csv_block_row(f, now, summary, &t.columns, &p.row[i]);
	visible_rows_free(&p);
	return err;
}

struct json_object *groups_output_json(const struct stats *s, bool summary,
				       const struct group_choice *c)
{
	struct json_object *o = json_empty(), *rows = json_array();
	const struct view_state state = {.choice = c};
	struct group_table t;
	struct visible_rows p;

	group_table_make(&t, c, GROUPS_FOR_LIVE, summary, false);
	/* Appending to NULL notes that memory ran out. json_write() reports it. */
	if (visible_rows_make(&p, s, &state, summary))
		json_append(NULL, NULL);
	for (size_t i = 0; i < p.nr; i++) {
		struct json_object *row = json_row(&t.columns, &p.row[i]);

		if (c->scale.on)
			json_put(row, "histogram",
				 group_histogram_json(p.row[i].base.h, &c->scale));
		json_append(rows, row);
	}
	visible_rows_free(&p);
	json_put(o, "by", groups_json_by(&c->grouping.by));
	json_put(o, "rows", rows);
	json_put(o, "late", c->live_groups ? json_natural(live_groups_late(c->live_groups)) : NULL);
	return o;
}
