// SPDX-License-Identifier: GPL-2.0-only
#include "view/group_histograms.h"

#include <inttypes.h>
#include <string.h>

#include "view/bars.h"
#include "view/cells.h"
#include "view/lines.h"

#define BAR_MAX 60
#define BAR_MIN 8
/* "[  8.19us,   16.4us)  1234567890 |" and the closing "|". */
#define BOUND_WIDTH 8
#define COUNT_WIDTH 11
#define NOT_BAR_WIDTH (1 + BOUND_WIDTH + 2 + BOUND_WIDTH + 1 + 1 + COUNT_WIDTH + 2 + 1)

static void print_name(const struct queue_row *q, const struct group_table *t,
		       const struct group_choice *c, FILE *f)
{
	const char *between = "";

	for (unsigned int i = 0; i < t->columns.nr; i++) {
		const struct column *column = &t->column[i];
		char cell[CELL_LEN];
		struct value v;

		if (i < t->first_key || i >= t->first_key + c->grouping.by.nr)
			continue;
		columns_get(&t->columns, i, q, &v);
		fprintf(f, "%s%s %s", between, column->name,
			cell_format(cell, sizeof(cell), column, &v));
		between = ", ";
	}
	if (q->has_from)
		fprintf(f, "%sfrom %.3f s", between, (double)q->from_ns / 1e9);
	else if (!c->grouping.by.nr)
		fputs("all", f);
	fprintf(f, ": %" PRIu64 " commands\n", q->base.h->count);
}

void group_histogram_print(const struct queue_row *q, const struct group_table *t,
			   const struct group_choice *c, const struct canvas *canvas)
{
	static const struct phrase bucket[] = {
		PHRASE("[", SCALE_FROM, .style = LINE_CELL, .width = BOUND_WIDTH),
		PHRASE(", ", SCALE_TO, .after = ") ", .style = LINE_CELL, .width = BOUND_WIDTH),
		PHRASE(NULL, SCALE_COMMANDS, .after = " |", .width = COUNT_WIDTH),
	};
	unsigned int width = bar_width(canvas->width, NOT_BAR_WIDTH, BAR_MIN, BAR_MAX), nr;
	struct scale_row row[SCALE_BUCKETS];
	uint64_t most = 1;

	nr = scale_count(&c->scale, q->base.h, row);
	if (!nr)
		return;
	print_name(q, t, c, canvas->f);
	for (unsigned int i = 0; i < nr; i++)
		most = row[i].commands > most ? row[i].commands : most;
	for (unsigned int i = 0; i < nr; i++) {
		unsigned int drawn;

		LINE_PRINT(canvas->f, &scale_columns, bucket, &row[i]);
		drawn = bar_draw(canvas->f, (double)row[i].commands / (double)most, width,
				 canvas->unicode);
		fprintf(canvas->f, "%*s|\n", (int)(width - drawn), "");
	}
}

struct json_object *group_histogram_json(const struct hist *h, const struct scale *s)
{
	struct json_object *buckets = json_array();
	struct scale_row row[SCALE_BUCKETS];
	unsigned int nr = scale_count(s, h, row);

	for (unsigned int i = 0; i < nr; i++) {
		struct json_object *b;

		if (!row[i].commands)
			continue;
		b = json_array();
		json_append(b, json_natural(row[i].from));
		json_append(b, row[i].endless ? NULL : json_natural(row[i].to));
		json_append(b, json_natural(row[i].commands));
		json_append(buckets, b);
	}
	return buckets;
}
