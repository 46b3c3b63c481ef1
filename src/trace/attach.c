// SPDX-License-Identifier: GPL-2.0-only
#include "trace/attach.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/array.h"
#include "core/time.h"
#include "trace/kernel.h"
#include "trace/missed.h"
#include "trace/private.h"
#include "trace/probes.h"

/* If no new queue has come for this time, most queues are known, and so are their commands. */
#define SETTLE_NS 2000000000ULL

/* Return: 0 or a negative errno; also 0 if the program was not chosen. */
static int attach_program(struct tracer *t, const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(t->object.obj, name);
	struct bpf_link **link = object_link(&t->object, name);

	if (!p || !link || *link || !bpf_program__autoload(p))
		return 0;
	*link = bpf_program__attach_trace(p);
	if (!*link)
		return -errno;
	t->attached++;
	return 0;
}

static bool is_attached(const struct tracer *t, const char *name)
{
	struct bpf_link **link = object_link(&t->object, name);

	return link && *link;
}

static void detach_program(struct tracer *t, const char *name)
{
	struct bpf_link **link = object_link(&t->object, name);

	if (!link || !*link)
		return;
	bpf_link__destroy(*link);
	*link = NULL;
	t->attached--;
}

/* A lack of memory says nothing about the program. */
static void refuse(struct tracer *t, const char *name, int err)
{
	char why[64];

	if (err == -ENOMEM || !t->refused)
		return;
	snprintf(why, sizeof(why), "it cannot be attached: %s", strerror(-err));
	refusals_add(t->refused, name, why);
	if (t->o.verbose)
		fprintf(stderr, "the kernel refuses %s: %s\n", name, why);
}

/*
 * Whether a program that only has to find an address has found it. The address does not change
 * while the driver is loaded.
 */
static bool has_learnt(const struct tracer *t, const char *name)
{
	return (!strcmp(name, "stock_learn") && t->object.control->queue_rq) ||
	       (!strcmp(name, "stock_try_recv") && t->object.control->data_ready);
}

/*
 * Whether the I/O queues in use have been seen. As long as there is no I/O, nothing is known of
 * them, and programs that only some of them need cost nothing.
 */
static bool settled(const struct tracer *t)
{
	uint64_t identified = __atomic_load_n(&t->object.control->identified_ns, __ATOMIC_RELAXED);

	return identified && monotonic_ns() - identified >= SETTLE_NS;
}

/* Whether programs for the last data of reads are needed; see watch_data(). */
static bool needs_data(const struct tracer *t)
{
	bool all = t->o.select != NT_SELECT_NONE && t->o.sample <= 1;

	if (t->o.stages && !t->object.control->burst)
		return false;
	return all || !settled(t) ||
	       __atomic_load_n(&t->object.control->no_sqflow, __ATOMIC_RELAXED);
}

/*
 * Learns whether a program was skipped for which another one can stand in. Commands begin in tasks.
 * So if a beginning was skipped, the kernel preempts tasks within programs, and ends are skipped as
 * well. If only an end was skipped, the reason may have been an interrupt.
 */
static void learn_skipped(struct tracer *t)
{
	t->preempts = t->preempts || missed_by_first(t, true);
	t->always_nested = t->always_nested || t->preempts || missed_by_first(t, false);
}

/*
 * Whether a program that stands in for another one is needed. It is, until it is known where the
 * commands of a new queue end.
 */
static bool needs_nested(const struct tracer *t, const char *name)
{
	/* Disks of the machine that end requests in tasks are not known. */
	if (!settled(t) || !strcmp(name, PROBE_DISK_USE_END_NESTED))
		return true;
	if (probe_begins(name))
		return t->preempts;
	return t->always_nested ||
	       __atomic_load_n(&t->object.control->redirected, __ATOMIC_RELAXED);
}

/* Whether a chosen program is needed, as far as this is known before any is attached. */
static bool is_needed(const struct tracer *t, const char *name)
{
	if (t->bursts && ((probe_watches_data(name) && !needs_data(t)) ||
			  (probe_stands_in(name) && !needs_nested(t, name))))
		return false;
	return !has_learnt(t, name);
}

/*
 * Whether program @name stays attached when a burst of all points ends, as it has not run since the
 * last one did. It costs nothing as long as it does not run.
 */
static bool seldom_stays(struct tracer *t, const char *name)
{
#define SELDOM_NAME(name) #name,
	static const char *const names[] = {NT_SELDOM(SELDOM_NAME)};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return !__atomic_exchange_n(&t->object.control->ran[i], 0,
						    __ATOMIC_RELAXED);
	return false;
}

