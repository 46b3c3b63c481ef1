/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Brings the host's and the target's records of the same command together, without a common clock.
 * Matching is by identity (subsystem NQN, controller id, queue id, command id), then by what the
 * command asked for, then by order and time. Memory is bounded; knows neither files nor screens.
 */
#ifndef NTPROF_MERGE_H
#define NTPROF_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "stats.h"
#include "stream.h"

/* The ten stages of a merged record, in the order of design: host, network, target and back. */
#define NT_MERGED_STAGES(X)                                                                        \
	X(MS_BLK_SUBMISSION, "blk_submission")                                                     \
	X(MS_NVME_TCP_SUBMISSION, "nvme_tcp_submission")                                           \
	X(MS_NSTACK_SUBMISSION, "nstack_submission")                                               \
	X(MS_NVMET_TCP_SUBMISSION, "nvmet_tcp_submission")                                         \
	X(MS_TARGET_SUBSYSTEM, "target_subsystem")                                                 \
	X(MS_NVMET_TCP_COMPLETION, "nvmet_tcp_completion")                                         \
	X(MS_NETWORK_TRANSMISSION, "network_transmission")                                         \
	X(MS_NSTACK_COMPLETION, "nstack_completion")                                               \
	X(MS_NVME_TCP_COMPLETION, "nvme_tcp_completion")                                           \
	X(MS_BLK_COMPLETION, "blk_completion")

enum merged_stage { NT_MERGED_STAGES(NT_ENUM_STAGE) NT_MERGED_STAGES_NR };

/** merged_stage_name() - static string */
const char *merged_stage_name(unsigned int stage);

/**
 * merged_stages() - the ten stages of one command
 * @host, @target: its two records
 * @stage: filled with nanoseconds. The network stage is what the host saw as network and target minus
 *         what the target spent; clocks that drift can make it negative, by their drift over one
 *         command.
 *
 * Return: true when both records have all points that their (equal) shape needs; then the ten add up to
 * host submit (or else queue_rq) to complete. False: @stage is zeroed.
 */
bool merged_stages(const struct nt_record *host, const struct nt_record *target,
		   int64_t stage[NT_MERGED_STAGES_NR]);

/**
 * struct merge_connection - one queue of one controller, seen from both sides
 * @matched: commands with both records
 * @host_only, @target_only: commands of which one side's record never found the other
 * @ambiguous: records that could belong to more than one of the other side, and were left alone
 * @offset_low, @offset_high: bounds of target clock - host clock (both CLOCK_MONOTONIC) at
 *                            @offset_at_ns of the host's clock; low > high: unknown
 * @drift_ppm: how fast the target's clock gains on the host's, estimated over the run
 */
struct merge_connection {
	char subsysnqn[NT_NQN_LEN];
	uint16_t cntlid;
	uint16_t qid;
	unsigned int host_stream;
	unsigned int target_stream;
	uint64_t matched;
	uint64_t host_only;
	uint64_t target_only;
	uint64_t ambiguous;
	int64_t offset_low;
	int64_t offset_high;
	uint64_t offset_at_ns;
	double drift_ppm;
};

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
 * merge_queue() - a stream tells of a queue
 * @m: merge
 * @stream: number of the stream, the caller's; streams of one machine's boot share a clock, but each
 *          connection is aligned by itself
 * @side: of that stream
 * @q: as read
 *
 * Return: 0 or -ENOMEM.
 */
int merge_queue(struct merge *m, unsigned int stream, enum nt_side side,
		const struct stream_queue *q);

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

/** merge_expire() - give up on records that ended more than @age_ns before their stream's newest */
void merge_expire(struct merge *m, uint64_t age_ns);

/** merge_finish() - no more records will come: match what can be matched, give up the rest */
void merge_finish(struct merge *m);

/** merge_unknown() - records of queues that nobody told of */
uint64_t merge_unknown(const struct merge *m);

/** merge_connections() - how many there are; merge_connection() - one of them, NULL past the last */
unsigned int merge_connections(const struct merge *m);
const struct merge_connection *merge_connection(const struct merge *m, unsigned int i);

/** merge_free() - release; NULL is fine */
void merge_free(struct merge *m);

#endif /* NTPROF_MERGE_H */
