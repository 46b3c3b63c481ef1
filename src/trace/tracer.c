// SPDX-License-Identifier: GPL-2.0-only
#include "trace/tracer.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/array.h"
#include "core/names.h"
#include "core/rights.h"
#include "core/segments.h"
#include "core/time.h"
#include "trace/attach.h"
#include "trace/collect.h"
#include "trace/connections.h"
#include "trace/give_back.h"
#include "trace/histograms.h"
#include "trace/in_flight.h"
#include "trace/kernel.h"
#include "trace/load.h"
#include "trace/missed.h"
#include "trace/path_events.h"
#include "trace/private.h"
#include "trace/probes.h"
#include "trace/disks.h"
#include "trace/tcp_state.h"

/* The capabilities that this process needs in order to trace. */

/**
 * capabilities_lack() - whether the process lacks what it needs to load and attach the programs,
 * whatever its user id
 * @lacks: filled with the capabilities that it lacks, such as "CAP_SYS_ADMIN"; @size bytes
 *
 * Loading needs CAP_BPF, and CAP_PERFMON because the programs read kernel memory. CAP_SYS_ADMIN
 * stands for both. In addition, the kernel hands the types of a module to CAP_SYS_ADMIN only. They
 * are needed to attach programs to its functions and tracepoints (BPF_BTF_GET_FD_BY_ID and
 * BPF_BTF_GET_NEXT_ID in kernel/bpf/syscall.c, as of Linux 6.12).
 */
static bool capabilities_lack(char *lacks, size_t size)
{
	static const unsigned int needed[] = {CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN};
	const uint64_t has = rights_effective();
	size_t used = 0;

	lacks[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(needed) && used < size; i++) {
		char name[32];

		if (has & (RIGHT(needed[i]) | RIGHT(CAP_SYS_ADMIN)))
			continue;
		used += (size_t)snprintf(lacks + used, size - used, "%s%s", used ? ", " : "",
					 rights_text(RIGHT(needed[i]), name, sizeof(name)));
	}
	return used;
}

static int log_all(enum libbpf_print_level level, const char *format, va_list args)
{
	return vfprintf(stderr, format, args);
}

static int log_some(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_DEBUG ? 0 : vfprintf(stderr, format, args);
}

void tracer_log(unsigned int verbose)
{
	libbpf_set_print(!verbose ? NULL : verbose == 1 ? log_some : log_all);
}

enum tracer_status tracer_check(char *detail, size_t size)
{
	struct utsname u;

	detail[0] = '\0';
	if (capabilities_lack(detail, size))
		return TRACER_NOT_ALLOWED;
	if (!uname(&u))
		snprintf(detail, size, "%s", u.release);
	if (kernel_too_old())
		return TRACER_OLD_KERNEL;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return TRACER_NO_BTF;
	return TRACER_OK;
}

/* Return: the result of loading, for the callback of tracer_look(). */
static int look_load(struct tracer *t, struct probes *p)
{
	enum nt_source source = t->o.source < NT_SOURCES ? t->o.source : probes_source(p);
	char lacks[128];

	if (!probes_module_loaded(p) || (probe_vital_points(t->o.side) & ~probes_points(p, source)))
		return -ENOENT;
	if (capabilities_lack(lacks, sizeof(lacks)))
		return -EACCES;
	probes_select(p, &t->object, 1u << source, ~0u);
	return load_finish(t);
}

/* Return: 0 or a negative errno, or 1 if a program was refused that was not refused before. */
static int look_once(struct tracer *t, tracer_look_fn *fn, void *context)
{
	size_t refused = t->refused->nr;
	struct probes *p = NULL;
	int err, loaded;

	err = load_open(t);
	if (err)
		goto out;
	p = probes_new(t->o.side, t->object.obj, t->refused);
	if (!p) {
		err = errno ? -errno : -ENOMEM;
		goto out;
	}
	probes_read_traceable(p);
	loaded = look_load(t, p);
	if (t->refused->nr > refused)
		err = 1;
	else
		fn(context, p, loaded);
out:
	probes_free(p);
	object_close(&t->object);
	return err;
}

