// SPDX-License-Identifier: GPL-2.0-only
#include "view/columns_stages.h"

#include "core/names.h"
#include "core/segments.h"

static void get_share(const void *row, const struct column *c, struct value *v)
{
	const struct stage_row *r = row;

	(void)c;
	value_real(v, r->whole > 0 ? (double)r->base.h->sum / r->whole : 0);
}

static void get_stage(const void *row, const struct column *c, struct value *v)
{
	const struct stage_row *r = row;

	(void)c;
	value_text(v, r->stage);
}

static const struct column stage[] = {
	[STAGE_OP] = COLUMN_OP,
	[STAGE_STAGE] = {"stage", "stage", .unit = UNIT_NAME, .get = get_stage},
	[STAGE_COMMANDS] = COLUMN_COMMANDS,
	[STAGE_MEAN] = COLUMN_MEAN,
	[STAGE_P50] = COLUMN_P50,
	[STAGE_P99] = COLUMN_P99,
	[STAGE_MAX] = COLUMN_MAX,
	[STAGE_SHARE] = {"share", "share", .unit = UNIT_SHARE, .get = get_share},
	[STAGE_SUM] = COLUMN_SUM,
};

const struct columns stage_columns = COLUMNS("stages", stage);

static bool had_commands(const struct stats *s, bool summary, enum nt_op op)
{
	for (size_t i = 0; i < s->nr_rows; i++)
		if (s->rows[i]->op == op && columns_hist_of(s->rows[i], summary)->count)
			return true;
	return false;
}

static double sum_of(const struct hist *stages, unsigned int nr)
{
	double sum = 0;

	for (unsigned int i = 0; i < nr; i++)
		sum += (double)stages[i].sum;
	return sum;
}

void columns_stages_of_side(struct stage_rows *rows, const struct stats *s, bool summary)
{
	unsigned int nr = stages_nr(s->side);
	uint8_t into[NT_STAGES_MAX];

	rows->nr = 0;
	stages_join(s->side, s->missing, into);
	for (unsigned int i = 0; i < nr; i++)
		stage_joined_name(s->side, into, i, rows->joined[i], sizeof(rows->joined[i]));
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		const struct hist *h = summary ? s->stage_total[op] : s->stage_interval[op];

		if (!had_commands(s, summary, op))
			continue;
		for (unsigned int i = 0; i < nr; i++) {
			bool unknown = into[i] == STAGE_UNKNOWN;

			if (into[i] != i && !unknown)
				continue;
			rows->row[rows->nr++] = (struct stage_row){
				.base = {&h[i], op},
				.stage = unknown ? stage_name(s->side, i) : rows->joined[i],
				.unknown = unknown,
				.whole = sum_of(h, nr),
			};
		}
	}
}

void columns_stages_merged(struct stage_rows *rows, const struct totals *m)
{
	rows->nr = 0;
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		double whole = sum_of(m->stage[op], NT_MERGED_STAGES_NR);

		for (unsigned int i = 0; m->latency[op].count && i < NT_MERGED_STAGES_NR; i++)
			rows->row[rows->nr++] = (struct stage_row){
				.base = {&m->stage[op][i], op},
				.stage = merged_stage_name(i),
				.whole = whole,
			};
	}
}
