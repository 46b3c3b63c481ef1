/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters beside the histograms: losses that BPF programs count, and losses that user space sees.
 * Each has a name. Also what tracing itself costs.
 */
#ifndef NTPROF_CORE_COUNTERS_H
#define NTPROF_CORE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/record.h"

/* Counters of user space. They follow the counters of the BPF programs. */
enum {
	COUNTER_PROBE_MISSED =
		NT_COUNTERS_NR, /* the kernel skipped a nested run of a BPF program */
	COUNTER_READER_SLOW,	/* the reader did not take the output in time */
	COUNTER_IN_FLIGHT,  /* not a loss: begun and not ended when the run ended (total only) */
	COUNTER_BURST_EDGE, /* not a loss: the command began before a burst, or ended after it */
	COUNTER_NAMES_GONE, /* not a loss of commands: names gave way to others, see merge/places.h
			     */
	COUNTERS_NR,
};

/** counter_name() - name of an enum nt_counter or COUNTER_*, such as "ring_full"; static string */
const char *counter_name(unsigned int counter);

/** counter_help() - what it counts, in a few words; static string */
const char *counter_help(unsigned int counter);

/** counter_advice() - what the user can do about it, in a sentence; static string */
const char *counter_advice(unsigned int counter);

/**
 * counter_is_loss() - false for commands that wait by design or whose disk does not show, for
 * commands that were under way when a run or a burst began or ended, and for names
 */
bool counter_is_loss(unsigned int counter);

/*
 * What tracing costs, as far as the kernel reports it: the memory of maps, and the run time of BPF
 * programs.
 */

/* More than the number of programs of either side. */
#define COST_PROGRAMS_MAX 128

/*
 * Room for the name of a program as it is in the source, which is longer than the kernel's own
 * name.
 */
#define COST_NAME_LEN 48

/**
 * struct cost_program - one BPF program
 * @runs: how often it ran
 * @ns: run time on all CPUs together
 */
struct cost_program {
	char name[COST_NAME_LEN];
	uint64_t runs;
	uint64_t ns;
};

/**
 * struct cost - the cost since tracing began
 * @map_bytes: locked memory of all maps
 * @counts_runs: the kernel counts runs (kernel.bpf_stats_enabled), or did so earlier; otherwise
 *               @program has no figures
 * @program: @nr programs that are loaded
 */
struct cost {
	uint64_t map_bytes;
	bool counts_runs;
	unsigned int nr;
	struct cost_program program[COST_PROGRAMS_MAX];
};

#endif /* NTPROF_CORE_COUNTERS_H */
