// SPDX-License-Identifier: GPL-2.0-only
#include "view/groups.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/names.h"
#include "core/segments.h"
#include "core/time.h"
#include "view/csv.h"
#include "view/histograms.h"
#include "view/lines.h"
#include "view/stages.h"
#include "view/visible_rows.h"

/*
 * A row that is made only when it is shown, because a histogram is large and there may be many
 * rows.
 */
struct made {
	struct queue_row q;
	struct hist h;
};

/* The number of lines: the total is first, then all groups, then the others, if there are any. */
static size_t lines_of(const struct groups *g)
{
	struct group_row r;

	return 1 + groups_rows(g) + groups_others(g, &r);
}

static const struct queue_row *line_of(const struct groups *g, size_t i, struct made *m)
{
	struct group_row r;

	if (!i)
		groups_total(g, &r);
	else if (i <= groups_rows(g))
		groups_row(g, i - 1, &r);
	else
		groups_others(g, &r);
	columns_groups_row(&m->q, &m->h, &r);
	return &m->q;
}

static void print_name(const char *name, unsigned int twin, const char *what, enum text_style style,
		       FILE *f)
{
	char text[GROUP_SHORT_LEN];

	if (!name[0])
		return;
	fprintf(f, "%s: ", group_name_short(text, name, twin));
	text_print(f, name, style);
	fprintf(f, " (%s NQN)\n", what);
}

void group_print_names(const struct group_name *name, enum text_style style, FILE *f)
{
	print_name(name->nqn, name->nqn_twin, "subsystem", style, f);
	print_name(name->host, name->host_twin, "host", style, f);
}

void group_print_names_once(const struct group_name *(*at)(const void *context, size_t i),
			    const void *context, size_t i, enum text_style style, FILE *f)
{
	struct group_name name;

	memcpy(&name, at(context, i), sizeof(name));
	for (size_t k = 0; k < i; k++) {
		if (!strcmp(at(context, k)->nqn, name.nqn))
			name.nqn[0] = '\0';
		if (!strcmp(at(context, k)->host, name.host))
			name.host[0] = '\0';
	}
	group_print_names(&name, style, f);
}

static const struct group_name *name_at(const void *groups, size_t i)
{
	return groups_name(groups, i);
}

static void print_notes(const struct groups *g, FILE *f)
{
	struct group_row others;

	if (groups_others(g, &others))
		fprintf(f,
			"others: %" PRIu64 " commands of groups or intervals past the first %u "
			"groups, %u rows, or %u pieces of histograms\n",
			others.cell->count + others.cell->failed, GROUPS_MAX, GROUP_CELLS_MAX,
			GROUP_PIECES_MAX);
	if (groups_left_out(g))
		fprintf(f, "rows without commands that are left out: %" PRIu64 "\n",
			groups_left_out(g));
	if (groups_late(g))
		fprintf(f, "commands that are in no number of those in flight: %" PRIu64 "\n",
			groups_late(g));
}

/*
 * The mean of each stage, with a column for each group: what their rows name one stage of. Groups
 * that do not fit into the line are counted.
 */
#define STAGE_GROUPS_MAX (TABLE_COLUMNS_MAX - 2)

struct group_stage_row {
	unsigned int stage;
	const struct group_stages *of[STAGE_GROUPS_MAX];
};

static void get_group_stage(const void *row, const struct column *c, struct value *v)
{
	const struct group_stage_row *r = row;

	group_stages_name(r->of[0], r->stage, v->buf, sizeof(v->buf));
	value_text(v, v->buf);
}

static void get_group_where(const void *row, const struct column *c, struct value *v)
{
	const struct group_stage_row *r = row;
	uint8_t into[NT_MERGED_STAGES_NR];

	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		into[i] = r->of[0]->joined[r->stage] & 1u << i ? r->stage : i;
	value_text(v, stages_where_name(stages_where(r->of[0]->of, into, r->stage)));
}

static void get_group_mean(const void *row, const struct column *c, struct value *v)
{
	const struct group_stage_row *r = row;
	const struct group_stages *s = r->of[c->arg];

	v->none = !s->commands || !s->joined[r->stage];
	value_real(v, v->none ? 0 : (double)s->sum[r->stage] / (double)s->commands);
}

/*
 * The keys of a group, for a heading. Of long ones it has the end, which tells more than the
 * beginning, and the number of the row, as ends may be the same. @row: from 1 on
 */