static void tell_time(const struct tracer *t, const char *what, unsigned int programs,
		      uint64_t since)
{
	if (t->o.verbose)
		fprintf(stderr, "%s %u programs in %.1f ms\n", what, programs,
			(double)(monotonic_ns() - since) / 1e6);
}

/*
 * As attach_program().
 * Return: whether it was attached. If not, it is added to the refusals, and @detail is filled
 */
static bool attach_or_refuse(struct tracer *t, const char *name, char *detail, size_t size)
{
	int err = attach_program(t, name);

	if (!err)
		return true;
	snprintf(detail, size, "%s: %s",
		 bpf_program__section_name(bpf_object__find_program_by_name(t->object.obj, name)),
		 strerror(-err));
	refuse(t, name, err);
	return false;
}

enum tracer_status attach_try(struct tracer *t, char *detail, size_t size)
{
	enum tracer_status status = TRACER_OK;

	for (const char *const *name = probe_programs(t->o.side); *name && !status; name++)
		if (!probe_begins(*name) && !attach_or_refuse(t, *name, detail, size))
			status = TRACER_ATTACH;
	attach_detach_all(t);
	t->attached = 0;
	return status;
}

enum tracer_status attach_all(struct tracer *t, char *detail, size_t size)
{
	const char *const *names = probe_programs(t->o.side);
	uint64_t since = monotonic_ns();
	int nr = 0;

	t->attached = 0;
	/* Which CPU a host's command ends on says whether it may end in an interrupt. */
	if (t->o.side == NT_HOST && !kernel_ends_locally())
		t->always_nested = true;
	if (t->bursts)
		learn_skipped(t);
	while (names[nr])
		nr++;
	for (int i = nr - 1; i >= 0; i--) {
		if (!is_needed(t, names[i]) || (t->o.stages && !t->of_ends[i]))
			continue;
		if (probe_begins(names[i]))
			t->object.control->began_ns = NT_BEGINNING;
		if (!attach_or_refuse(t, names[i], detail, size))
			return TRACER_ATTACH;
	}
	t->object.control->data_watched = !t->bursts || needs_data(t);
	for (int i = 0; i < nr; i++)
		if (t->bursts && probe_stands_in(names[i]))
			missed_twin(t, names[i], is_attached(t, names[i]));
	t->object.control->began_ns = t->attached_ns = monotonic_ns();
	t->detached_ns = 0;
	tell_time(t, "attached", t->attached, since);
	return TRACER_OK;
}

/*
 * To be called before the first program is detached: later, an end without a beginning means
 * nothing.
 */
static void stop_measuring(struct tracer *t)
{
	/* The measured time ends here. Each command that began or ended in it was seen to do so. */
	if (!t->detached_ns)
		t->detached_ns = monotonic_ns();
	if (t->object.control)
		t->object.control->began_ns = 0;
}

/*
 * Programs that see commands begin are detached first, then the others from the last point to the
 * first. So the first points that a command can miss are its last ones: then its end is not seen,
 * and it is not counted. In this order no counted command lacks a point in between.
 */
void attach_pause(struct tracer *t)
{
	const char *const *names = probe_programs(t->o.side);
	unsigned int attached = t->attached;
	uint64_t since = monotonic_ns();
	int nr = 0;

	stop_measuring(t);
	for (; names[nr]; nr++)
		if (probe_begins(names[nr]))
			detach_program(t, names[nr]);
	while (nr-- > 0)
		detach_program(t, names[nr]);
	/*
	 * Programs run under RCU. This waits until those that run now have ended. membarrier(2)
	 * cannot do it, because it fails with nohz_full.
	 */
	pool_wait(&t->object.pools[NT_POOL_CMDS]);
	tell_time(t, "detached", attached - t->attached, since);
	t->attached = attached;
}

/* No command is seen to begin after this. Those that are in flight may still be seen to end. */
void attach_detach_beginnings(struct tracer *t)
{
	const char *const *names = probe_programs(t->o.side);
	unsigned int attached = t->attached;
	int nr = 0;

	for (int i = 0; names[i]; i++)
		if (probe_begins(names[i]))
			nr = i + 1;
	stop_measuring(t);
	for (int i = 0; i < nr; i++)
		detach_program(t, names[i]);
	t->attached = attached;
}

/*
 * From the first point of a command to the last, so that a command that was seen to begin is also
 * seen to end.
 */
