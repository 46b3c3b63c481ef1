// SPDX-License-Identifier: GPL-2.0-only
#include "core/names.h"
#include "trace/probes.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Registers that a BPF trampoline saves (arch_prepare_bpf_trampoline() of x86 in Linux 6.1). */
#define TRAMPOLINE_ARGS 6
#define MODULES 2

/* What a program attaches to: a tracepoint or a function of the kernel. */
struct place {
	struct bpf_program *program;
	const char *name;
	bool tracepoint;
	bool typed;	/* type information has it */
	bool traceable; /* ftrace does, or does not say what it has; of functions */
	unsigned int args;
};

struct probes {
	enum nt_side side;
	bool loaded;
	bool module_btf;
	size_t nr;
	struct place *places;
};

static struct place *place_of(const struct probes *p, const char *program)
{
	for (size_t i = 0; i < p->nr; i++)
		if (!strcmp(bpf_program__name(p->places[i].program), program))
			return &p->places[i];
	return NULL;
}

/* Fills the places from the sections' names: tp_btf/NAME, fentry/NAME, fexit/NAME. */
static int places_init(struct probes *p, struct bpf_object *obj)
{
	struct bpf_program *program;
	size_t nr = 0;

	bpf_object__for_each_program (program, obj)
		nr++;
	p->places = calloc(nr, sizeof(*p->places));
	if (!p->places)
		return -ENOMEM;
	bpf_object__for_each_program (program, obj) {
		const char *section = bpf_program__section_name(program);
		const char *slash = strchr(section, '/');

		if (!slash)
			continue;
		p->places[p->nr++] = (struct place){
			.program = program,
			.name = slash + 1,
			.tracepoint = !strncmp(section, "tp_btf/", 7),
		};
	}
	return 0;
}

/* Notes which places the types of @btf have, from id @first on. */
static void places_find(struct probes *p, const struct btf *btf, unsigned int first)
{
	/* include/trace/bpf_probe.h makes one such type for each tracepoint. */
	static const char prefix[] = "btf_trace_";
	const size_t prefix_len = sizeof(prefix) - 1;

	for (unsigned int id = first; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *name = btf__name_by_offset(btf, t->name_off);
		bool tracepoint = btf_is_typedef(t);

		if (!name || !(tracepoint ? !strncmp(name, prefix, prefix_len) : btf_is_func(t)))
			continue;
		if (tracepoint)
			name += prefix_len;
		for (size_t i = 0; i < p->nr; i++) {
			struct place *at = &p->places[i];

			if (at->tracepoint != tracepoint || strcmp(at->name, name))
				continue;
			at->typed = true;
			if (!tracepoint)
				at->args = btf_vlen(btf__type_by_id(btf, t->type));
		}
	}
}

/* What ftrace can attach to. Where it does not tell, the attempt will. */
static void places_trace(struct probes *p)
{
	static const char *const paths[] = {
		"/sys/kernel/tracing/available_filter_functions",
		"/sys/kernel/debug/tracing/available_filter_functions",
	};
	FILE *f = fopen(paths[0], "re");
	char *line = NULL;
	size_t size = 0;
	bool any = false;

	if (!f)
		f = fopen(paths[1], "re");
	while (f && getline(&line, &size, f) > 0) {
		any = true;
		line[strcspn(line, " \n")] = '\0';
		for (size_t i = 0; i < p->nr; i++)
			if (!strcmp(p->places[i].name, line))
				p->places[i].traceable = true;
	}
	for (size_t i = 0; !any && i < p->nr; i++)
		p->places[i].traceable = true;
	free(line);
	if (f)
		fclose(f);
}

struct probes *probes_new(enum nt_side side, struct bpf_object *obj)
{
	/* The driver is the last one, and needs the other. */
	static const char *const modules[NT_SIDES][MODULES] = {
		[NT_HOST] = {"nvme_core", "nvme_tcp"},
		[NT_TARGET] = {"nvmet", "nvmet_tcp"},
	};
	struct btf *base = NULL, *btf;
	struct probes *p;
	char path[64];

	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->side = side;
	if (places_init(p, obj)) {
		errno = ENOMEM;
		goto fail;
	}
	base = btf__load_vmlinux_btf();
	if (!base)
		goto fail;
	places_find(p, base, 1);
	for (int i = 0; i < MODULES; i++) {
		btf = btf__load_module_btf(modules[side][i], base);
		if (btf)
			places_find(p, btf, btf__type_cnt(base));
		p->module_btf = btf;
		btf__free(btf);
	}
	btf__free(base);
	snprintf(path, sizeof(path), "/sys/module/%s", driver_name(side));
	p->loaded = access(path, F_OK) == 0;
	places_trace(p);
	return p;
fail:
	probes_free(p);
	return NULL;
}

