// SPDX-License-Identifier: GPL-2.0-only
#include "view/peers.h"

#include "view/columns_losses.h"
#include "view/columns_streams.h"
#include "view/lacks.h"
#include "view/lines.h"

static void frames_print(const struct peer_row *row, const struct phrase *what, bool summary,
			 FILE *f)
{
	static const struct phrase peer[] = {PHRASE("\npeer ", ABOUT_NUMBER)};

	if (summary)
		LINE_PRINT(f, &peer_columns, peer, row);
	else
		fputs(",", f);
	line_print(f, &peer_columns, what, 1, row);
}

static void losses_print(const struct peer_row *row, bool summary, FILE *f)
{
	static const struct phrase peer[] = {PHRASE("\npeer ", ABOUT_NUMBER)};
	static const struct phrase line[] = {PHRASE(" loss ", LOSS_LOSS), PHRASE(" ", LOSS_TOTAL)};
	static const struct phrase frames[] = {
		PHRASE(" frames of types that this version does not know ", ABOUT_UNKNOWN_FRAMES),
	};
	static const struct phrase longer[] = {
		PHRASE(" frames with fields that this version does not know ", ABOUT_LONGER_FRAMES),
	};
	static const struct phrase item[] = {PHRASE(", lost ", LOSS_LOSS), PHRASE("=", LOSS_TOTAL)};

	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		const struct loss_row loss = {.counter = c, .total = row->about.losses->count[c]};

		if (!loss.total)
			continue;
		if (summary) {
			LINE_PRINT(f, &peer_columns, peer, row);
			LINE_PRINT(f, &loss_columns, line, &loss);
		} else {
			LINE_PRINT(f, &loss_columns, item, &loss);
		}
	}
	if (row->about.skipped)
		frames_print(row, frames, summary, f);
	if (row->about.longer)
		frames_print(row, longer, summary, f);
}

void peers_print(const struct live_merge *p, bool summary, FILE *f)
{
	/* Source, state and why, whose stream, how many commands. */
	static const struct phrase line[] = {
		PHRASE("peer ", ABOUT_NUMBER),
		PHRASE(" ", ABOUT_SOURCE),
		PHRASE(": ", ABOUT_STATE),
		PHRASE(", silent for ", ABOUT_SILENT, .after = " s"),
		PHRASE(", ", ABOUT_WHY),
		PHRASE(", exit status ", ABOUT_EXIT_STATUS),
		PHRASE(", killed by signal ", ABOUT_SIGNAL),
		PHRASE(", \"", ABOUT_MESSAGE, .after = "\""),
		PHRASE("; ", ABOUT_SIDE),
		PHRASE(" ", ABOUT_HOSTNAME),
		PHRASE(", Linux ", ABOUT_KERNEL),
		PHRASE(", ", ABOUT_COMMANDS, .after = " commands"),
		PHRASE(", a sample of 1 in ", ABOUT_SAMPLE),
	};
	static const struct phrase matching[] = {
		PHRASE("matched ", MATCHING_MATCHED),
		PHRASE(", host only ", MATCHING_HOST_ONLY),
		PHRASE(", target only ", MATCHING_TARGET_ONLY),
		PHRASE(", ambiguous ", MATCHING_AMBIGUOUS),
		PHRASE(", undecided ", MATCHING_UNDECIDED),
		PHRASE(", of queues that no stream told of ", MATCHING_STRAYS),
		PHRASE(", given up for want of room ", MATCHING_CROWDED_OUT),
		PHRASE(", before any peer recorded ", MATCHING_EARLY, .after = "\n"),
	};
	struct live_merge_counts counts;
	const struct peer *peer;

	for (unsigned int i = 0; (peer = live_merge_peer(p, i)); i++) {
		struct peer_row row = {.number = i + 1};

		peer_about(peer, &row.about);
		LINE_PRINT(f, &peer_columns, line, &row);
		if (row.about.header)
			lacks_print(f, ", ", row.about.header->side, row.about.header->missing, "");
		losses_print(&row, summary, f);
		fputs("\n", f);
	}
	live_merge_counts(p, &counts);
	LINE_PRINT(f, &matching_columns, matching, &counts);
}