int tracer_look(const struct tracer_options *o, tracer_look_fn *fn, void *context)
{
	struct refusals refused = {0};
	struct tracer *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->o = *o;
	t->o.transports = o->transports ?: NT_OF_TCP;
	t->refused = &refused;
	libbpf_set_print(NULL);
	do
		err = look_once(t, fn, context);
	while (err > 0);
	free(t);
	return err;
}

/* Hands over a struct nt_begun or nt_ended. Both have their origin behind the record. */
static void on_event(struct tracer *t, const struct nt_record *r, size_t size)
{
	size_t all = r->flags & NT_F_BEGUN ? sizeof(struct nt_begun) : sizeof(struct nt_ended);
	union {
		struct nt_originated o;
		struct nt_begun begun;
		struct nt_ended ended;
	} event; /* the buffer must not be written to */

	if (size < all)
		return;
	memcpy(&event, r, all);
	if (!t->o.fine || r->flags & NT_F_BEGUN)
		memset(event.o.r.cpu, 0, sizeof(event.o.r.cpu));
	if (t->origins)
		event.o.r.flags |= (__u32)origins_number(t->origins, &event.o.from)
				   << NT_F_ORIGIN_SHIFT;
	t->o.on_record(t->o.context, &event.o.r);
}

static void take(struct tracer *t, const void *data, size_t size)
{
	const struct nt_record *r = data;
	struct nt_record marked;

	if (size == sizeof(struct nt_lost)) {
		const struct nt_lost *lost = data;

		marked =
			(struct nt_record){.side = t->o.side, .flags = NT_F_LOST, .slba = lost->nr};
		marked.points[0] = lost->ns;
		t->o.on_record(t->o.context, &marked);
		return;
	}
	if (size < NT_RECORD_STATE)
		return;
	if (t->o.events) {
		on_event(t, r, size);
		return;
	}
	if (!t->o.fine) {
		/* The buffer must not be written to, and the CPUs are not there. */
		memcpy(&marked, r, NT_RECORD_STATE);
		memset(marked.cpu, 0, sizeof(marked.cpu));
		r = &marked;
	}
	if (t->origins && size >= sizeof(struct nt_originated)) {
		const struct nt_originated *o = data;

		if (r != &marked)
			marked = *r;
		marked.flags |= (__u32)origins_number(t->origins, &o->from) << NT_F_ORIGIN_SHIFT;
		r = &marked;
	}
	t->o.on_record(t->o.context, in_flight_ended(t, r, &marked));
}

/*
 * How long records are taken before the caller goes on: who sends commands chooses how fast they
 * come, and libbpf takes them for as long as there are any. The clock is read once for so many.
 */
#define DRAIN_TURN_NS 100000000ULL
#define DRAIN_LOOK 64

int tracer_on_ring(void *context, void *data, size_t size)
{
	struct tracer *t = context;

	take(t, data, size);
	if (++t->drained % DRAIN_LOOK || monotonic_ns() - t->drain_ns < DRAIN_TURN_NS)
		return 0;
	return -EAGAIN;
}

/* Calls about pools have no data: tracer_adapt() looks at all pools anyway. */
static int on_call(void *context, void *data, size_t size)
{
	if (size == sizeof(struct nt_identity))
		connections_learn(context, data);
	return 0;
}

static void tell_starting(const struct tracer *t)
{
	unsigned int programs = 0;

	for (const char *const *name = probe_programs(t->o.side); *name; name++)
		programs += object_loads(&t->object, *name);
	if (t->o.starting)
		t->o.starting(t->o.context, programs);
}

/*
 * As tracer_open(), without the programs in @refused. If the kernel refuses another one, that is
 * added.
 */
