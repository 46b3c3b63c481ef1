// SPDX-License-Identifier: GPL-2.0-only
#include "view/histograms.h"

#include <inttypes.h>
#include <string.h>

#include "view/columns_queues.h"
#include "view/lines.h"

#define EIGHTHS 8

unsigned int bar_draw(FILE *f, double share, unsigned int width, bool unicode)
{
	/* U+258F to U+2589: one to seven eighths of a column, from the left. */
	static const char *const part[EIGHTHS] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	unsigned int steps = unicode ? EIGHTHS : 1, length;

	if (share > 1)
		share = 1;
	length = share > 0 ? (unsigned int)(share * width * steps + 0.5) : 0;
	if (unicode && share > 0 && !length && width)
		length = 1;
	for (unsigned int i = 0; i < length / steps; i++)
		fputs(unicode ? "█" : "@", f);
	fputs(part[length % steps], f);
	return (length + steps - 1) / steps;
}

unsigned int bar_width(unsigned int columns, unsigned int used, unsigned int least,
		       unsigned int most)
{
	unsigned int room = columns > used ? columns - used : 0;

	return room < least ? least : room > most ? most : room;
}

const char *bar_level(double share, bool unicode)
{
	static const char *const blocks[EIGHTHS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii[EIGHTHS] = {".", ":", "-", "=", "+", "*", "#", "@"};
	unsigned int level;

	if (!(share > 0))
		return " ";
	level = share < 1 ? (unsigned int)(share * EIGHTHS) : EIGHTHS - 1;
	return unicode ? blocks[level] : ascii[level];
}

void octaves_count(const struct hist *h, uint64_t counts[OCTAVES_NR])
{
	memset(counts, 0, OCTAVES_NR * sizeof(*counts));
	for (unsigned int i = 0; i < NT_BUCKETS; i++)
		counts[octaves_of(i)] += h->buckets[i];
}

struct scale_row octaves_row(unsigned int low, unsigned int high, uint64_t commands)
{
	bool endless = high >= OCTAVES_NR;

	return (struct scale_row){
		.from = low ? 1ull << low : 0,
		.to = endless ? UINT64_MAX : 1ull << high,
		.endless = endless,
		.commands = commands,
	};
}

void block_init(struct block *b, const struct stats *s, bool summary, bool unicode,
		unsigned int width)
{
	unsigned int lowest = NT_BUCKETS, highest = 0;

	*b = (struct block){.s = s, .summary = summary, .unicode = unicode, .width = width};
	/*
	 * There may be thousands of rows. In each row, look only at buckets outside the range that
	 * earlier rows gave.
	 */
	for (size_t i = 0; i < s->nr_rows; i++) {
		const struct hist *h = &s->rows[i]->total;
		const uint64_t *buckets = h->buckets;
		unsigned int k = 0;

		while (k < lowest && !buckets[k])
			k++;
		if (k == NT_BUCKETS)
			continue;
		if (buckets[k])
			highest = k > highest ? k : highest;
		lowest = k;
		for (k = nt_bucket(h->max); k > highest && !buckets[k]; k--)
			;
		highest = k > highest ? k : highest;
	}
	if (lowest == NT_BUCKETS)
		return;
	b->low = octaves_of(lowest);
	b->high = octaves_of(highest) + 1;
}

#define BAR_MAX 60
#define BAR_MIN 8
/* "[  8.19us,   16.4us)  1234567890   99.9 % |" and the closing "|". */
#define BOUND_WIDTH 8
#define COUNT_WIDTH 11
#define SHARE_WIDTH 8
#define NOT_BAR_WIDTH \
	(1 + BOUND_WIDTH + 2 + BOUND_WIDTH + 1 + 1 + COUNT_WIDTH + 1 + SHARE_WIDTH + 2 + 1)

/* @row: its shares are filled in */
static void buckets_print(struct scale_row *row, unsigned int nr, const struct canvas *canvas)
{
	static const struct phrase bucket[] = {
		PHRASE("[", SCALE_FROM, .style = LINE_CELL, .width = BOUND_WIDTH),
		PHRASE(", ", SCALE_TO, .after = ") ", .style = LINE_CELL, .width = BOUND_WIDTH),
		PHRASE(NULL, SCALE_COMMANDS, .after = " ", .width = COUNT_WIDTH),
		PHRASE(NULL, SCALE_CUMULATIVE, .after = " |", .style = LINE_CELL,
		       .width = SHARE_WIDTH),
	};
	unsigned int width = bar_width(canvas->width, NOT_BAR_WIDTH, BAR_MIN, BAR_MAX), drawn;
	uint64_t most = 1;

	scale_accumulate(row, nr);
	for (unsigned int i = 0; i < nr; i++)
		most = row[i].commands > most ? row[i].commands : most;
	for (unsigned int i = 0; i < nr; i++) {
		LINE_PRINT(canvas->f, &scale_columns, bucket, &row[i]);
		drawn = bar_draw(canvas->f, (double)row[i].commands / (double)most, width,
				 canvas->unicode);
		fprintf(canvas->f, "%*s|\n", (int)(width - drawn), "");
	}
}

void histogram_print(const struct block *b, const struct queue_row *row, FILE *f)
{
	static const struct phrase heading[] = {
		PHRASE(NULL, QUEUE_CONTROLLER),
		PHRASE(" queue ", QUEUE_QUEUE),
		PHRASE(" ", QUEUE_OP),
		PHRASE(": ", QUEUE_MEASURED),
		PHRASE(" commands, mean ", QUEUE_MEAN, .after = "\n", .style = LINE_CELL),
	};
	const struct canvas canvas = {f, b->width, b->unicode};
	struct scale_row bucket[OCTAVES_NR];
	uint64_t counts[OCTAVES_NR];

	LINE_PRINT(f, &queue_columns, heading, row);
	octaves_count(row->base.h, counts);
	for (unsigned int o = b->low; o < b->high; o++)
		bucket[o - b->low] = octaves_row(o, o + 1, counts[o]);
	buckets_print(bucket, b->high - b->low, &canvas);
}

void histograms_print(const struct block *b, FILE *f)
{
	struct queue_row row = {.row = NULL};

	while (columns_queues_next(&row, b->s, b->summary))
		if (row.base.h->count)
			histogram_print(b, &row, f);
}

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
	struct scale_row row[SCALE_BUCKETS];
	unsigned int nr = scale_count(&c->scale, q->base.h, row);

	if (!nr)
		return;
	print_name(q, t, c, canvas->f);
	buckets_print(row, nr, canvas);
}

void json_bucket(struct json_object *buckets, const struct scale_row *row)
{
	struct json_object *b;

	if (!row->commands)
		return;
	b = json_array();
	json_append(b, json_natural(row->from));
	json_append(b, row->endless ? NULL : json_natural(row->to));
	json_append(b, json_natural(row->commands));
	json_append(buckets, b);
}

struct json_object *group_histogram_json(const struct hist *h, const struct scale *s)
{
	struct json_object *buckets = json_array();
	struct scale_row row[SCALE_BUCKETS];
	unsigned int nr = scale_count(s, h, row);

	for (unsigned int i = 0; i < nr; i++)
		json_bucket(buckets, &row[i]);
	return buckets;
}
