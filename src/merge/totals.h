/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums of matched commands: the ten stages per operation and per connection, and the records of the
 * slowest commands. Knows neither files nor screens.
 */
#ifndef NTPROF_MERGE_TOTALS_H
#define NTPROF_MERGE_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/hist.h"
#include "core/stats.h"
#include "merge/connection.h"
#include "merge/merged_stages.h"
#include "merge/places.h"
#include "shared/record.h"

/* The most commands that can be kept as the slowest. */
#define TOTALS_SLOWEST_MAX 1000
/*
 * The most stages of one operation: the ten, their parts, and what they are joined to where
 * machines lack points. Each pair of kernels has ten of them at most, mostly the same ones. A
 * command with more is counted as unsplit.
 */
#define TOTALS_STAGES_MAX 64

/*
 * The most controllers with totals of their own, of some 300 KiB each if they read and write.
 * Commands of further ones are in the totals of all only.
 */
#ifndef TOTALS_CTRLS_MAX
#define TOTALS_CTRLS_MAX 64u
#endif

/*
 * A command that was among the slowest: matched, or given up by the host, and then perhaps @alone.
 */
struct slow_command {
	uint64_t latency;
	bool alone;			    /* without a record of the target */
	uint32_t missing[NT_SIDES];	    /* [side] bits of the points that its machines lack */
	struct merge_connection connection; /* as it was when the command was matched */
	struct nt_record host;
	struct nt_record target;
	const struct origin *origin; /* set when it is shown; NULL: not known */
	const char *disk;	     /* the same: what the target calls its disk */
};

/**
 * struct totals_stage - a stage of an operation, or several that are joined
 * @stages: bits of the stages of the ten that it is; bit 10 + N: part N of stages
 * @name: "a", or "a+b"
 * @time: of each command that has it; a negative time is counted as 0
 * @below: sum of the negative times
 *
 * Sums of nanoseconds have 128 bits: see struct hist.
 */
struct totals_stage {
	uint32_t stages;
	char name[STAGE_NAME_LEN];
	struct hist time;
	__int128 below;
};

/* The bit of a part of a stage in struct totals_stage. */
#define TOTALS_PART_BIT(part) (1u << (NT_MERGED_STAGES_NR + (part)))
_Static_assert(NT_MERGED_STAGES_NR + NT_STAGE_PARTS_NR <= 32, "each has a bit of @stages");

/** totals_stage_sum() - sum of the stage's times, negative ones included; nanoseconds */
static inline __int128 totals_stage_sum(const struct totals_stage *s)
{
	return (__int128)s->time.sum + s->below;
}

/**
 * struct totals_row - a connection and operation
 * @connection: as merge_connection() returns it, valid as long as the merge is
 * @commands: how many
 * @latency_ns: sum of their latencies, from host submit (or else queue_rq) to complete
 * @split: commands that have all stages that their machines can give
 * @unsplit_ns: sum of the latencies of the other commands
 * @how: how its commands are split, as far as its machines are known
 * @told: machines.told when @how was made
 * @has_stages: @stage is filled
 * @plain: @stage is filled, and no machine lacks a point
 * @stage: [stage] where times are counted, for stages with how.into[stage] == stage
 * @ctrl: the totals of its controller; NULL: it has none
 * @own: as @stage, there
 * @sum: [stage] nanoseconds, over the commands split, negative times included
 * @part: [part] the same, of those whose stage is counted by its parts
 */
struct totals_row {
	const struct merge_connection *connection;
	enum nt_op op;
	uint64_t commands;
	unsigned __int128 latency_ns;
	uint64_t split;
	unsigned __int128 unsplit_ns;
	struct merged_split how;
	unsigned int told;
	bool has_stages;
	bool plain;
	struct totals_stage *stage[NT_MERGED_STAGES_NR];
	struct totals *ctrl;
	struct totals_stage *own[NT_MERGED_STAGES_NR];
	__int128 sum[NT_MERGED_STAGES_NR];
	__int128 part[NT_STAGE_PARTS_NR];
};