static enum tracer_status open_without(struct refusals *refused, struct tracer **out,
				       const struct tracer_options *o, char *detail, size_t size)
{
	enum tracer_status status;
	struct tracer *t;
	int err;

	t = calloc(1, sizeof(*t));
	if (!t)
		return TRACER_MEMORY;
	t->o = *o;
	t->o.transports = o->transports ?: NT_OF_TCP;
	t->refused = refused;
	t->clock.stamp_fd = t->clock.step_fd = -1;
	if (o->origins && !(t->origins = origins_new(o->origins_pass))) {
		free(t);
		return TRACER_MEMORY;
	}

	err = load_open(t);
	if (err)
		goto load_failed;
	status = load_choose(t, detail, size);
	if (status)
		goto out;
	tell_starting(t);
	err = load_finish(t);
	if (err)
		goto load_failed;
	err = connections_init(t) ?: collect_init(t) ?: in_flight_init(t) ?: trace_errors_init(t)
	      ?: histograms_init(t) ?: give_back_init(t) ?: tcp_open(t);
	if (err)
		goto load_failed;
	t->calls = ring_buffer__new(bpf_map__fd(object_map(&t->object, "calls")), on_call, t, NULL);
	if (!t->calls) {
		status = TRACER_MEMORY;
		goto out;
	}
	err = path_events_open(t);
	if (err)
		goto load_failed;
	give_back_keep(t, 0, 0);
	give_back_supply(t);
	err = rx_clock_open(&t->clock);
	if (err) {
		snprintf(detail, size, "%s", strerror(-err));
		status = TRACER_TIMESTAMPS;
		goto out;
	}
	tracer_clock_update(t);
	t->object.control->seen_offset = t->object.control->real_offset;
	t->object.control->looked_ns = monotonic_ns();
	if (o->select != NT_SELECT_NONE) {
		int fd = bpf_map__fd(object_map(&t->object, "records"));

		t->ring = ring_buffer__new(fd, tracer_on_ring, t, NULL);
		if (!t->ring) {
			status = TRACER_MEMORY;
			goto out;
		}
	}
	if (o->bursts || o->ends || !(t->o.transports & NT_OF_TCP))
		rx_clock_stamps(&t->clock, false);
	if (o->bursts || o->stages)
		status = attach_try(t, detail, size);
	if (!o->bursts && !status)
		status = attach_all(t, detail, size);
	if (status)
		goto out;
	t->measures = !o->bursts;
	if (o->verbose)
		load_print_memory(t);
	*out = t;
	return TRACER_OK;

load_failed:
	snprintf(detail, size, "%s", strerror(-err));
	status = err == -ENOMEM ? TRACER_MEMORY : TRACER_LOAD;
out:
	tracer_close(t);
	return status;
}

enum tracer_status tracer_open(struct tracer **out, const struct tracer_options *o, char *detail,
			       size_t size)
{
	const char *name = module_traced(o->side, o->transports);
	const uint64_t module = kernel_module_id(name);
	struct refusals refused = {0};
	enum tracer_status status;
	bool stays;
	size_t nr;

	*out = NULL;
	detail[0] = '\0';
	/*
	 * Runs again and again while waiting for the module: this check costs nothing, all else
	 * does.
	 */
	if (!module)
		return TRACER_NO_MODULE;
	tracer_log(o->verbose);
	do {
		nr = refused.nr;
		status = open_without(&refused, out, o, detail, size);
		stays = kernel_module_id(name) == module;
	} while (stays && status && refused.nr > nr);
	if (!status)
		(*out)->refused = NULL;
	if (stays)
		return status;
	/*
	 * It was unloaded meanwhile, even if it is there again: the next attempt may find and load
	 * what this one could not.
	 */
	tracer_close(*out);
	*out = NULL;
	return TRACER_NO_MODULE;
}

int tracer_fd(const struct tracer *t)
{
	return t->ring ? ring_buffer__epoll_fd(t->ring) : -1;
}

int tracer_calls_fd(const struct tracer *t)
{
	return ring_buffer__epoll_fd(t->calls);
}

int tracer_clock_fd(const struct tracer *t)
{
	return t->clock.step_fd;
}

void tracer_clock_update(struct tracer *t)
{
	struct nt_control *control = t->object.control;

	__atomic_store_n(&control->tai_offset, rx_clock_tai(), __ATOMIC_RELAXED);
	__atomic_store_n(&control->real_offset, rx_clock_update(&t->clock), __ATOMIC_RELAXED);
}

unsigned int tracer_transports(const struct tracer *t)
{
	return t->o.transports;
}

enum nt_source tracer_source(const struct tracer *t)
{
	return t->source;
}

