/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is counted beside the histograms: the losses that BPF programs count, and those that user space
 * sees, each with a name.
 */
#ifndef NTPROF_CORE_COUNTERS_H
#define NTPROF_CORE_COUNTERS_H

#include <stdbool.h>

#include "core/record.h"

/* Losses that user space sees, after those that the BPF programs count. */
enum {
	COUNTER_PROBE_MISSED =
		NT_COUNTERS_NR, /* the kernel skipped a nested run of a BPF program */
	COUNTER_READER_SLOW,	/* nobody took in time what was to be written */
	COUNTER_IN_FLIGHT,  /* not a loss: begun and not ended when the run ended (total only) */
	COUNTER_BURST_EDGE, /* not a loss: begun before a burst, or ended after it */
	COUNTERS_NR,
};

/** counter_name() - e.g. "ring_full", of an enum nt_counter or COUNTER_*; static string */
const char *counter_name(unsigned int counter);

/** counter_help() - what it counts, in a few words; static string */
const char *counter_help(unsigned int counter);

/** counter_advice() - what to do about it, in a sentence; static string */
const char *counter_advice(unsigned int counter);

/** counter_is_loss() - false of what waits by design, or is under way when a run or a burst begins or ends */
bool counter_is_loss(unsigned int counter);

#endif /* NTPROF_CORE_COUNTERS_H */
