/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connects run() with the flight recorder of serve (serve/recorder.h), and prints the recorder's
 * messages to the journal.
 */
#ifndef NTPROF_CLI_FLIGHT_H
#define NTPROF_CLI_FLIGHT_H

#include <argp.h>

#include "cli/announced_names.h"
#include "cli/run.h"
#include "serve/folder.h"
#include "serve/recorder.h"

/* The options of the flight recorder of serve, with their defaults. */

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

/* How long the end of the run waits for the disk to take the last file. */
#define FLIGHT_PATIENCE_NS 10000000000ULL

/**
 * flight_open() - start a recorder; takes over the conditions in @o
 *
 * Return: NULL with a message on standard error if that failed.
 */
struct recorder *flight_open(struct flight_options *o, enum nt_side side);

/** flight_begin() - call when tracing has begun */
void flight_begin(struct recorder *r, const struct run_options *o, const struct tracer *t);

/**
 * flight_record() - call when a command has ended; @n: the connections and devices that are known
 * already
 */
void flight_record(struct recorder *r, struct announced_names *n, const struct tracer *t,
		   const struct nt_record *rec);

/** flight_change() - use other options from now on; a message reports a failure */
void flight_change(struct recorder *r, struct flight_options *o);

#endif /* NTPROF_CLI_FLIGHT_H */
