// SPDX-License-Identifier: GPL-2.0-only
/* Full-size histograms of every controller, queue and operation, in the same powers of two. */
#include "core/names.h"
#include "view/bars.h"
#include "view/view.h"
#include "view/block.h"

/* Longer bars tell no more. */
#define BAR_MAX 60
#define BAR_MIN 8
/* "[  8.19us,   16.4us)  1234567890 |" and the closing "|" */
#define BOUNDS_WIDTH (1 + 8 + 2 + 8 + 1)
#define COUNT_WIDTH 11
#define NOT_BAR_WIDTH (BOUNDS_WIDTH + 1 + COUNT_WIDTH + 2 + 1)

static void line_print(const struct block *b, unsigned int octave, uint64_t count, uint64_t most,
		       FILE *f)
{
	unsigned int width = b->width > NOT_BAR_WIDTH ? b->width - NOT_BAR_WIDTH : 0, drawn;
	char low[VIEW_DURATION], high[VIEW_DURATION];

	if (width > BAR_MAX)
		width = BAR_MAX;
	if (width < BAR_MIN)
		width = BAR_MIN;
	fprintf(f, "[%8s, %8s) %*llu |", octave_bound(low, sizeof(low), octave),
		octave_bound(high, sizeof(high), octave + 1), COUNT_WIDTH,
		(unsigned long long)count);
	drawn = bar_draw(f, most ? (double)count / (double)most : 0, width, b->unicode);
	fprintf(f, "%*s|\n", (int)(width - drawn), "");
}

void block_histograms(const struct block *b, FILE *f)
{
	char label[64], queue[16], mean[VIEW_DURATION];

	for (size_t i = 0; i < b->s->nr_rows; i++) {
		const struct stats_row *row = b->s->rows[i];
		const struct hist *h = block_hist(b, row);
		uint64_t counts[VIEW_OCTAVES], most = 0;

		if (!h->count)
			continue;
		row_label(b->s, i, label, sizeof(label));
		row_queue(row, queue, sizeof(queue));
		fprintf(f, "%s queue %s %s: %llu commands, mean %s\n", label, queue,
			op_name(row->op), (unsigned long long)h->count,
			view_duration(mean, sizeof(mean), hist_mean(h)));
		octaves_count(h, counts);
		for (unsigned int o = b->low; o < b->high; o++) {
			if (counts[o] > most)
				most = counts[o];
		}
		for (unsigned int o = b->low; o < b->high; o++)
			line_print(b, o, counts[o], most, f);
	}
}
