// SPDX-License-Identifier: GPL-2.0-only
#include "core/counters.h"

#define COUNTER_NAME(id, name, what) name,
#define COUNTER_HELP(id, name, what) what,

const char *counter_name(unsigned int counter)
{
	static const char *const names[COUNTERS_NR] = {
		NT_COUNTERS(COUNTER_NAME)[COUNTER_PROBE_MISSED] = "probe_missed",
		[COUNTER_READER_SLOW] = "reader_slow",
		[COUNTER_IN_FLIGHT] = "in_flight",
		[COUNTER_BURST_EDGE] = "burst_edge",
	};

	return counter < COUNTERS_NR ? names[counter] : "unknown";
}

const char *counter_help(unsigned int counter)
{
	static const char *const help[COUNTERS_NR] = {
		NT_COUNTERS(COUNTER_HELP)[COUNTER_PROBE_MISSED] =
			"runs of a BPF program that the kernel skipped because one was under way",
		[COUNTER_READER_SLOW] =
			"records, lines or blocks left out, as their reader was too slow",
		[COUNTER_IN_FLIGHT] = "commands begun and not ended when the run ended: not a loss",
		[COUNTER_BURST_EDGE] =
			"commands that began before a burst or ended after it, and are in no figure",
	};

	return counter < COUNTERS_NR ? help[counter] : "unknown";
}
