/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads one side's BPF programs, attaches them, and collects their results. No other part of user
 * space uses BPF.
 */
#ifndef NTPROF_TRACE_TRACER_H
#define NTPROF_TRACE_TRACER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/counters.h"
#include "core/device.h"
#include "core/stats.h"
#include "trace/messages.h"
#include "trace/options.h"

struct tracer;

/*
 * The longest time that a record should wait, and that between two calls of tracer_adapt(): while
 * commands of I/O queues begin, and otherwise.
 */
#define TRACER_DRAIN_NS 50000000ULL
#define TRACER_ADAPT_NS 100000000ULL
#define TRACER_ADAPT_IDLE_NS 1000000000ULL

struct probes;

typedef void tracer_look_fn(void *context, struct probes *p, int loaded);

/**
 * tracer_check() - whether this machine can trace at all, whatever modules are loaded
 * @detail: filled with the text to insert into the message; @size bytes
 *
 * Return: TRACER_OK, TRACER_NOT_ALLOWED, TRACER_OLD_KERNEL or TRACER_NO_BTF.
 */
enum tracer_status tracer_check(char *detail, size_t size);

/** tracer_log() - have libbpf's messages printed, see &tracer_options.verbose */
void tracer_log(unsigned int verbose);

/**
 * tracer_open() - load and attach
 * @t: set on success; release with tracer_close()
 * @o: copied
 * @detail: on failure filled with the text to insert into the message
 * @size: of @detail, bytes
 *
 * If the kernel refuses a program, others that see the same are used instead, if there are such.
 *
 * Return: TRACER_OK, or why not; then nothing is left attached or open. TRACER_NO_MODULE also if
 * the module was unloaded meanwhile, even if it has been loaded again.
 */
enum tracer_status tracer_open(struct tracer **t, const struct tracer_options *o, char *detail,
			       size_t size);

/**
 * tracer_look() - examine what the running kernel offers, without tracing
 * @o: its side, its source and whether it is verbose; all else is as for all commands' records
 * @fn: called once with @context, the probes that there are, and the result of loading the programs
 *      that tracing would use: 0, or a negative errno; -EACCES where that was not tried because
 *      this process may not, -ENOENT where vital points have no program
 *
 * Return: 0 or a negative errno.
 */
int tracer_look(const struct tracer_options *o, tracer_look_fn *fn, void *context);

/**
 * tracer_fd() - readable when so many records wait that they have to be drained at once
 *
 * Fewer records do not make it readable, because waking a reader costs more than the records: drain
 * every TRACER_DRAIN_NS.
 * Return: the fd, or -1 if no records are asked for.
 */
int tracer_fd(const struct tracer *t);

/**
 * tracer_calls_fd() - readable when programs need more room soon, or have sent names: call
 * tracer_adapt(), which clears it
 */
int tracer_calls_fd(const struct tracer *t);

/** tracer_clock_fd() - readable when the wall clock was set; tracer_clock_update() clears it */
int tracer_clock_fd(const struct tracer *t);

/**
 * tracer_clock_update() - keep packet arrival times right: call it now and then, and when the clock
 * is set
 */
void tracer_clock_update(struct tracer *t);

/**
 * tracer_adapt() - attach and detach programs that only some connections need, and make room for
 * more
 *
 * To be called every TRACER_ADAPT_NS, and when tracer_calls_fd() is readable. When a connection
 * comes for which a program has to be attached, its commands before that are counted, but not split
 * into stages.
 *
 * Return: when to call it next, in nanoseconds from now: TRACER_ADAPT_NS or TRACER_ADAPT_IDLE_NS.
 */
uint64_t tracer_adapt(struct tracer *t);

/**
 * tracer_resume() - begin a burst: attach, and have packets stamped
 * @t: opened with &tracer_options.bursts: programs are attached only between this and
 *     tracer_pause(). With &tracer_options.stages, programs of all points are
 * @detail: on failure filled with the text to insert into the message
 *
 * Return: TRACER_OK or why not; then tracer_close() it.
 */
