/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run of the tracer: waits for the module, traces, calls back, and ends when it is time to. Each
 * verb that traces is a set of callbacks.
 */
#ifndef NTPROF_CLI_RUN_H
#define NTPROF_CLI_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/run_options.h"
#include "core/output.h"
#include "core/points.h"
#include "core/stats.h"
#include "trace/tracer.h"

/**
 * struct run_callbacks - what a verb does while tracing
 * @select: which commands it wants records of
 * @no_histograms: it has no use for them: @interval and @end get losses only
 * @events: it wants a record of each command that begins as well, see &tracer_options.events
 * @tells_lost: it shows where records are missing, see &tracer_options.tells_lost
 * @origins: records say where their commands come from, see &tracer_options.origins
 * @record: takes one; return value as below
 * @fd: something of the verb's own to wait for, and @ready to call when it is readable; may be NULL. Called once,
 *      first of all, when it is known that this process may trace; -1 with errno set ends the run, ECANCELED
 *      where it has been told why
 * @begin: tracing has begun; may be NULL
 * @interval: an interval has ended, which is a burst where there are such; NULL if the verb has none
 * @pace: asked after each round: nanoseconds between two calls of @interval from now on, where there are no bursts; NULL:
 *        &run_options.interval_ns
 * @skip: an interval of time is over: true to let it go on until the next time; may be NULL
 * @interval_is_time: it is called every &run_options.interval_ns as well where there are bursts
 * @resize: the terminal's size has changed: show the last interval again; may be NULL
 * @waiting: the module is not loaded yet; called once
 * @end: tracing is over, @s holds the whole run
 * @failed: the run ends badly, in place of @end and before anything is waited for; may be NULL
 * @output: what the verb writes to, and @output_name what to call it; NULL if it writes nothing. The run ends when that fails: well, if
 *          the reader is gone. At the end it waits until all is written, or until a signal comes
 * @left_out: pieces that @output did not take so far, to be counted as reader_slow
 * @round: everything that waited has been dealt with; may be NULL
 * @cut: after @end: @output has not taken all and there is no time, or its disk is full; may be NULL
 * @over: nothing is written any more; may be NULL
 * @keeps: capabilities (core/rights.h) that it needs when tracing has begun, see cli/confine.h
 * @ends_processes: ...and it signals processes that it has started
 *
 * Callbacks that return int: 0 to go on, 1 to end the run well, a negative errno to end it badly.
 */
struct run_callbacks {
	enum nt_select select;
	bool no_histograms;
	bool events;
	bool tells_lost;
	bool origins;
	int (*record)(void *context, const struct tracer *t, const struct nt_record *r);
	int (*fd)(void *context);
	int (*ready)(void *context);
	int (*begin)(void *context, const struct tracer *t);
	int (*interval)(void *context, const struct stats *s);
	uint64_t (*pace)(void *context);
	bool (*skip)(void *context);
	bool interval_is_time;
	int (*resize)(void *context, const struct stats *s);
	void (*waiting)(void *context);
	int (*end)(void *context, const struct stats *s);
	void (*failed)(void *context);
	struct output *output;
	const char *output_name;
	uint64_t (*left_out)(void *context);
	void (*round)(void *context);
	void (*cut)(void *context);
	int (*over)(void *context);
	uint64_t keeps;
	bool ends_processes;
};

/** run_selects() - &run_callbacks.select of a verb that wants records of all commands that were asked for */
static inline enum nt_select run_selects(const struct run_options *o)
{
	return o->only.slower_ns ? NT_SELECT_SLOWER : NT_SELECT_ALL;
}

/**
 * run_check() - can this machine trace at all: what is to be known before anything is touched
 *
 * Return: whether it can. If not, a message about why has been printed to standard error.
 */
bool run_check(const struct run_options *o);

/**
 * run() - trace until the user, the duration or a callback ends it
 * @o: what to trace
 * @callbacks: what to do
 * @context: their first argument
 *
 * Messages about what went wrong have been printed to standard error.
 *
 * Return: the program's exit status: 0 or 1.
 */
int run(const struct run_options *o, const struct run_callbacks *callbacks, void *context);

#endif /* NTPROF_CLI_RUN_H */
