/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that each verb has that traces: see cli/run.h. */
#ifndef NTPROF_CLI_RUN_OPTIONS_H
#define NTPROF_CLI_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/burst.h"
#include "core/points.h"
#include "core/select.h"

/**
 * struct run_options - what to trace, and for how long
 * @side: host or target
 * @source: where points come from; NT_SOURCES: the best source that there is
 * @sample: measure about one command in so many; 0 and 1: each command
 * @only: the commands that are selected
 * @overdue_ns: &run_callbacks.record also gets commands that are in flight for longer than this; 0:
 *              it does not
 * @interval_ns: time between two calls of &run_callbacks.interval
 * @burst: measure at these times only
 * @duration_ns: end after this time; 0: never
 * @by_other: rows are by both NQNs of a connection
 * @verbose: print to standard error what is loaded and what it costs
 */
struct run_options {
	enum nt_side side;
	enum nt_source source;
	uint32_t sample;
	struct select only;
	uint64_t overdue_ns;
	uint64_t interval_ns;
	uint64_t duration_ns;
	struct burst burst;
	bool by_other;
	bool verbose;
};

#endif /* NTPROF_CLI_RUN_OPTIONS_H */
