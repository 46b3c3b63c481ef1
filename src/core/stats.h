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

#include "core/counters.h"
#include "core/hist.h"
#include "core/record.h"

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
	uint64_t counters_interval[COUNTERS_NR];
	uint64_t counters_total[COUNTERS_NR];
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

#endif /* NTPROF_CORE_STATS_H */
