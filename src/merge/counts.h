/* SPDX-License-Identifier: GPL-2.0-only */
/* What a merge says of itself: what it could not match for want of room, and its connections. */
#ifndef NTPROF_MERGE_COUNTS_H
#define NTPROF_MERGE_COUNTS_H

#include <stdint.h>

struct merge;
struct merge_connection;

/**
 * merge_crowded_out() - records that were given up because too many waited
 *
 * Those go first whose other half is the least likely to come, and of these the oldest. They are among
 * those of one side only, or ambiguous, too, but for those that found their other half by then.
 */
uint64_t merge_crowded_out(const struct merge *m);

/**
 * merge_in_crowd() - records that were given up because too many queues had the names and ids of theirs
 *
 * More than 64 of one stream, or of the other side, at which records waited: each would be compared with all others.
 * They are among those of one side, or ambiguous.
 */
uint64_t merge_in_crowd(const struct merge *m);

/** merge_unknown() - records of queues that no stream told of */
uint64_t merge_unknown(const struct merge *m);

/**
 * merge_past_limits() - records of queues past the limits of src/merge/topology.h: connections, and the slots of a stream
 *
 * They are in no other count. Once a stream has told of such a queue, its records of queues that it did not tell of are among them.
 */
uint64_t merge_past_limits(const struct merge *m);

/** merge_connections() - how many there are; merge_connection() - one of them, NULL past the last */
unsigned int merge_connections(const struct merge *m);
const struct merge_connection *merge_connection(const struct merge *m, unsigned int i);

#endif /* NTPROF_MERGE_COUNTS_H */
