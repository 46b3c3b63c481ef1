/* SPDX-License-Identifier: GPL-2.0-only */
/* The peers of a run, from the options to the merge that their records and those of this host go to. */
#ifndef NTPROF_CLI_PEERING_H
#define NTPROF_CLI_PEERING_H

#include <stdbool.h>

#include "cli/peer_options.h"
#include "peer/live_merge.h"
#include "peer/user.h"
#include "trace/announce.h"
#include "trace/tracer.h"

/**
 * struct peering - begins as all zeroes
 * @merge: NULL without peers
 * @announced: connections that it has been told of
 * @lacks_told: it knows which points this machine lacks
 */
struct peering {
	struct live_merge *merge;
	struct announced announced;
	bool lacks_told;
};

/**
 * peering_user() - as whom the commands run
 * @user: filled
 *
 * Return: 0, or -1 with a message on standard error where that cannot be known.
 */
int peering_user(const struct peer_options *o, struct peer_user *user);

/**
 * peering_start() - start all peers, when it is known that there will be a run: who may not trace starts none
 * @lasting: they are started again whenever they end
 *
 * Return: 0, or -1 with errno set to ECANCELED and a message on standard error.
 */
int peering_start(struct peering *p, const struct peer_options *o, const struct peer_user *user,
		  bool lasting);

/** peering_record() - a command of this host; fine without peers. Return: 0 or a negative errno */
int peering_record(struct peering *p, const struct tracer *t, const struct nt_record *r);

/**
 * peering_finish() - tracing is over: let peers say the rest, and end them
 *
 * Another one of the run's own signals, which are blocked, means that nobody wants to wait for that.
 * Return: 0 or a negative errno.
 */
int peering_finish(struct peering *p);

/** peering_close() - make sure that all have ended, and release */
void peering_close(struct peering *p);

#endif /* NTPROF_CLI_PEERING_H */
