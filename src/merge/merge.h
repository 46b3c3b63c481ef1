/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Brings the host's and the target's records of the same command together, without a common clock.
 * Matching is by identity (subsystem NQN, controller id, queue id, command id), then by what the
 * command asked for, then by order and time. Memory is bounded; knows neither files nor screens.
 */
#ifndef NTPROF_MERGE_MERGE_H
#define NTPROF_MERGE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/queue.h"
#include "core/record.h"
#include "core/time.h"
#include "merge/connection.h"

struct merge;

/**
 * struct merge_callbacks - what becomes of the records
 * @matched: both records of a command; @c says of which connection
 * @single: a record that was given up: one side only, or ambiguous
 */
struct merge_callbacks {
	void (*matched)(void *context, const struct merge_connection *c,
			const struct nt_record *host, const struct nt_record *target);
	void (*single)(void *context, const struct merge_connection *c, const struct nt_record *r,
		       bool ambiguous);
	void *context;
};

/**
 * merge_new() - begin
 * @callbacks: copied; either function may be NULL
 *
 * Return: NULL when memory ran out.
 */
struct merge *merge_new(const struct merge_callbacks *callbacks);

/**
 * merge_stream() - there is a stream
 * @m: merge
 * @stream: number of the stream, the caller's
 * @side: of that stream
 *
 * Records of the other side wait for what it may tell. Streams that tell of a queue need not be told of.
 *
 * Return: 0 or -ENOMEM.
 */
int merge_stream(struct merge *m, unsigned int stream, enum nt_side side);

/**
 * merge_end() - a stream has ended: what waits for it, and for no other, is decided, now and later
 * @m: merge
 * @stream: number of the stream
 */
void merge_end(struct merge *m, unsigned int stream);

/**
 * merge_again() - a stream begins again, under the same number: from another recording, and maybe after its machine did
 * @m: merge
 * @stream: number of the stream
 *
 * Its records that wait are given up, its queues and its clock are forgotten. What has been counted stays.
 */
void merge_again(struct merge *m, unsigned int stream);

/**
 * merge_queue() - a stream tells of a queue
 * @m: merge
 * @stream: number of the stream, the caller's; what it says of the clock is true of the whole stream
 * @side: of that stream
 * @q: as read
 *
 * Return: 0 or -ENOMEM.
 */
int merge_queue(struct merge *m, unsigned int stream, enum nt_side side,
		const struct queue_info *q);

/**
 * merge_clock() - a stream tells of its clock
 * @m: merge
 * @stream: the stream's number
 * @boot_id: of its machine. Streams that have it in common, and wall clocks that are as far ahead, have one clock
 * @now: what its clocks say
 */
void merge_clock(struct merge *m, unsigned int stream, const char *boot_id,
		 const struct instant *now);

/**
 * merge_record() - a stream tells of a command
 * @m: merge
 * @stream: the stream's number
 * @r: as read. Within a stream records come in the order in which commands ended, more or less. Commands
 *     of a queue that merge_queue() was not told of are counted by merge_unknown().
 *
 * Calls back as matches become certain.
 *
 * Return: 0 or -ENOMEM.
 */
int merge_record(struct merge *m, unsigned int stream, const struct nt_record *r);

/**
 * merge_pending() - records held for the slower stream of a connection
 *
 * A caller that can choose which stream to read next should read the one that is behind;
 * one that cannot (live) may call merge_expire().
 */
uint64_t merge_pending(const struct merge *m);

/**
 * merge_expire() - give up on records whose other half is late
 * @m: merge
 * @age_ns: of those of which it is not known who the other side is, or whose other side has ended, what
 *          ended so long before their stream's newest; of the others, records of the host that the target's stream has passed by
 *          so much. The target's may wait for the host to complete the command.
 */
void merge_expire(struct merge *m, uint64_t age_ns);

/** merge_finish() - no more records will come: match what can be matched, give up the rest */
void merge_finish(struct merge *m);

/** merge_free() - release; NULL is fine */
void merge_free(struct merge *m);

#endif /* NTPROF_MERGE_MERGE_H */
