/* SPDX-License-Identifier: GPL-2.0-only */
/* The head of a block: what is traced, where, how, and since when. */
#ifndef NTPROF_VIEW_HEAD_H
#define NTPROF_VIEW_HEAD_H

#include <stdbool.h>
#include <stdio.h>

#include "core/controllers.h"
#include "core/stats.h"
#include "view/columns.h"
#include "view/json.h"

/**
 * head_print() - print the head in as many lines as it needs
 * @s: the statistics
 * @c: states of its controllers, or NULL
 * @summary: of the whole run; otherwise of the last interval
 * @f: output
 * @width: columns of the terminal, or WRAP_NEVER
 */
void head_print(const struct stats *s, const struct controllers *c, bool summary, FILE *f,
		unsigned int width);

/** head_print_brief() - print the most important of an interval in one line */
void head_print_brief(const struct stats *s, const struct controllers *c, FILE *f);

/**
 * alarms_print() - print a line for each controller that is not up or does not answer commands that
 * began before tracing, and a line for all commands that are stalled
 * @s: an interval
 * @most: lines at most; the last one counts the others
 */
void alarms_print(const struct stats *s, const struct controllers *c, unsigned int most, FILE *f);

/** stalls_print() - print a line about stalls that are over; nothing if there were none */
void stalls_print(const struct stalls *t, FILE *f);

/** controllers_json() - an array with a row for each controller */
struct json_object *controllers_json(const struct controllers *c);

/* The columns of the controllers, as the machine itself sees them. */

/** struct controller_row - a controller, and the ages of what is known of it, in nanoseconds */
struct controller_row {
	const struct controller *c;
	uint64_t state_ns;
	uint64_t quiet_ns;
};

enum controller_column {
	CONTROLLER_NAME,
	CONTROLLER_PEER,
	CONTROLLER_DEVICES,
	CONTROLLER_ADDRESS,
	CONTROLLER_STATE,
	CONTROLLER_STATE_FOR,	/* how long it has been seen in this state */
	CONTROLLER_STATE_OLDER, /* it may have had it before, too */
	CONTROLLER_IN_FLIGHT,
	CONTROLLER_BEFORE, /* commands in flight that began before tracing; no value if none */
	CONTROLLER_QUIET,  /* time since a command ended */
};

/* Rows are struct controller_row. */
extern const struct columns controller_columns;

/** columns_controller_row() - fill a row */
static inline struct controller_row columns_controller_row(const struct controllers *c,
							   const struct controller *row)
{
	return (struct controller_row){row, c->now_ns - row->since_ns, c->now_ns - row->ended_ns};
}

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
	RUN_SAMPLE,    /* no value if every command is measured */
	RUN_ENDS,      /* only the ends of commands have points */
	RUN_STAGES_ON, /* stages are of bursts: this and the next; no value if they are not */
	RUN_STAGES_EVERY,
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
