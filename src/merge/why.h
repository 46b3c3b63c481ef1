/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What has to be kept of each command to say later where slow commands come from: sums of stages by
 * latency, time and operation, and latencies by queue, device, CPU and size. One pass; memory does
 * not depend on the recording. Knows neither files nor screens.
 */
#ifndef NTPROF_MERGE_WHY_H
#define NTPROF_MERGE_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "core/hist.h"
#include "core/segments.h"
#include "merge/connection.h"
#include "merge/merged_stages.h"
#include "shared/path_event.h"
#include "shared/record.h"

enum why_op { WHY_READ, WHY_WRITE, WHY_OTHER, WHY_OPS };

/* Parts of the time; when there are more, each two of them become one, which is twice as long. */
#define WHY_BINS 64u
/* Sums of neighbouring buckets, which are allocated together: 7 KiB. */
#define WHY_CHUNK 32u
#define WHY_CHUNKS ((NT_BUCKETS + WHY_CHUNK - 1) / WHY_CHUNK)
/* All bins have so many of them at most (11 MiB); with more the bins become fewer. */
#ifndef WHY_CHUNKS_MAX
#define WHY_CHUNKS_MAX 1664u
#endif
/* More queues, devices, CPUs and sizes than users look at; 8 KiB each. Others are counted. */
#ifndef WHY_CELLS
#define WHY_CELLS 512u
#endif
/* Controllers whose latest commands are kept, to count those in flight. */
#define WHY_FOLLOWED 512u
/* The latest commands of such a controller: more than most have in flight. */
#define WHY_LATEST 1024u
/*
 * Hosts of one target, of which the last one is all others, and the latest commands of all of them:
 * 128 KiB.
 */
#define WHY_HOSTS 64u
#define WHY_TARGET_LATEST 4096u
/* Slots of a target whose host is known. */
#define WHY_SLOTS 4096u
/* Controllers whose queues are counted. */
#define WHY_CTRLS 256u

/* What TCP's states say of a command: see merge/tcp_history.h. */
enum why_part {
	WHY_RETRANSMITTED,
	WHY_BY_WINDOW,
	WHY_BY_BUFFER,
	WHY_BY_CWND,
	WHY_PARTS,
};

/**
 * struct why_sum - sums over commands; all members are of 8 bytes
 * @count, @ns: how many, and their latencies
 * @stage: nanoseconds of each stage; of joined stages the first one has all
 * @ahead: commands of the same controller that began before and ended meanwhile, of @followed ones
 * @meanwhile: commands of other hosts that the target did meanwhile, and @usual in so much time
 * @r2t: how many waited for an R2T, for how long, and how large they were
 * @resent: how many were sent more than once
 * @two_way: commands whose network's time is known by itself, and of these: how much of it was on
 *           the way to the target, and how far apart the bounds of the clocks' offset were
 * @part: those that had what enum why_part says: how many, and their latencies
 */
struct why_sum {
	uint64_t count;
	uint64_t ns;
	int64_t stage[NT_MERGED_STAGES_NR];
	uint64_t ahead;
	uint64_t followed;
	uint64_t meanwhile;
	uint64_t usual;
	uint64_t r2t;
	uint64_t r2t_ns;
	uint64_t r2t_bytes;
	uint64_t resent;
	struct {
		uint64_t count;
		int64_t to_target;
		uint64_t bounds;
	} two_way;
	struct {
		uint64_t count;
		uint64_t ns;
	} part[WHY_PARTS];
};

/* @usual is in parts of a command. */
#define WHY_USUAL_SHIFT 8

/** why_sum_add() - add one to another */
void why_sum_add(struct why_sum *into, const struct why_sum *from);

/**
 * struct why_bin - a part of the time
 * @chunk: [operation][bucket of the latency / WHY_CHUNK]; NULL: no such command
 * @failed: commands that were given up, or sent again
 */
struct why_bin {
	struct why_sum *chunk[WHY_OPS][WHY_CHUNKS];
	uint64_t failed;
};

