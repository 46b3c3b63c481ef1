/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run of the tracer: waits for the module, traces, calls back, and ends. Each verb that traces
 * is a set of callbacks.
 */
#ifndef NTPROF_CLI_RUN_H
#define NTPROF_CLI_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/output.h"
#include "core/select.h"
#include "core/stats.h"
#include "core/time.h"
#include "shared/points.h"
#include "stream/stream.h"
#include "trace/tracer.h"

/* The options of every verb that traces. */

/**
 * struct run_options - what to trace, and for how long
 * @side: host or target
 * @source: where points come from; NT_SOURCES: the best source that there is
 * @transports: those of a host that were asked for, bits of enum nt_transport; 0: none was
 * @awaits_tcp: without @transports, take TCP also on a machine that has none
 * @sample: measure about one command in so many; 0 and 1: each command
 * @only: the commands that are selected
 * @overdue_ns: &run_callbacks.record also gets commands that are in flight for longer than this; 0:
 *              it does not
 * @interval_ns: time between two calls of &run_callbacks.interval
 * @ends: see &tracer_options.ends
 * @stages: see &tracer_options.stages; with @ends
 * @fine: see &tracer_options.fine
 * @points: --points was given
 * @tcp: see &tracer_options.tcp
 * @disks: see &tracer_options.disks
 * @disks_hourly: see disk_rows_hourly()
 * @burst: measure at these times only
 * @duration_ns: end after this time; 0: never
 * @by_other: rows are by both NQNs of a connection
 * @verbose: 1: print to standard error which programs are loaded, and their cost; 2: also libbpf's
 *           messages for debugging
 */
struct run_options {
	enum nt_side side;
	enum nt_source source;
	unsigned int transports;
	bool awaits_tcp;
	uint32_t sample;
	struct select only;
	uint64_t overdue_ns;
	uint64_t interval_ns;
	uint64_t duration_ns;
	struct burst burst;
	struct burst stages;
	bool ends;
	bool fine;
	bool points;
	bool tcp;
	bool disks;
	bool disks_hourly;
	bool by_other;
	unsigned int verbose;
};

/**
 * struct run_callbacks - what a verb does while tracing
 * @select: the commands that it wants records of
 * @no_histograms: it needs no histograms: @interval and @end get losses only
 * @events: it wants a record of each command that begins as well, see &tracer_options.events
 * @tells_lost: it shows where records are missing, see &tracer_options.tells_lost
 * @origins: records have the origins of their commands, see &tracer_options.origins
 * @origins_pass: see &tracer_options.origins_pass
 * @path_event: takes an event of a host's controllers, after &stats.path_events has it; may be NULL
 * @with_path_events: it wants &stats.path_events
 * @record: takes a record; returns as described below
 * @fd: returns a descriptor for the verb's own sources of events; @ready is called when it is
 *      readable. May be NULL. It is called once, before all others, when it is known that this
 *      process may trace; -1 with errno set ends the run, with ECANCELED if a message was printed
 * @begin: tracing has begun; may be NULL
 * @interval: an interval has ended, or a burst if there are bursts; NULL if the verb has none
 * @pace: called after each round: returns the nanoseconds between two calls of @interval, if there
 *        are no bursts; NULL: &run_options.interval_ns
 * @skip: the time of an interval is over: return true to let the interval go on for as long again;
 *        may be NULL
 * @interval_is_time: call @interval every &run_options.interval_ns also if there are bursts
 * @resize: the terminal's size has changed: show the last interval again; may be NULL
 * @waiting: the module is not loaded yet; called once
 * @shows_start: standard error is a terminal, and says that programs are being attached until they
 *               are
 * @end: tracing is over; @s has the whole run
 * @failed: the run ends with an error; called in place of @end, before anything is waited for; may
 *          be NULL
 * @output: what the verb writes to, and @output_name its name in messages; NULL if it writes
 *          nothing. The run ends when the output fails, with success if its reader is gone. At its
 *          end the run waits until all is written, or until a signal comes
 * @left_out: returns how many pieces @output did not take so far, to be counted as reader_slow
 * @names_gone: returns how many names have been forgotten so far; may be NULL
 * @round: all events that waited have been handled; may be NULL
 * @cut: called after @end if @output has not taken all and there is no time, or if its disk is
 *       full; may be NULL
 * @over: nothing more is written; may be NULL
 * @keeps: capabilities (core/rights.h) that it needs when tracing has begun, see cli/confine.h
 * @ends_processes: it sends signals to processes that it has started, see cli/confine.h
 *
 * Callbacks that return int: 0 to go on, 1 to end the run with success, a negative errno to end it
 * with an error.
 */
struct run_callbacks {
	enum nt_select select;
	bool no_histograms;
	bool events;
	bool tells_lost;
	unsigned int origins;
	bool origins_pass;
	bool with_path_events;
	int (*path_event)(void *context, const struct nt_path_event *e);
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
	bool shows_start;
	int (*end)(void *context, const struct stats *s);
	void (*failed)(void *context);
	struct output *output;
	const char *output_name;
	uint64_t (*left_out)(void *context);
	uint64_t (*names_gone)(void *context);
	void (*round)(void *context);
	void (*cut)(void *context);
	int (*over)(void *context);
	uint64_t keeps;
	bool ends_processes;
};

/**
 * transports_lack() - why something that was asked for cannot be done with these transports, in
 * words for a message; NULL if it can
 */
const char *transports_lack(const struct run_options *o, unsigned int transports);

/** run_selects() - &run_callbacks.select of a verb that wants records of all selected commands */
static inline enum nt_select run_selects(const struct run_options *o)
{
	return o->only.slower_ns ? NT_SELECT_SLOWER : NT_SELECT_ALL;
}

/**
 * run_check() - check whether this machine can be traced, before anything is changed
 *
 * Return: whether it can. If not, a message on standard error says why.
 */
bool run_check(const struct run_options *o);

/**
 * run() - trace until the user, the duration or a callback ends it
 * @o: what to trace
 * @callbacks: what to do
 * @context: first argument of the callbacks
 *
 * Errors print messages to standard error.
 *
 * Return: the program's exit status: 0 or 1.
 */
int run(const struct run_options *o, const struct run_callbacks *callbacks, void *context);

/*
 * Descriptions of a run: the header of a stream that is recorded on this machine, and the
 * statistics that views show.
 */

/**
 * stream_describe() - fill @h, except for the points that are missing; @source: where the points
 * come from
 */
void stream_describe(struct stream_header *h, const struct run_options *o, enum nt_source source);

/*
 * Standard error during a run. A terminal that is stopped (Ctrl-S) does not block the thread that
 * prints a message.
 */

/**
 * console_open() - from now on writing to stderr does not block
 *
 * Messages that find no room are lost, and a line says so when there is room again. For this reason
 * progress is printed only when console_idle(). fileno(stderr) is -1 until console_close().
 *
 * Return: 0 or a negative errno.
 */
int console_open(void);

/** console_idle() - whether all messages have been written */
bool console_idle(void);

/**
 * console_hold() - keep messages back, because a screen would be drawn over them; until
 * console_hold(false) or console_close()
 */
void console_hold(bool hold);

/**
 * console_close() - write the rest, and restore stderr; does nothing without console_open()
 * @hurry_fd: readable when there is no time to wait for a terminal; or -1
 */
void console_close(int hurry_fd);

#endif /* NTPROF_CLI_RUN_H */
