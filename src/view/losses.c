// SPDX-License-Identifier: GPL-2.0-only
#include "view/losses.h"

#include "view/columns_losses.h"
#include "view/lines.h"
#include "view/wrap.h"

/* Edges are there only where there are bursts. */
static bool applies(const struct stats *s, unsigned int counter)
{
	return counter != COUNTER_BURST_EDGE || burst_any(&s->burst) || s->counters_total[counter];
}

void losses_print_interval(const struct stats *s, FILE *f, unsigned int width)
{
	static const struct phrase item[] = {
		PHRASE(NULL, LOSS_LOSS),
		PHRASE("=", LOSS_TOTAL),
		PHRASE("(+", LOSS_ADDED, .after = ")"),
	};
	struct wrap w = {.f = f, .width = width};

	wrap_text(&w, "losses:");
	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		const struct loss_row row = columns_losses_row(s, c);

		/* What is in flight is known when the run ends. */
		if (c != COUNTER_IN_FLIGHT && applies(s, c))
			WRAP_LINE(&w, &loss_columns, item, &row);
	}
	fputs("\n", f);
}

void losses_print_run(const struct stats *s, FILE *f)
{
	static const struct phrase line[] = {PHRASE("loss ", LOSS_LOSS), PHRASE(" ", LOSS_TOTAL)};
	static const struct phrase meaning[] = {PHRASE("  # ", LOSS_MEANING)};

	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		const struct loss_row row = columns_losses_row(s, c);

		LINE_PRINT(f, &loss_columns, line, &row);
		if (row.total)
			LINE_PRINT(f, &loss_columns, meaning, &row);
		fputs("\n", f);
	}
}

void losses_print_some(const struct stats *s, FILE *f)
{
	static const struct phrase line[] = {
		PHRASE(NULL, LOSS_LOSS),
		PHRASE(" ", LOSS_TOTAL),
		PHRASE("  # ", LOSS_MEANING, .after = "\n"),
	};

	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		const struct loss_row row = columns_losses_row(s, c);

		if (row.total)
			LINE_PRINT(f, &loss_columns, line, &row);
	}
}
