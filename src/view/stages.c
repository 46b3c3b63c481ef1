// SPDX-License-Identifier: GPL-2.0-only
#include "view/stages.h"

#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "core/segments.h"
#include "view/columns.h"
#include "view/connections.h"
#include "view/histograms.h"
#include "view/lines.h"

static void get_share(const void *row, const struct column *c, struct value *v)
{
	const struct stage_row *r = row;

	value_real(v, r->whole > 0 ? (double)r->sum / r->whole : 0);
}

static void get_mean(const void *row, const struct column *c, struct value *v)
{
	const struct stage_row *r = row;
	uint64_t n = r->base.h->count;

	value_real(v, n ? (double)r->sum / (double)n : 0);
	v->none = !n;
}

static void where_get(unsigned int where, struct value *v)
{
	static const char *const names[] = {
		[STAGE_AT_HOST] = "host",
		[STAGE_AT_NETWORK] = "network",
		[STAGE_AT_TARGET] = "target",
		[STAGE_AT_HOST | STAGE_AT_NETWORK] = "host+network",
		[STAGE_AT_HOST | STAGE_AT_TARGET] = "host+target",
		[STAGE_AT_NETWORK | STAGE_AT_TARGET] = "network+target",
		[STAGE_AT_HOST | STAGE_AT_NETWORK | STAGE_AT_TARGET] = "host+network+target",
	};

	v->none = !where;
	value_text(v, names[where] ?: "");
}

static void get_where(const void *row, const struct column *c, struct value *v)
{
	where_get(((const struct stage_row *)row)->where, v);
}

static const struct column stage[] = {
	[STAGE_OP] = COLUMN_OP,
	[STAGE_STAGE] = COLUMN("stage", NAME, COLUMN_FIELD(struct stage_row, stage)),
	[STAGE_WHERE] = COLUMN("where", NAME, .get = get_where),
	[STAGE_COMMANDS] = COLUMN_COMMANDS,
	[STAGE_MEAN] = COLUMN("mean", NANOSECONDS, .get = get_mean),
	[STAGE_P50] = COLUMN_P50,
	[STAGE_P99] = COLUMN_P99,
	[STAGE_MAX] = COLUMN_MAX,
	[STAGE_SHARE] = COLUMN("share", SHARE, .get = get_share),
	[STAGE_SUM] = COLUMN("sum", NANOSECONDS, COLUMN_FIELD(struct stage_row, sum)),
};

const struct columns stage_columns = COLUMNS("stages", stage);

void stage_table_make(struct stage_table *t, const struct figures *figures)
{
	static const figure_getter get[] = {
		[FIGURE_MEAN] = get_mean,
		[FIGURE_MIN] = columns_hist_min,
		[FIGURE_MAX] = columns_hist_max,
		[FIGURE_PERCENTILE] = columns_hist_percentile,
	};
	struct columns *c = &t->columns;

	memset(t, 0, sizeof(*t));
	c->name = stage_columns.name;
	c->column = t->column;
	if (figures)
		t->figures = *figures;
	figures_usual(&t->figures);
	t->column[c->nr++] = stage[STAGE_OP];
	t->column[c->nr++] = stage[STAGE_STAGE];
	t->column[c->nr++] = stage[STAGE_WHERE];
	c->nr += figures_columns(t->column + c->nr, &t->figures, get);
	t->column[c->nr++] = stage[STAGE_SHARE];
}

static const struct column population[] = {
	[POPULATION_SPLIT] = COLUMN("split", COUNT, COLUMN_FIELD(struct stage_rows, split)),
	[POPULATION_COMMANDS] =
		COLUMN("commands", COUNT, COLUMN_FIELD(struct stage_rows, commands)),
};

const struct columns population_columns = COLUMNS("population", population);

