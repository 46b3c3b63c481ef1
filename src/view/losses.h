/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints losses, each kind with its name: of an interval, of a run, of a stream. */
#ifndef NTPROF_VIEW_LOSSES_H
#define NTPROF_VIEW_LOSSES_H

#include <stdbool.h>
#include <stdio.h>

#include "core/stats.h"

/**
 * losses_print_interval() - print one item for each kind, zero or not; @width: columns, or
 * WRAP_NEVER
 */
void losses_print_interval(const struct stats *s, FILE *f, unsigned int width);

/**
 * losses_print_brief() - print one line with the kinds that are not zero, or "no losses"
 * @width: columns; if kinds do not fit, the line ends with "and more"
 *
 * Return: whether any of the kinds is a real loss, see counter_is_loss().
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

/** losses_print_some() - print a line "NAME COUNT  # MEANING" for each kind that is not zero */
void losses_print_some(const struct stats *s, FILE *f);

#endif /* NTPROF_VIEW_LOSSES_H */
