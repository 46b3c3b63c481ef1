/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The peers of a run, from the options to the merge, which gets their records and those of this
 * host.
 */
#ifndef NTPROF_CLI_PEERING_H
#define NTPROF_CLI_PEERING_H

#include <stdbool.h>

#include "cli/peer_options.h"
#include "peer/live_merge.h"
#include "peer/user.h"
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
 * @lasting: restart a peer whenever it ends
 *
 * Return: 0, or -1 with errno set to ECANCELED and a message on standard error.
 */
int peering_start(struct peering *p, const struct peer_options *o, const struct peer_user *user,
		  bool lasting);

/**
 * peering_record() - merge a command of this host; fine without peers. Return: 0 or a negative
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

#endif /* NTPROF_CLI_PEERING_H */
