/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads what the BPF programs have counted. The kernel's counts only ever grow, and their
 * difference from the last time is new. So nothing has to be stopped or reset.
 */
#ifndef NTPROF_TRACE_COLLECT_H
#define NTPROF_TRACE_COLLECT_H

#include "core/stats.h"

struct tracer;

/**
 * collect_init() - allocate what reading needs; collect_free() releases it. Return: 0 or -ENOMEM
 */
int collect_init(struct tracer *t);
void collect_free(struct tracer *t);

/** collect_all() - see tracer_collect() */
int collect_all(struct tracer *t, struct stats *s);

/** collect_in_flight() - see tracer_in_flight() */
uint64_t collect_in_flight(struct tracer *t);

#endif /* NTPROF_TRACE_COLLECT_H */
