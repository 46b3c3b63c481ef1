/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints losses, each kind with its name: of an interval, of a run, of a stream. */
#ifndef NTPROF_VIEW_LOSSES_H
#define NTPROF_VIEW_LOSSES_H

#include <stdbool.h>
#include <stdio.h>

#include "core/stats.h"
#include "view/columns.h"

/**
 * losses_print_interval() - print one item for each kind, zero or not; @width: columns, or
 * WRAP_NEVER
 */
void losses_print_interval(const struct stats *s, FILE *f, unsigned int width);

/**
 * losses_print_brief() - print one line with the kinds that are not zero, or "no losses"
 * @width: columns; if kinds do not fit, the line ends with "and more"
 *
 * Return: whether any of the kinds is a real loss, see counter_is_loss(); probe_missed by itself is
 * none.
 */
bool losses_print_brief(const struct stats *s, FILE *f, unsigned int width);

/**
 * losses_print_advice() - for each kind that is not zero, print its meaning and what the user can
 * do; then the names of the others
 */
void losses_print_advice(const struct stats *s, FILE *f, unsigned int width);

/**
 * losses_print_run() - print a line "loss NAME COUNT" for each kind, zero or not, with its meaning
 * if it is not zero
 */
void losses_print_run(const struct stats *s, FILE *f);

/**
 * losses_print_some() - print a line "NAME COUNT  # MEANING" for each kind that is not zero
 *
 * Return: whether there is any.
 */
bool losses_print_some(const struct stats *s, FILE *f);

/* The columns of the losses: counts of the events that keep a command out of the figures. */

/**
 * struct loss_row - one kind of loss
 * @counter: enum nt_counter or COUNTER_*
 * @total: since tracing began
 * @added: in the last interval, if there are intervals
 * @queues: number of queues with commands in @total; 0: not known
 */
struct loss_row {
	unsigned int counter;
	uint64_t total;
	uint64_t added;
	uint32_t queues;
};

enum loss_column {
	LOSS_LOSS,
	LOSS_TOTAL,
	LOSS_ADDED,  /* no value if it is 0 */
	LOSS_QUEUES, /* no value if it is not known */
	LOSS_MEANING,
};

/* Rows are struct loss_row. */
extern const struct columns loss_columns;

/** columns_losses_row() - the row of a counter in @s */
static inline struct loss_row columns_losses_row(const struct stats *s, unsigned int counter)
{
	return (struct loss_row){counter, s->counters_total[counter], s->counters_interval[counter],
				 s->counters_queues[counter]};
}

/*
 * Prints commands that ended with an error, which are in no histogram. Prints nothing if there were
 * none.
 */

/**
 * errors_print_interval() - print one item for each queue, operation and status; @width: columns,
 * or WRAP_NEVER
 */
void errors_print_interval(const struct errors *e, FILE *f, unsigned int width);

/** errors_print_run() - print the same as lines "@word OP NAME COUNT ..." */
void errors_print_run(const struct errors *e, const char *word, FILE *f);

/* The columns of the errors: how many commands of a queue ended with which status. */

enum error_column {
	/* this and the next three: no value if the row counts errors of several queues together */
	ERROR_CONTROLLER,
	ERROR_PEER,
	ERROR_QUEUE,
	ERROR_STATUS,
	ERROR_OP,
	ERROR_NAME,
	ERROR_TOTAL,
	ERROR_ADDED, /* in the last interval; no value if it is 0 */
};

/* Rows are struct error_count. */
extern const struct columns error_columns;

#endif /* NTPROF_VIEW_LOSSES_H */
