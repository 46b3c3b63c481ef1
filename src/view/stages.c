// SPDX-License-Identifier: GPL-2.0-only
/* The table of stages: where the time of the commands of each operation goes. */
#include <string.h>

#include "core/names.h"
#include "view/bars.h"
#include "core/segments.h"
#include "view/view.h"
#include "view/block.h"

/* Longer bars tell no more. */
#define BAR_MAX 40
#define BAR_MIN 4

struct widths {
	int op;
	int stage;
	unsigned int bar;
	uint8_t into[NT_STAGES_MAX]; /* see stages_join() */
};

/* All of a side's stages under one name. */
#define STAGE_NAME 256

/* Columns of a row besides the names and the bar: four durations and the share. */
#define NUMBERS_WIDTH (4 * (1 + 8) + 2 + 7)

/* The name of a stage and of those that are one with it. */
static const char *stage_label(const struct block *b, const struct widths *w, unsigned int stage,
			       char name[STAGE_NAME])
{
	if (w->into[stage] == STAGE_UNKNOWN)
		return stage_name(b->s->side, stage);
	return stage_joined_name(b->s->side, w->into, stage, name, STAGE_NAME);
}

static void widths_measure(struct widths *w, const struct block *b)
{
	char name[STAGE_NAME];
	unsigned int used;

	stages_join(b->s->side, b->s->missing, w->into);
	w->op = (int)strlen("op");
	w->stage = (int)strlen("stage");
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		if (block_commands(b, op) && (int)strlen(op_name(op)) > w->op)
			w->op = (int)strlen(op_name(op));
	}
	for (unsigned int i = 0; i < stages_nr(b->s->side); i++) {
		int len = (int)strlen(stage_label(b, w, i, name));

		if (len > w->stage)
			w->stage = len;
	}
	used = (unsigned int)(w->op + 2 + w->stage + NUMBERS_WIDTH + 1);
	w->bar = used < b->width ? b->width - used : 0;
	if (w->bar > BAR_MAX)
		w->bar = BAR_MAX;
	if (w->bar < BAR_MIN)
		w->bar = BAR_MIN;
}

static void stage_print(const struct block *b, const struct widths *w, enum nt_op op,
			unsigned int stage, double whole, FILE *f)
{
	const struct hist *h = block_stage(b, op, stage);
	double share = whole > 0 ? (double)h->sum / whole : 0;
	double v[] = {hist_mean(h), (double)hist_percentile(h, 50), (double)hist_percentile(h, 99),
		      (double)h->max};
	char text[VIEW_DURATION], name[STAGE_NAME];

	if (w->into[stage] != stage && w->into[stage] != STAGE_UNKNOWN)
		return;
	fprintf(f, "%-*s  %-*s", w->op, op_name(op), w->stage, stage_label(b, w, stage, name));
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		fprintf(f, " %8s", h->count ? view_duration(text, sizeof(text), v[i]) : "-");
	fprintf(f, "  %5.1f %%%s", share * 100, share > 0 ? " " : "");
	bar_draw(f, share, w->bar, b->unicode);
	fputs("\n", f);
}

void block_stages(const struct block *b, FILE *f)
{
	unsigned int nr = stages_nr(b->s->side);
	struct widths w;
	bool titles = false;

	widths_measure(&w, b);
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		double whole = 0;

		if (!block_commands(b, op))
			continue;
		if (!titles)
			fprintf(f, "%-*s  %-*s %8s %8s %8s %8s  %7s\n", w.op, "op", w.stage,
				"stage", "mean", "p50", "p99", "max", "share");
		titles = true;
		for (unsigned int i = 0; i < nr; i++)
			whole += (double)block_stage(b, op, i)->sum;
		for (unsigned int i = 0; i < nr; i++)
			stage_print(b, &w, op, i, whole, f);
	}
}
