/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merges the records of this machine with those of its peers, which are of the other side, as they
 * come, and keeps the totals. It prints nothing; the caller reads the totals and shows them.
 */
#ifndef NTPROF_PEER_LIVE_MERGE_H
#define NTPROF_PEER_LIVE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "merge/merge.h"
#include "merge/places.h"
#include "merge/totals.h"
#include "merge/unmatched.h"
#include "merge/why.h"
#include "peer/peer.h"

/* The most peers, more than a user can look at together. Options refuse more. */
#define PEERS_MAX 16u

struct live_merge;

/**
 * live_merge_new() - start all peers
 * @side: of this machine; the peers record the other one
 * @sources: @nr sources as of peer_new(), at most PEERS_MAX
 * @user: user that their commands run as
 *
 * Return: a merge to release with live_merge_free(); NULL with errno set.
 */
struct live_merge *live_merge_new(enum nt_side side, char *const *sources, unsigned int nr,
				  const struct peer_user *user);

/**
 * live_merge_new_lasting() - like live_merge_new(), but peers whose streams are over are started
 * again
 *
 * See struct restart. A peer that reads a file is not started again.
 */
struct live_merge *live_merge_new_lasting(enum nt_side side, char *const *sources, unsigned int nr,
					  const struct peer_user *user);

/** live_merge_side() - which side this machine is */
enum nt_side live_merge_side(const struct live_merge *l);

/** live_merge_fd() - readable when live_merge_ready() has something to do */
int live_merge_fd(const struct live_merge *l);

/**
 * live_merge_ready() - take what peers have sent, for a limited time
 *
 * Return: 0 or a negative errno.
 */
int live_merge_ready(struct live_merge *l);

/**
 * live_merge_lacks() - set which points are missing on this machine, as bits; call it before its
 * first command
 */
void live_merge_lacks(struct live_merge *l, uint32_t missing);

/** live_merge_queue() - add a queue of this machine, before its first record; Return: 0 or -ENOMEM
 */
int live_merge_queue(struct live_merge *l, const struct queue_info *q);

/** live_merge_record() - add a command of this machine; Return: 0 or a negative errno */
int live_merge_record(struct live_merge *l, const struct nt_record *r);

/**
 * live_merge_tend() - call it regularly
 *
 * It gives up records that have waited for long, takes what peers have sent meanwhile, and restarts
 * the peers that are due.
 *
 * Return: 0 or a negative errno.
 */
int live_merge_tend(struct live_merge *l);

/**
 * live_merge_interval() - begin the next interval, and live_merge_tend(); Return: as
 * live_merge_tend()
 */
int live_merge_interval(struct live_merge *l);

/**
 * live_merge_add_up() - add all intervals to the total, and live_merge_tend(); for callers that
 * show only totals, instead of live_merge_interval()
 *
 * Afterwards live_merge_totals() of all includes everything that has come so far.
 *
 * Return: as live_merge_tend().
 */
int live_merge_add_up(struct live_merge *l);

/** live_merge_interrupt() - peer_interrupt() of peer @i */
int live_merge_interrupt(struct live_merge *l, unsigned int i);

/**
 * live_merge_finish() - tracing has ended: let peers send the rest, and end them
 * @hurry_fd: readable when the user does not want to wait for that; -1 if there is none
 *
 * Return: 0 or a negative errno.
 */
int live_merge_finish(struct live_merge *l, int hurry_fd);

/**
 * struct live_merge_counts - what became of the records so far, of all connections together
 * @undecided: records that wait for the other side's record
 * @strays: records of queues that no stream announced
 * @past_limits: records of queues beyond the limits of connections or slots
 * @crowded_out: records that were given up because too many waited; they count as records of one
 *               side, too
 * @in_crowd: records that were given up because too many queues have the same name; they count as
 *            records of one side, too
 * @early: records of this machine from before any peer recorded, and of a peer from before the
 * first of its records that was matched
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

/** live_merge_peer() - peer @i, in the order of @sources; NULL past the last */
const struct peer *live_merge_peer(const struct live_merge *l, unsigned int i);

/**
 * live_merge_totals() - the matched commands of this interval, or with @of_all, of the whole run
 *
 * Those of all are up to date after live_merge_add_up() or live_merge_finish().
 */
const struct totals *live_merge_totals(const struct live_merge *l, bool of_all);

/**
 * live_merge_last() - the matched commands of the interval that live_merge_interval() ended last
 */
const struct totals *live_merge_last(const struct live_merge *l);

/**
 * live_merge_machines() - what is known of this machine and those of peers, by stream of the merge
 */
const struct machines *live_merge_machines(const struct live_merge *l);

/** live_merge_stream() - the stream number of peer @i in the merge */
unsigned int live_merge_stream(unsigned int i);

/**
 * live_merge_why() - the matched commands of the whole run, for tail_of(); times are of this
 * machine's clock
 *
 * Return: NULL in a lasting merge.
 */
const struct why *live_merge_why(const struct live_merge *l);

/** live_merge_unmatched() - streams of which nothing has been matched so far, and why */
const struct unmatched *live_merge_unmatched(const struct live_merge *l);

/**
 * live_merge_peer_stats() - statistics of peer @i alone, as long as nothing of it has been matched
 *
 * Return: NULL otherwise, and always in a lasting merge.
 */
const struct stats *live_merge_peer_stats(const struct live_merge *l, unsigned int i);

/** live_merge_merge() - the merge, for its connections */
const struct merge *live_merge_merge(const struct live_merge *l);

/** live_merge_free() - make sure that all peers have ended, and release; NULL is fine */
void live_merge_free(struct live_merge *l);

/*
 * Decides when a peer is started again after its stream is over: soon at first. The wait grows if
 * its stream is soon over again.
 */

/*
 * The first wait and the longest one; each wait is twice as long as the one before. docs/metrics.md
 * names these times, too.
 */
#define RESTART_FIRST_NS 2000000000ULL
#define RESTART_MOST_NS 60000000000ULL
/* After a stream that went on for this long, the first wait is used again. */
#define RESTART_WELL_NS 60000000000ULL

/**
 * struct restart - the restarts of a peer; all zeroes at first
 * @wait_ns: the last wait
 * @due_ns: when the next step is due; 0: the stream is not over
 * @asked: its processes have been asked to end
 * @began_ns: when its stream was first seen running; 0: not yet
 */
struct restart {
	uint64_t wait_ns;
	uint64_t due_ns;
	bool asked;
	uint64_t began_ns;
};

/**
 * restart_is_due() - call it regularly
 * @p: a peer for which peer_lasts() is true
 * @now_ns: CLOCK_MONOTONIC
 *
 * Return: whether the caller has to call peer_restart(). Processes that still run then have had
 * PEER_STOP_NS to end.
 */
bool restart_is_due(struct restart *a, const struct peer *p, uint64_t now_ns);

#endif /* NTPROF_PEER_LIVE_MERGE_H */
