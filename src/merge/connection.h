/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection as the merge presents it: its identity, what became of its records, and how far
 * apart the clocks of its two sides are.
 */
#ifndef NTPROF_MERGE_CONNECTION_H
#define NTPROF_MERGE_CONNECTION_H

#include <stdint.h>

#include "shared/record.h"

/* In place of a stream number: that side is not there. */
#define MERGE_NO_STREAM (~0u)

/**
 * struct merge_connection - one queue of one controller, seen from both sides or from one
 * @index: its number, as merge_connection() takes it
 * @host_stream, @target_stream: the caller's numbers, MERGE_NO_STREAM for a side that is not there
 * @host_instance: N of nvmeN
 * @hostnqn: from the last stream that gave one; not part of the connection's identity
 * @matched: commands with both records
 * @host_only, @target_only: commands for which the other side's record was never found
 * @ambiguous: records that could belong to more than one record of the other side, and were left
 *             alone
 * @offset_low, @offset_high: bounds of target clock - host clock (both CLOCK_MONOTONIC) at
 *         @offset_at_ns of the host clock; low > high: unknown
 * @jumps: how often the offset was found to have jumped: a machine was moved or suspended, or a
 *         clock was slewed
 * @drift_ppm: how fast the target's clock gains on the host's, estimated over the run
 *
 * Clocks belong to machines: all connections between two streams share their alignment.
 */
struct merge_connection {
	unsigned int index;
	unsigned int host_stream;
	unsigned int target_stream;
	uint32_t host_instance;
	char subsysnqn[NT_NQN_LEN];
	char hostnqn[NT_NQN_LEN];
	uint16_t cntlid;
	uint16_t qid;
	uint64_t matched;
	uint64_t host_only;
	uint64_t target_only;
	uint64_t ambiguous;
	int64_t offset_low;
	int64_t offset_high;
	uint64_t offset_at_ns;
	unsigned int jumps;
	double drift_ppm;
};

/**
 * merge_connection_order() - order of display: by subsystem, controller id and queue id
 *
 * Return: negative, 0 or positive, as for qsort().
 */
int merge_connection_order(const struct merge_connection *a, const struct merge_connection *b);

/** connection_offset() - the middle of the bounds, as an unsigned number to be added */
static inline uint64_t connection_offset(const struct merge_connection *c)
{
	uint64_t low = (uint64_t)c->offset_low, high = (uint64_t)c->offset_high;

	return low + (high - low) / 2;
}

#endif /* NTPROF_MERGE_CONNECTION_H */
