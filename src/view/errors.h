/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints commands that ended with an error, which are in no histogram. Prints nothing if there were
 * none.
 */
#ifndef NTPROF_VIEW_ERRORS_H
#define NTPROF_VIEW_ERRORS_H

#include <stdio.h>

#include "core/errors.h"

/**
 * errors_print_interval() - print one item for each queue, operation and status; @width: columns,
 * or WRAP_NEVER
 */
void errors_print_interval(const struct errors *e, FILE *f, unsigned int width);

/** errors_print_run() - print the same as lines "@word OP NAME COUNT ..." */
void errors_print_run(const struct errors *e, const char *word, FILE *f);

#endif /* NTPROF_VIEW_ERRORS_H */
