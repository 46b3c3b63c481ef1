/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Matches the host's and the target's records of a command, without a common clock. Matching is by
 * identity (subsystem NQN, controller id, queue id, command id), then by what the command asked
 * for, then by order and time. Memory is bounded. Knows neither files nor screens.
 */
#ifndef NTPROF_MERGE_MERGE_H
#define NTPROF_MERGE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "core/time.h"
#include "merge/connection.h"
#include "shared/record.h"

struct merge;

/**
 * struct merge_callbacks - called for each record that is matched or given up
 * @matched: both records of a command; @c is its connection
 * @single: a record that was given up: of one side only, or ambiguous
 */
struct merge_callbacks {
	void (*matched)(void *context, const struct merge_connection *c,
			const struct nt_record *host, const struct nt_record *target);
	void (*single)(void *context, const struct merge_connection *c, const struct nt_record *r,
		       bool ambiguous);
	void *context;
};

/**
 * merge_new() - begin a merge
 * @callbacks: copied; either function may be NULL
 *
 * Return: NULL when memory ran out.
 */
struct merge *merge_new(const struct merge_callbacks *callbacks);

/**
 * merge_stream() - announce a stream
 * @m: merge
 * @stream: the caller's number of the stream
 * @side: of that stream
 *
 * Records of the other side then wait for records of this stream. A stream that gives a queue, by
 * merge_queue(), need not be announced.
 *
 * Return: 0 or -ENOMEM.
 */
int merge_stream(struct merge *m, unsigned int stream, enum nt_side side);

/**
 * merge_end_some() - merge_end() in turns of some milliseconds
 *
 * Return: whether there is more to do: call it again, when others have had their turn. Where
 * several streams have ended, a call for any of them goes on with all.
 */
bool merge_end_some(struct merge *m, unsigned int stream);

/**
 * merge_end() - a stream has ended: records that wait for no other stream are decided, now and
 * later
 * @m: merge
 * @stream: number of the stream
 */
static inline void merge_end(struct merge *m, unsigned int stream)
{
	while (merge_end_some(m, stream))
		;
}

/**
 * merge_restart() - a stream restarts under the same number: with a new recording, maybe after
 * a reboot of its machine
 * @m: merge
 * @stream: number of the stream
 *
 * Its waiting records are given up; its queues and its clock are forgotten. Counts stay.
 *
 * Return: true if records are left, and nothing else was done: call it again, as merge_end_some().
 */
bool merge_restart(struct merge *m, unsigned int stream);

/**
 * merge_queue() - a stream gives a queue
 * @m: merge
 * @stream: the caller's number of the stream; all its queues share one clock
 * @side: of that stream
 * @q: as read
 *
 * Return: 0 or -ENOMEM.
 */
int merge_queue(struct merge *m, unsigned int stream, enum nt_side side,
		const struct queue_info *q);

/**
 * merge_clock() - a stream gives its clocks
 * @m: merge
 * @stream: number of the stream
 * @boot_id: of its machine. Streams have one clock if their boot ids are the same and their wall
 *           clocks are equally far ahead of CLOCK_MONOTONIC.
 * @now: both clocks at one instant
 */
void merge_clock(struct merge *m, unsigned int stream, const char *boot_id,
		 const struct instant *now);

/**
 * merge_record() - a stream gives a record
 * @m: merge
 * @stream: number of the stream
 * @r: as read. The records of a stream come roughly in the order in which commands ended. Records
 *     of a queue without merge_queue() are counted by merge_strays().
 *
 * Calls back as matches become certain.
 *
 * Return: 0 or -ENOMEM.
 */
int merge_record(struct merge *m, unsigned int stream, const struct nt_record *r);

/**
 * merge_pending() - number of records that wait for the slower stream of a connection
 *
 * A caller that can choose the stream to read next should read the one that is behind. One that
 * cannot (live) may call merge_expire().
 */
uint64_t merge_pending(const struct merge *m);

/**
 * merge_expire() - give up records if their counterpart is late
 * @m: merge
 * @age_ns: If the partner is not known, or its stream has ended, a record is late when it ended
 *          this long before the newest record of its own stream. Otherwise a record of the host is
 *          late when the target's stream has passed it by this much, and one of the target is never
 *          late: it may wait for the host to complete the command.
 *
 * Return: false if all that were late have been given up; true if some are left, so that a call
 * takes some milliseconds: call again, when others have had their turn.
 */
bool merge_expire(struct merge *m, uint64_t age_ns);

/** merge_finish() - no more records will come: match what can be matched, give up the rest */
void merge_finish(struct merge *m);

/** merge_free() - release; NULL is fine */
void merge_free(struct merge *m);

/* Counters of a merge (records that it could not match for lack of room), and its connections. */

struct merge_connection;

/**
 * struct merge_strays - records that belong to no connection, or were given up for lack of room
 * @records: of queues that their stream did not announce
 * @past_limits: of queues past the limits of merge/topology.h. Once a stream has announced such a
 * queue, this has all its records of unknown queues. Records of these two members are in no other
 * count; those of the next two are also counted as one side only, or as ambiguous
 * @in_crowd: of more than 64 queues of one stream, or of the other side, with the same names and
 *            ids, each of which would have to be compared with all others
 * @crowded_out: too many waited. Those with the least likely counterpart go first, and of these the
 *               oldest. A counterpart may have been found when they were given up
 */
struct merge_strays {
	uint64_t records;
	uint64_t past_limits;
	uint64_t in_crowd;
	uint64_t crowded_out;
};

/** merge_strays() - those so far */
const struct merge_strays *merge_strays(const struct merge *m);

/**
 * merge_connections() - how many there are; merge_connection() - one of them, NULL past the last
 */
unsigned int merge_connections(const struct merge *m);
const struct merge_connection *merge_connection(const struct merge *m, unsigned int i);

#endif /* NTPROF_MERGE_MERGE_H */
