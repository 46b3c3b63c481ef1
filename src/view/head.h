/* SPDX-License-Identifier: GPL-2.0-only */
/* The head of a block: what is traced, where, how, and since when. */
#ifndef NTPROF_VIEW_HEAD_H
#define NTPROF_VIEW_HEAD_H

#include <stdbool.h>
#include <stdio.h>

#include "core/stats.h"
#include "view/columns.h"

/**
 * head_print() - print the head in as many lines as it needs
 * @s: the statistics
 * @summary: of the whole run; otherwise of the last interval
 * @f: output
 * @width: columns of the terminal, or WRAP_NEVER
 */
void head_print(const struct stats *s, bool summary, FILE *f, unsigned int width);

/**
 * head_print_unfair() - print a line if the sample of a whole run is too small; prints nothing if
 * it is not, or if there is no sample
 */
void head_print_unfair(const struct stats *s, FILE *f);

/*
 * The columns of a run, as a single row: which side of which machine is traced, how, and how many
 * commands.
 */

enum run_column {
	RUN_SIDE,
	RUN_KERNEL,
	RUN_SOURCE,
	RUN_DRIVER,
	RUN_WAITING_FOR, /* the driver that is not loaded yet */
	RUN_PROBES,
	RUN_CONTROLLERS,
	RUN_QUEUES,
	RUN_SAMPLE,   /* no value if every command is measured */
	RUN_SELECTED, /* figures are of selected commands only */
	RUN_INTERVAL,
	RUN_ELAPSED, /* how long ntprof has measured */
	RUN_PASSED,  /* time since the run began; no value without bursts */
	RUN_BURSTS,  /* bursts that have ended; this and the next two: no value without bursts */
	RUN_BURST_ON,
	RUN_BURST_EVERY,
};

/* Rows are struct stats. */
extern const struct columns run_columns;

/**
 * struct sample_row - shows how reliable a sample is
 * @measured: commands in it
 * @all: all commands, 0 if not known
 */
struct sample_row {
	uint64_t measured;
	uint64_t all;
};

enum sample_column {
	SAMPLE_MEASURED,
	SAMPLE_ALL,
};

/* Rows are struct sample_row. */
extern const struct columns sample_columns;

#endif /* NTPROF_VIEW_HEAD_H */
