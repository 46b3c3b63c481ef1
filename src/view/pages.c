// SPDX-License-Identifier: GPL-2.0-only
#include "view/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "core/text.h"
#include "view/cells.h"
#include "view/columns_connections.h"
#include "view/duration.h"
#include "view/histograms.h"
#include "view/losses.h"
#include "view/rows.h"
#include "view/stages.h"
#include "view/wrap.h"

static void name_print(const struct view_row *k, FILE *f)
{
	char name[sizeof(k->controller)];

	text_copy(name, sizeof(name), k->controller[0] ? k->controller : "all", TEXT_MARK);
	fprintf(f, "%s, ", name);
	if (k->shared)
		fputs("all queues, ", f);
	else
		fprintf(f, "queue %u, ", k->qid);
	fprintf(f, "%s\n", k->op < NT_OPS_NR ? op_name(k->op) : "all operations");
}

/*
 * The kernel counts stages by operation only. Stages of a single queue are known only if both
 * sides' records are merged.
 */
static void stages_title(const struct view_row *k, bool merged, FILE *f)
{
	fprintf(f, "\nstages of all %s%s, whatever the queue:\n", merged ? "merged " : "",
		k->op < NT_OPS_NR ? op_name(k->op) : "commands");
}

static bool is_merged(const struct merged_row *m, const struct view_row *k)
{
	struct value host;

	columns_get(&merged_columns, MERGED_HOST, m, &host);
	return !strcmp(host.text, k->controller) && m->t->connection->qid == k->qid &&
	       m->t->op == k->op;
}

/*
 * Prints the means of a queue's ten stages one by one, because as a row they would be wider than a
 * screen.
 */
static void means_print(const struct merged_row *m, FILE *f, unsigned int width)
{
	static const struct phrase heading[] = {
		PHRASE("of this queue, means of ", MERGED_COMMANDS, .after = " merged commands:"),
	};
	struct wrap w = {.f = f, .width = width};

	WRAP_LINE(&w, &merged_columns, heading, m);
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++) {
		const struct column *c = &merged_columns.column[MERGED_MEANS + i];
		char cell[CELL_LEN], item[2 * CELL_LEN];
		struct value v;

		columns_get(&merged_columns, MERGED_MEANS + i, m, &v);
		if (v.none)
			continue;
		snprintf(item, sizeof(item), "%s %s", c->name,
			 cell_format(cell, sizeof(cell), c, &v));
		wrap_text(&w, item);
	}
	fputs("\n", f);
}

/* Return: 0 or -ENOMEM. */
static int queue_means_print(const struct totals *m, const struct view_row *k, FILE *f,
			     unsigned int width)
{
	unsigned int nr;
	struct merged_row *rows = columns_merged_rows(m, &nr);

	if (!rows)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++) {
		if (is_merged(&rows[i], k))
			means_print(&rows[i], f, width);
	}
	free(rows);
	return 0;
}

int page_row_print(const struct block *b, const struct visible_rows *p, const struct view_state *l,
		   const struct totals *m, FILE *f)
{
	const struct queue_row *row = visible_rows_find(p, l);
	struct visible_rows one = *p;
	bool merged = m && m->commands;
	int err = 0;

	name_print(&l->row, f);
	if (!row) {
		fputs("no commands in this interval\n", f);
		return 0;
	}
	/* Print only the row, as the total at the top of the table. */
	one.nr = 0;
	one.total = *row;
	rows_print_visible(b, &one, false, 0, f, f);
	legend_print_row(b, row, f);
	stages_title(&l->row, merged, f);
	stages_print_op(b->s, merged ? m : NULL, l->row.op, l->choice ? &l->choice->figures : NULL,
			f, b->width, b->unicode);
	if (merged)
		err = queue_means_print(m, &l->row, f, b->width);
	fputs("\n", f);
	histogram_print(b, row, f);
	return err;
}

void page_losses_print(const struct block *b, FILE *f)
{
	fputs("what was counted beside the figures, and what to do about it\n", f);
	losses_print_advice(b->s, f, b->width);
}

void page_help_print(FILE *f, unsigned int width)
{
	static const char *const keys[][2] = {
		{"s", "sort by the next of IOPS, p99, commands in flight, age of the oldest"},
		{"g", "group by the next of none, controller, queue, operation, NQN"},
		{"/", "filter: words that controller, NQN, queue (q3) or operation have to match; "
		      "Enter takes them, Escape leaves what was"},
		{"Enter", "the row that is marked: its stages and its whole histogram"},
		{"Escape", "back to the table"},
		{"up, down", "mark another row, or scroll a page; also j, k, Page up, Page down, "
			     "Home, End"},
		{"p", "pause, and go on: what happens meanwhile is in the next block"},
		{"+ -", "a longer, a shorter interval"},
		{"l", "what losses mean, and what to do"},
		{"? h", "this page, and back"},
		{"q", "quit, with the summary of the whole run; so does Ctrl-C"},
	};

	fputs("keys\n", f);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		struct wrap w = {.f = f, .width = width, .used = 10};

		fprintf(f, "%-10s", keys[i][0]);
		wrap_words(&w, keys[i][1]);
		fputs("\n", f);
	}
}

void keys_print(const struct view_state *l, FILE *f)
{
	char filter[VIEW_FILTER_LEN], every[16] = "bursts";

	text_copy(filter, sizeof(filter), l->filter, TEXT_MARK);
	if (l->typing) {
		fprintf(f, "filter: %s_  Enter:take Esc:leave\n", filter);
		return;
	}
	if (l->interval_ns)
		duration_format(every, sizeof(every), (double)l->interval_ns);
	fputs(l->paused ? "PAUSED p:go on " : "", f);
	if (l->page == VIEW_TABLE) {
		fprintf(f, "?:help q:quit s:%s g:%s Enter:row ", view_sort_name(l->sort),
			view_group_name(l->group));
		fprintf(f, "%sl:losses -/+:%s /:%s\n", l->paused ? "" : "p:pause ", every,
			filter[0] ? filter : "filter");
	} else {
		fprintf(f, "?:help q:quit Esc:back up/down:scroll %sl:losses -/+:%s\n",
			l->paused ? "" : "p:pause ", every);
	}
}
