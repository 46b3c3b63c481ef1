/* SPDX-License-Identifier: GPL-2.0-only */
/* What the BPF programs counted of commands that ended with an error. */
#ifndef NTPROF_TRACE_ERRORS_H
#define NTPROF_TRACE_ERRORS_H

#include "core/stats.h"

struct tracer;

/**
 * trace_errors_init() - allocate what reading errors needs, after the programs are loaded
 *
 * Return: 0 or -ENOMEM
 */
int trace_errors_init(struct tracer *t);

/** trace_errors_free() - release that */
void trace_errors_free(struct tracer *t);

/**
 * trace_errors_collect() - add what is new to the errors of @s
 *
 * Errors of a connection without a name wait in the kernel until it has one.
 *
 * Return: 0 or a negative errno.
 */
int trace_errors_collect(struct tracer *t, struct stats *s);

#endif /* NTPROF_TRACE_ERRORS_H */
