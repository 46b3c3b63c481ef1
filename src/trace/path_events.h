/* SPDX-License-Identifier: GPL-2.0-only */
/* Hands over the events of a host's controllers, with &tracer_options.on_path_event. */
#ifndef NTPROF_TRACE_PATH_EVENTS_H
#define NTPROF_TRACE_PATH_EVENTS_H

#include <stdint.h>

struct tracer;

/**
 * path_events_open() - load and attach the programs; path_events_close() releases them
 * @t: with &tracer.calls, which has the events from then on
 *
 * Where a kernel has none of the functions, the states that sysfs has are compared instead.
 *
 * Return: 0 or -ENOMEM.
 */
int path_events_open(struct tracer *t);
void path_events_close(struct tracer *t);

/**
 * path_events_collect() - an interval ends: where nothing is attached, look for other states
 * @now: CLOCK_MONOTONIC nanoseconds
 *
 * Return: the number of events ever that found no room.
 */
uint64_t path_events_collect(struct tracer *t, uint64_t now);

#endif /* NTPROF_TRACE_PATH_EVENTS_H */
