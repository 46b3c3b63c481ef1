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

#include "core/burst.h"
#include "core/counters.h"
#include "core/errors.h"
#include "core/hist.h"
#include "core/record.h"
#include "core/sample.h"

/* Commands, and the data that they transferred. */
struct workload {
	uint64_t commands;
	uint64_t bytes;
};

/**
 * struct waiting - commands in flight, as they are when an interval ends
 * @commands: how many have begun and not ended
 * @oldest_ns: how long ago the one of them began that has been out the longest
 * @at_device: target: how many the device has been given and has not answered
 */
struct waiting {
	uint64_t commands;
	uint64_t oldest_ns;
	uint64_t at_device;
};

/* The row of all connections that ended a while ago, of each operation one. */
#define STATS_GONE "(gone)"
/* The row of commands that have none of their own. */
#define STATS_OTHERS "(others)"

/*
 * A row is 17 KiB. Whoever may connect makes rows, with names as they like: this is the most of them, and what finds no
 * room is counted in STATS_OTHERS. It is 1,000 hosts of 8 queues that read and write.
 */
#ifndef STATS_ROWS_MAX
#define STATS_ROWS_MAX 16384
#endif
/* The row of a connection that ended goes into STATS_GONE after so long, or when there are more such rows than that. */
#define STATS_ENDED_NS 60000000000ULL
#define STATS_ENDED_MAX 1024

/**
 * struct stats_row - a queue and operation, with what its commands took
 * @others_interval, @others_total: commands that ended and are not in the sample; not in @interval and
 *                                  @total
 *
 * @other: the other NQN of the connection, host's or subsystem's; "" where it is not known, or nobody asks
 * @slot, @who: of the last connection that was counted here, see struct nt_identity
 * @ended_ns: CLOCK_MONOTONIC time when stats_fold() found that it had ended; 0: it has not
 * @series, @series_of: what serve/page.c knows of the row
 *
 * A row is removed by stats_fold() only.
 */
struct stats_row {
	char controller[32];   /* "nvme0" on the host, "cntlid 3" on the target */
	char peer[NT_NQN_LEN]; /* subsystem NQN on the host; host NQN on the target */
	char other[NT_NQN_LEN];
	uint16_t qid;
	bool shared; /* several queues together: STATS_GONE, STATS_OTHERS */
	enum nt_op op;
	struct hist interval;
	struct hist total;
	struct workload others_interval;
	struct workload others_total;
	struct waiting waiting;
	uint32_t slot;
	uint32_t who;
	uint64_t ended_ns;
	uint32_t series;
	uint32_t series_of;
};

/**
 * struct stats - all that a side saw
 * @side: which tables below apply: host or target stages
 * @kernel: release of the running kernel
 * @driver: what is traced, e.g. "nvme_tcp"; "" while waiting for the module
 * @source: where the points come from, see source_name()
 * @missing: bits of the points that bound stages and that nothing here gives, see core/segments.h
 * @sample: one command in so many was measured; 0 and 1: every one
 * @selected: all figures but losses are of selected commands only
 * @counted: the others were counted, see &stats_row.others_total; else rates of a sample are estimates
 * @alike_interval, @alike_total: commands in the sample, see nt_alike()
 * @by_other: rows are by &stats_row.other as well
 * @waiting_at_device: &waiting.at_device is known
 * @recorded: they are of a stream, which does not say what follows up to @seconds, nor what waits
 * @probes: BPF programs attached
 * @controllers, @queues: connected now
 * @looked_ns: CLOCK_MONOTONIC time that &waiting.oldest_ns counts back from
 * @seconds: length of the last interval
 * @elapsed: how long it was measured
 * @passed: since tracing began: longer than @elapsed where there are bursts
 * @burst: when it is measured; burst_any(): not all the time
 * @bursts: how many have ended
 * @burst_began_ns, @burst_ended_ns: CLOCK_MONOTONIC time of the last one of these
 * @rows: sorted by controller, queue, operation; @nr_rows of them
 * @rows_gone: how many rows stats_fold() has removed
 * @stage_interval, @stage_total: [operation][stage of this side]
 * @errors: commands that are in no histogram, because they ended with an error
 * @counters_interval, @counters_total: enum nt_counter, then STATS_*
 * @counters_queues: of so many queues, at least, those are that &counters_total has; 0 where that is not known
 */