/* Where each of the ten stages spends its time. */
static const unsigned char merged_at[NT_MERGED_STAGES_NR] = {
	[NT_MS_BLK_SUBMISSION] = STAGE_AT_HOST,
	[NT_MS_NVME_TCP_SUBMISSION] = STAGE_AT_HOST,
	[NT_MS_NSTACK_SUBMISSION] = STAGE_AT_TARGET,
	[NT_MS_NVMET_TCP_SUBMISSION] = STAGE_AT_TARGET,
	[NT_MS_TARGET_SUBSYSTEM] = STAGE_AT_TARGET,
	[NT_MS_NVMET_TCP_COMPLETION] = STAGE_AT_TARGET,
	[NT_MS_NETWORK_TRANSMISSION] = STAGE_AT_NETWORK,
	[NT_MS_NSTACK_COMPLETION] = STAGE_AT_HOST,
	[NT_MS_NVME_TCP_COMPLETION] = STAGE_AT_HOST,
	[NT_MS_BLK_COMPLETION] = STAGE_AT_HOST,
};

static unsigned int where_of(uint32_t stages)
{
	unsigned int where = 0;

	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		where |= stages & 1u << i ? merged_at[i] : 0u;
	return where;
}

/* The same for a side's own stage, and those that are joined with it. */
static unsigned int where_of_side(enum nt_side side, const uint8_t *into, unsigned int stage)
{
	static const unsigned char at[NT_SIDES][NT_STAGES_MAX] = {
		[NT_HOST][NT_HS_NETWORK_AND_TARGET] = STAGE_AT_NETWORK | STAGE_AT_TARGET,
		[NT_TARGET][NT_TS_NETWORK_AND_HOST] = STAGE_AT_HOST | STAGE_AT_NETWORK,
	};
	unsigned int own = side == NT_HOST ? STAGE_AT_HOST : STAGE_AT_TARGET, where = 0;

	for (unsigned int i = 0; i < stages_nr(side); i++)
		where |= into[i] == stage ? at[side][i] ?: own : 0u;
	return where;
}

static uint64_t commands_of(const struct stats *s, bool summary, enum nt_op op)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->nr_rows; i++)
		if (s->rows[i]->op == op)
			n += columns_hist_of(s->rows[i], summary)->count;
	return n;
}

/*
 * The largest count of all stages is the number of commands that were split. A stage may have
 * fewer: some commands do not pass it, or have no submit.
 */
static uint64_t split_of(const struct hist *stages, unsigned int nr)
{
	uint64_t most = 0;

	for (unsigned int i = 0; i < nr; i++)
		if (stages[i].count > most)
			most = stages[i].count;
	return most;
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
	rows->commands = rows->split = 0;
	stages_join(s->side, s->missing, into);
	for (unsigned int i = 0; i < nr; i++)
		stage_joined_name(s->side, into, i, rows->joined[i], sizeof(rows->joined[i]));
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		const struct hist *h = summary ? s->stage_total[op] : s->stage_interval[op];
		uint64_t commands = commands_of(s, summary, (enum nt_op)op);

		if (!commands)
			continue;
		rows->commands += commands;
		rows->split += split_of(h, nr);
		for (unsigned int i = 0; i < nr; i++) {
			bool unknown = into[i] == STAGE_UNKNOWN;

			if (into[i] != i && !unknown)
				continue;
			rows->row[rows->nr++] = (struct stage_row){
				.base = {.h = &h[i], .op = op},
				.stage = unknown ? stage_name(s->side, i) : rows->joined[i],
				.where = unknown ? 0 : where_of_side(s->side, into, i),
				.unknown = unknown,
				.sum = (__int128)h[i].sum,
				.whole = sum_of(h, nr),
			};
		}
	}
}

/* Compares two sets of joined stages: by the first stage, then by the set. */
static int by_stages(const void *a, const void *b)
{
	const struct totals_stage *const *x = a, *const *y = b;
	uint32_t first_x = (*x)->stages & -(*x)->stages, first_y = (*y)->stages & -(*y)->stages;

	if (first_x != first_y)
		return first_x < first_y ? -1 : 1;
	return (*x)->stages < (*y)->stages ? -1 : (*x)->stages > (*y)->stages;
}

