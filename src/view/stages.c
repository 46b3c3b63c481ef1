// SPDX-License-Identifier: GPL-2.0-only
#include "view/stages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/names.h"
#include "core/segments.h"
#include "core/time.h"
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

const char *stages_where_name(unsigned int where)
{
	static const char *const names[] = {
		[STAGE_AT_HOST] = "host",
		[STAGE_AT_NETWORK] = "network",
		[STAGE_AT_TARGET] = "target",
		[STAGE_AT_HOST | STAGE_AT_NETWORK] = "host+network",
		[STAGE_AT_HOST | STAGE_AT_TARGET] = "host+target",
		[STAGE_AT_NETWORK | STAGE_AT_TARGET] = "network+target",
		[STAGE_AT_HOST | STAGE_AT_NETWORK | STAGE_AT_TARGET] = "host+network+target",
		[STAGE_AT_DEVICE] = "device",
		[STAGE_AT_HOST | STAGE_AT_DEVICE] = "host+device",
		[STAGE_AT_HOST | STAGE_AT_NETWORK | STAGE_AT_TARGET | STAGE_AT_DEVICE] =
			"host+network+target+device",
	};

	return where < ARRAY_SIZE(names) && names[where] ? names[where] : "";
}

static void where_get(unsigned int where, struct value *v)
{
	v->none = !where;
	value_text(v, stages_where_name(where));
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
	static const figure_getter get[FIGURE_KINDS] = {
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
	figures_of_latency(&t->figures);
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

/* Where each of the ten stages spends its time, and what may stand for one of them. */
static const unsigned char merged_at[NT_MERGED_STAGES_NR + NT_STAGE_PARTS_NR] = {
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
	[NT_MERGED_STAGES_NR + NT_SP_HOST_SEND_WAKEUP] = STAGE_AT_HOST,
	[NT_MERGED_STAGES_NR + NT_SP_HOST_SEND_WORKER] = STAGE_AT_HOST,
	[NT_MERGED_STAGES_NR + NT_SP_TARGET_STACK] = STAGE_AT_TARGET,
	[NT_MERGED_STAGES_NR + NT_SP_TARGET_WAKEUP] = STAGE_AT_TARGET,
	[NT_MERGED_STAGES_NR + NT_SP_TARGET_WORKER] = STAGE_AT_TARGET,
	[NT_MERGED_STAGES_NR + NT_SP_TARGET_BLOCK_LAYER] = STAGE_AT_TARGET,
	[NT_MERGED_STAGES_NR + NT_SP_DEVICE] = STAGE_AT_TARGET,
	[NT_MERGED_STAGES_NR + NT_SP_TARGET_BLOCK_DONE] = STAGE_AT_TARGET,
	[NT_MERGED_STAGES_NR + NT_SP_TARGET_FILE_WAIT] = STAGE_AT_TARGET,
	[NT_MERGED_STAGES_NR + NT_SP_TARGET_FILE_IO] = STAGE_AT_TARGET,
	[NT_MERGED_STAGES_NR + NT_SP_TARGET_PAGE_CACHE] = STAGE_AT_TARGET,
	[NT_MERGED_STAGES_NR + NT_SP_TARGET_SEND_WAKEUP] = STAGE_AT_TARGET,
	[NT_MERGED_STAGES_NR + NT_SP_TARGET_SEND_WORKER] = STAGE_AT_TARGET,
	[NT_MERGED_STAGES_NR + NT_SP_HOST_SEND_QUEUE] = STAGE_AT_HOST,
	[NT_MERGED_STAGES_NR + NT_SP_WIRE] = STAGE_AT_NETWORK,
	[NT_MERGED_STAGES_NR + NT_SP_TARGET_SEND_QUEUE] = STAGE_AT_TARGET,
	[NT_MERGED_STAGES_NR + NT_SP_HOST_STACK] = STAGE_AT_HOST,
	[NT_MERGED_STAGES_NR + NT_SP_HOST_WAKEUP] = STAGE_AT_HOST,
	[NT_MERGED_STAGES_NR + NT_SP_HOST_WORKER] = STAGE_AT_HOST,
};

static unsigned int where_of(uint32_t stages)
{
	unsigned int where = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(merged_at); i++)
		where |= stages & 1u << i ? merged_at[i] : 0u;
	return where;
}

/* The same for a side's own stage, and those that are joined with it. */
static unsigned int where_of_side(enum nt_side side, const uint8_t *into, unsigned int stage)
{
	static const unsigned char at[NT_SIDES][NT_STAGES_MAX] = {
		[NT_HOST][NT_HS_NETWORK_AND_TARGET] = STAGE_AT_NETWORK | STAGE_AT_TARGET,
		[NT_HOST][NT_HS_DEVICE] = STAGE_AT_DEVICE,
		[NT_TARGET][NT_TS_NETWORK_AND_HOST] = STAGE_AT_HOST | STAGE_AT_NETWORK,
	};
	unsigned int own = side == NT_HOST ? STAGE_AT_HOST : STAGE_AT_TARGET, where = 0;

	for (unsigned int i = 0; i < stages_nr(side); i++)
		where |= into[i] == stage ? at[side][i] ?: own : 0u;
	return where;
}

unsigned int stages_where(enum nt_side of, const uint8_t *into, unsigned int stage)
{
	unsigned int where = 0;

	if (of != NT_SIDES)
		return where_of_side(of, into, stage);
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		where |= into[i] == stage ? merged_at[i] : 0u;
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

/* @into: see stages_join(); also sets the names of stages that are joined */
static void side_begin(struct stage_rows *rows, const struct stats *s, uint8_t into[NT_STAGES_MAX])
{
	rows->nr = 0;
	rows->commands = rows->split = 0;
	stages_join(s->side, s->missing, into);
	for (unsigned int i = 0; i < stages_nr(s->side); i++)
		stage_joined_name(s->side, into, i, rows->joined[i], sizeof(rows->joined[i]));
}

/*
 * Adds the stages @h of @commands commands of an operation. Of several transports each has stages
 * that commands of the others do not pass.
 */
static void side_add(struct stage_rows *rows, const struct stats *s, const uint8_t *into,
		     enum nt_op op, const struct hist *h, uint64_t commands)
{
	unsigned int nr = stages_nr(s->side);
	enum nt_side side = s->side;

	if (!commands)
		return;
	rows->commands += commands;
	rows->split += split_of(h, nr);
	for (unsigned int i = 0; i < nr; i++) {
		bool unknown = into[i] == STAGE_UNKNOWN;

		if ((into[i] != i && !unknown) || (s->missing & NT_WITH_CORE && !h[i].count))
			continue;
		rows->row[rows->nr++] = (struct stage_row){
			.base = {.h = &h[i], .op = op},
			.stage = unknown ? stage_name(side, i) : rows->joined[i],
			.where = unknown ? 0 : where_of_side(side, into, i),
			.unknown = unknown,
			.sum = (__int128)h[i].sum,
			.whole = sum_of(h, nr),
		};
	}
}

void columns_stages_of_side(struct stage_rows *rows, const struct stats *s, bool summary)
{
	uint8_t into[NT_STAGES_MAX];

	side_begin(rows, s, into);
	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		side_add(rows, s, into, (enum nt_op)op,
			 summary ? s->stage_total[op] : s->stage_interval[op],
			 commands_of(s, summary, (enum nt_op)op));
}

void columns_stages_of_controller(struct stage_rows *rows, const struct stats *s,
				  const struct stats_stages *of, bool summary)
{
	const struct hist *h = summary ? of->total : of->interval;
	uint8_t into[NT_STAGES_MAX];

	side_begin(rows, s, into);
	side_add(rows, s, into, of->op, h, split_of(h, stages_nr(s->side)));
}

static void stages_of_sum(struct stage_rows *rows, const struct stats *s,
			  const struct stages_sum *sum)
{
	uint8_t into[NT_STAGES_MAX];

	side_begin(rows, s, into);
	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		side_add(rows, s, into, (enum nt_op)op, sum->stage[op], sum->commands[op]);
}

/* The first stage of a set; for a part of a stage, that. */
static uint32_t first_of(uint32_t stages)
{
	uint32_t first = stages & -stages;

	for (unsigned int i = 0; i < NT_STAGE_PARTS_NR; i++)
		if (first == TOTALS_PART_BIT(i))
			return 1u << stage_of_part((enum stage_part)i);
	return first;
}

/* Compares two sets of joined stages: by the first stage, then by the set. */
static int by_stages(const void *a, const void *b)
{
	const struct totals_stage *const *x = a, *const *y = b;
	uint32_t first_x = first_of((*x)->stages), first_y = first_of((*y)->stages);

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

/* In a table of stages, figures follow the operation, the stage and where it is. */
#define FIRST_FIGURE 3
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
	for (unsigned int i = FIRST_FIGURE; i < share; i++)
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

/*
 * A stage in one line, with the figures of each operation beside each other.
 */
struct across_row {
	const char *stage;
	unsigned int where;
	const struct stage_table *t;
	const struct stage_row *op[NT_OPS_NR];
};

static void get_across_where(const void *row, const struct column *c, struct value *v)
{
	where_get(((const struct across_row *)row)->where, v);
}

/* @c->arg: the operation, and the column of the table of a single operation. */
static void get_across(const void *row, const struct column *c, struct value *v)
{
	const struct across_row *r = row;
	const struct stage_row *of = r->op[c->arg / STAGE_TABLE_MAX];
	unsigned int figure = c->arg % STAGE_TABLE_MAX;
	struct stage_row past;

	value_natural(v, 0);
	v->none = true;
	if (of && of->recent && r->t->column[figure].get == columns_hist_percentile) {
		past = *of;
		past.base.h = &of->recent->h;
		of = &past;
	}
	if (of)
		columns_get(&r->t->columns, figure, of, v);
}

/* The columns of stages and their places; then those of each operation. */
enum { ACROSS_STAGE, ACROSS_WHERE, ACROSS_FIGURES };
#define ACROSS_COLUMNS_MAX (ACROSS_FIGURES + NT_OPS_NR * STAGE_TABLE_MAX)

static const struct column across_columns[ACROSS_FIGURES] = {
	[ACROSS_STAGE] = COLUMN("stage", NAME, COLUMN_FIELD(struct across_row, stage)),
	[ACROSS_WHERE] = COLUMN("where", NAME, .get = get_across_where),
};

/**
 * struct across - the table
 * @op: @nr_ops operations, those with most of the time first
 * @order: @shown of them in the order of their columns, which stays from one block to the next
 * @skip: figures of each that are left out, from the first one on
 * @where: with the places
 */
struct across {
	struct stage_table t;
	struct columns columns;
	struct column column[ACROSS_COLUMNS_MAX];
	struct across_row row[STAGE_ROWS_MAX];
	unsigned int nr_rows;
	unsigned char op[NT_OPS_NR];
	unsigned int nr_ops;
	unsigned char order[NT_OPS_NR];
	unsigned int shown;
	unsigned int skip;
	bool where;
	struct table table;
};

static struct across_row *across_row(struct across *a, const struct stage_row *of)
{
	unsigned int i = 0;

	while (i < a->nr_rows && strcmp(a->row[i].stage, of->stage) != 0)
		i++;
	if (i == a->nr_rows)
		a->row[a->nr_rows++] = (struct across_row){of->stage, of->where, &a->t, {NULL}};
	return &a->row[i];
}

/* Operations with most of the time come first, as others may find no room. */
static void across_fill(struct across *a, const struct stage_rows *rows)
{
	double whole[NT_OPS_NR] = {0};

	for (unsigned int i = 0; i < rows->nr; i++) {
		const struct stage_row *of = &rows->row[i];
		unsigned int op = of->base.op, at = a->nr_ops;

		across_row(a, of)->op[op] = of;
		if (whole[op])
			continue;
		whole[op] = of->whole + 1;
		for (; at && whole[a->op[at - 1]] < whole[op]; at--)
			a->op[at] = a->op[at - 1];
		a->op[at] = (unsigned char)op;
		a->nr_ops++;
	}
}

static int by_number(const void *a, const void *b)
{
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

/* Lays out the table. Return: width of a line. */
static unsigned int across_lay_out(struct across *a)
{
	unsigned int figures = a->t.columns.nr - FIRST_FIGURE;

	memcpy(a->order, a->op, a->shown);
	qsort(a->order, a->shown, 1, by_number);
	a->table = (struct table){.columns = &a->columns};
	a->columns.nr = ACROSS_FIGURES;
	table_add(&a->table, ACROSS_STAGE, NULL, 0);
	if (a->where)
		table_add(&a->table, ACROSS_WHERE, NULL, 0);
	for (unsigned int i = 0; i < a->shown; i++) {
		for (unsigned int k = a->skip; k < figures; k++) {
			struct column *c = &a->column[a->columns.nr];

			*c = a->t.column[FIRST_FIGURE + k];
			c->get = get_across;
			c->arg = a->order[i] * STAGE_TABLE_MAX + FIRST_FIGURE + k;
			table_add(&a->table, a->columns.nr++, k == a->skip && i ? "  " : " ",
				  k + 1 == figures ? SHARE_WIDTH : DURATION_WIDTH - 1);
		}
	}
	for (unsigned int i = 0; i < a->nr_rows; i++)
		table_measure(&a->table, &a->row[i]);
	return table_lay_out(&a->table, TABLE_CLOSE);
}

/*
 * Chooses what finds room: first fewer operations, but two of them; then no places, fewer figures,
 * and one operation.
 */
static unsigned int across_fit(struct across *a, unsigned int width)
{
	unsigned int last = a->t.columns.nr - FIRST_FIGURE - 1, used;
	unsigned int most = (TABLE_COLUMNS_MAX - ACROSS_FIGURES) / (last + 1);

	a->where = true;
	for (a->shown = a->nr_ops < most ? a->nr_ops : most;; a->shown--) {
		used = across_lay_out(a);
		if (used <= width || a->shown <= 2)
			break;
	}
	while (used > width && (a->where || a->skip < last || a->shown > 1)) {
		if (a->where)
			a->where = false;
		else if (a->skip < last)
			a->skip++;
		else
			a->shown--;
		used = across_lay_out(a);
	}
	return used;
}

/* Prints the operations above their figures, after @what, and counts those without room. */
static void across_heading(const struct across *a, const char *what, FILE *f)
{
	unsigned int figures = a->t.columns.nr - FIRST_FIGURE - a->skip, at = a->where ? 2 : 1;
	int used = 0, column = 0;

	for (unsigned int i = 0; i < a->table.shown; i++) {
		const struct phrase *p = &a->table.phrase[i];

		if (i == at)
			used = fprintf(f, "%.*s", column, what);
		if (i >= at && !((i - at) % figures)) {
			const char *name = op_name(a->order[(i - at) / figures]);

			used += fprintf(f, "%*s%s", column >= used ? column - used + 1 : 1, "",
					name);
		}
		column += (int)strlen(p->before) + (p->width < 0 ? -p->width : p->width);
	}
	if (a->shown < a->nr_ops)
		fprintf(f, "  +%u more", a->nr_ops - a->shown);
	fputs("\n", f);
	table_titles(&a->table, f);
}

static double largest_share(const struct across_row *row)
{
	double largest = 0;

	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		if (row->op[op] && share_of(row->op[op]) > largest)
			largest = share_of(row->op[op]);
	return largest;
}

static int by_share(const void *a, const void *b)
{
	double x = largest_share(a), y = largest_share(b);

	return (x < y) - (x > y);
}

/* Keeps the largest stages if there is no room for all. @what: then says so. */
static void across_keep(struct across *a, unsigned int most, char what[CELL_LEN])
{
	if (a->nr_rows <= most)
		return;
	qsort(a->row, a->nr_rows, sizeof(a->row[0]), by_share);
	snprintf(what, CELL_LEN, "largest %u of %u", most, a->nr_rows);
	a->nr_rows = most;
}

/*
 * @what: above the names of the stages
 * @most: so many stages
 *
 * Return: 0 or -ENOMEM.
 */
static int print_across(const struct stage_rows *rows, char what[CELL_LEN], unsigned int most,
			const struct figures *figures, FILE *f, unsigned int width, bool unicode)
{
	struct figures usual = {.nr = 0};
	struct across *a;
	unsigned int used, bar = 0;

	if (!rows->nr)
		return 0;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	figures_parse(&usual, "mean,p99");
	stage_table_make(&a->t, figures && figures->nr ? figures : &usual);
	a->columns = (struct columns){stage_columns.name, a->column, ACROSS_FIGURES};
	memcpy(a->column, across_columns, sizeof(across_columns));
	across_fill(a, rows);
	across_keep(a, most, what);
	used = across_fit(a, width) + 1;
	if (a->nr_ops == 1 && used + BAR_MIN <= width)
		bar = bar_width(width, used, BAR_MIN, BAR_MAX);
	across_heading(a, what, f);
	for (unsigned int i = 0; i < a->nr_rows; i++) {
		double part = bar ? share_of(a->row[i].op[a->op[0]]) : 0;

		table_line(&a->table, &a->row[i], f);
		fputs(part > 0 ? " " : "", f);
		if (bar)
			bar_draw(f, part, bar, unicode);
		fputs("\n", f);
	}
	free(a);
	return 0;
}

/* Return: the stage in the memory, new if it was not there before; NULL if memory ran out. */
static struct remembered_stage *remembered(struct stage_memory *m, const struct stage_row *row)
{
	struct remembered_stage *new;

	for (size_t i = 0; i < m->nr; i++)
		if (m->stage[i].op == row->base.op && !strcmp(m->stage[i].name, row->stage))
			return &m->stage[i];
	new = ARRAY_INSERT(m->stage, m->nr, m->nr);
	if (!new)
		return NULL;
	*new = (struct remembered_stage){.op = row->base.op};
	snprintf(new->name, sizeof(new->name), "%s", row->stage);
	return new;
}

/*
 * Adds the interval to the memory, unless it is shown again, and fills &stage_row.recent.
 * @ns: filled with the time that percentiles are of, or 0. Return: 0 or -ENOMEM
 */
static int remember(struct stage_memory *m, struct stage_rows *rows, uint64_t *ns)
{
	static const struct hist none = {.count = 0};
	uint64_t now = monotonic_ns();
	int err = 0;

	*ns = 0;
	for (unsigned int i = 0; m && m->ns && !err && i < rows->nr; i++) {
		struct remembered_stage *stage = remembered(m, &rows->row[i]);

		if (!stage)
			return -ENOMEM;
		err = recent_add(&stage->recent, rows->row[i].base.h, now, m->ns);
		stage->added = true;
	}
	for (size_t i = 0; m && m->ns && !err && i < m->nr; i++) {
		if (!m->stage[i].added)
			err = recent_add(&m->stage[i].recent, &none, now, m->ns);
		m->stage[i].added = false;
	}
	for (unsigned int i = 0; m && !err && i < rows->nr; i++) {
		struct stage_row *row = &rows->row[i];
		const struct remembered_stage *stage = remembered(m, row);

		if (!stage || !stage->recent || hist_tells(row->base.h, RECENT_P99) ||
		    stage->recent->h.count <= row->base.h->count)
			continue;
		row->recent = stage->recent;
		if (stage->recent->ns > *ns)
			*ns = stage->recent->ns;
	}
	if (m)
		m->ns = 0;
	return err;
}

void stage_memory_free(struct stage_memory *m)
{
	for (size_t i = 0; i < m->nr; i++)
		recent_free(m->stage[i].recent);
	free(m->stage);
	*m = (struct stage_memory){.nr = 0};
}

/* @what: above the names of the stages; the time of the percentiles follows. */
static int show(struct stage_rows *rows, char what[CELL_LEN], unsigned int most,
		const struct figures *figures, struct stage_memory *memory, FILE *f,
		unsigned int width, bool unicode)
{
	size_t at = strlen(what);
	char duration[16];
	uint64_t ns;
	int err = remember(memory, rows, &ns);

	if (err)
		return err;
	if (ns)
		snprintf(what + at, CELL_LEN - at, "%sp99: last %s", at ? ", " : "",
			 duration_format(duration, sizeof(duration), (double)ns));
	return print_across(rows, what, most, figures, f, width, unicode);
}

static const char *const whose[] = {
	[STAGES_OF_ROWS] = "of these rows",
	[STAGES_OF_CONTROLLERS] = "of all queues",
	[STAGES_OF_ALL] = "ALL CONTROLLERS",
};

/* Return: whether no stages follow, as no command of some rows has ended. */
static bool print_none(enum stages_scope scope, FILE *f)
{
	if (scope == STAGES_OF_NONE)
		fputs(STAGES_NONE_ENDED, f);
	return scope == STAGES_OF_NONE;
}

int stages_show_side(const struct stats *s, const struct stages_sum *sum, unsigned int most,
		     const struct figures *figures, struct stage_memory *memory, FILE *f,
		     unsigned int width, bool unicode)
{
	struct stage_rows rows;
	char what[CELL_LEN] = "";

	if (sum && print_none(sum->scope, f))
		return 0;
	if (sum && sum->scope != STAGES_OF_ALL)
		stages_of_sum(&rows, s, sum);
	else
		columns_stages_of_side(&rows, s, false);
	if (sum)
		snprintf(what, sizeof(what), "%s", whose[sum->scope]);
	return show(&rows, what, most, figures, memory, f, width, unicode);
}

int stages_show_merged(const struct totals *m, const enum stages_scope *scope, unsigned int most,
		       const struct figures *figures, struct stage_memory *memory, FILE *f,
		       unsigned int width, bool unicode)
{
	static const struct phrase merged[] = {PHRASE(NULL, MERGING_COMMANDS, .after = " merged")};
	struct stage_rows rows;
	char what[CELL_LEN];

	if (scope && print_none(*scope, f))
		return 0;
	columns_stages_merged(&rows, m);
	line_format(what, sizeof(what), &merging_columns, merged, ARRAY_SIZE(merged), m);
	if (scope)
		snprintf(what + strlen(what), sizeof(what) - strlen(what), ", %s", whose[*scope]);
	return show(&rows, what, most, figures, memory, f, width, unicode);
}

void stages_print_side(const struct stats *s, bool summary, unsigned int form,
		       const struct figures *figures, FILE *f, unsigned int width, bool unicode)
{
	static const struct phrase some[] = {
		PHRASE("stages of ", POPULATION_SPLIT),
		PHRASE(" of ", POPULATION_COMMANDS,
		       .after = " commands: the others could not be split\n"),
	};
	static const struct phrase of_bursts[] = {
		PHRASE("stages of ", POPULATION_SPLIT),
		PHRASE(" of ", POPULATION_COMMANDS,
		       .after = " commands: those that began and ended in a burst of all points\n"),
	};
	struct stage_rows rows;

	columns_stages_of_side(&rows, s, summary);
	/*
	 * An interval may contain a command's latency, and the next interval its stages. So the
	 * counts are compared only for the whole run.
	 */
	if (summary && burst_any(&s->stages_burst))
		LINE_PRINT(f, &population_columns, of_bursts, &rows);
	else if (summary && rows.split < rows.commands)
		LINE_PRINT(f, &population_columns, some, &rows);
	print(&rows, form, figures, f, width, unicode);
}

void stages_print_merged(const struct totals *m, unsigned int form, const struct figures *figures,
			 FILE *f, unsigned int width, bool unicode)
{
	static const struct phrase population[] = {
		PHRASE("stages of ", MERGING_COMMANDS, .after = " merged commands"),
		PHRASE(", ", MERGING_SOME_UNSPLIT,
		       .after = " of them unsplit, as not all of their stages are known"),
	};
	static const struct phrase joined[] = {
		PHRASE(NULL, MERGING_SOME_JOINED,
		       .after = " of them may have arrived earlier than shown, as TCP had joined "
				"their packets; they are"),
		PHRASE(" ", MERGING_JOINED_SHARE, .style = LINE_CELL,
		       .after = " of network_transmission\n"),
	};
	static const struct phrase files[] = {
		PHRASE("page cache: ", MERGING_PAGE_CACHE),
		PHRASE(" of ", MERGING_FILE_READS, .after = " reads of files"),
		PHRASE(" (", MERGING_PAGE_CACHE_SHARE, .style = LINE_CELL, .after = ")\n"),
	};
	struct stage_rows rows;

	columns_stages_merged(&rows, m);
	if (rows.nr) {
		LINE_PRINT(f, &merging_columns, population, m);
		fputs("; they add up to the latency of all\n", f);
		if (m->joined)
			LINE_PRINT(f, &merging_columns, joined, m);
		if (merging_has_file_reads(m))
			LINE_PRINT(f, &merging_columns, files, m);
	}
	print(&rows, form, figures, f, width, unicode);
}

void stages_print_op(const struct stats *s, const struct totals *m, const struct stages_sum *sum,
		     enum nt_op op, const struct figures *figures, FILE *f, unsigned int width,
		     bool unicode)
{
	struct stage_rows rows;
	unsigned int nr = 0;

	if (m)
		columns_stages_merged(&rows, m);
	else if (sum && sum->scope != STAGES_OF_ALL)
		stages_of_sum(&rows, s, sum);
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
		for (unsigned int op = 0; op < NT_OPS_NR && into[i] < NT_STAGES_MAX; op++) {
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

struct json_object *stages_waiting_json(const struct stats *s)
{
	struct json_object *array = json_array();
	struct waiting_rows rows;

	columns_waiting(&rows, s);
	for (unsigned int i = 0; i < rows.nr; i++)
		json_append(array, json_row(&waiting_columns, &rows.row[i]));
	return array;
}