static void group_title(const struct queue_row *q, const struct group_table *t, unsigned int keys,
			unsigned int row, char title[GROUP_SHORT_LEN])
{
	char whole[GROUP_KEYS_NR * CELL_LEN], cell[CELL_LEN];
	size_t used = 0;
	int n;

	for (unsigned int i = 0; i < keys; i++) {
		struct value v;

		columns_get(&t->columns, t->first_key + i, q, &v);
		used += (size_t)snprintf(
			whole + used, sizeof(whole) - used, "%s%s", i ? " " : "",
			cell_format(cell, sizeof(cell), &t->column[t->first_key + i], &v));
	}
	if (used < GROUP_SHORT_LEN) {
		memcpy(title, whole, used + 1);
		return;
	}
	n = snprintf(title, GROUP_SHORT_LEN, "#%u...", row);
	snprintf(title + n, GROUP_SHORT_LEN - (size_t)n, "%s",
		 whole + used - (GROUP_SHORT_LEN - 1 - (size_t)n));
}

/*
 * Stages of @s that some of all commands have as one are one: other commands may have come from a
 * host or a target that tells them apart. @all: of the total
 */
static void stages_join_as(struct group_stages *s, const struct group_stages *all)
{
	uint32_t joined = 0;

	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++) {
		uint32_t one = joined & 1u << i ? 0 : all->joined[i];

		for (unsigned int k = i + 1; k < NT_MERGED_STAGES_NR; k++) {
			if (joined & 1u << k || !(one & all->joined[k]))
				continue;
			joined |= 1u << k;
			one |= all->joined[k];
			s->joined[i] |= s->joined[k];
			s->sum[i] += s->sum[k];
			s->joined[k] = 0;
			s->sum[k] = 0;
			/* It may have others in common with those that were passed over. */
			k = i;
		}
	}
}

static void stages_of_groups_print(const struct groups *g, const struct group_table *t,
				   unsigned int keys, FILE *f, unsigned int width)
{
	static const struct column stage = COLUMN("stage", NAME, .get = get_group_stage);
	static const struct column where = COLUMN("where", NAME, .get = get_group_where);
	char title[STAGE_GROUPS_MAX][GROUP_SHORT_LEN] = {"total"};
	struct column column[TABLE_COLUMNS_MAX] = {stage, where};
	struct columns columns = {"stages", column, 2};
	struct group_stages stages[STAGE_GROUPS_MAX];
	struct group_stage_row row;
	struct table table;
	struct group_row r, total;
	struct made m;
	size_t nr = 1 + groups_rows(g);

	groups_total(g, &total);
	for (unsigned int i = 0; i < nr && i < STAGE_GROUPS_MAX; i++) {
		r = total;
		if (i) {
			groups_row(g, i - 1, &r);
			columns_groups_row(&m.q, &m.h, &r);
			group_title(&m.q, t, keys, i, title[i]);
		}
		stages[i] = r.cell->stages;
		stages_join_as(&stages[i], &total.cell->stages);
		row.of[i] = &stages[i];
		column[columns.nr++] = (struct column){"mean", title[i], .unit = UNIT_NANOSECONDS,
						       .get = get_group_mean, .arg = i};
	}
	for (;; columns.nr--) {
		table = (struct table){.columns = &columns};
		for (unsigned int i = 0; i < columns.nr; i++)
			table_add(&table, i, NULL, 0);
		for (row.stage = 0; row.stage < NT_MERGED_STAGES_NR; row.stage++)
			if (row.of[0]->joined[row.stage])
				table_measure(&table, &row);
		/* The total and one group are there in any case. */
		if (table_lay_out(&table, TABLE_CLOSE) <= width || columns.nr == 4)
			break;
	}
	fputs("\nmean of each stage\n", f);
	table_titles(&table, f);
	for (row.stage = 0; row.stage < NT_MERGED_STAGES_NR; row.stage++)
		if (row.of[0]->joined[row.stage])
			table_row(&table, &row, f);
	if (nr > columns.nr - 2)
		fprintf(f, "groups without a column here: %zu; --format csv has all\n",
			nr - (columns.nr - 2));
}

