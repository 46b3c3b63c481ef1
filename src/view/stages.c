// SPDX-License-Identifier: GPL-2.0-only
#include "view/stages.h"

#include <string.h>

#include "core/names.h"
#include "view/bars.h"
#include "view/columns.h"
#include "view/columns_connections.h"
#include "view/columns_stages.h"
#include "view/lines.h"

#define BAR_MAX 40
#define BAR_MIN 4

/* A duration, and a share of 100.0 %. */
#define DURATION_WIDTH 8
#define SHARE_WIDTH 7

/* Width of the column of operations: for the rows, or for any operation that there could be. */
static int op_width(const struct stage_rows *rows, bool any)
{
	size_t width = strlen(stage_columns.column[STAGE_OP].title);

	for (unsigned int op = 0; any && op < NT_OPS_NR; op++)
		if (strlen(op_name(op)) > width)
			width = strlen(op_name(op));
	for (unsigned int i = 0; i < rows->nr; i++)
		if (strlen(op_name(rows->row[i].base.op)) > width)
			width = strlen(op_name(rows->row[i].base.op));
	return (int)width;
}

static int stage_width(const struct stage_rows *rows)
{
	size_t width = strlen(stage_columns.column[STAGE_STAGE].title);

	for (unsigned int i = 0; i < rows->nr; i++)
		if (strlen(rows->row[i].stage) > width)
			width = strlen(rows->row[i].stage);
	return (int)width;
}

/* Columns that a line of phrases takes. */
static unsigned int columns_used(const struct phrase *p, size_t nr)
{
	size_t used = 0;

	for (size_t i = 0; i < nr; i++)
		used += (p[i].before ? strlen(p[i].before) : 0) +
			(size_t)(p[i].width < 0 ? -p[i].width : p[i].width);
	return (unsigned int)used;
}

static double share_of(const struct stage_row *row)
{
	struct value v;

	columns_get(&stage_columns, STAGE_SHARE, row, &v);
	return value_number(&v);
}

/* Operation and stage are at the left, then the figures, and the share at the end. */
static void lay_out(const struct stage_table *t, const struct stage_rows *rows, bool any_op,
		    struct phrase phrase[STAGE_TABLE_MAX])
{
	for (unsigned int i = 0; i < t->columns.nr; i++)
		phrase[i] = (struct phrase){.before = " ",
					    .column = (unsigned char)i,
					    .style = LINE_CELL,
					    .width = DURATION_WIDTH};
	phrase[0] = (struct phrase){.column = 0, .width = -op_width(rows, any_op)};
	phrase[1] = (struct phrase){.before = "  ", .column = 1, .width = -stage_width(rows)};
	phrase[t->columns.nr - 1].before = "  ";
	phrase[t->columns.nr - 1].width = SHARE_WIDTH;
}

static void print(const struct stage_rows *rows, bool any_op, const struct figures *figures,
		  FILE *f, unsigned int width, bool unicode)
{
	struct phrase phrase[STAGE_TABLE_MAX];
	struct stage_table t;
	unsigned int bar;

	if (!rows->nr)
		return;
	stage_table_make(&t, figures);
	lay_out(&t, rows, any_op, phrase);
	bar = bar_width(width, columns_used(phrase, t.columns.nr) + 1, BAR_MIN, BAR_MAX);
	line_titles(f, &t.columns, phrase, t.columns.nr, false);
	fputs("\n", f);
	for (unsigned int i = 0; i < rows->nr; i++) {
		double share = share_of(&rows->row[i]);

		line_print(f, &t.columns, phrase, t.columns.nr, &rows->row[i]);
		fputs(share > 0 ? " " : "", f);
		bar_draw(f, share, bar, unicode);
		fputs("\n", f);
	}
}

void stages_print_side(const struct stats *s, bool summary, const struct figures *figures, FILE *f,
		       unsigned int width, bool unicode)
{
	static const struct phrase some[] = {
		PHRASE("stages of ", POPULATION_SPLIT),
		PHRASE(" of ", POPULATION_COMMANDS,
		       .after = " commands: the others could not be split\n"),
	};
	struct stage_rows rows;

	columns_stages_of_side(&rows, s, summary);
	/*
	 * An interval may contain a command's latency, and the next interval its stages. So the
	 * counts are compared only for the whole run.
	 */
	if (summary && rows.split < rows.commands)
		LINE_PRINT(f, &population_columns, some, &rows);
	print(&rows, false, figures, f, width, unicode);
}

void stages_print_merged(const struct totals *m, const struct figures *figures, FILE *f,
			 unsigned int width, bool unicode)
{
	static const struct phrase population[] = {
		PHRASE("stages of ", MERGING_COMMANDS, .after = " merged commands"),
		PHRASE(", ", MERGING_SOME_UNSPLIT,
		       .after = " of them unsplit, as not all of their stages can be told"),
	};
	static const struct phrase joined[] = {
		PHRASE("arrivals of ", MERGING_SOME_JOINED,
		       .after = " of them may be told too late: TCP had joined their packets; "
				"they are"),
		PHRASE(" ", MERGING_JOINED_SHARE, .style = LINE_CELL,
		       .after = " of network_transmission\n"),
	};
	struct stage_rows rows;

	columns_stages_merged(&rows, m);
	if (rows.nr) {
		LINE_PRINT(f, &merging_columns, population, m);
		fputs("; they add up to the latency of all\n", f);
		if (m->joined)
			LINE_PRINT(f, &merging_columns, joined, m);
	}
	print(&rows, true, figures, f, width, unicode);
}

void stages_print_op(const struct stats *s, const struct totals *m, enum nt_op op,
		     const struct figures *figures, FILE *f, unsigned int width, bool unicode)
{
	struct stage_rows rows;
	unsigned int nr = 0;

	if (m)
		columns_stages_merged(&rows, m);
	else
		columns_stages_of_side(&rows, s, false);
	for (unsigned int i = 0; i < rows.nr; i++) {
		if (op == NT_OPS_NR || rows.row[i].base.op == op)
			rows.row[nr++] = rows.row[i];
	}
	rows.nr = nr;
	print(&rows, false, figures, f, width, unicode);
}
