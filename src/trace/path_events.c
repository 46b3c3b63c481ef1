// SPDX-License-Identifier: GPL-2.0-only
#include "trace/path_events.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/path_events.h"
#include "trace/private.h"

#include "path_events.skel.h"

/* @bpf: NULL where nothing is attached; then @states are compared. */
struct path_reader {
	struct nt_path_events *bpf;
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

/* Leaves out each program whose function this kernel lacks. Return: whether one is left */
static bool choose(struct nt_path_events *bpf)
{
	struct bpf_program *p;
	bool any = false;

	bpf_object__for_each_program (p, bpf->obj) {
		const char *function = strchr(bpf_program__section_name(p), '/') + 1;

		if (bpf_program__set_attach_target(p, 0, function))
			bpf_program__set_autoload(p, false);
		else
			any = true;
	}
	return any;
}

/* The states are what sysfs has as well: without them, no program is used. */
static bool attach(struct nt_path_events *bpf)
{
	struct bpf_object_skeleton *s = bpf->skeleton;

	for (int i = 0; i < s->prog_cnt; i++)
		if (bpf_program__autoload(*s->progs[i].prog))
			*s->progs[i].link = bpf_program__attach_trace(*s->progs[i].prog);
	return bpf->links.path_state;
}

/* Return: NULL: the kernel does not take them */
static struct nt_path_events *programs_new(unsigned int transports)
{
	struct nt_path_events *bpf = nt_path_events__open();

	if (bpf)
		bpf->rodata->path_transports = transports;
	if (bpf && !(transports & 1u << NT_TRANSPORT_PCIE))
		bpf_program__set_autoload(bpf->progs.path_timeout_pcie, false);
	if (bpf && choose(bpf) && !nt_path_events__load(bpf) && attach(bpf))
		return bpf;
	nt_path_events__destroy(bpf);
	return NULL;
}

int path_events_open(struct tracer *t)
{
	struct path_reader *r;

	if (!t->o.on_path_event || t->o.side != NT_HOST)
		return 0;
	r = t->path_events = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->bpf = programs_new(t->o.transports);
	if (!r->bpf)
		return 0;
	return ring_buffer__add(t->calls, bpf_map__fd(r->bpf->maps.path_events), on_event, t)
		       ? -ENOMEM
		       : 0;
}

void path_events_close(struct tracer *t)
{
	if (!t->path_events)
		return;
	nt_path_events__destroy(t->path_events->bpf);
	path_states_free(&t->path_events->states);
	free(t->path_events);
	t->path_events = NULL;
}

uint64_t path_events_collect(struct tracer *t, uint64_t now)
{
	struct path_reader *r = t->path_events;

	if (r && !r->bpf)
		path_states_look(&r->states, "/sys", t->o.transports, now, on_change, t);
	return r && r->bpf ? __atomic_load_n(&r->bpf->bss->path_lost, __ATOMIC_RELAXED) : 0;
}
