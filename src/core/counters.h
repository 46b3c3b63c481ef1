/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters beside the histograms: losses that BPF programs count, and losses that user space sees.
 * Each has a name.
 */
#ifndef NTPROF_CORE_COUNTERS_H
#define NTPROF_CORE_COUNTERS_H

#include <stdbool.h>

#include "core/record.h"

/* Counters of user space. They follow the counters of the BPF programs. */
enum {
	COUNTER_PROBE_MISSED =
		NT_COUNTERS_NR, /* the kernel skipped a nested run of a BPF program */
	COUNTER_READER_SLOW,	/* the reader did not take the output in time */
	COUNTER_IN_FLIGHT,  /* not a loss: begun and not ended when the run ended (total only) */
	COUNTER_BURST_EDGE, /* not a loss: the command began before a burst, or ended after it */
	COUNTERS_NR,
};

/** counter_name() - name of an enum nt_counter or COUNTER_*, such as "ring_full"; static string */
const char *counter_name(unsigned int counter);

/** counter_help() - what it counts, in a few words; static string */
const char *counter_help(unsigned int counter);

/** counter_advice() - what the user can do about it, in a sentence; static string */
const char *counter_advice(unsigned int counter);

/**
 * counter_is_loss() - false for commands that wait by design, and for commands that were under way
 * when a run or a burst began or ended
 */
bool counter_is_loss(unsigned int counter);

#endif /* NTPROF_CORE_COUNTERS_H */