void groups_print(const struct groups *g, const struct group_choice *c, FILE *f, unsigned int width,
		  bool unicode, const struct path_lines *between)
{
	const struct canvas canvas = {f, width, unicode};
	size_t shown = 0;
	unsigned int layout = TABLE_WIDE;
	struct group_row total;
	struct group_table t;
	struct table table;
	struct made m;

	groups_total(g, &total);
	group_table_make(&t, c, GROUPS_FOR_REPORT_TEXT, true, !total.cell->failed);
	if (!total.cell->stages.commands)
		t.columns.nr -= GROUP_STAGE_COLUMNS;
	group_table_show(&table, &t);
	for (size_t i = 0; i < lines_of(g); i++)
		table_measure(&table, line_of(g, i, &m));
	/* The widest layout that fits, or else the narrowest one. */
	while (table_lay_out(&table, layout) > width && layout < TABLE_BRIEF + t.nr_dispensable)
		layout++;
	table_titles(&table, f);
	for (size_t i = 0; i < lines_of(g); i++) {
		line_of(g, i, &m);
		if (between && m.q.has_from)
			shown = path_lines_print(between, shown, (int64_t)m.q.from_ns, f);
		table_row(&table, &m.q, f);
	}
	if (between && c->grouping.every_ns)
		path_lines_print(between, shown, INT64_MAX, f);
	for (size_t i = 0; i < groups_nr(g); i++)
		group_print_names_once(name_at, g, i, TEXT_HEX, f);
	print_notes(g, f);
	if (total.cell->stages.commands && groups_rows(g) > 1 && !c->grouping.every_ns)
		stages_of_groups_print(g, &t, c->grouping.by.nr, f, width);
	for (size_t i = 1; c->scale.on && i < lines_of(g); i++)
		group_histogram_print(line_of(g, i, &m), &t, c, &canvas);
}

void groups_csv_header(const struct group_choice *c, FILE *f)
{
	struct group_table t;

	group_table_make(&t, c, GROUPS_FOR_REPORT, true, false);
	csv_header_of("input", &t.columns, f);
}

void groups_csv(const struct groups *g, const struct group_choice *c, const char *input, FILE *f)
{
	size_t nr = lines_of(g);
	struct group_table t;
	struct made m;

	group_table_make(&t, c, GROUPS_FOR_REPORT, true, false);
	for (size_t i = 1; i <= nr; i++)
		csv_row_of(input, &t.columns, line_of(g, i % nr, &m), f);
}

/* An array with the names of the keys. */
static struct json_object *groups_json_by(const struct group_by *by)
{
	struct json_object *names = json_array();

	for (unsigned int i = 0; i < by->nr; i++)
		json_append(names, json_text(group_key_column(by, (enum group_key)by->key[i])));
	return names;
}

/* The mean of each stage, by its name; NULL: not known. */
static struct json_object *stages_json(const struct queue_row *q)
{
	const struct group_stages *s = q->stages;
	struct json_object *o = s ? json_empty() : NULL;
	char name[STAGE_NAME_LEN];

	for (unsigned int i = 0; s && i < NT_MERGED_STAGES_NR; i++)
		if (s->joined[i])
			json_put(o, group_stages_name(s, i, name, sizeof(name)),
				 json_integer((int64_t)(s->sum[i] / (__int128)s->commands)));
	return o;
}

struct json_object *groups_json(const struct groups *g, const struct group_choice *c)
{
	struct json_object *o = json_empty(), *rows = json_array();
	size_t nr = groups_rows(g);
	struct group_row others;
	struct group_table t;
	struct made m;

	group_table_make(&t, c, GROUPS_FOR_REPORT, true, false);
	for (size_t i = 1; i <= nr; i++) {
		struct json_object *row = json_row(&t.columns, line_of(g, i, &m));

		json_put(row, "stages", stages_json(&m.q));
		if (c->scale.on)
			json_put(row, "histogram", group_histogram_json(&m.h, &c->scale));
		json_append(rows, row);
	}
	json_put(o, "by", groups_json_by(&c->grouping.by));
	json_put(o, "every", c->grouping.every_ns ? json_natural(c->grouping.every_ns) : NULL);
	json_put(o, "rows", rows);
	json_put(o, "others",
		 groups_others(g, &others) ? json_row(&t.columns, line_of(g, nr + 1, &m)) : NULL);
	json_put(o, "total", json_row(&t.columns, line_of(g, 0, &m)));
	json_put(o, "left_out", json_natural(groups_left_out(g)));
	json_put(o, "late", json_natural(groups_late(g)));
	return o;
}

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

		json_put(row, "stages", stages_json(&p.row[i]));
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

/* An interval of the network has points of the host, because it is measured on the host's clock. */
static enum nt_side side_of(const struct detail *d)
{
	return d->of == DETAIL_TARGET ? NT_TARGET : NT_HOST;
}

static void get_of(const void *row, const struct column *c, struct value *v)
{
	const struct detail *d = ((const struct detail_row *)row)->d;

	value_text(v, d->of == DETAIL_NETWORK ? "network" : side_name(side_of(d)));
}

static void get_from(const void *row, const struct column *c, struct value *v)
{
	const struct detail *d = ((const struct detail_row *)row)->d;

	value_text(v, point_name(side_of(d), d->from));
}

static void get_to(const void *row, const struct column *c, struct value *v)
{
	const struct detail *d = ((const struct detail_row *)row)->d;

	value_text(v, point_name(side_of(d), d->to));
}

