// SPDX-License-Identifier: GPL-2.0-only
#include "trace/path_events.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/path_events.h"
#include "trace/private.h"
#include "trace/probes.h"

/* PROBE_PATH_STATE comes first: the states are what sysfs has as well, so without it none is used.
 */
static const char *const programs[] = {
	PROBE_PATH_STATE, "path_failed", "path_timeout", PROBE_PATH_TIMEOUT_PCIE, "path_ana",
};

/* @attached: otherwise @states are compared */
struct path_reader {
	bool attached;
	struct path_states states;
};

static int on_event(void *context, void *data, size_t size)
{
	const struct tracer *t = context;

	if (size >= sizeof(struct nt_path_event))
		t->o.on_path_event(t->o.context, data);
	return 0;
}

static void on_change(void *context, const struct nt_path_event *e)
{
	const struct tracer *t = context;

	t->o.on_path_event(t->o.context, e);
}

void path_events_choose(struct tracer *t, struct probes *p)
{
	if (t->o.side != NT_HOST || !t->o.on_path_event || !probes_has(p, PROBE_PATH_STATE))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (strcmp(programs[i], PROBE_PATH_TIMEOUT_PCIE) != 0 ||
		    t->o.transports & 1u << NT_TRANSPORT_PCIE)
			probes_add(p, &t->object, programs[i]);
}

/* Return: whether changes of states are seen */
static bool attach(const struct tracer *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		const char *name = programs[i];

		if (object_loads(&t->object, name))
			*object_link(&t->object, name) = bpf_program__attach_trace(
				bpf_object__find_program_by_name(t->object.obj, name));
	}
	return *object_link(&t->object, PROBE_PATH_STATE);
}

int path_events_open(struct tracer *t)
{
	struct path_reader *r;

	if (!t->o.on_path_event || t->o.side != NT_HOST)
		return 0;
	r = t->path_events = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->attached = attach(t);
	if (!r->attached)
		return 0;
	return ring_buffer__add(t->calls, bpf_map__fd(object_map(&t->object, "path_events")),
				on_event, t)
		       ? -ENOMEM
		       : 0;
}

void path_events_close(struct tracer *t)
{
	if (!t->path_events)
		return;
	path_states_free(&t->path_events->states);
	free(t->path_events);
	t->path_events = NULL;
}

uint64_t path_events_collect(struct tracer *t, uint64_t now)
{
	struct path_reader *r = t->path_events;

	if (r && !r->attached)
		path_states_look(&r->states, "/sys", t->o.transports, now, on_change, t);
	return r && r->attached ? __atomic_load_n(t->object.path_lost, __ATOMIC_RELAXED) : 0;
}