/* What tells commands apart. WHY_ARRAY to WHY_TARGET are of several queues. */
#define WHY_KEYS(X)         \
	X(ARRAY, "nqn")     \
	X(CTRL, "ctrl")     \
	X(HOST, "host")     \
	X(TARGET, "target") \
	X(DEVICE, "device") \
	X(QUEUE, "queue")   \
	X(CPU, "cpu")       \
	X(SIZE, "size")
#define WHY_KEY_ENUM(id, name) WHY_##id,
enum why_key { WHY_KEYS(WHY_KEY_ENUM) WHY_KEYS_NR };

/** why_key_name() - static string */
const char *why_key_name(enum why_key key);

/**
 * struct why_levels - the buckets of times, added up: their mean is a typical time
 * @level: [stage] and behind them the latency
 * @commands: how many; @split: those whose stages are known
 * @seen: how many were counted for these
 */
struct why_levels {
	uint64_t level[NT_MERGED_STAGES_NR + 1];
	uint64_t commands;
	uint64_t split;
	uint64_t seen;
};

/** why_levels_add() - add one to another */
void why_levels_add(struct why_levels *into, const struct why_levels *from);

/**
 * struct why_cell - latencies of commands that have something in common
 * @key: WHY_QUEUE, WHY_DEVICE, WHY_CPU or WHY_SIZE
 * @c: the connection, of a device any of its array's
 * @what: the namespace, the CPU, or the largest size in bytes
 */
struct why_cell {
	enum why_key key;
	enum why_op op;
	const struct merge_connection *c;
	uint64_t what;
	struct hist h;
	struct why_levels levels;
};

/** why_cells_of() - the cells that the values of a key are made of */
enum why_key why_cells_of(enum why_key key);

/** why_same_value() - whether two such cells belong to one value of the key */
bool why_same_value(enum why_key key, const struct why_cell *a, const struct why_cell *b);

struct why_queue;
struct why_target;

/**
 * struct why - all zero at the beginning, but for why_new()
 * @sample: of commands that are not slow one in so many is counted, for so many; 1: all of them
 * @turn: commands until the next one of the sample
 * @slow_ns: [operation] from this latency on all are counted
 * @slow_at: [operation] of how many commands @slow_ns is
 * @follow: one in so many is kept to count those in flight; @follow_turn: how many until the next
 * @latency: [operation] of those that are counted
 * @joined: [stage] bits of the stages that are counted there
 * @shift, @base, @nr_bins: a bin is 2^shift ns long; the first begins at base << shift
 * @nr_chunks: how many all bins have
 * @cell: @nr_cells of them; @table has them by a hash
 * @others: commands past WHY_CELLS
 * @inline_most: bytes of the largest write without an R2T
 * @several_hosts: any target has commands of more than one host; then one in @follow of its records
 *                 is kept
 * @ctrl: @nr_ctrls controllers of hosts: its array, how many queues it has, whether it ever was
 *        live, since when it is not (0: it is), and what outages of its array ended with it: how
 *        long all were, and the sum of their squares
 * @has_tcp: the recordings have states of TCP connections
 */
struct why {
	unsigned int sample;
	unsigned int turn;
	uint64_t slow_ns[WHY_OPS];
	uint64_t slow_at[WHY_OPS];
	unsigned int follow;
	unsigned int follow_turn;
	struct hist latency[WHY_OPS];
	uint32_t joined[NT_MERGED_STAGES_NR];
	uint8_t into[NT_MERGED_STAGES_NR];
	unsigned int shift;
	uint64_t base;
	unsigned int nr_bins;
	struct why_bin *bin;
	unsigned int nr_chunks;
	struct why_cell **cell;
	unsigned int nr_cells;
	struct why_cell *table[2 * WHY_CELLS];
	uint64_t others;
	uint32_t inline_most;
	struct why_queue *queue;
	unsigned int nr_queues;
	unsigned int followed;
	struct why_target **target;
	unsigned int nr_targets;
	bool several_hosts;
	bool has_tcp;
	unsigned int target_turn;
	struct {
		unsigned int stream;
		uint32_t instance;
		uint16_t queues;
		bool was_live;
		uint64_t nqn;
		uint64_t down_since;
		double down_ns;
		double down_ns2;
	} ctrl[WHY_CTRLS];
	unsigned int nr_ctrls;
};

