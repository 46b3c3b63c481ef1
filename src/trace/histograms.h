/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads histograms as differences from the last time, and gives back those that are not used any
 * more, so that they cost neither memory nor time.
 */
#ifndef NTPROF_TRACE_HISTOGRAMS_H
#define NTPROF_TRACE_HISTOGRAMS_H

#include <stdint.h>

#include "core/stats.h"

struct tracer;

/**
 * histograms_init() - allocate what this needs, after the programs are loaded; histograms_free()
 * releases it
 *
 * Return: 0 or -ENOMEM
 */
int histograms_init(struct tracer *t);
void histograms_free(struct tracer *t);

/** histograms_forget() - forget the last values of histograms in banks that are gone */
void histograms_forget(struct tracer *t);

/**
 * histograms_rows() - add new latencies to the rows of @s
 * @epoch: the interval that has just ended; the next one may have begun on some CPU
 *
 * Return: 0 or a negative errno.
 */
int histograms_rows(struct tracer *t, struct stats *s, uint32_t epoch);

/** histograms_stages() - the same for stages */
int histograms_stages(struct tracer *t, struct stats *s, uint32_t epoch);

/* What the BPF programs counted of commands that ended with an error. */

/**
 * trace_errors_init() - allocate what reading errors needs, after the programs are loaded
 *
 * Return: 0 or -ENOMEM
 */
int trace_errors_init(struct tracer *t);

/** trace_errors_free() - release that */
void trace_errors_free(struct tracer *t);

/**
 * trace_errors_collect() - add new errors to those of @s
 *
 * Errors of a connection without a name wait in the kernel until it has one.
 *
 * Return: 0 or a negative errno.
 */
int trace_errors_collect(struct tracer *t, struct stats *s);

#endif /* NTPROF_TRACE_HISTOGRAMS_H */
