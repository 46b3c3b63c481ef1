/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histograms and counters as user space accumulates them: of an interval, and of the whole run.
 * Filled by the drain, read by the views; knows neither BPF nor terminals.
 */
#ifndef NTPROF_CORE_STATS_H
#define NTPROF_CORE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/record.h"

/**
 * struct hist - a latency histogram with full-width counts
 * @count: durations counted
 * @sum: their sum, nanoseconds
 * @bytes: data transferred by the commands counted; 0 for stages
 * @max: the longest, nanoseconds, exact
 * @buckets: see nt_bucket()
 */
struct hist {
	uint64_t count;
	uint64_t sum;
	uint64_t bytes;
	uint64_t max;
	uint64_t buckets[NT_BUCKETS];
};

/**
 * hist_empty() - nothing to add
 *
 * Of a command that ended while an interval was read, the interval may have the count and the next one
 * the nanoseconds.
 */
bool hist_empty(const struct hist *h);

/**
 * hist_account() - all but the buckets of some more durations
 * @h: histogram, to whose buckets the caller adds them
 * @count: how many
 * @sum: nanoseconds of all together
 * @bytes: data of their commands
 * @max: longest of them, nanoseconds
 */
void hist_account(struct hist *h, uint64_t count, uint64_t sum, uint64_t bytes, uint64_t max);

/**
 * hist_merge() - add one histogram to another
 * @into: sum of both afterwards
 * @from: left as it is
 */
void hist_merge(struct hist *into, const struct hist *from);

/**
 * hist_percentile() - the duration that a share of the commands did not exceed
 * @h: histogram
 * @percent: above 0, at most 100
 *
 * Nearest rank: the ceil(percent / 100 * count)-th shortest duration. It is told as the middle of
 * its bucket, never above @h->max, and so is within 1/64 (1.6 %) of the exact one up to 2^36 ns.
 *
 * Return: nanoseconds, 0 when the histogram is empty.
 */
uint64_t hist_percentile(const struct hist *h, double percent);

/** hist_mean() - mean duration in nanoseconds, 0 when empty */
double hist_mean(const struct hist *h);

/* A queue and operation, with what its commands took. Rows are never removed during a run. */
struct stats_row {
	char controller[32];   /* "nvme0" on the host, "cntlid 3" on the target */
	char peer[NT_NQN_LEN]; /* subsystem NQN on the host; host NQN on the target */
	uint16_t qid;
	bool shared; /* what found no histogram of its own: several queues together */
	enum nt_op op;
	struct hist interval;
	struct hist total;
};

/* Losses that user space sees, after those that the BPF programs count. */
enum {
	STATS_PROBE_MISSED = NT_COUNTERS_NR, /* the kernel skipped a nested run of a BPF program */
	STATS_IN_FLIGHT, /* not a loss: begun and not ended when the run ended (total only) */
	STATS_COUNTERS_NR,
};

/**
 * struct stats - all that a side saw
 * @side: which tables below apply: host or target stages
 * @kernel: release of the running kernel
 * @driver: what is traced, e.g. "nvme_tcp"; "" while waiting for the module
 * @source: where the points come from, see source_name()
 * @missing: bits of the points that bound stages and that nothing here gives, see core/segments.h
 * @sample: one command in so many was measured; 0 and 1: every one
 * @probes: BPF programs attached
 * @controllers, @queues: connected now
 * @seconds: length of the last interval
 * @elapsed: since tracing began
 * @rows: sorted by controller, queue, operation; @nr_rows of them
 * @stage_interval, @stage_total: [operation][stage of this side]
 * @counters_interval, @counters_total: enum nt_counter, then STATS_*
 */
struct stats {
	enum nt_side side;
	char kernel[65];
	const char *driver;
	const char *source;
	uint32_t missing;
	uint32_t sample;
	unsigned int probes;
	unsigned int controllers;
	unsigned int queues;
	double seconds;
	double elapsed;
	struct stats_row **rows;
	size_t nr_rows;
	struct hist stage_interval[NT_OPS_NR][NT_STAGES_MAX];
	struct hist stage_total[NT_OPS_NR][NT_STAGES_MAX];
	uint64_t counters_interval[STATS_COUNTERS_NR];
	uint64_t counters_total[STATS_COUNTERS_NR];
};

/**
 * stats_row() - the row of a queue and operation, made when it is new
 * @s: where rows are kept; the row stays valid until stats_free()
 * @controller, @qid, @op, @shared: what identifies the row, see struct stats_row
 * @peer: NQN to show, "" if unknown; part of the identity
 *
 * Return: the row, or NULL when memory ran out.
 */
struct stats_row *stats_row(struct stats *s, const char *controller, const char *peer, uint16_t qid,
			    enum nt_op op, bool shared);

/** stats_begin_interval() - zero what belongs to one interval */
void stats_begin_interval(struct stats *s);

/** stats_free() - release the rows */
void stats_free(struct stats *s);

/**
 * Names, from the tables of points.h and record.h; static strings.
 * stats_counter_name() and stats_counter_help() also know STATS_*.
 */
const char *side_name(enum nt_side side);
const char *source_name(enum nt_source source); /* "none" for what is no source */
const char *op_name(enum nt_op op);
const char *shape_name(enum nt_shape shape);
const char *stage_name(enum nt_side side, unsigned int stage);
unsigned int stages_nr(enum nt_side side);
bool stage_may_be_absent(enum nt_side side, unsigned int stage); /* not every shape passes it */
const char *point_name(enum nt_side side, unsigned int point);
unsigned int points_nr(enum nt_side side);
const char *stats_counter_name(unsigned int counter);
const char *stats_counter_help(unsigned int counter);

/**
 * record_stages() - split one record into its side's stages, by the table of segments
 * @r: record
 * @stage: filled with nanoseconds, indexed by the side's stages; NT_STAGES_MAX entries
 *
 * Return: true when every point that the record's shape needs is there and in order; the stages
 * then add up to last point - first point. False: @stage is zeroed. A host record may lack submit
 * (iostats are off): it begins with queue_rq, and its blk_submission is 0.
 */
bool record_stages(const struct nt_record *r, uint64_t stage[NT_STAGES_MAX]);

#endif /* NTPROF_CORE_STATS_H */
