// SPDX-License-Identifier: GPL-2.0-only
#include "trace/attach.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/time.h"
#include "trace/kernel.h"
#include "trace/private.h"
#include "trace/probes.h"

/* How long it takes until most connections have been seen. */
#define SETTLE_NS 2000000000ULL

/* Return: 0 or a negative errno; 0 as well if the program was not chosen. */
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

static void detach_program(struct tracer *t, const char *name)
{
	struct bpf_link **link = object_link(&t->object, name);

	if (!link || !*link)
		return;
	bpf_link__destroy(*link);
	*link = NULL;
	t->attached--;
}

/* Want of memory says nothing about the program. */
static void refuse(struct tracer *t, const char *name, int err)
{
	char why[64];

	if (err == -ENOMEM)
		return;
	snprintf(why, sizeof(why), "it cannot be attached: %s", strerror(-err));
	refusals_add(t->refused, name, why);
	if (t->o.verbose)
		fprintf(stderr, "the kernel refuses %s: %s\n", name, why);
}

enum tracer_status attach_all(struct tracer *t, char *detail, size_t size)
{
	const char *const *names = probe_programs(t->o.side);
	int nr = 0, err;

	t->always_nested = t->o.side == NT_TARGET || !kernel_ends_locally();
	while (names[nr])
		nr++;
	for (int i = nr - 1; i >= 0; i--) {
		if (probe_begins(names[i]))
			t->object.control->began_ns = NT_BEGINNING;
		err = attach_program(t, names[i]);
		if (err) {
			snprintf(detail, size, "%s: %s",
				 bpf_program__section_name(
					 bpf_object__find_program_by_name(t->object.obj, names[i])),
				 strerror(-err));
			refuse(t, names[i], err);
			return TRACER_ATTACH;
		}
	}
	t->object.control->data_watched = 1;
	t->object.control->began_ns = t->attached_ns = monotonic_ns();
	return TRACER_OK;
}

/* No command is seen to begin any more; those that are in flight may still be seen to end. */
void attach_detach_beginnings(struct tracer *t)
{
	const char *const *names = probe_programs(t->o.side);
	unsigned int attached = t->attached;
	int nr = 0;

	for (int i = 0; names[i]; i++)
		if (probe_begins(names[i]))
			nr = i + 1;
	for (int i = 0; i < nr; i++)
		detach_program(t, names[i]);
	t->attached = attached;
}

/*
 * From the first point of a command to the last, so that what was seen to begin is seen to the end.
 */
void attach_detach_all(struct tracer *t)
{
	unsigned int attached = t->attached;

	for (const char *const *name = probe_programs(t->o.side); *name; name++)
		detach_program(t, *name);
	/* The last interval is collected after this, and says how many there were. */
	t->attached = attached;
}

/* These programs only note an address, and it does not change while the driver is loaded. */
static void detach_learnt(struct tracer *t)
{
	if (t->o.side == NT_HOST && t->object.control->queue_rq)
		detach_program(t, "stock_learn");
	if (t->o.side == NT_TARGET && t->object.control->data_ready)
		detach_program(t, "stock_try_recv");
}

/*
 * Attaches or detaches all programs of a kind. Return: whether they are all there; where one cannot
 * be attached, that is tried again the next time.
 */
static bool switch_programs(struct tracer *t, bool (*of_kind)(const char *name), bool on)
{
	for (const char *const *name = probe_programs(t->o.side); *name; name++) {
		if (!of_kind(*name))
			continue;
		if (!on)
			detach_program(t, *name);
		else if (attach_program(t, *name))
			return false;
	}
	return on;
}

/*
 * A program for each piece of a read's data costs every read, and is needed where there are
 * connections without SQ flow control. Records of all commands are to be whole from the first such
 * command on.
 */
static void watch_data(struct tracer *t, bool settled)
{
	bool all = t->o.select != NT_SELECT_NONE && t->o.sample <= 1;
	bool needed =
		all || !settled || __atomic_load_n(&t->object.control->no_sqflow, __ATOMIC_RELAXED);

	if (needed == (t->object.control->data_watched != 0))
		return;
	/* A program that finds it set relies on all of them: it is 0 before the first goes. */
	__atomic_store_n(&t->object.control->data_watched, 0, __ATOMIC_RELAXED);
	if (switch_programs(t, probe_watches_data, needed))
		__atomic_store_n(&t->object.control->data_watched, 1, __ATOMIC_RELAXED);
}

/*
 * Where no command ends in an interrupt, no program has to stand in for one that was interrupted.
 */
static void watch_nested(struct tracer *t, bool settled)
{
	bool needed = !settled || t->always_nested ||
		      __atomic_load_n(&t->object.control->redirected, __ATOMIC_RELAXED);

	if (needed != t->nested_detached)
		return;
	t->nested_detached = !switch_programs(t, probe_stands_in, needed);
}

void attach_adapt(struct tracer *t)
{
	bool settled = monotonic_ns() - t->attached_ns >= SETTLE_NS;

	detach_learnt(t);
	watch_data(t, settled);
	watch_nested(t, settled);
}
