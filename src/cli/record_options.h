/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of the verb record. */
#ifndef NTPROF_CLI_RECORD_OPTIONS_H
#define NTPROF_CLI_RECORD_OPTIONS_H

#include "cli/options.h"

/**
 * struct record_options - the options of the verb record
 * @run: side and the other options of each run
 * @count: end after this many commands; 0: never
 * @output: path; "-": standard output
 * @force: replace an existing file
 * @origins: records have the origins of their commands
 * @max_bytes: end before the stream gets larger than this; 0: never
 * @buffer_bytes: room for frames that wait for the reader
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