void probes_free(struct probes *p)
{
	if (!p)
		return;
	free(p->places);
	free(p);
}

bool probes_module_loaded(const struct probes *p)
{
	return p->loaded;
}

bool probes_module_btf(const struct probes *p)
{
	return p->module_btf;
}

/*
 * @changed: filled with what the compiler made of function @name. Return: whether the kernel has
 *           it.
 */
static bool symbol_find(const char *name, char *changed, size_t size)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	size_t len = strlen(name);
	char symbol[256];
	bool found = false;

	changed[0] = '\0';
	while (f && fscanf(f, "%*s %*s %255s%*[^\n]", symbol) == 1) {
		if (!strcmp(symbol, name))
			found = true;
		else if (!strncmp(symbol, name, len) && symbol[len] == '.' &&
			 strcmp(symbol + len, ".cold"))
			snprintf(changed, size, "%s", symbol);
	}
	if (f)
		fclose(f);
	return found;
}

static void explain(const struct probes *p, const struct place *at, char *why, size_t size)
{
	bool of_driver = !strncmp(at->name, "nvme", 4);
	char changed[256];

	if (of_driver && !p->loaded) {
		snprintf(why, size, "module %s is not loaded", driver_name(p->side));
	} else if (of_driver && !p->module_btf) {
		snprintf(why, size, "module %s has no type information", driver_name(p->side));
	} else if (at->tracepoint) {
		snprintf(why, size, "no tracepoint %s%s", at->name,
			 of_driver ? ": the driver is not patched" : "");
	} else if (at->typed && at->args > TRAMPOLINE_ARGS) {
		snprintf(why, size, "%s() has %u arguments, more than the %d that a probe takes",
			 at->name, at->args, TRAMPOLINE_ARGS);
	} else if (at->typed) {
		snprintf(why, size, "ftrace cannot trace %s()", at->name);
	} else if (symbol_find(at->name, changed, sizeof(changed))) {
		snprintf(why, size, "no type information of %s()", at->name);
	} else if (changed[0]) {
		snprintf(why, size, "the compiler made %s() into %s", at->name, changed);
	} else {
		snprintf(why, size, "no function %s(): inlined, or not of this kernel", at->name);
	}
}

static bool place_works(const struct place *at)
{
	return at->typed && (at->tracepoint || (at->traceable && at->args <= TRAMPOLINE_ARGS));
}

bool probes_works(const struct probes *p, const struct probe_way *w, char *why, size_t size)
{
	const struct place *other = w->unless ? place_of(p, w->unless) : NULL;

	if (other && other->typed) {
		if (why)
			snprintf(why, size, "the driver of this kernel uses %s()", other->name);
		return false;
	}
	for (int i = 0; i < PROBES_WAY_PROGRAMS && w->programs[i]; i++) {
		const struct place *at;

		if (w->programs[i][0] == '?')
			continue;
		at = place_of(p, w->programs[i]);
		if (at && place_works(at))
			continue;
		if (why && at)
			explain(p, at, why, size);
		else if (why)
			snprintf(why, size, "no program %s", w->programs[i]);
		return false;
	}
	return true;
}

const struct probe_way *probes_way(const struct probes *p, enum nt_source source,
				   unsigned int point)
{
	for (size_t i = 0; i < probe_ways_nr; i++) {
		const struct probe_way *w = &probe_ways[i];

		if (w->side == p->side && w->source == source && (w->points & 1u << point) &&
		    probes_works(p, w, NULL, 0))
			return w;
	}
	return NULL;
}

uint32_t probes_points(const struct probes *p, enum nt_source source)
{
	uint32_t points = 0;

	for (unsigned int i = 0; i < NT_POINTS_MAX; i++)
		if (probes_way(p, source, i))
			points |= 1u << i;
	return points;
}

enum nt_source probes_source(const struct probes *p)
{
	unsigned int nr = p->side == NT_HOST ? NT_HOST_POINTS_NR : NT_TARGET_POINTS_NR;

	return probes_points(p, NT_TRACEPOINTS) == (1u << nr) - 1 ? NT_TRACEPOINTS : NT_STOCK;
}

void probes_select(struct probes *p, enum nt_source source, uint32_t points)
{
	for (size_t i = 0; i < p->nr; i++)
		bpf_program__set_autoload(p->places[i].program, false);
	for (unsigned int point = 0; point < NT_POINTS_MAX; point++) {
		const struct probe_way *w = probes_way(p, source, point);

		if (!w || !(points & 1u << point))
			continue;
		for (int i = 0; i < PROBES_WAY_PROGRAMS && w->programs[i]; i++) {
			bool optional = w->programs[i][0] == '?';
			struct place *at = place_of(p, w->programs[i] + optional);

			if (at && place_works(at))
				bpf_program__set_autoload(at->program, true);
		}
	}
}
