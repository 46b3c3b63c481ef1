// SPDX-License-Identifier: GPL-2.0-only
#include "view/peers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "view/lines.h"
#include "view/losses.h"
#include "view/streams.h"

/*
 * Lines of a peer's standard error on the screen. With many peers there is room for one line each.
 */
#define MESSAGES_SHOWN 3
#define FEW_PEERS 2
/*
 * A shorter beginning of a command is useless. If less room is left, the command gets a line of its
 * own.
 */
#define COMMAND_LEAST 24u

static void losses_print(const struct peer_row *row, FILE *f)
{
	static const struct phrase unknown[] = {
		PHRASE(", losses of names that this version does not know ", ABOUT_UNKNOWN_LOSSES),
		PHRASE(", frames of types that this version does not know ", ABOUT_UNKNOWN_FRAMES),
		PHRASE(", frames with fields that this version does not know ",
		       ABOUT_LONGER_FRAMES),
	};
	static const struct phrase item[] = {PHRASE(", lost ", LOSS_LOSS), PHRASE("=", LOSS_TOTAL)};

	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		const struct loss_row loss = {.counter = c, .total = row->about.losses->count[c]};

		if (loss.total)
			LINE_PRINT(f, &loss_columns, item, &loss);
	}
	LINE_PRINT(f, &peer_columns, unknown, row);
}

static void losses_print_summary(const struct peer_row *row, FILE *f)
{
	static const struct phrase peer[] = {PHRASE("peer ", ABOUT_NUMBER)};
	static const struct phrase line[] = {PHRASE(" loss ", LOSS_LOSS),
					     PHRASE(" ", LOSS_TOTAL, .after = "\n")};
	static const struct phrase names[] = {
		PHRASE("peer ", ABOUT_NUMBER),
		PHRASE(" losses of names that this version does not know ", ABOUT_UNKNOWN_LOSSES,
		       .after = "\n"),
	};
	static const struct phrase frames[] = {
		PHRASE("peer ", ABOUT_NUMBER),
		PHRASE(" frames of types that this version does not know ", ABOUT_UNKNOWN_FRAMES,
		       .after = "\n"),
	};
	static const struct phrase longer[] = {
		PHRASE("peer ", ABOUT_NUMBER),
		PHRASE(" frames with fields that this version does not know ", ABOUT_LONGER_FRAMES,
		       .after = "\n"),
	};

	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		const struct loss_row loss = {.counter = c, .total = row->about.losses->count[c]};

		if (!loss.total)
			continue;
		LINE_PRINT(f, &peer_columns, peer, row);
		LINE_PRINT(f, &loss_columns, line, &loss);
	}
	if (row->about.losses->unknown)
		LINE_PRINT(f, &peer_columns, names, row);
	if (row->about.skipped)
		LINE_PRINT(f, &peer_columns, frames, row);
	if (row->about.longer)
		LINE_PRINT(f, &peer_columns, longer, row);
}

/* The state comes first and is never cut. */
static void state_print(const struct peer_row *row, bool summary, FILE *f)
{
	static const struct phrase line[] = {
		PHRASE("peer ", ABOUT_NUMBER),
		PHRASE(": ", ABOUT_STATE),
		PHRASE(", silent for ", ABOUT_SILENT, .after = " s"),
		PHRASE(", exit status ", ABOUT_EXIT_STATUS),
		PHRASE(", killed by signal ", ABOUT_SIGNAL),
		PHRASE(", ", ABOUT_WHY),
		PHRASE("; ", ABOUT_SIDE),
		PHRASE(" ", ABOUT_HOSTNAME),
		PHRASE(", Linux ", ABOUT_KERNEL),
		PHRASE(", ", ABOUT_COMMANDS, .after = " commands"),
		PHRASE(", a sample of 1 in ", ABOUT_SAMPLE),
		PHRASE(", only those of ", ABOUT_SELECTION),
	};

	LINE_PRINT(f, &peer_columns, line, row);
	if (row->about.header)
		lacks_print(f, ", ", row->about.header->side, row->about.header->missing, "");
	if (!summary)
		losses_print(row, f);
}

static void message_print(const struct peer_row *row, FILE *f)
{
	static const struct phrase line[] = {PHRASE("peer ", ABOUT_NUMBER),
					     PHRASE(" says: ", ABOUT_MESSAGE)};

	LINE_PRINT(f, &peer_columns, line, row);
}

