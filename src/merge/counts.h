/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of a merge (records that it could not match for lack of room), and its connections. */
#ifndef NTPROF_MERGE_COUNTS_H
#define NTPROF_MERGE_COUNTS_H

#include <stdint.h>

struct merge;
struct merge_connection;

/**
 * merge_crowded_out() - records that were given up because too many waited
 *
 * Records with the least likely counterpart go first, and of these the oldest. They are also
 * counted as one side only, or as ambiguous, unless their counterpart was found when they were
 * given up.
 */
uint64_t merge_crowded_out(const struct merge *m);

/**
 * merge_in_crowd() - records that were given up because too many queues have the same names and ids
 *
 * This is so if records wait at more than 64 queues of one stream, or of the other side: each would
 * be compared with all others. They are also counted as one side only, or as ambiguous.
 */
uint64_t merge_in_crowd(const struct merge *m);

/** merge_unknown() - records of queues that their stream did not announce */
uint64_t merge_unknown(const struct merge *m);

/**
 * merge_past_limits() - records of queues past the limits of src/merge/topology.h: connections, and
 * slots of a stream
 *
 * They are in no other count. Once a stream has announced such a queue, all its records of unknown
 * queues are counted here.
 */
uint64_t merge_past_limits(const struct merge *m);

/**
 * merge_connections() - how many there are; merge_connection() - one of them, NULL past the last
 */
unsigned int merge_connections(const struct merge *m);
const struct merge_connection *merge_connection(const struct merge *m, unsigned int i);

#endif /* NTPROF_MERGE_COUNTS_H */
