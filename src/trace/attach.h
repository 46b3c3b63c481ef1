/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attaches the programs that were loaded, and detaches those that no connection needs. One thread
 * does all of it. Programs run on other CPUs meanwhile; through struct nt_control they learn what
 * they cannot see themselves.
 */
#ifndef NTPROF_TRACE_ATTACH_H
#define NTPROF_TRACE_ATTACH_H

#include <stddef.h>

#include "trace/messages.h"

struct tracer;

/**
 * attach_all() - attach from the last point of a command to the first, so that a command that is
 * seen to begin is also seen to end
 * @t: attached and attached_ns are set; the functions that detach set detached_ns. After a burst,
 *     programs are left out that no connection needed in that burst
 * @detail: on failure filled with the text to insert into the message; @size bytes
 *
 * Return: TRACER_OK or TRACER_ATTACH. In the latter case the program is in the tracer's refusals,
 * and a new tracer does without it.
 */
enum tracer_status attach_all(struct tracer *t, char *detail, size_t size);

/**
 * attach_try() - attach what attach_all() would attach, and detach it again
 *
 * Programs that see commands begin are left out, because no other program could replace them. So no
 * command is seen.
 *
 * Return: as attach_all(). Called before the first burst, to find out what cannot be attached.
 */
enum tracer_status attach_try(struct tracer *t, char *detail, size_t size);

/**
 * attach_adapt() - attach and detach programs that only some connections need; see tracer_adapt()
 *
 * Between two bursts it does nothing.
 */
void attach_adapt(struct tracer *t);

/**
 * attach_pause() - detach all programs at the end of a burst; attach_all() may follow
 *
 * When it returns, no program runs any more. The ends of commands that are in flight by then are
 * not seen. A command that ends while programs are being detached has all of its points.
 */
void attach_pause(struct tracer *t);

/**
 * attach_burst() - attach what &tracer_options.stages has in bursts only
 *
 * Return: as attach_all().
 */
enum tracer_status attach_burst(struct tracer *t, char *detail, size_t size);

/** attach_burst_over() - detach it; when it returns, none of it runs any more */
void attach_burst_over(struct tracer *t);

/**
 * attach_detach_beginnings() - detach the programs that see commands begin; those that see them end
 * stay attached
 */
void attach_detach_beginnings(struct tracer *t);

/** attach_detach_all() - the reverse of attach_all(); also when nothing is attached */
void attach_detach_all(struct tracer *t);

#endif /* NTPROF_TRACE_ATTACH_H */
