/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The live view's peers together: brings their records and the host's together as they come, and shows
 * what comes of it.
 */
#ifndef NTPROF_PEER_LIVE_MERGE_H
#define NTPROF_PEER_LIVE_MERGE_H

#include <stdbool.h>
#include <stdio.h>

#include "trace/tracer.h"
#include "view/view.h"

struct peers;

/**
 * peers_new() - start all
 * @sources: what peer_new() takes, @nr of them, at most OPTIONS_PEERS_MAX
 *
 * Return: the peers, or NULL with a message printed.
 */
struct peers *peers_new(char *const *sources, unsigned int nr);

/** peers_fd() - readable when peers_ready() has something to do */
int peers_fd(const struct peers *p);

/** peers_ready() - take what has come from the peers, for a while; Return: 0 or a negative errno */
int peers_ready(struct peers *p);

/** peers_record() - a command of the host; Return: 0 or a negative errno */
int peers_record(struct peers *p, const struct tracer *t, const struct nt_record *r);

/** peers_interval() - the interval has been shown: begin the next one; Return: 0 or a negative errno */
int peers_interval(struct peers *p);

/** peers_finish() - the host has ended: let the peers say the rest, and end them; 0 or a negative errno */
int peers_finish(struct peers *p);

/** peers_view() - a view_extra that shows the ten stages and the peers; @context is the peers */
bool peers_view(void *context, const struct view_extra_place *v);

/** peers_free() - release; NULL is fine */
void peers_free(struct peers *p);

#endif /* NTPROF_PEER_LIVE_MERGE_H */