static void get_stage(const void *row, const struct column *c, struct value *v)
{
	const struct detail *d = ((const struct detail_row *)row)->d;
	int stage = segments_stage_ending(side_of(d), d->to, d->shape);

	v->none = d->beside || stage < 0;
	value_text(v, v->none ? "" : stage_name(side_of(d), (unsigned int)stage));
}

static __int128 sum_of(const struct detail *d)
{
	return (__int128)d->time.sum + d->below;
}

static void get_sum(const void *row, const struct column *c, struct value *v)
{
	const struct detail *d = ((const struct detail_row *)row)->d;

	value_integer_sum(v, sum_of(d));
}

static void get_mean(const void *row, const struct column *c, struct value *v)
{
	const struct detail *d = ((const struct detail_row *)row)->d;
	value_real(v, d->time.count ? (double)sum_of(d) / (double)d->time.count : 0);
	v->none = !d->time.count;
}

enum {
	DETAIL_SHAPE,
	DETAIL_SIDE,
	DETAIL_FROM,
	DETAIL_TO,
	DETAIL_COMMANDS,
	DETAIL_STAGE,
	DETAIL_SUM,
	DETAIL_FIGURES,
};

static const struct column fixed[] = {
	[DETAIL_SHAPE] =
		COLUMN("shape", NAME, COLUMN_AT(struct detail_row, d, shape), .words = WORD_SHAPE),
	[DETAIL_SIDE] = COLUMN("side", NAME, .get = get_of),
	[DETAIL_FROM] = {"from_point", "from", .unit = UNIT_NAME, .get = get_from},
	[DETAIL_TO] = {"to_point", "to", .unit = UNIT_NAME, .get = get_to},
	[DETAIL_COMMANDS] = COLUMN_COMMANDS,
	[DETAIL_STAGE] = COLUMN("stage", NAME, .get = get_stage),
	[DETAIL_SUM] = COLUMN("sum", NANOSECONDS, .get = get_sum),
};

void detail_table_make(struct detail_table *t, const struct figures *f)
{
	static const figure_getter get[FIGURE_KINDS] = {
		[FIGURE_MEAN] = get_mean,
		[FIGURE_MIN] = columns_hist_min,
		[FIGURE_MAX] = columns_hist_max,
		[FIGURE_PERCENTILE] = columns_hist_percentile,
	};

	memset(t, 0, sizeof(*t));
	t->columns.name = "details";
	t->columns.column = t->column;
	t->figures = *f;
	figures_of_latency(&t->figures);
	memcpy(t->column, fixed, sizeof(fixed));
	t->columns.nr =
		DETAIL_FIGURES + figures_columns(t->column + DETAIL_FIGURES, &t->figures, get);
}

static bool row_of(const struct details *d, size_t i, struct detail_row *row)
{
	row->d = details_get(d, i);
	if (!row->d)
		return false;
	row->base = (struct hist_row){.h = &row->d->time, .op = NT_OPS_NR};
	return true;
}

void details_print(const struct details *d, const struct figures *figures, FILE *f)
{
	struct detail_table t;
	struct table table = {.columns = &t.columns};
	struct detail_row row;

	detail_table_make(&t, figures);
	/* The points already identify the stage, and the line would be too long. */
	for (unsigned int i = 0; i < t.columns.nr; i++)
		if (i != DETAIL_STAGE && i != DETAIL_SUM)
			table_add(&table, i, NULL, 0);
	for (size_t i = 0; row_of(d, i, &row); i++)
		table_measure(&table, &row);
	table_lay_out(&table, TABLE_CLOSE);
	table_titles(&table, f);
	for (size_t i = 0; row_of(d, i, &row); i++)
		table_row(&table, &row, f);
	if (details_unordered(d))
		fprintf(f, "records whose points are not in order: %" PRIu64 "\n",
			details_unordered(d));
}

void details_csv_header(const struct figures *figures, FILE *f)
{
	struct detail_table t;

	detail_table_make(&t, figures);
	csv_header_of("input", &t.columns, f);
}

void details_csv(const struct details *d, const struct figures *figures, const char *input, FILE *f)
{
	struct detail_table t;
	struct detail_row row;

	detail_table_make(&t, figures);
	for (size_t i = 0; row_of(d, i, &row); i++)
		csv_row_of(input, &t.columns, &row, f);
}

struct json_object *details_json(const struct details *d, const struct figures *figures)
{
	struct json_object *rows = json_array();
	struct detail_table t;
	struct detail_row row;

	detail_table_make(&t, figures);
	for (size_t i = 0; row_of(d, i, &row); i++)
		json_append(rows, json_row(&t.columns, &row));
	return rows;
}
