// SPDX-License-Identifier: GPL-2.0-only
#include "view/histograms.h"

#include "view/bars.h"
#include "view/columns_queues.h"
#include "view/lines.h"
#include "view/octaves.h"

#define BAR_MAX 60
#define BAR_MIN 8
/* "[  8.19us,   16.4us)  1234567890 |" and the closing "|". */
#define BOUND_WIDTH 8
#define COUNT_WIDTH 11
#define NOT_BAR_WIDTH (1 + BOUND_WIDTH + 2 + BOUND_WIDTH + 1 + 1 + COUNT_WIDTH + 2 + 1)

static void bucket_print(const struct block *b, const struct octaves_row *row, uint64_t most,
			 FILE *f)
{
	static const struct phrase bucket[] = {
		PHRASE("[", OCTAVES_FROM, .style = LINE_CELL, .width = BOUND_WIDTH),
		PHRASE(", ", OCTAVES_TO, .after = ") ", .style = LINE_CELL, .width = BOUND_WIDTH),
		PHRASE(NULL, OCTAVES_COMMANDS, .after = " |", .width = COUNT_WIDTH),
	};
	unsigned int width = bar_width(b->width, NOT_BAR_WIDTH, BAR_MIN, BAR_MAX), drawn;
	double share = most ? (double)row->commands / (double)most : 0;

	LINE_PRINT(f, &octaves_columns, bucket, row);
	drawn = bar_draw(f, share, width, b->unicode);
	fprintf(f, "%*s|\n", (int)(width - drawn), "");
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
	uint64_t counts[OCTAVES_NR], most = 0;

	LINE_PRINT(f, &queue_columns, heading, row);
	octaves_count(row->base.h, counts);
	for (unsigned int o = b->low; o < b->high; o++) {
		if (counts[o] > most)
			most = counts[o];
	}
	for (unsigned int o = b->low; o < b->high; o++) {
		const struct octaves_row bucket = {o, o + 1, counts[o]};

		bucket_print(b, &bucket, most, f);
	}
}

void histograms_print(const struct block *b, FILE *f)
{
	struct queue_row row;

	for (size_t i = 0; i < b->s->nr_rows; i++) {
		columns_queues_row(&row, b->s, i, b->summary);
		if (row.base.h->count)
			histogram_print(b, &row, f);
	}
}
