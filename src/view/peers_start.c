// SPDX-License-Identifier: GPL-2.0-only
#include "view/peers_start.h"

#include "view/columns_streams.h"
#include "view/lines.h"

void peers_print_messages(const struct live_merge *p, struct peers_told *told, FILE *f)
{
	static const struct phrase line[] = {PHRASE("peer ", ABOUT_NUMBER),
					     PHRASE(" says: ", ABOUT_MESSAGE, .after = "\n")};
	const struct peer *peer, *asking = live_merge_asking(p);

	for (unsigned int i = 0; (peer = live_merge_peer(p, i)); i++) {
		struct peer_row row = {.number = i + 1};
		const struct messages *m;
		uint64_t nr;

		if (asking && peer != asking)
			continue;
		peer_about(peer, &row.about);
		m = row.about.messages;
		/*
		 * The last line may be incomplete, and is then not printed yet. The question of the
		 * peer that asks is printed, because a question does not end with a newline.
		 */
		nr = m->nr - (m->nr && !m->ended && peer != asking);
		if (nr > MESSAGES_LINES && told->messages[i] < nr - MESSAGES_LINES)
			told->messages[i] = nr - MESSAGES_LINES;
		for (; told->messages[i] < nr; told->messages[i]++) {
			row.message = messages_line(m, told->messages[i]);
			LINE_PRINT(f, &peer_columns, line, &row);
		}
	}
	fflush(f);
}

void peers_print_waiting(const struct live_merge *p, struct peers_told *told, bool skip, FILE *f)
{
	static const struct phrase line[] = {
		PHRASE("waiting for peer ", ABOUT_NUMBER),
		PHRASE(", ", ABOUT_WHY),
		PHRASE(": ", ABOUT_SOURCE, .after = "\n"),
	};
	const struct peer *peer;
	bool any = false;

	for (unsigned int i = 0; (peer = live_merge_peer(p, i)); i++) {
		struct peer_row row = {.number = i + 1};

		if (live_merge_asking(p) || told->waiting[i] || peer_settled(peer))
			continue;
		peer_about(peer, &row.about);
		LINE_PRINT(f, &peer_columns, line, &row);
		any = told->waiting[i] = true;
	}
	if (any && skip)
		fputs("Enter begins without waiting\n", f);
	fflush(f);
}
