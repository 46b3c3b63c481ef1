/* SPDX-License-Identifier: GPL-2.0-only */
/* What becomes of peers, for the journal: told once when it happens, and at a terminal what they ask. */
#ifndef NTPROF_CLI_PEER_NEWS_H
#define NTPROF_CLI_PEER_NEWS_H

#include <stdbool.h>

#include "peer/live_merge.h"
#include "view/peers_start.h"

/**
 * struct peer_news - what has been told so far; all zeroes at first
 * @state: of each, one more than that; 0: none
 * @again: it was started again, which has been told, and its stream has not begun since
 * @restarts: how often each was started again, as far as was seen
 */
struct peer_news {
	unsigned int state[PEERS_MAX];
	bool again[PEERS_MAX];
	uint64_t restarts[PEERS_MAX];
	struct peers_told told;
};

/** peer_news_tell() - states that are others than they were: to be called now and then, as often as there may be lines */
void peer_news_tell(struct peer_news *n, const struct live_merge *l);

/** peer_news_prompts() - on standard error, which is a terminal, what peers say before their streams begin */
void peer_news_prompts(struct peer_news *n, const struct live_merge *l);

#endif /* NTPROF_CLI_PEER_NEWS_H */
