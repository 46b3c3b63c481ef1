/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tracer that traces what the test sets. It replaces trace/, so that a run needs neither root nor
 * BPF.
 */
#ifndef NTPROF_CLI_TRACER_H
#define NTPROF_CLI_TRACER_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/confine.h"
#include "core/names.h"
#include "core/time.h"
#include "trace/kernel.h"
#include "trace/tracer.h"

/* The test itself keeps its rights, unless it has a process for each run. */
#ifndef TRACER_CONFINED
void confine_begin(bool verbose)
{
	struct stat threads;

	/*
	 * A thread that is there already would not be confined. One of an earlier run that was
	 * joined may still be listed for a moment.
	 */
	for (unsigned int ms = 0; ms < 10000; ms++) {
		if (!stat("/proc/self/task", &threads) && threads.st_nlink == 2 + 1)
			return;
		usleep(1000);
	}
	fputs("confine_begin() has to come before the first thread\n", stderr);
	abort();
}

void confine_loading(uint64_t keep, uint64_t loads, bool ends_processes)
{
}

void confine(uint64_t keep, bool ends_processes, bool verbose)
{
}
#endif

struct tracer {
	struct tracer_options o;
	bool measures;
};

/**
 * traced - what the test sets, and what happened
 * @records_fd: an eventfd; its value is the number of records of the next tracer_drain()
 * @nr: number of records so far; each has its number, from 0 on, in slba
 * @make: fills the other members of a record, if not NULL
 * @queue: queue of all records, if not NULL
 * @name: name of their controller, in their cgroups and of their processes, if not NULL
 * @waiting: number of further calls of tracer_drain() that find a command, which is in flight until
 *           then
 * @result: result of tracer_drain() and tracer_collect(), if not 0
 * @collecting: called first by tracer_collect(), if not NULL
 * @fill: called by tracer_collect() to fill the interval, if not NULL
 * @absent: the driver's module is not loaded
 * @goes: number of further calls of tracer_open() during which it goes away
 * @loaded: [side] the driver that kernel_has_module() finds
 * @signal: raised when tracing has ended; 0: none
 * @side: the side that was traced last; @origins_pass: as it was asked for
 * @resumed, @paused: numbers of bursts that began and ended
 * @resumed_ns: CLOCK_REALTIME when the last burst began
 * @attaching_us: how long it takes to begin a burst
 * @idle: nothing was read or written since the last burst
 */
static struct {
	int records_fd;
	uint64_t nr;
	void (*make)(struct nt_record *r, uint64_t n);
	const struct queue_info *queue;
	const char *name;
	int waiting;
	int result;
	void (*collecting)(void);
	void (*fill)(struct stats *s);
	bool absent;
	unsigned int goes;
	bool loaded[NT_SIDES];
	int signal;
	enum nt_side side;
	bool origins_pass;
	unsigned int resumed;
	unsigned int paused;
	int64_t resumed_ns;
	unsigned int attaching_us;
	bool idle;
} traced;

bool kernel_has_module(const char *name)
{
	return traced.loaded[strcmp(name, driver_name(NT_HOST)) ? NT_TARGET : NT_HOST];
}

enum tracer_status tracer_check(char *detail, size_t size)
{
	snprintf(detail, size, "%s", "");
	return 0;
}

void tracer_explain(enum tracer_status status, enum nt_side side, const char *detail, char *buf,
		    size_t size)
{
	snprintf(buf, size, "%d %s", status, detail);
}

void tracer_origin(const struct tracer *t, unsigned int number, struct origin *o)
{
	*o = (struct origin){.number = (uint16_t)number, .cpu = (uint16_t)(number % 2)};
	snprintf(o->cgroup, sizeof(o->cgroup), "/%u%s", number, traced.name ?: "");
	o->pid = 70 + number;
	snprintf(o->comm, sizeof(o->comm), "%.*s", (int)sizeof(o->comm) - 1, traced.name ?: "a b");
}

