/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes of the peers' states, for the journal, and the peers' prompts, for the terminal. */
#ifndef NTPROF_CLI_PEER_NEWS_H
#define NTPROF_CLI_PEER_NEWS_H

#include <stdbool.h>

#include "peer/live_merge.h"
#include "view/peers_start.h"

/**
 * struct peer_news - what was reported so far; all zeroes at first
 * @state: the state of each peer, plus 1; 0: none
 * @again: a restart was reported, and the stream has not begun since
 * @restarts: number of restarts that were seen
 */
struct peer_news {
	unsigned int state[PEERS_MAX];
	bool again[PEERS_MAX];
	uint64_t restarts[PEERS_MAX];
	struct peers_told told;
};

/**
 * peer_news_tell() - report the states that have changed; call it as often as there may be lines
 */
void peer_news_tell(struct peer_news *n, const struct live_merge *l);

/**
 * peer_news_prompts() - print to standard error, which is a terminal, what peers write before their
 * streams begin
 */
void peer_news_prompts(struct peer_news *n, const struct live_merge *l);

#endif /* NTPROF_CLI_PEER_NEWS_H */