/**
 * struct totals - sums over matched commands
 * @machines: machines of the streams; NULL: no machine lacks a point
 * @commands: all of them. Each is in @latency, and either in the stages of its operation or in
 *            @unsplit_latency: these add up to @latency, to the nanosecond.
 * @latency: [operation], as in a row
 * @stage: [operation][@nr_stages of them], in no order
 * @part: [operation][part of a stage] where it is counted, NULL: nowhere yet
 * @lacking: how the last command without some arrivals was split
 * @lacking_stage: [operation] as in a row: where the stages of such commands are counted
 * @unsplit_latency: [operation] of the commands for which not all stages are known
 * @row: [connection's index * NT_OPS_NR + operation], @nr_rows of them, NULL where there was no
 *       command
 * @joined: commands for which an arrival may be that of a later packet (NT_F_ARRIVAL_JOINED)
 * @network_ns: network_transmission, or the stage that it is joined to, of all commands that could
 *              be split
 * @joined_network_ns: the same for the commands in @joined: part of it may be a wait for the reader
 * @unsplit: commands that are in @unsplit_latency
 * @cancelled: commands that the host gave up (timeout, reset); in no latency and no stage
 * @errors: commands that ended with an error, by the host's names for their queues; in no latency
 *          and no stage
 * @negative: stages that came out negative; @most_negative: the worst of them, nanoseconds
 * @last: of the command that was added last: its row, its stages and how they are joined; @into
 *        NULL: they are not known; @row NULL: it failed
 * @ctrl: latencies and stages of each controller, @nr_ctrls of at most @max_ctrls; they have no
 *        rows, and no other sums
 * @connection: in these, one of the controller's
 * @slowest: @nr_slowest of at most @max_slowest, in no order before totals_sort()
 */
struct totals {
	const struct machines *machines;
	uint64_t commands;
	struct hist latency[NT_OPS_NR];
	struct totals_stage *stage[NT_OPS_NR][TOTALS_STAGES_MAX];
	unsigned int nr_stages[NT_OPS_NR];
	struct totals_stage *part[NT_OPS_NR][NT_STAGE_PARTS_NR];
	struct merged_split lacking;
	struct totals_stage *lacking_stage[NT_OPS_NR][NT_MERGED_STAGES_NR];
	struct hist unsplit_latency[NT_OPS_NR];
	struct totals_row **row;
	unsigned int nr_rows;
	uint64_t joined;
	__int128 network_ns;
	__int128 joined_network_ns;
	uint64_t unsplit;
	uint64_t cancelled;
	struct errors errors;
	uint64_t negative;
	int64_t most_negative;
	struct {
		const struct totals_row *row;
		const uint8_t *into;
		int64_t stage[NT_MERGED_STAGES_NR];
	} last;
	struct totals **ctrl;
	unsigned int nr_ctrls;
	unsigned int max_ctrls;
	const struct merge_connection *connection;
	struct slow_command *slowest;
	unsigned int nr_slowest;
	unsigned int max_slowest;
};

/** totals_init() - zero the sums; @max_slowest at most TOTALS_SLOWEST_MAX; Return: 0 or -ENOMEM */
int totals_init(struct totals *t, unsigned int max_slowest);

/** totals_by_ctrl() - from now on count each controller by itself as well */
void totals_by_ctrl(struct totals *t);

/**
 * totals_add_op() - add latencies, stages and what could not be split of an operation; @from stays
 * as it is
 *
 * Return: 0 or -ENOMEM.
 */
int totals_add_op(struct totals *into, const struct totals *from, enum nt_op op);

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

/**
 * totals_add_single() - count a command without a record of the target, if the host gave it up
 * @t: sums
 * @c: its connection
 * @host: its record
 */
void totals_add_single(struct totals *t, const struct merge_connection *c,
		       const struct nt_record *host);

/**
 * totals_fold() - add the sums of @from (without its slowest) to @into, and zero them; Return: 0 or
 * -ENOMEM
 */
int totals_fold(struct totals *into, struct totals *from);

/** totals_sort() - sort the slowest, the slowest first; nothing may be added after this */
void totals_sort(struct totals *t);

/** totals_free() - release */
void totals_free(struct totals *t);

#endif /* NTPROF_MERGE_TOTALS_H */
