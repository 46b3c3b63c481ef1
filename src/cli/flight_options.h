/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of the flight recorder of serve, with their defaults. */
#ifndef NTPROF_CLI_FLIGHT_OPTIONS_H
#define NTPROF_CLI_FLIGHT_OPTIONS_H

#include <argp.h>

#include "keep/folder.h"
#include "keep/recorder.h"

/**
 * struct flight_options - the options
 * @recorder: see there; &recorder_options.folder is NULL if there is no recorder
 * @first: the first option that needs a recorder, for the error message if there is none
 */
struct flight_options {
	struct recorder_options recorder;
	const char *first;
};

#define FLIGHT_OPTIONS_DEFAULT                                \
	{                                                     \
		.recorder = {                                 \
			.after_ns = 5000000000ULL,            \
			.memory_bytes = 64ULL << 20,          \
			.files = 16,                          \
			.disk_bytes = 1ULL << 30,             \
			.keep_free = FOLDER_KEEP_FREE_DEFAULT \
		}                                             \
	}

/* Input: struct flight_options. */
extern const struct argp flight_argp;

#endif /* NTPROF_CLI_FLIGHT_OPTIONS_H */
