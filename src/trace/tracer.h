/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads one side's BPF programs, attaches them, and drains what they collect. The only part of user
 * space that knows of BPF.
 */
#ifndef NTPROF_TRACE_TRACER_H
#define NTPROF_TRACE_TRACER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/queue.h"
#include "core/stats.h"

struct tracer;

/* The longest that a record should wait. */
#define TRACER_DRAIN_NS 50000000ULL
#define TRACER_ADAPT_NS 100000000ULL

struct probes;

/* Why tracing cannot begin. Each has one message, see tracer_explain(). */
enum tracer_status {
	TRACER_OK = 0,
	TRACER_NO_MODULE, /* not loaded (yet): worth waiting for */
	TRACER_NOT_ROOT,
	TRACER_OLD_KERNEL,
	TRACER_NO_BTF,
	TRACER_NO_MODULE_BTF,
	TRACER_NOT_PATCHED,
	TRACER_NO_PROBES,
	TRACER_TIMESTAMPS,
	TRACER_LOAD,
	TRACER_ATTACH,
	TRACER_MEMORY,
};

/**
 * struct tracer_options - what to trace
 * @side: host or target
 * @source: where its points come from; NT_SOURCES takes the best that there is
 * @select: which commands get a record
 * @slower_ns: threshold of NT_SELECT_SLOWER
 * @sample: about one command in so many is measured; 0 and 1: every one
 * @no_histograms: keep none
 * @on_record: called for each record while tracer_drain() runs; NULL if @select is none
 * @context: its first argument
 * @verbose: let libbpf explain itself on standard error, and print the memory that maps take
 */
struct tracer_options {
	enum nt_side side;
	enum nt_source source;
	enum nt_select select;
	uint64_t slower_ns;
	uint32_t sample;
	bool no_histograms;
	void (*on_record)(void *context, const struct nt_record *r);
	void *context;
	bool verbose;
};

/**
 * tracer_check() - can this machine trace at all, whatever modules are loaded
 * @detail: filled with what to insert into the message; @size bytes
 *
 * Return: TRACER_OK, TRACER_NOT_ROOT, TRACER_OLD_KERNEL or TRACER_NO_BTF.
 */
enum tracer_status tracer_check(char *detail, size_t size);

/**
 * tracer_open() - load and attach
 * @t: set on success; release with tracer_close()
 * @o: copied
 * @detail: on failure filled with what to insert into the message
 * @size: of @detail, bytes
 *
 * Return: TRACER_OK, or why not; then nothing is left attached or open.
 */
enum tracer_status tracer_open(struct tracer **t, const struct tracer_options *o, char *detail,
			       size_t size);

/**
 * tracer_look() - look at what the running kernel offers, without tracing
 * @side: host or target
 * @fn: called once with @context and what there is
 *
 * Return: 0 or a negative errno.
 */
int tracer_look(enum nt_side side, void (*fn)(void *context, const struct probes *p),
		void *context);

/**
 * tracer_explain() - the message for a status: what is wrong and what the user can do about it
 * @status: not TRACER_OK
 * @side: which side was asked for
 * @detail: from tracer_check() or tracer_open()
 * @buf: filled with one line, no newline
 * @size: of @buf
 */
void tracer_explain(enum tracer_status status, enum nt_side side, const char *detail, char *buf,
		    size_t size);

/**
 * tracer_fd() - readable when so many records wait that they have to be drained at once
 *
 * Fewer do not wake anybody, because that costs more than the records: drain every TRACER_DRAIN_NS.
 * Return: the fd, or -1 if no records are asked for.
 */
int tracer_fd(const struct tracer *t);

/** tracer_clock_fd() - readable when the wall clock was set; tracer_clock_update() clears it */
int tracer_clock_fd(const struct tracer *t);

/** tracer_clock_update() - keep packet arrival times right: now and then, and when the clock is set */
void tracer_clock_update(struct tracer *t);

/**
 * tracer_adapt() - attach and detach programs that are only needed for some connections
 *
 * To be called every TRACER_ADAPT_NS: where such a connection comes, commands that pass before are counted,
 * but not split into stages.
 */
void tracer_adapt(struct tracer *t);

/** tracer_source() - where its points come from */
enum nt_source tracer_source(const struct tracer *t);

/** tracer_missing() - bits of the points that bound stages and that nothing here gives, see core/segments.h */
uint32_t tracer_missing(const struct tracer *t);

/** tracer_drain() - hand all waiting records to on_record; Return: how many, or a negative errno */
int tracer_drain(struct tracer *t);

/**
 * tracer_collect() - add what happened since the last call to the histograms and counters of @s
 * @t: tracer
 * @s: stats_begin_interval() has been called; totals grow, the interval is filled
 *
 * Return: 0 or a negative errno.
 */
int tracer_collect(struct tracer *t, struct stats *s);

/** tracer_detach() - stop tracing; what was collected can still be drained */
void tracer_detach(struct tracer *t);

/** tracer_in_flight() - commands begun and not ended; after tracer_detach() */
uint64_t tracer_in_flight(struct tracer *t);

/**
 * tracer_controller_name() - what a record's controller is called in the rows
 * @t: tracer
 * @r: one of its records
 * @buf: filled, e.g. "nvme0" or "cntlid 1"
 * @size: of @buf
 */
void tracer_controller_name(const struct tracer *t, const struct nt_record *r, char *buf,
			    size_t size);

/** tracer_queue() - who has slot @slot (of a record) now; @q is filled */
void tracer_queue(const struct tracer *t, uint32_t slot, struct queue_info *q);

/** tracer_close() - detach and release everything; NULL is fine */
void tracer_close(struct tracer *t);

#endif /* NTPROF_TRACE_TRACER_H */