/* Breaks the text that @print writes into lines. */
static void wrapped(struct wrap *w, const struct peer_row *row, bool summary,
		    void (*print)(const struct peer_row *row, bool summary, FILE *f))
{
	char *text = NULL;
	size_t size = 0;
	FILE *m = open_memstream(&text, &size);

	if (!m)
		return;
	print(row, summary, m);
	if (!fclose(m))
		wrap_words(w, text);
	free(text);
}

static void command_print(const struct peer_row *row, struct wrap *w)
{
	static const struct phrase command[] = {PHRASE(NULL, ABOUT_SOURCE)};
	bool fits = w->width - w->used >= COMMAND_LEAST;

	fputs(fits ? "; " : ";\n  ", w->f);
	LINE_PRINT(w->f, &peer_columns, command, row);
	fputs("\n", w->f);
}

static void say(const struct peer_row *row, bool summary, FILE *f)
{
	message_print(row, f);
}

static void messages_print(struct peer_row *row, uint64_t most, FILE *f, unsigned int width)
{
	const struct messages *m = row->about.messages;
	uint64_t i = row->about.first_message;

	if (m->nr > most && i < m->nr - most)
		i = m->nr - most;
	for (; (row->message = messages_line(m, i)); i++) {
		struct wrap w = {.f = f, .width = width};

		wrapped(&w, row, false, say);
		fputs("\n", f);
	}
}

/* On a screen lines are scarce, so only counts that are not zero are printed, and "matched". */
static void matching_print(const struct live_merge_counts *counts, FILE *f, unsigned int width)
{
	struct wrap w = {.f = f, .width = width};

	for (unsigned int i = 0; i < matching_columns.nr; i++) {
		char text[CELL_LEN];
		struct value v;

		columns_get(&matching_columns, i, counts, &v);
		if (v.none || (width != WRAP_NEVER && i != MATCHING_MATCHED && !v.natural))
			continue;
		snprintf(text, sizeof(text), "%s %" PRIu64, matching_columns.column[i].title,
			 v.natural);
		if (width == WRAP_NEVER)
			fprintf(f, "%s%s", i ? ", " : "", text);
		else
			wrap_text(&w, text);
	}
	fputs("\n", f);
}

void peers_print(const struct live_merge *p, bool summary, FILE *f, unsigned int width)
{
	bool few = summary || !live_merge_peer(p, FEW_PEERS);
	struct live_merge_counts counts;
	const struct peer *peer;

	for (unsigned int i = 0; (peer = live_merge_peer(p, i)); i++) {
		struct peer_row row = {.number = i + 1};
		struct wrap w = {.f = f, .width = width};

		peer_about(peer, &row.about);
		wrapped(&w, &row, summary, state_print);
		command_print(&row, &w);
		messages_print(&row, few ? MESSAGES_SHOWN : 1, f, width);
		if (summary)
			losses_print_summary(&row, f);
	}
	live_merge_counts(p, &counts);
	matching_print(&counts, f, width);
}

void peers_print_messages(const struct live_merge *p, unsigned int i, bool all, uint64_t *told,
			  FILE *f)
{
	static const struct phrase line[] = {PHRASE("peer ", ABOUT_NUMBER),
					     PHRASE(" says: ", ABOUT_MESSAGE, .after = "\n")};
	struct peer_row row = {.number = i + 1};
	const struct messages *m;
	uint64_t nr;

	peer_about(live_merge_peer(p, i), &row.about);
	m = row.about.messages;
	nr = m->nr - (m->nr && !m->ended && !all);
	if (nr > MESSAGES_LINES && *told < nr - MESSAGES_LINES)
		*told = nr - MESSAGES_LINES;
	for (; *told < nr; (*told)++) {
		row.message = messages_line(m, *told);
		LINE_PRINT(f, &peer_columns, line, &row);
	}
	fflush(f);
}

void peers_print_waiting(const struct live_merge *p, unsigned int i, FILE *f)
{
	static const struct phrase line[] = {PHRASE("waiting for peer ", ABOUT_NUMBER),
					     PHRASE(": ", ABOUT_SOURCE, .after = "\n")};
	struct peer_row row = {.number = i + 1};

	peer_about(live_merge_peer(p, i), &row.about);
	LINE_PRINT(f, &peer_columns, line, &row);
	fflush(f);
}
