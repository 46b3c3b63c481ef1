/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attaching the programs that were loaded, and detaching those that no connection needs. One thread
 * does all of it; programs run on other CPUs meanwhile, and struct nt_control tells them what they
 * cannot see.
 */
#ifndef NTPROF_TRACE_ATTACH_H
#define NTPROF_TRACE_ATTACH_H

#include <stddef.h>

#include "trace/messages.h"

struct tracer;

/**
 * attach_all() - attach from the last point of a command to the first, so that what is seen to
 * begin is seen to the end
 * @t: attached and attached_ns are filled; those below fill detached_ns. After a burst what no connection needed then is left out
 * @detail: on failure filled with what to insert into the message; @size bytes
 *
 * Return: TRACER_OK or TRACER_ATTACH; then the program is in the tracer's refusals, and another
 * one, begun anew, does without it.
 */
enum tracer_status attach_all(struct tracer *t, char *detail, size_t size);

/**
 * attach_try() - attach what attach_all() would, and detach it again
 *
 * What sees commands begin is left out, for which there is one way only: so no command is seen.
 *
 * Return: as attach_all(), in whose place it says before the first burst what cannot be attached.
 */
enum tracer_status attach_try(struct tracer *t, char *detail, size_t size);

/**
 * attach_adapt() - attach and detach what is only needed for some connections; see tracer_adapt()
 *
 * Between two bursts it does nothing.
 */
void attach_adapt(struct tracer *t);

/**
 * attach_pause() - detach all programs at the end of a burst; attach_all() may follow
 *
 * When it returns no program runs any more. Commands that are in flight then have no end that was seen, and
 * of those that ended meanwhile no point is missing.
 */
void attach_pause(struct tracer *t);

/** attach_detach_beginnings() - what sees commands begin; what sees them end stays attached */
void attach_detach_beginnings(struct tracer *t);

/** attach_detach_all() - the reverse of attach_all(); nothing is fine */
void attach_detach_all(struct tracer *t);

#endif /* NTPROF_TRACE_ATTACH_H */
