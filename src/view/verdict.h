/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The answer of a report in one or two lines: how long the commands of an operation took, and the
 * stage and the machine in which most of that time lies. What stands out among them: view/why.h.
 */
#ifndef NTPROF_VIEW_VERDICT_H
#define NTPROF_VIEW_VERDICT_H

#include <stdio.h>

#include "core/stats.h"
#include "merge/totals.h"

/* With fewer commands of an operation there is no p99 (hist_tells()), and nothing is said of it. */
#define VERDICT_COMMANDS_MIN 100u

/**
 * verdict_print_merged() - print the lines about merged commands
 * @f: output
 * @width: columns of the terminal
 *
 * An operation has a line if it has VERDICT_COMMANDS_MIN commands; those that took the most time
 * come first. If none has so many, the only line says that.
 *
 * Return: 0 or -ENOMEM.
 */
int verdict_print_merged(const struct totals *m, FILE *f, unsigned int width);

/** verdict_print_side() - the same for a whole run of one side; @machine: its name */
int verdict_print_side(const struct stats *s, const char *machine, FILE *f, unsigned int width);

#endif /* NTPROF_VIEW_VERDICT_H */
