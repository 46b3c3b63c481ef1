/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Brings the records of this host and those of its peers, which are targets, together as they come, and
 * keeps what they add up to. Who shows it asks for it; nothing is printed here.
 */
#ifndef NTPROF_PEER_LIVE_MERGE_H
#define NTPROF_PEER_LIVE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/queue.h"
#include "merge/apart.h"
#include "merge/machines.h"
#include "merge/merge.h"
#include "merge/totals.h"
#include "peer/peer.h"

/* More targets than anybody would look at together; the options refuse more. */
#define PEERS_MAX 16u

struct live_merge;

/**
 * live_merge_new() - start all peers
 * @sources: what peer_new() takes, @nr of them, at most PEERS_MAX
 * @user: as whom their commands run
 *
 * Return: release it with live_merge_free(); NULL with errno set.
 */
struct live_merge *live_merge_new(char *const *sources, unsigned int nr,
				  const struct peer_user *user);

/** live_merge_new_lasting() - the same, and peers whose streams are over are started again, see peer/again.h; a file is not */
struct live_merge *live_merge_new_lasting(char *const *sources, unsigned int nr,
					  const struct peer_user *user);

/** live_merge_fd() - readable when live_merge_ready() has something to do */
int live_merge_fd(const struct live_merge *l);

/**
 * live_merge_ready() - take what has come from the peers, for a while
 *
 * A peer that asks for something at the terminal, before its stream begins, gets it: one after the other. What is
 * pressed there meanwhile, such as Ctrl-C, is for this process as well: it gets that signal.
 *
 * Return: 0 or a negative errno.
 */
int live_merge_ready(struct live_merge *l);

/** live_merge_lacks() - before the host's first command: bits of the points that nothing gives there */
void live_merge_lacks(struct live_merge *l, uint32_t missing);

/** live_merge_queue() - a queue of the host, before its first record; Return: 0 or -ENOMEM */
int live_merge_queue(struct live_merge *l, const struct queue_info *q);

/** live_merge_record() - a command of the host; Return: 0 or a negative errno */
int live_merge_record(struct live_merge *l, const struct nt_record *r);

/**
 * live_merge_tend() - every now and then: gives up records that have waited for long, takes what has come from the
 * peers meanwhile, and starts those again that are due
 *
 * Return: 0 or a negative errno.
 */
int live_merge_tend(struct live_merge *l);

/** live_merge_interval() - the interval has been shown: begin the next one, and live_merge_tend(). Return: as that */
int live_merge_interval(struct live_merge *l);

/**
 * live_merge_add_up() - in its place, for who shows sums only: live_merge_totals() of all is of what has come so far
 *
 * Return: as that.
 */
int live_merge_add_up(struct live_merge *l);

/**
 * live_merge_settled() - each peer's stream has begun or is over: none will ask for anything any more; or
 * somebody did not want to wait for that
 */
bool live_merge_settled(const struct live_merge *l);

/** live_merge_let_skip() - who sits at the terminal can say so from now on, with the return key */
void live_merge_let_skip(struct live_merge *l);

/** live_merge_asking() - the peer that has the terminal now, or NULL */
const struct peer *live_merge_asking(const struct live_merge *l);

/**
 * live_merge_finish() - the host has ended: let peers say the rest, and end them
 * @hurry_fd: readable when nobody wants to wait for that any longer; -1 if there is none
 *
 * Return: 0 or a negative errno.
 */
int live_merge_finish(struct live_merge *l, int hurry_fd);

/** live_merge_fail() - in its place, when the run ends badly: no peer has the terminal any longer */
void live_merge_fail(struct live_merge *l);

/**
 * struct live_merge_counts - what became of the records so far, all connections together
 * @undecided: records that wait for their other half
 * @strays: records of queues that no stream told of
 * @past_limits: records of more connections or slots than are known
 * @crowded_out: records that were given up because too many waited; among those of one side, too
 * @in_crowd: given up because too many queues have one name; as well
 * @early: records of the host from before any peer recorded
 */
struct live_merge_counts {
	uint64_t matched;
	uint64_t host_only;
	uint64_t target_only;
	uint64_t ambiguous;
	uint64_t undecided;
	uint64_t strays;
	uint64_t past_limits;
	uint64_t crowded_out;
	uint64_t in_crowd;
	uint64_t early;
};

/** live_merge_counts() - @n is filled */
void live_merge_counts(const struct live_merge *l, struct live_merge_counts *n);

/** live_merge_peer() - peer @i, in the order in which they were given; NULL past the last */
const struct peer *live_merge_peer(const struct live_merge *l, unsigned int i);

/** live_merge_totals() - the matched commands of this interval; or @of_all, after live_merge_add_up() or live_merge_finish() */
const struct totals *live_merge_totals(const struct live_merge *l, bool of_all);

/** live_merge_last() - those of the interval that live_merge_interval() has ended, until it ends another */
const struct totals *live_merge_last(const struct live_merge *l);

/** live_merge_machines() - what is known of the host's and the peers' machines, by the merge's streams */
const struct machines *live_merge_machines(const struct live_merge *l);

/** live_merge_stream() - the merge's number of the stream of peer @i */
unsigned int live_merge_stream(unsigned int i);

/** live_merge_apart() - which peers' streams nothing was matched of so far, and why */
const struct apart *live_merge_apart(const struct live_merge *l);

/** live_merge_peer_stats() - what peer @i tells by itself, while nothing of it has been matched; else NULL, as in a lasting merge */
const struct stats *live_merge_peer_stats(const struct live_merge *l, unsigned int i);

/** live_merge_merge() - the merge, for its connections */
const struct merge *live_merge_merge(const struct live_merge *l);

/** live_merge_free() - make sure that all peers have ended, and release; NULL is fine */
void live_merge_free(struct live_merge *l);

#endif /* NTPROF_PEER_LIVE_MERGE_H */