/* Enough to say it beside other figures: that costs 2 % of a report. */
#define WHY_SAMPLE 128u
/* Then one in so many commands is kept to count those in flight. Queues that take turns are seldom
 * a multiple of it. */
#define WHY_FOLLOW 17u

/** why_new() - nothing yet; @sample: see struct why. NULL when memory ran out */
struct why *why_new(unsigned int sample);

/** why_queue() - a stream announces a queue; Return: 0 or -ENOMEM */
int why_queue(struct why *w, unsigned int stream, enum nt_side side, const struct queue_info *q);

/**
 * why_path() - a stream of a host says what happened to a controller
 *
 * Return: since when no controller of its array was live, if this one is now; else 0.
 */
uint64_t why_path(struct why *w, unsigned int stream, const struct nt_path_event *e);

/** why_outage() - count an outage that ended with @e; @ns: how much of it the report takes */
void why_outage(struct why *w, unsigned int stream, const struct nt_path_event *e, double ns);

/** why_target() - a target's record, in the order of its stream, if there are several hosts */
void why_target(struct why *w, unsigned int stream, const struct nt_record *r);

/**
 * struct why_command - a command that ended well
 * @c: its connection, valid as long as @w is in use
 * @r: the record with its latency
 * @target: the target's record if @r is the host's; or NULL
 * @begin_ns: when it began, by a clock that all commands have in common
 * @cpu: where it was submitted; ORIGIN_NO_CPU: not known
 * @limits: bits of enum tcp_limit, of both sides
 * @stage, @into: as merged_split() and stage_split() have them, @nr; @nr 0: not known
 */
struct why_command {
	const struct merge_connection *c;
	const struct nt_record *r;
	const struct nt_record *target;
	uint64_t begin_ns;
	uint16_t cpu;
	unsigned int limits;
	unsigned int nr;
	const int64_t *stage;
	const uint8_t *into;
};

/** why_op_of() - the operation of a record */
static inline enum why_op why_op_of(const struct nt_record *r)
{
	return r->op == NT_OP_READ ? WHY_READ : r->op == NT_OP_WRITE ? WHY_WRITE : WHY_OTHER;
}

/**
 * why_stands_for() - for how many commands a command that ended well is to be counted; 0: it is not
 * one of the sample
 */
static inline unsigned int why_stands_for(struct why *w, const struct nt_record *r)
{
	enum why_op op = why_op_of(r);

	if (record_latency_ns(r) >= w->slow_ns[op])
		return 1;
	if (--w->turn)
		return 0;
	return w->turn = w->sample;
}

/**
 * why_add() - count a command for @stands_for commands, before why_follow(); Return: 0 or
 * -ENOMEM
 */
int why_add(struct why *w, const struct why_command *c, unsigned int stands_for);

/** why_follow() - keep a command to count those in flight; Return: 0 or -ENOMEM */
int why_follow(struct why *w, const struct merge_connection *c, const struct nt_record *r);

/** why_to_follow() - call this for each command, counted or not: whether why_follow() follows */
static inline bool why_to_follow(struct why *w)
{
	if (--w->follow_turn)
		return false;
	w->follow_turn = w->follow;
	return true;
}

/** why_add_failed() - a command was given up; Return: 0 or -ENOMEM */
int why_add_failed(struct why *w, uint64_t begin_ns);

/** why_failed() - how many commands, of all operations, were given up */
uint64_t why_failed(const struct why *w);

/** why_free() - release; NULL is fine */
void why_free(struct why *w);

#endif /* NTPROF_MERGE_WHY_H */
