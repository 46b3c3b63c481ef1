// SPDX-License-Identifier: GPL-2.0-only
#include "trace/missed.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#include "trace/kernel.h"
#include "trace/private.h"
#include "trace/probes.h"

uint64_t missed_of(int fd)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	return fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.recursion_misses;
}

/* Finds the programs that are loaded, and the twins of those that have one. */
static void find_programs(struct tracer *t)
{
	struct bpf_program *p;

	bpf_object__for_each_program (p, t->object.obj) {
		const char *name = bpf_program__name(p);
		struct missed *m = &t->missed[t->nr_missed];
		struct bpf_program *twin;
		char twin_name[64];

		/* Without its note, a command is of the worker that the driver got it from. */
		if (bpf_program__fd(p) < 0 || probe_stands_in(name) ||
		    !strcmp(name, PROBE_INSERT) || t->nr_missed == TRACER_PROGRAMS_MAX)
			continue;
		snprintf(twin_name, sizeof(twin_name), "%s_nested", name);
		twin = bpf_object__find_program_by_name(t->object.obj, twin_name);
		*m = (struct missed){
			.fd = bpf_program__fd(p),
			.twin_fd = twin ? bpf_program__fd(twin) : -1,
			.joins = !strcmp(name, "packet_joined") || !strcmp(name, "packet_waits"),
		};
		if (m->twin_fd >= 0)
			m->twin = bpf_program__name(twin);
		t->nr_missed++;
	}
}

/* Skipped runs of a program that are not settled. @own, @of_twin: filled; since it was loaded */
static uint64_t missed_since(const struct missed *m, uint64_t *own, uint64_t *of_twin)
{
	bool twins = !m->alone && m->twin_fd >= 0;
	uint64_t n;

	*own = missed_of(m->fd);
	/* Read later than the other, so that it includes what both have missed. */
	*of_twin = missed_of(m->twin_fd);
	n = *own - m->own;
	return twins && *of_twin - m->of_twin < n ? *of_twin - m->of_twin : n;
}

void missed_twin(struct tracer *t, const char *twin, bool attached)
{
	if (!t->nr_missed)
		find_programs(t);
	for (unsigned int i = 0; i < t->nr_missed; i++) {
		struct missed *m = &t->missed[i];
		uint64_t own, of_twin;

		if (!m->twin || strcmp(m->twin, twin) != 0 || m->alone == !attached)
			continue;
		m->settled += missed_since(m, &own, &of_twin);
		m->own = own;
		m->of_twin = of_twin;
		m->alone = !attached;
	}
}

bool missed_by_first(struct tracer *t, bool begins)
{
	if (!t->nr_missed)
		find_programs(t);
	for (unsigned int i = 0; i < t->nr_missed; i++) {
		const struct missed *m = &t->missed[i];

		if (m->twin && probe_begins(m->twin) == begins && missed_of(m->fd))
			return true;
	}
	return false;
}

uint64_t missed_total(struct tracer *t)
{
	uint64_t total = 0, own, of_twin;

	if (!t->nr_missed)
		find_programs(t);
	for (unsigned int i = 0; i < t->nr_missed; i++)
		total += t->missed[i].settled + missed_since(&t->missed[i], &own, &of_twin);
	return total;
}

void missed_joins_tell(struct tracer *t)
{
	uint64_t total = 0;

	if (!t->nr_missed)
		find_programs(t);
	for (unsigned int i = 0; i < t->nr_missed; i++)
		if (t->missed[i].joins)
			total += missed_of(t->missed[i].fd);
	__atomic_store_n(&t->object.control->joins_missed, total != t->joins_missed,
			 __ATOMIC_RELAXED);
	t->joins_missed = total;
}

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
	if (!bpf_map__autocreate(m))
		return 0;
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
