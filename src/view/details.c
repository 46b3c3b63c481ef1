// SPDX-License-Identifier: GPL-2.0-only
#include "view/details.h"

#include <inttypes.h>
#include <string.h>

#include "core/names.h"
#include "core/segments.h"
#include "view/cells.h"
#include "view/csv.h"
#include "view/lines.h"

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

static void get_shape(const void *row, const struct column *c, struct value *v)
{
	value_text(v, shape_name(((const struct detail_row *)row)->d->shape));
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

static void get_min(const void *row, const struct column *c, struct value *v)
{
	const struct detail *d = ((const struct detail_row *)row)->d;

	value_natural(v, hist_min(&d->time));
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
	[DETAIL_SHAPE] = {"shape", "shape", .unit = UNIT_NAME, .get = get_shape},
	[DETAIL_SIDE] = {"side", "side", .unit = UNIT_NAME, .get = get_of},
	[DETAIL_FROM] = {"from_point", "from", .unit = UNIT_NAME, .get = get_from},
	[DETAIL_TO] = {"to_point", "to", .unit = UNIT_NAME, .get = get_to},
	[DETAIL_COMMANDS] = COLUMN_COMMANDS,
	[DETAIL_STAGE] = {"stage", "stage", .unit = UNIT_NAME, .get = get_stage},
	[DETAIL_SUM] = {"sum", "sum", .unit = UNIT_NANOSECONDS, .get = get_sum},
};

void detail_table_make(struct detail_table *t, const struct figures *f)
{
	static const figure_getter get[] = {
		[FIGURE_MEAN] = get_mean,
		[FIGURE_MIN] = get_min,
		[FIGURE_MAX] = columns_hist_max,
		[FIGURE_PERCENTILE] = columns_hist_percentile,
	};

	memset(t, 0, sizeof(*t));
	t->columns.name = "details";
	t->columns.column = t->column;
	t->figures = *f;
	figures_usual(&t->figures);
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

static int width_of(const struct details *d, const struct column *c, const struct columns *t,
		    unsigned int i)
{
	size_t width = strlen(c->title);
	struct detail_row row;

	for (size_t k = 0; row_of(d, k, &row); k++) {
		char cell[CELL_LEN];
		struct value v;

		columns_get(t, i, &row, &v);
		cell_format(cell, sizeof(cell), c, &v);
		if (strlen(cell) > width)
			width = strlen(cell);
	}
	return cell_is_left(c) ? -(int)width : (int)width;
}

void details_print(const struct details *d, const struct figures *figures, FILE *f)
{
	struct phrase phrase[DETAIL_COLUMNS_MAX];
	struct detail_table t;
	struct detail_row row;
	unsigned int nr = 0;

	detail_table_make(&t, figures);
	for (unsigned int i = 0; i < t.columns.nr; i++) {
		/* The points already identify the stage, and the line would be too long. */
		if (i == DETAIL_STAGE || i == DETAIL_SUM)
			continue;
		phrase[nr] = (struct phrase){
			.before = nr ? " " : NULL,
			.column = (unsigned char)i,
			.style = LINE_CELL,
			.width = width_of(d, &t.column[i], &t.columns, i),
		};
		nr++;
	}
	line_titles(f, &t.columns, phrase, nr, false);
	fputs("\n", f);
	for (size_t i = 0; row_of(d, i, &row); i++) {
		line_print(f, &t.columns, phrase, nr, &row);
		fputs("\n", f);
	}
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
