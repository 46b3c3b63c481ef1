/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of a tracer. */
#ifndef NTPROF_TRACE_OPTIONS_H
#define NTPROF_TRACE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/select.h"
#include "shared/path_event.h"
#include "shared/record.h"

/**
 * struct tracer_options - what to trace
 * @side: host or target
 * @source: where its points come from; NT_SOURCES takes the best that there is
 * @transports: of the controllers of a host, see core/transport.h; 0: TCP alone
 * @select: which commands get a record
 * @only: which commands are seen at all, and which of them get a record: @slower_ns is the
 *        threshold of NT_SELECT_SLOWER
 * @overdue_ns: commands that are still in flight after this time are handed to @on_record; 0: none
 * @sample: one command in about this many is measured; 0 and 1: every one
 * @no_histograms: keep none
 * @events: each command is also handed to @on_record when it begins, by a record that has
 *          NT_F_BEGUN and is the first member of a struct nt_begun; the record of its end is the
 *          first member of a struct nt_ended. Not with @overdue_ns
 * @tells_lost: where records or events were lost, @on_record gets a record that has NT_F_LOST
 * @origins: host: records have the number of an origin in their flags, see tracer_origin(); bits
 *           NT_ORIGIN_*: the parts that tell one origin from another
 * @origins_pass: @on_record looks its record's origin up, and nobody does later: origins_new()
 * @ends: only the points of segments_ends() are set, and no packet is stamped
 * @stages: with @ends, and without records: all points are set in bursts, from tracer_resume() to
 *          tracer_pause(). All commands are counted all the time, and stages are those of commands
 *          that began and ended in the same burst
 * @fine: commands have finer points, see NT_HOST_FINE; not with @ends
 * @bursts: trace in bursts only: see tracer_resume()
 * @tcp: read the state of the queues' TCP connections each time that figures are collected, and
 *       note when they send a segment again
 * @tcp_every_ns: but not more often than this
 * @disks: target: count who uses the backing disks; not with @bursts
 * @on_record: called for each record while tracer_drain() runs; NULL if @select is none. A command
 *             that passes @overdue_ns is handed over once, with the points that it has and the flag
 *             NT_F_IN_FLIGHT, and has NT_F_WAS_OVERDUE when it ends
 * @on_path_event: called for each event of a host's controllers, in bursts and between them, while
 *                 tracer_adapt() or tracer_collect() runs; NULL: they are not wanted
 * @starting: called before so many programs are loaded and attached, which takes a second; again if
 *            the kernel refuses one; may be NULL
 * @context: first argument of all three
 * @verbose: 1: print the memory that maps take, and what libbpf has to say, to standard error; 2:
 *           also libbpf's messages for debugging
 */
struct tracer_options {
	enum nt_side side;
	enum nt_source source;
	unsigned int transports;
	enum nt_select select;
	struct select only;
	uint64_t overdue_ns;
	uint32_t sample;
	bool no_histograms;
	bool events;
	bool tells_lost;
	unsigned int origins;
	bool origins_pass;
	bool ends;
	bool stages;
	bool fine;
	bool bursts;
	bool disks;
	bool tcp;
	uint64_t tcp_every_ns;
	void (*on_record)(void *context, const struct nt_record *r);
	void (*on_path_event)(void *context, const struct nt_path_event *e);
	void (*starting)(void *context, unsigned int programs);
	void *context;
	unsigned int verbose;
};

#endif /* NTPROF_TRACE_OPTIONS_H */