void attach_detach_all(struct tracer *t)
{
	unsigned int attached = t->attached;
	uint64_t since = monotonic_ns();

	stop_measuring(t);
	for (const char *const *name = probe_programs(t->o.side); *name; name++)
		detach_program(t, *name);
	/* This function runs again at the very end, when nothing is left to detach. */
	if (t->attached < attached)
		tell_time(t, "detached", attached - t->attached, since);
	/* The last interval is collected after this, and reports how many programs there were. */
	t->attached = attached;
}

static void detach_learnt(struct tracer *t)
{
	for (const char *const *name = probe_programs(t->o.side); *name; name++)
		if (has_learnt(t, *name))
			detach_program(t, *name);
}

/*
 * Attaches or detaches all programs for the last data of reads. If one cannot be attached, that is
 * tried again the next time.
 * Return: whether all of them are attached
 */
static bool switch_data(struct tracer *t, bool on)
{
	for (const char *const *name = probe_programs(t->o.side); *name; name++) {
		if (!probe_watches_data(*name))
			continue;
		if (!on)
			detach_program(t, *name);
		else if (attach_program(t, *name))
			return false;
	}
	return on;
}

/*
 * A program that sees each piece of a read's data costs every read. It is needed where there are
 * connections without SQ flow control. Where all commands get a record, it is attached from the
 * beginning, so that even the record of the first such read is whole.
 */
static void watch_data(struct tracer *t)
{
	bool needed = needs_data(t);

	if (needed == (t->object.control->data_watched != 0))
		return;
	/*
	 * A program that finds @data_watched set relies on all of these programs, so it is cleared
	 * before the first one is detached.
	 */
	__atomic_store_n(&t->object.control->data_watched, 0, __ATOMIC_RELAXED);
	if (switch_data(t, needed))
		__atomic_store_n(&t->object.control->data_watched, 1, __ATOMIC_RELAXED);
}

/*
 * If no command ends in an interrupt, and no task is preempted within a program, no program has to
 * stand in for an interrupted one. A target's commands may end in interrupts of the device. Few
 * interrupts find the program running, so there the first skipped run is waited for. If one cannot
 * be attached, that is tried again the next time.
 */
static void watch_nested(struct tracer *t)
{
	learn_skipped(t);
	for (const char *const *name = probe_programs(t->o.side); *name; name++) {
		bool needed;

		if (!probe_stands_in(*name))
			continue;
		needed = needs_nested(t, *name);
		if (needed == is_attached(t, *name))
			continue;
		if (!needed) {
			missed_twin(t, *name, false);
			detach_program(t, *name);
		} else if (!attach_program(t, *name)) {
			missed_twin(t, *name, true);
		}
	}
}

/* Whether a program is attached in a burst of all points only. @i: of probe_programs() */
static bool of_burst(const struct tracer *t, unsigned int i)
{
	const char *name = probe_programs(t->o.side)[i];

	return !t->of_ends[i] && !has_learnt(t, name) && !probe_watches_data(name);
}

/* The number is that of the burst for commands that begin from now on: all is attached. */
enum tracer_status attach_burst(struct tracer *t, char *detail, size_t size)
{
	const char *const *names = probe_programs(t->o.side);
	unsigned int attached = t->attached, nr = 0;
	uint64_t since = monotonic_ns();

	while (names[nr])
		nr++;
	while (nr-- > 0)
		if (of_burst(t, nr) && !attach_or_refuse(t, names[nr], detail, size))
			return TRACER_ATTACH;
	if (!settled(t) || __atomic_load_n(&t->object.control->no_sqflow, __ATOMIC_RELAXED))
		t->object.control->data_watched = switch_data(t, true);
	t->burst = t->burst == UINT16_MAX ? 1 : t->burst + 1;
	__atomic_store_n(&t->object.control->burst, t->burst, __ATOMIC_RELEASE);
	tell_time(t, "attached", t->attached - attached, since);
	return TRACER_OK;
}

/* Commands in flight are not of the burst any more, so it does not matter which points they lack.
 */
void attach_burst_over(struct tracer *t)
{
	const char *const *names = probe_programs(t->o.side);
	unsigned int attached = t->attached;
	uint64_t since = monotonic_ns();

	__atomic_store_n(&t->object.control->burst, 0, __ATOMIC_RELEASE);
	t->object.control->data_watched = 0;
	for (unsigned int i = 0; names[i]; i++)
		if (!t->of_ends[i] && !seldom_stays(t, names[i]))
			detach_program(t, names[i]);
	pool_wait(&t->object.pools[NT_POOL_CMDS]);
	tell_time(t, "detached", attached - t->attached, since);
}

void attach_adapt(struct tracer *t)
{
	if (!t->measures)
		return;
	detach_learnt(t);
	watch_data(t);
	watch_nested(t);
}
