/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns of what is traced, a single row: which side of which machine, by what, how much of it. */
#ifndef NTPROF_VIEW_COLUMNS_RUN_H
#define NTPROF_VIEW_COLUMNS_RUN_H

#include "view/columns.h"

enum run_column {
	RUN_SIDE,
	RUN_KERNEL,
	RUN_SOURCE,
	RUN_DRIVER,
	RUN_WAITING_FOR, /* the driver that is not there yet */
	RUN_PROBES,
	RUN_CONTROLLERS,
	RUN_QUEUES,
	RUN_SAMPLE,   /* none where every command is measured */
	RUN_SELECTED, /* figures are of selected commands only */
	RUN_INTERVAL,
	RUN_ELAPSED, /* how long it was measured */
	RUN_PASSED,  /* since it began; none where that is the same */
	RUN_BURSTS,  /* that have ended; none where there are none, as the two that follow */
	RUN_BURST_ON,
	RUN_BURST_EVERY,
};

/* Of struct stats. */
extern const struct columns run_columns;

/**
 * struct sample_row - how far a sample can be trusted
 * @measured: commands in it
 * @all: commands that there were, 0 where that is not known
 */
struct sample_row {
	uint64_t measured;
	uint64_t all;
};

enum sample_column {
	SAMPLE_MEASURED,
	SAMPLE_ALL,
};

/* Of struct sample_row. */
extern const struct columns sample_columns;

#endif /* NTPROF_VIEW_COLUMNS_RUN_H */
