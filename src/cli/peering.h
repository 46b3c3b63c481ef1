/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The peers of a run, from the options to the merge, which gets their records and those of this
 * machine.
 */
#ifndef NTPROF_CLI_PEERING_H
#define NTPROF_CLI_PEERING_H

#include <stdbool.h>

#include "cli/options.h"
#include "peer/child.h"
#include "peer/live_merge.h"
#include "trace/announce.h"
#include "trace/tracer.h"

/**
 * struct peering - all zeroes at first
 * @merge: NULL without peers
 * @announced: connections that the merge knows
 * @lacks_told: the merge knows which points this machine lacks
 */
struct peering {
	struct live_merge *merge;
	struct announced announced;
	bool lacks_told;
};

/**
 * peering_user() - find the user that runs the peers' commands
 * @user: filled
 *
 * Return: 0, or -1 with a message on standard error if the user cannot be found.
 */
int peering_user(const struct peer_options *o, struct peer_user *user);

/**
 * peering_start() - start all peers; call it when it is known that this process may trace, so that
 * none is started in vain
 * @side: of this machine
 * @lasting: restart a peer whenever it ends. Otherwise commands have the terminal, if this program
 *           is in its foreground, and may ask there for what they need before this returns. The
 *           signals that end a run are blocked, and end that wait.
 *
 * Return: 0, or -1 with errno set to ECANCELED and a message on standard error.
 */
int peering_start(struct peering *p, const struct peer_options *o, enum nt_side side,
		  struct peer_user *user, bool lasting);

/**
 * peering_record() - merge a command of this machine; fine without peers. Return: 0 or a negative
 * errno
 */
int peering_record(struct peering *p, const struct tracer *t, const struct nt_record *r);

/**
 * peering_finish() - call at the end of tracing: let peers send the rest, and end them
 *
 * The signals that end a run are blocked. Another one during the wait cuts the wait short.
 *
 * Return: 0 or a negative errno.
 */
int peering_finish(struct peering *p);

/** peering_close() - wait until all have ended, and release */
void peering_close(struct peering *p);

/* Changes of the peers' states, for the journal. */

/**
 * struct peer_news - the changes reported so far; all zeroes at first
 * @state: the state of each peer, plus 1; 0: none
 * @again: a restart was reported, and the stream has not begun since
 * @restarts: number of restarts that were seen
 */
struct peer_news {
	unsigned int state[PEERS_MAX];
	bool again[PEERS_MAX];
	uint64_t restarts[PEERS_MAX];
};

/**
 * peer_news_tell() - report the states that have changed; call it as often as there may be lines
 */
void peer_news_tell(struct peer_news *n, const struct live_merge *l);

#endif /* NTPROF_CLI_PEERING_H */