uint32_t tracer_missing(const struct tracer *t)
{
	return t->missing;
}

uint64_t tracer_adapt(struct tracer *t)
{
	attach_adapt(t);
	ring_buffer__consume(t->calls);
	give_back_supply(t);
	return in_flight_any(t) ? TRACER_ADAPT_NS : TRACER_ADAPT_IDLE_NS;
}

enum tracer_status tracer_resume(struct tracer *t, char *detail, size_t size)
{
	enum tracer_status status;
	int err = rx_clock_stamps(&t->clock,
				  t->o.transports & NT_OF_TCP && (!t->o.ends || t->o.stages));

	if (err) {
		snprintf(detail, size, "%s", strerror(-err));
		return TRACER_TIMESTAMPS;
	}
	tracer_clock_update(t);
	t->object.control->seen_offset = t->object.control->real_offset;
	t->object.control->looked_ns = monotonic_ns();
	if (t->o.stages) {
		connections_new_burst(t);
		return attach_burst(t, detail, size);
	}
	connections_forget(t);
	status = attach_all(t, detail, size);
	if (status)
		return status;
	t->measures = true;
	return TRACER_OK;
}

bool tracer_has_worked(struct tracer *t)
{
	bool idle = t->o.stages && t->idle && !in_flight_any(t);

	t->idle = true;
	return !idle;
}

void tracer_pause(struct tracer *t)
{
	if (!t->measures)
		return;
	if (t->o.stages) {
		attach_burst_over(t);
		rx_clock_stamps(&t->clock, false);
		return;
	}
	attach_pause(t);
	t->burst_began_ns = t->attached_ns;
	t->burst_ended_ns = t->detached_ns;
	t->measured_ns += t->burst_ended_ns - t->burst_began_ns;
	t->measures = false;
	t->edges_due = true;
	rx_clock_stamps(&t->clock, false);
	t->bursts++;
}

bool tracer_measures(const struct tracer *t)
{
	return t->measures;
}

int tracer_drain(struct tracer *t)
{
	int ret, err;

	t->drain_ns = monotonic_ns();
	ret = t->ring ? ring_buffer__consume(t->ring) : 0;
	/* There are more. */
	if (ret == -EAGAIN)
		return 1;
	err = ret < 0 ? 0 : in_flight_look(t);
	if (t->detached && ret >= 0)
		ret += in_flight_take_waiting(t);
	return err ?: ret;
}

int tracer_collect(struct tracer *t, struct stats *s)
{
	return collect_all(t, s);
}

uint64_t tracer_in_flight(struct tracer *t)
{
	return collect_in_flight(t);
}

void tracer_controller_name(const struct tracer *t, const struct nt_record *r, char *buf,
			    size_t size)
{
	connections_controller_name(t, r, buf, size);
}

uint32_t tracer_who(const struct tracer *t, const struct nt_record *r)
{
	return connections_who(t, r);
}

void tracer_queue(const struct tracer *t, uint32_t slot, uint32_t gen, struct queue_info *q)
{
	connections_queue(t, slot, gen, q);
}

void tracer_cost(const struct tracer *t, struct cost *c)
{
	cost_fill(t, c);
}

void tracer_detach(struct tracer *t)
{
	t->detached = true;
	if (!t->object.obj)
		return;
	if (t->o.no_histograms)
		attach_detach_beginnings(t);
	else
		attach_detach_all(t);
}

void tracer_origin(const struct tracer *t, unsigned int number, struct origin *o)
{
	origins_get(t->origins, number, o);
}

void tracer_close(struct tracer *t)
{
	if (!t)
		return;
	tracer_detach(t);
	if (t->object.obj)
		attach_detach_all(t);
	if (t->o.verbose && t->calls)
		load_print_memory(t);
	ring_buffer__free(t->ring);
	origins_free(t->origins);
	ring_buffer__free(t->calls);
	path_events_close(t);
	collect_free(t);
	histograms_free(t);
	tcp_close(t);
	disks_close(t);
	give_back_free(t);
	in_flight_free(t);
	trace_errors_free(t);
	connections_free(t);
	object_close(&t->object);
	rx_clock_close(&t->clock);
	free(t);
}
