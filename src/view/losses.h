/* SPDX-License-Identifier: GPL-2.0-only */
/* What could not be attributed, each kind under its name: of an interval, of a run, of a stream. */
#ifndef NTPROF_VIEW_LOSSES_H
#define NTPROF_VIEW_LOSSES_H

#include <stdbool.h>
#include <stdio.h>

#include "core/stats.h"

/** losses_print_interval() - one item for each kind, zero or not; @width: columns, or WRAP_NEVER */
void losses_print_interval(const struct stats *s, FILE *f, unsigned int width);

/**
 * losses_print_brief() - one line of those that are not zero, or "no losses"
 * @width: columns; what has no room is said to be more
 *
 * Return: whether there are any that are losses.
 */
bool losses_print_brief(const struct stats *s, FILE *f, unsigned int width);

/** losses_print_advice() - of each that is not zero, what it means and what can be done; and of those that are */
void losses_print_advice(const struct stats *s, FILE *f, unsigned int width);

/** losses_print_run() - a line "loss NAME COUNT" for each kind, zero or not; what it means if not */
void losses_print_run(const struct stats *s, FILE *f);

/** losses_print_some() - a line "NAME COUNT  # what it means" for each kind that there was */
void losses_print_some(const struct stats *s, FILE *f);

#endif /* NTPROF_VIEW_LOSSES_H */