static void merged_add(struct stage_rows *rows, const struct totals *m, enum nt_op op)
{
	const struct totals_stage *stage[TOTALS_STAGES_MAX] = {NULL};
	const struct hist *unsplit = &m->unsplit_latency[op];
	double whole = (double)m->latency[op].sum;
	unsigned int nr = 0;

	for (unsigned int i = 0; i < m->nr_stages[op]; i++)
		if (m->stage[op][i]->time.count)
			stage[nr++] = m->stage[op][i];
	qsort(stage, nr, sizeof(stage[0]), by_stages);
	for (unsigned int i = 0; i < nr; i++)
		rows->row[rows->nr++] = (struct stage_row){
			.base = {.h = &stage[i]->time, .op = op},
			.stage = stage[i]->name,
			.where = where_of(stage[i]->stages),
			.stages = stage[i]->stages,
			.sum = totals_stage_sum(stage[i]),
			.whole = whole,
		};
	if (unsplit->count)
		rows->row[rows->nr++] = (struct stage_row){
			.base = {.h = unsplit, .op = op},
			.stage = "unsplit",
			.sum = (__int128)unsplit->sum,
			.whole = whole,
		};
}

void columns_stages_merged(struct stage_rows *rows, const struct totals *m)
{
	rows->nr = 0;
	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		merged_add(rows, m, (enum nt_op)op);
}

#define BAR_MAX 40
#define BAR_MIN 4

/* A duration, and a share of 100.0 %. */
#define DURATION_WIDTH 8
#define SHARE_WIDTH 7

/* Width of the column of operations, for any that there could be. */
static int op_width(void)
{
	size_t width = strlen(stage_columns.column[STAGE_OP].title);

	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		if (strlen(op_name(op)) > width)
			width = strlen(op_name(op));
	return (int)width;
}

static double share_of(const struct stage_row *row)
{
	struct value v;

	columns_get(&stage_columns, STAGE_SHARE, row, &v);
	return value_number(&v);
}

/*
 * Operation and stage are at the left, then the figures, and the share at the end. With
 * STAGES_WHERE the line fits into the width: without room for a bar there is none, and then no such
 * column.
 */
static void print(const struct stage_rows *rows, unsigned int form, const struct figures *figures,
		  FILE *f, unsigned int width, bool unicode)
{
	static const unsigned char dispensable[] = {2};
	struct stage_table t;
	struct table table = {.columns = &t.columns, .dispensable = dispensable};
	bool where = form & STAGES_WHERE;
	unsigned int bar, share, used, layout = where ? TABLE_WIDE : TABLE_CLOSE;

	if (!rows->nr)
		return;
	stage_table_make(&t, figures);
	share = t.columns.nr - 1;
	table_add(&table, 0, NULL, form & STAGES_ANY_OP ? op_width() : 0);
	table_add(&table, 1, where ? NULL : "  ", 0);
	if (where)
		table_add(&table, 2, NULL, 0);
	table.nr_dispensable = where;
	for (unsigned int i = 3; i < share; i++)
		table_add(&table, i, " ", DURATION_WIDTH);
	table_add(&table, share, where ? NULL : "  ", SHARE_WIDTH);
	for (unsigned int i = 0; i < rows->nr; i++)
		table_measure(&table, &rows->row[i]);
	used = table_lay_out(&table, layout) + 1;
	while (where && used > width && layout < TABLE_BRIEF + table.nr_dispensable)
		used = table_lay_out(&table, ++layout) + 1;
	bar = where && used + BAR_MIN > width ? 0 : bar_width(width, used, BAR_MIN, BAR_MAX);
	table_titles(&table, f);
	for (unsigned int i = 0; i < rows->nr; i++) {
		double part = share_of(&rows->row[i]);

		table_line(&table, &rows->row[i], f);
		fputs(part > 0 && bar ? " " : "", f);
		if (bar)
			bar_draw(f, part, bar, unicode);
		fputs("\n", f);
	}
}

