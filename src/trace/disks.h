/* SPDX-License-Identifier: GPL-2.0-only */
/* Collects who uses the disks of a target, with &tracer_options.disks. */
#ifndef NTPROF_TRACE_DISKS_H
#define NTPROF_TRACE_DISKS_H

#include <stdint.h>

struct stats;
struct tracer;

/**
 * disks_collect() - add what was counted since the last call to &stats.disks
 * @now: CLOCK_MONOTONIC nanoseconds
 *
 * Return: 0 or a negative errno.
 */
int disks_collect(struct tracer *t, struct stats *s, uint64_t now);

/** disks_close() - release */
void disks_close(struct tracer *t);

#endif /* NTPROF_TRACE_DISKS_H */