enum tracer_status tracer_open(struct tracer **t, const struct tracer_options *o, char *detail,
			       size_t size)
{
	if (traced.absent)
		return TRACER_NO_MODULE;
	if (o->starting)
		o->starting(o->context, 12);
	if (traced.goes) {
		traced.goes--;
		return TRACER_NO_MODULE;
	}
	*t = malloc(sizeof(**t));
	(*t)->o = *o;
	traced.side = o->side;
	traced.origins_pass = o->origins_pass;
	(*t)->measures = !o->bursts;
	return tracer_check(detail, size);
}

int tracer_fd(const struct tracer *t)
{
	return t->o.select == NT_SELECT_NONE ? -1 : traced.records_fd;
}

int tracer_calls_fd(const struct tracer *t)
{
	return eventfd(0, EFD_CLOEXEC);
}

int tracer_clock_fd(const struct tracer *t)
{
	return eventfd(0, EFD_CLOEXEC);
}

void tracer_clock_update(struct tracer *t)
{
}

uint64_t tracer_adapt(struct tracer *t)
{
	return TRACER_ADAPT_NS;
}

unsigned int tracer_transports(const struct tracer *t)
{
	return t->o.transports ?: NT_OF_TCP;
}

enum nt_source tracer_source(const struct tracer *t)
{
	return t->o.source;
}

uint32_t tracer_missing(const struct tracer *t)
{
	return 0;
}

bool tracer_has_worked(struct tracer *t)
{
	return !traced.idle;
}

enum tracer_status tracer_resume(struct tracer *t, char *detail, size_t size)
{
	t->measures = true;
	traced.resumed++;
	traced.resumed_ns = realtime_ns();
	usleep(traced.attaching_us);
	return tracer_check(detail, size);
}

void tracer_pause(struct tracer *t)
{
	if (!t->measures)
		return;
	t->measures = t->o.stages;
	traced.paused++;
}

bool tracer_measures(const struct tracer *t)
{
	return t->measures;
}

int tracer_drain(struct tracer *t)
{
	/* Room for each kind of event. */
	union {
		struct nt_record r;
		struct nt_begun begun;
		struct nt_ended ended;
	} event;
	uint64_t n = 0;

	if (tracer_fd(t) < 0 || read(traced.records_fd, &n, sizeof(n)) < 0)
		n = 0;
	for (; n; n--) {
		memset(&event, 0, sizeof(event));
		event.r.side = (uint8_t)t->o.side;
		event.r.slba = traced.nr;
		if (traced.make)
			traced.make(&event.r, traced.nr);
		traced.nr++;
		t->o.on_record(t->o.context, &event.r);
	}
	if (traced.waiting)
		return traced.waiting--;
	return traced.result;
}

/* Adds up counters as trace/collect.c does. */
int tracer_collect(struct tracer *t, struct stats *s)
{
	if (traced.collecting)
		traced.collecting();
	if (traced.fill)
		traced.fill(s);
	s->bursts = traced.paused;
	for (unsigned int i = 0; i < COUNTER_IN_FLIGHT; i++)
		s->counters_total[i] += s->counters_interval[i];
	return traced.result;
}

void tracer_detach(struct tracer *t)
{
}

uint64_t tracer_in_flight(struct tracer *t)
{
	return (uint64_t)traced.waiting;
}

void tracer_queue(const struct tracer *t, uint32_t slot, uint32_t gen, struct queue_info *q)
{
	*q = traced.queue ? *traced.queue : (struct queue_info){.slot = slot, .sqsize = 1};
}

uint32_t tracer_who(const struct tracer *t, const struct nt_record *r)
{
	return 0;
}

void tracer_controller_name(const struct tracer *t, const struct nt_record *r, char *buf,
			    size_t size)
{
	snprintf(buf, size, "%s", traced.name ?: "nvme0");
}

void tracer_cost(const struct tracer *t, struct cost *c)
{
	*c = (struct cost){.map_bytes = 4096};
}

void tracer_close(struct tracer *t)
{
	free(t);
	if (traced.signal)
		raise(traced.signal);
}

#endif /* NTPROF_CLI_TRACER_H */