void stages_print_side(const struct stats *s, bool summary, unsigned int form,
		       const struct figures *figures, FILE *f, unsigned int width, bool unicode)
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
	print(&rows, form, figures, f, width, unicode);
}

void stages_print_merged(const struct totals *m, unsigned int form, const struct figures *figures,
			 FILE *f, unsigned int width, bool unicode)
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
	print(&rows, form, figures, f, width, unicode);
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
	print(&rows, 0, figures, f, width, unicode);
}

static void get_waiting_where(const void *row, const struct column *c, struct value *v)
{
	where_get(((const struct waiting_row *)row)->where, v);
}

#define WAITING(member) COLUMN_FIELD(struct waiting_row, member)

static const struct column waiting[] = {
	[WAITING_OP] = COLUMN("op", NAME, WAITING(op), .words = WORD_OP),
	[WAITING_STAGE] = COLUMN("stage", NAME, WAITING(stage)),
	[WAITING_WHERE] = COLUMN("where", NAME, .get = get_waiting_where),
	[WAITING_COMMANDS] = {"in_flight", "in flight", .unit = UNIT_COUNT, WAITING(in.commands)},
	[WAITING_OLDEST] = COLUMN("oldest", NANOSECONDS, WAITING(in.oldest_ns)),
};

const struct columns waiting_columns = COLUMNS("waiting", waiting);

static int by_oldest(const void *a, const void *b)
{
	const struct waiting_row *x = a, *y = b;

	return (x->in.oldest_ns < y->in.oldest_ns) - (x->in.oldest_ns > y->in.oldest_ns);
}

void columns_waiting(struct waiting_rows *rows, const struct stats *s)
{
	struct waiting sum[NT_OPS_NR] = {0};
	uint8_t into[NT_STAGES_MAX];

	rows->nr = 0;
	stages_join(s->side, s->missing, into);
	for (size_t i = 0; i < s->nr_rows; i++)
		waiting_add(&sum[s->rows[i]->op], &s->rows[i]->waiting);
	for (unsigned int i = 0; i < stages_nr(s->side); i++) {
		stage_joined_name(s->side, into, i, rows->joined[i], sizeof(rows->joined[i]));
		for (unsigned int op = 0; op < NT_OPS_NR && into[i] != STAGE_UNKNOWN; op++) {
			struct waiting_stage *own = &sum[op].stage[i];
			struct waiting_stage *first = &sum[op].stage[into[i]];

			if (own == first)
				continue;
			waiting_stage_add(first, own);
			own->commands = 0;
		}
	}
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		for (unsigned int i = 0; i < stages_nr(s->side); i++) {
			bool unknown = into[i] == STAGE_UNKNOWN;

			if (!sum[op].stage[i].commands)
				continue;
			rows->row[rows->nr++] = (struct waiting_row){
				.op = op,
				.stage = unknown ? stage_name(s->side, i) : rows->joined[i],
				.where = unknown ? 0 : where_of_side(s->side, into, i),
				.in = sum[op].stage[i],
			};
		}
	}
	qsort(rows->row, rows->nr, sizeof(rows->row[0]), by_oldest);
}

void stages_print_waiting(const struct stats *s, FILE *f)
{
	struct table table = {.columns = &waiting_columns};
	struct waiting_rows rows;

	columns_waiting(&rows, s);
	if (!rows.nr)
		return;
	for (unsigned int i = WAITING_OP; i <= WAITING_OLDEST; i++)
		table_add(&table, i, NULL, 0);
	for (unsigned int i = 0; i < rows.nr; i++)
		table_measure(&table, &rows.row[i]);
	table_lay_out(&table, TABLE_WIDE);
	fputs("no command ended: the stages of those in flight\n", f);
	table_titles(&table, f);
	for (unsigned int i = 0; i < rows.nr; i++)
		table_row(&table, &rows.row[i], f);
}
