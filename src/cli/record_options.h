/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of the verb record. */
#ifndef NTPROF_CLI_RECORD_OPTIONS_H
#define NTPROF_CLI_RECORD_OPTIONS_H

#include "cli/options.h"

/**
 * struct record_options - what the verb record was asked
 * @run: side and what else every run has
 * @count: end after this many commands; 0 is never
 * @output: where to, "-" is standard output
 * @force: replace a file that exists
 * @origins: records say where commands come from
 * @max_bytes: end before the stream gets larger; 0 is never
 * @buffer_bytes: what may wait for the reader
 */
struct record_options {
	struct run_options run;
	uint64_t count;
	const char *output;
	bool force;
	bool origins;
	uint64_t max_bytes;
	uint64_t buffer_bytes;
};

extern const struct argp record_argp; /* struct record_options */

#endif /* NTPROF_CLI_RECORD_OPTIONS_H */
