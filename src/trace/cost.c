// SPDX-License-Identifier: GPL-2.0-only
#include "trace/cost.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>

#include "trace/memlock.h"
#include "trace/private.h"

/* What the elements of a map take. Used where the kernel does not report it. */
static size_t elements_bytes(const struct tracer *t, const struct bpf_map *m)
{
	size_t size = ((size_t)bpf_map__value_size(m) + 7) / 8 * 8;

	if (bpf_map__type(m) == BPF_MAP_TYPE_PERCPU_ARRAY)
		size *= t->cpus;
	/* A ring buffer's number of entries is its bytes. */
	if (bpf_map__type(m) == BPF_MAP_TYPE_RINGBUF)
		size = 1;
	return size * bpf_map__max_entries(m);
}

size_t cost_map_bytes(const struct tracer *t, const struct bpf_map *m)
{
	return memlock_of(bpf_map__fd(m)) ?: elements_bytes(t, m);
}

/* Return: whether @p is loaded. */
static bool fill_program(const struct bpf_program *p, struct cost_program *c)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);
	int fd = bpf_program__fd(p);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
		return false;
	snprintf(c->name, sizeof(c->name), "%s", bpf_program__name(p));
	c->runs = info.run_cnt;
	c->ns = info.run_time_ns;
	return true;
}

void cost_fill(const struct tracer *t, struct cost *c)
{
	struct bpf_program *p;
	struct bpf_map *m;

	*c = (struct cost){0};
	if (!t->object.obj)
		return;
	bpf_object__for_each_map (m, t->object.obj) {
		c->map_bytes += cost_map_bytes(t, m);
	}
	c->map_bytes += memlock_of(t->object.grace.inner_fd);
	c->map_bytes += memlock_of(t->object.grace.outer_fd);
	for (unsigned int i = 0; i < NT_POOLS_NR; i++)
		c->map_bytes += pool_bytes(&t->object.pools[i]);
	bpf_object__for_each_program (p, t->object.obj) {
		if (c->nr == COST_PROGRAMS_MAX)
			break;
		if (!fill_program(p, &c->program[c->nr]))
			continue;
		c->counts_runs |= c->program[c->nr].runs != 0;
		c->nr++;
	}
}