enum tracer_status tracer_resume(struct tracer *t, char *detail, size_t size);

/**
 * tracer_has_worked() - whether the next burst is worth attaching programs for
 *
 * With &tracer_options.stages: the first one, and those before which an I/O queue had commands,
 * since the last call or shortly before. Attaching takes as much on an idle machine as on others.
 * Without it: always.
 */
bool tracer_has_worked(struct tracer *t);

/**
 * tracer_pause() - end a burst: detach all programs, and stop having packets stamped
 *
 * To be followed by tracer_drain() until there is nothing more, and by tracer_collect(), which
 * counts the commands that are in flight as burst_edge.
 */
void tracer_pause(struct tracer *t);

/** tracer_measures() - whether commands are seen now: always, except between two bursts */
bool tracer_measures(const struct tracer *t);

/** tracer_transports() - those of the controllers that it traces: see core/transport.h */
unsigned int tracer_transports(const struct tracer *t);

/** tracer_source() - where its points come from */
enum nt_source tracer_source(const struct tracer *t);

/**
 * tracer_missing() - bits of the points that bound stages and that nothing sets here, see
 * core/segments.h
 */
uint32_t tracer_missing(const struct tracer *t);

/**
 * tracer_drain() - hand waiting records to on_record, for 100 ms at most
 *
 * Return: how many, at least 1 if some may still wait, or a negative errno.
 */
int tracer_drain(struct tracer *t);

/**
 * tracer_on_ring() - takes a record of the ring buffer (libbpf's ring_buffer_sample_fn)
 * @context: the tracer
 *
 * Return: 0, or -EAGAIN when tracer_drain() has gone on for long enough.
 */
int tracer_on_ring(void *context, void *data, size_t size);

/**
 * tracer_collect() - add what happened since the last call to the histograms and counters of @s
 * @t: tracer
 * @s: stats_begin_interval() has been called; totals grow, the interval is filled
 *
 * Return: 0 or a negative errno.
 */
int tracer_collect(struct tracer *t, struct stats *s);

/**
 * tracer_detach() - stop tracing; collected records can still be drained
 *
 * Where histograms are kept, all programs are detached, so that the last figures of all of them
 * agree. With stock programs the kernel takes some 100 ms for each. Otherwise, only the programs
 * that see commands begin are detached. Then, once there is nothing more to drain, each command
 * that was in flight has either been drained or is in tracer_in_flight(). With finer points, a
 * command is drained without that of its answer, if this has not left TCP.
 */
void tracer_detach(struct tracer *t);

/**
 * tracer_in_flight() - number of commands begun and not ended; after tracer_detach()
 *
 * Commands of connections that have closed by now have died, and the next tracer_collect() counts
 * them so. Those that die later are not counted.
 */
uint64_t tracer_in_flight(struct tracer *t);

/**
 * tracer_controller_name() - the name of a record's controller in the rows
 * @t: tracer
 * @r: one of its records
 * @buf: filled, e.g. "nvme0" or "cntlid 1"
 * @size: of @buf
 */
void tracer_controller_name(const struct tracer *t, const struct nt_record *r, char *buf,
			    size_t size);

/** tracer_who() - &stats_row.who of the connection of record @r, if a host's is one of the last two
 */
uint32_t tracer_who(const struct tracer *t, const struct nt_record *r);

/**
 * tracer_queue() - describe the connection that has slot @slot (of a record) now
 * @gen: of the record. A host's names are those of its controller, if that is one of the last two
 *       there. A target's are left empty if another connection has the slot now
 * @q: filled
 */
void tracer_queue(const struct tracer *t, uint32_t slot, uint32_t gen, struct queue_info *q);

/** tracer_origin() - fill @o with the origin that has this number in records; see core/device.h */
void tracer_origin(const struct tracer *t, unsigned int number, struct origin *o);

/** tracer_cost() - fill @c with what the tracer costs */
void tracer_cost(const struct tracer *t, struct cost *c);

/** tracer_close() - detach and release everything; NULL is fine */
void tracer_close(struct tracer *t);

#endif /* NTPROF_TRACE_TRACER_H */
