/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of a recording in blocks of time, to be compared with those of another recording:
 * histograms of the latency and of each stage for each block, by operation and size. Knows neither
 * files nor screens.
 *
 * Memory does not depend on the recording: when there are more blocks than BLOCKS_MAX, or more
 * pieces of histograms than BLOCKS_PIECES_MAX, each two blocks become one, which is twice as long.
 */
#ifndef NTPROF_MERGE_BLOCKS_H
#define NTPROF_MERGE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/hist.h"
#include "core/segments.h"
#include "merge/connection.h"
#include "merge/merged_stages.h"
#include "shared/record.h"

/* A resampling needs no more blocks, and never fewer than half of them if there are that many. */
#define BLOCKS_MAX 256u
/* The most kinds of commands; those of further kinds are counted together, and not compared. */
#ifndef BLOCKS_KINDS_MAX
#define BLOCKS_KINDS_MAX 128u
#endif
/* The most pieces of histograms, 128 bytes each: 32 MiB. */
#ifndef BLOCKS_PIECES_MAX
#define BLOCKS_PIECES_MAX (1u << 18)
#endif
/*
 * The most commands that wait until it is known how many were in flight when they began. A command
 * during which this many others began and ended is not compared; @late counts such commands.
 */
#ifndef BLOCKS_WAIT_MAX
#define BLOCKS_WAIT_MAX 16384u
#endif

/* The durations of a command: its latency, and its stages. */
#define BLOCKS_DURATIONS (1u + NT_MERGED_STAGES_NR)
#define BLOCKS_LATENCY 0u
#define BLOCKS_STAGE(stage) (1u + (stage))

/* A histogram in pieces, see BLOCKS_PIECES_MAX: the buckets between two powers of two. */
#define BLOCKS_PIECES (NT_OVERFLOW_BUCKET / NT_SUB_BUCKETS + 1)

/* Classes of sizes: 0 is no data, N is above 2^(N-2) and up to 2^(N-1) bytes. */
#define BLOCKS_SIZES 34u
/*
 * Classes of commands in flight, four for each power of two, so that each number below 7 has its
 * own; the last one has all above.
 */
#define BLOCKS_DEPTHS 72u

/**
 * struct blocks_hist - a duration of the commands of a kind that began in a block
 * @sum: nanoseconds, negative times included; a histogram counts these as 0
 * @piece: where the pieces are, 0: nowhere
 */
struct blocks_hist {
	uint64_t count;
	double sum;
	uint32_t piece[BLOCKS_PIECES];
};

/**
 * struct blocks_kind - commands of one operation and class of sizes that found about as many
 * commands in flight
 * @op: NT_OPS_NR: of all kinds past BLOCKS_KINDS_MAX
 * @size, @depth: classes; @depth is 0 if it was not asked for
 * @block: [block] NULL: none began in it
 * @bytes: data of all of them
 * @machine: [stream], @nr_machines of them: by the host's stream or the target's
 * @least, @most: the smallest and the greatest of their sizes
 */
struct blocks_kind {
	enum nt_op op;
	uint8_t size;
	uint8_t depth;
	struct blocks_cell {
		uint64_t bytes;
		struct blocks_hist of[BLOCKS_DURATIONS];
	} * block[BLOCKS_MAX];
	struct blocks_machine {
		uint64_t count;
		double sum[BLOCKS_DURATIONS];
	} * machine;
	unsigned int nr_machines;
	uint32_t least;
	uint32_t most;
};

/**
 * struct blocks - all zero but for the first members, which the caller sets before the first
 * command
 * @missing: [side] points that are taken to be missing in each command
 * @by_depth: also by commands in flight
 * @side: whose stages: a side's, or the ten of NT_SIDES
 * @lacks: [side] all points that were missing in any command, those of @missing included
 * @into: how stages are joined; @mixed: not all commands alike
 * @shift, @base, @nr: the blocks are 2^@shift ns long; the first of @nr begins at @base << @shift
 * @first_ns, @last_ns: when the first command began and the last one ended, same axis
 * @commands, @unsplit: all that are counted, and those without stages
 * @late: see BLOCKS_WAIT_MAX; @others: past BLOCKS_KINDS_MAX
 * @measured_ns: time in which it was recorded, if in bursts; else 0
 */
struct blocks {
	uint32_t missing[NT_SIDES];
	bool by_depth;
	enum nt_side side;
	uint32_t lacks[NT_SIDES];
	uint8_t into[NT_MERGED_STAGES_NR];
	bool mixed;
	unsigned int shift;
	unsigned int nr;
	uint64_t base;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t commands;
	uint64_t unsplit;
	uint64_t late;
	uint64_t others;
	uint64_t measured_ns;
	struct blocks_kind *kind[BLOCKS_KINDS_MAX + 1];
	unsigned int nr_kinds;
	uint8_t at[NT_OPS_NR][BLOCKS_SIZES][BLOCKS_DEPTHS]; /* 1 + number of a kind; 0: none yet */
	uint32_t (*piece)[NT_SUB_BUCKETS];
	uint32_t nr_pieces;
	uint32_t free_piece; /* the first of those that are free; each has the next one in its first
				bucket */
	uint32_t nr_free;
	struct merged_split merged;
	struct stage_split split;
	struct blocks_wait *wait; /* a heap by beginning */
	unsigned int nr_wait;
	uint64_t *end; /* a heap: ends of the commands in flight */
	unsigned int nr_end;
	uint64_t frontier; /* all that began before are counted */
};

/**
 * struct blocks_where - where a command is from
 * @stream: [side] numbers of its recordings, MERGE_NO_STREAM without
 * @missing: [side] points that its machines lack
 * @to_common: what to add to its times for the axis that all recordings share
 */
struct blocks_where {
	unsigned int stream[NT_SIDES];
	uint32_t missing[NT_SIDES];
	int64_t to_common;
};

/**
 * blocks_add() - count a command that ended well
 * @host, @target: its records, or NULL
 *
 * A command without a beginning is not counted. Return: 0 or -ENOMEM.
 */
int blocks_add(struct blocks *b, const struct blocks_where *where, const struct nt_record *host,
	       const struct nt_record *target);

/** blocks_finish() - no more commands will come. Return: 0 or -ENOMEM */
int blocks_finish(struct blocks *b);

/** blocks_bucket() - how many durations a bucket of a histogram counts */
static inline uint32_t blocks_bucket(const struct blocks *b, const struct blocks_hist *h,
				     unsigned int bucket)
{
	return b->piece[h->piece[bucket / NT_SUB_BUCKETS]][bucket % NT_SUB_BUCKETS];
}

/** blocks_depth() - the class of @nr commands in flight */
unsigned int blocks_depth(uint64_t nr);

/** blocks_seconds() - for how long it was recorded */
double blocks_seconds(const struct blocks *b);

/** blocks_clear() - release all, and zero @b */
void blocks_clear(struct blocks *b);

#endif /* NTPROF_MERGE_BLOCKS_H */