struct stats {
	enum nt_side side;
	char kernel[65];
	const char *driver;
	const char *source;
	uint32_t missing;
	uint32_t sample;
	bool selected;
	bool counted;
	uint32_t alike_interval[NT_ALIKE];
	uint32_t alike_total[NT_ALIKE];
	bool by_other;
	bool waiting_at_device;
	bool recorded;
	unsigned int probes;
	unsigned int controllers;
	unsigned int queues;
	uint64_t looked_ns;
	double seconds;
	double elapsed;
	double passed;
	struct burst burst;
	uint64_t bursts;
	uint64_t burst_began_ns;
	uint64_t burst_ended_ns;
	struct stats_row **rows;
	size_t nr_rows;
	uint64_t rows_gone;
	struct hist stage_interval[NT_OPS_NR][NT_STAGES_MAX];
	struct hist stage_total[NT_OPS_NR][NT_STAGES_MAX];
	struct errors errors;
	uint64_t counters_interval[COUNTERS_NR];
	uint64_t counters_total[COUNTERS_NR];
	uint32_t counters_queues[COUNTERS_NR];
};

/**
 * stats_row() - the row of a queue and operation, made when it is new
 * @s: where rows are kept; the row stays valid until stats_fold() or stats_free()
 * @controller, @qid, @op, @shared: what identifies the row, see struct stats_row
 * @peer: NQN to show, "" if unknown; part of the identity
 *
 * Return: the row, that of stats_others() where there are too many, or NULL when memory ran out.
 */
struct stats_row *stats_row(struct stats *s, const char *controller, const char *peer, uint16_t qid,
			    enum nt_op op, bool shared);

/** stats_row_of() - the same where the other NQN is known, which is a part of the identity where &stats.by_other says so */
struct stats_row *stats_row_of(struct stats *s, const char *controller, const char *peer,
			       const char *other, uint16_t qid, enum nt_op op, bool shared);

/** stats_others() - the row of commands that have no row of their own; NULL when memory ran out */
struct stats_row *stats_others(struct stats *s);

/**
 * stats_fold() - once an interval is collected: add rows of connections that ended to STATS_GONE, and remove them
 * @now: CLOCK_MONOTONIC nanoseconds
 * @ended: whether the connection of a row has
 * @context: its first argument
 *
 * Totals of all rows together stay what they are. Return: 0 or -ENOMEM.
 */
int stats_fold(struct stats *s, uint64_t now,
	       bool (*ended)(const void *context, const struct stats_row *row),
	       const void *context);

/*
 * Distinct commands that a sample has to be of, for an estimate of all from it: the standard deviation is
 * then 18 %. A command counts for less, the more often others come again.
 */
#define STATS_DISTINCT_MIN 32

/**
 * stats_lacks() - fill &stats.missing
 * @missing: what nothing gives
 *
 * Where a host knows no command's arrival, as with TLS, what its network stack took is in network_and_target, and so are the
 * names. Where it knows some, the loss arrival_missing says of how many commands that is so.
 */
void stats_lacks(struct stats *s, uint32_t missing);

/** stats_begin_interval() - zero what belongs to one interval */
void stats_begin_interval(struct stats *s);

/**
 * stats_wait() - one more command of a row is in flight
 * @row: of its queue and operation
 * @r: what is known of it; of one that is not measured, that is no point but those of its beginning
 * @measured: it is
 * @now: CLOCK_MONOTONIC nanoseconds
 */
void stats_wait(struct stats_row *row, const struct nt_record *r, bool measured, uint64_t now);

/**
 * stats_sample() - how many commands there were, and how many of them were measured
 * @s: of which interval, or run
 * @summary: of the whole run, else of the last interval
 * @measured: filled
 * @all: filled; @measured, where the others were not counted
 *
 * The sample is chosen by what commands are (core/sample.h). Those that are alike, such as reads of one
 * block, are all in it or none is.
 *
 * Return: whether the sample is not a fair one. Where all were counted, that is when it cannot be one
 * command in &stats.sample by chance (five standard deviations of the binomial distribution), or when it
 * is of fewer than STATS_DISTINCT_MIN distinct commands though there were enough for twice as many; else
 * when it is of fewer than that.
 */
bool stats_sample(const struct stats *s, bool summary, uint64_t *measured, uint64_t *all);

/** stats_free() - release the rows and errors */
void stats_free(struct stats *s);

#endif /* NTPROF_CORE_STATS_H */
