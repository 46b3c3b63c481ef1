/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What matched commands add up to: the ten stages per operation and per connection, and the slowest
 * commands whole. Knows neither files nor screens.
 */
#ifndef NTPROF_MERGE_TOTALS_H
#define NTPROF_MERGE_TOTALS_H

#include <stdint.h>

#include "core/hist.h"
#include "core/record.h"
#include "merge/connection.h"
#include "merge/merged_stages.h"

/* The most commands whose story can be asked for. */
#define TOTALS_SLOWEST_MAX 1000

/* A matched command that was among the slowest. */
struct slow_command {
	uint64_t latency;
	struct merge_connection connection; /* as it was when the command was matched */
	struct nt_record host;
	struct nt_record target;
};

/**
 * struct totals_row - a connection and operation
 * @connection: as merge_connection() returns it, valid as long as the merge is
 * @latency: host submit (or else queue_rq) to complete
 * @split: commands that have all stages
 * @sum: [stage] nanoseconds, over the commands split
 * @max: [stage] the longest
 */
struct totals_row {
	const struct merge_connection *connection;
	enum nt_op op;
	struct hist latency;
	uint64_t split;
	int64_t sum[NT_MERGED_STAGES_NR];
	int64_t max[NT_MERGED_STAGES_NR];
};

/**
 * struct totals - sums over matched commands
 * @latency: [operation], as in a row
 * @stage: [operation][stage]; a negative stage counts as 0
 * @row: [connection's index * NT_OPS_NR + operation], @nr_rows of them, NULL where there was no command
 * @unsplit: commands of which a side lacks a point
 * @negative: stages that came out negative; @most_negative: the worst of them, nanoseconds
 * @slowest: @nr_slowest of at most @max_slowest, in no order before totals_sort()
 */
struct totals {
	struct hist latency[NT_OPS_NR];
	struct hist stage[NT_OPS_NR][NT_MERGED_STAGES_NR];
	struct totals_row **row;
	unsigned int nr_rows;
	uint64_t unsplit;
	uint64_t negative;
	int64_t most_negative;
	struct slow_command *slowest;
	unsigned int nr_slowest;
	unsigned int max_slowest;
};

/** totals_init() - begin; @max_slowest at most TOTALS_SLOWEST_MAX; Return: 0 or -ENOMEM */
int totals_init(struct totals *t, unsigned int max_slowest);

/**
 * totals_add() - count a matched command
 * @t: sums
 * @c: its connection
 * @host, @target: its records
 *
 * Return: 0 or -ENOMEM.
 */
int totals_add(struct totals *t, const struct merge_connection *c, const struct nt_record *host,
	       const struct nt_record *target);

/** totals_fold() - add the sums of @from (not its slowest) to @into, and zero them; 0 or -ENOMEM */
int totals_fold(struct totals *into, struct totals *from);

/** totals_sort() - put the slowest into order, the slowest first; nothing is added after this */
void totals_sort(struct totals *t);

/** totals_free() - release */
void totals_free(struct totals *t);

#endif /* NTPROF_MERGE_TOTALS_H */
