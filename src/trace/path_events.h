/* SPDX-License-Identifier: GPL-2.0-only */
/* Hands over the events of a host's controllers, with &tracer_options.on_path_event. */
#ifndef NTPROF_TRACE_PATH_EVENTS_H
#define NTPROF_TRACE_PATH_EVENTS_H

#include <stdint.h>

struct probes;
struct tracer;

/** path_events_choose() - choose the programs that this kernel has; after probes_select() */
void path_events_choose(struct tracer *t, struct probes *p);

/**
 * path_events_open() - attach the programs; path_events_close() releases what it takes
 * @t: its programs are loaded; &tracer.calls has the events from then on
 *
 * Where a kernel does not show other states, those that sysfs has are compared instead.
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
