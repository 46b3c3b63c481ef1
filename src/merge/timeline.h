/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recorded commands over time, for pictures: latencies, rates and addresses in bins of time, the
 * stages by latency, and the latencies of each queue and size. Knows neither files nor screens.
 *
 * Memory does not depend on the recording. When there are more bins than TIMELINE_BINS, each two of
 * them become one, which is twice as long.
 */
#ifndef NTPROF_MERGE_TIMELINE_H
#define NTPROF_MERGE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device.h"
#include "core/hist.h"
#include "merge/merged_stages.h"
#include "merge/places.h"
#include "shared/record.h"

/* More bins than a picture has columns; 9 KiB each. */
#define TIMELINE_BINS 512u
/* Ranges of LBAs: lines of a picture. */
#define TIMELINE_LBAS 64u
/* 2^4 bins are one point of a curve as small as a word. */
#define TIMELINE_SPARK_SHIFT 4
#define TIMELINE_SPARKS ((TIMELINE_BINS >> TIMELINE_SPARK_SHIFT) + 1)
/* More different queues and sizes than users look at; 9 KiB each. Others are counted together. */
#ifndef TIMELINE_CELLS
#define TIMELINE_CELLS 512u
#endif

/* The slowest commands that are kept, for recordings of one side: others are in struct totals. */
#define TIMELINE_SLOWEST 5u

/* Operations as pictures show them. */
enum timeline_kind { TIMELINE_READ, TIMELINE_WRITE, TIMELINE_OTHER, TIMELINE_KINDS };

/**
 * struct timeline_axis - parts of equal length on an axis
 * @shift: each is 2^shift long
 * @base: the first of them begins at @base << @shift
 * @nr: how many there are; 0: nothing has been added
 */
struct timeline_axis {
	unsigned int shift;
	unsigned int nr;
	uint64_t base;
};

/**
 * struct timeline_bin - the commands that began in a part of the time
 * @h: their latencies
 * @count, @bytes: by enum timeline_kind
 * @failed: commands that ended with an error or were given up; they are in nothing else
 * @lba: by their first LBA
 */
struct timeline_bin {
	struct hist h;
	uint64_t count[TIMELINE_KINDS];
	uint64_t bytes[TIMELINE_KINDS];
	uint64_t failed;
	uint64_t lba[TIMELINE_LBAS];
};

/* Of a cell: it is of a namespace, whose id is in the lowest 32 bits. */
#define TIMELINE_NAMESPACE (1ULL << 32)
/* The end of a longer name is cut. */
#define TIMELINE_DISK_LEN 64

/** struct timeline_band - the stages of commands whose latencies are in the same bucket */
struct timeline_band {
	uint64_t count;
	int64_t sum[NT_MERGED_STAGES_NR];
};

/**
 * struct timeline_cell - commands of one size or one namespace of one queue and operation, or of
 * one CPU
 * @owner: the row of the queue and operation, as the caller knows it; NULL: a CPU
 * @what: bytes of each command; or TIMELINE_NAMESPACE and its id; or the recording, and the CPU in
 *        the lowest 16 bits
 * @disk: the machine's name for the device of the namespace; "" if not known
 * @kind: enum timeline_kind
 * @spark: the commands over time; the first one begins with that part of the time axis, of
 *         2^TIMELINE_SPARK_SHIFT bins, in which the first bin lies
 */
struct timeline_cell {
	const void *owner;
	uint64_t what;
	enum timeline_kind kind;
	char disk[TIMELINE_DISK_LEN];
	struct hist h;
	struct timeline_spark {
		uint64_t count;
		uint64_t sum;
	} spark[TIMELINE_SPARKS];
};

/**
 * struct timeline - all zero at the beginning
 * @bin: time.nr of them
 * @band: [kind][bucket of the latency]
 * @joined: [stage] bits of the stages that are counted there
 * @into: how the last command was split, which is in @joined
 * @cell: nr_cells of them
 * @table: the same by a hash, with free places in between
 * @others: commands past TIMELINE_CELLS
 * @slow: @nr_slow of the slowest, the slowest first
 */
struct timeline {
	struct timeline_axis time;
	struct timeline_axis lba;
	struct timeline_bin *bin;
	struct timeline_band (*band)[NT_BUCKETS];
	uint32_t joined[NT_MERGED_STAGES_NR];
	uint8_t into[NT_MERGED_STAGES_NR];
	struct timeline_cell **cell;
	unsigned int nr_cells;
	struct timeline_cell *table[2 * TIMELINE_CELLS];
	uint64_t others;
	struct timeline_slow {
		uint64_t latency;
		struct nt_record r;
	} slow[TIMELINE_SLOWEST];
	unsigned int nr_slow;
};

/**
 * struct timeline_command - a command that ended well
 * @owner: as in struct timeline_cell
 * @begin_ns: when it began
 * @stream, @cpu: where it was submitted; ORIGIN_NO_CPU: not known
 * @places: names of its recording's devices, or NULL
 * @stage, @into: its @nr stages, as merged_split() and stage_split() have them, but 0 of joined
 *                ones that are counted with others; @nr 0: not known
 */
struct timeline_command {
	const void *owner;
	uint64_t begin_ns;
	uint64_t latency_ns;
	const struct nt_record *r;
	unsigned int stream;
	uint16_t cpu;
	const struct places *places;
	unsigned int nr;
	const int64_t *stage;
	const uint8_t *into;
};

/** timeline_new() - NULL when memory ran out */
struct timeline *timeline_new(void);

/** timeline_add() - count a command; Return: 0 or -ENOMEM */
int timeline_add(struct timeline *t, const struct timeline_command *c);

/** timeline_add_failed() - count a command that failed */
void timeline_add_failed(struct timeline *t, uint64_t begin_ns);

/** timeline_bin_merge() - add the commands of one bin to another */
void timeline_bin_merge(struct timeline_bin *into, const struct timeline_bin *from);

/** timeline_free() - release; NULL is fine */
void timeline_free(struct timeline *t);

#endif /* NTPROF_MERGE_TIMELINE_H */
