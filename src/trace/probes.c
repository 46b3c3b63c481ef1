// SPDX-License-Identifier: GPL-2.0-only
#include "core/names.h"
#include "trace/attach_ids.h"
#include "trace/object.h"
#include "trace/probes.h"
#include "trace/refusals.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Registers that a BPF trampoline saves (arch_prepare_bpf_trampoline() of x86 in Linux 6.1). */
#define TRAMPOLINE_ARGS 6

/*
 * What a program attaches to: a tracepoint or a function of the kernel.
 * @typed: type information has it, as @id of module number @module - 1, or with 0 of the kernel
 *         itself
 * @takes, @fits: its arguments, in the form of probe_takes(), and whether the program expects them
 * @traceable: ftrace can attach to it, or does not list what it can; functions only, see
 *             places_trace()
 * @refused: why the kernel does not take the program although it has all it needs; NULL if unknown
 * @symbol, @compiled: the kernel has it; its name there if that is not @name. See symbols_read()
 */
struct attach_place {
	struct bpf_program *program;
	const char *name;
	uint32_t id;
	unsigned int module;
	unsigned int args;
	char *takes;
	bool tracepoint;
	bool typed;
	bool fits;
	bool traceable;
	bool symbol;
	char *refused;
	char *compiled;
};

/*
 * @by_name: the same places, sorted; several can have the same name
 * @traced, @symbols: that list of the kernel, which is not always needed, has been read
 */
struct probes {
	enum nt_side side;
	bool loaded;
	bool module_btf;
	bool traced;
	bool symbols;
	size_t nr;
	struct attach_place *places;
	struct attach_place **by_name;
};

/* The driver is the last one, and depends on the other. */
static const char *const modules[NT_SIDES][ATTACH_IDS_MODULES] = {
	[NT_HOST] = {"nvme_core", "nvme_tcp"},
	[NT_TARGET] = {"nvmet", "nvmet_tcp"},
};

static struct attach_place *place_of(const struct probes *p, const char *program)
{
	for (size_t i = 0; i < p->nr; i++)
		if (!strcmp(bpf_program__name(p->places[i].program), program))
			return &p->places[i];
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	const struct attach_place *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/*
 * Return: the first place in by_name whose name is the first @len bytes of @name; NULL without one.
 */
static struct attach_place **places_named(const struct probes *p, const char *name, size_t len)
{
	size_t low = 0, high = p->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strncmp(p->by_name[middle]->name, name, len) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	/* Of the names that begin with these bytes, the shortest comes first. */
	if (low == p->nr || strncmp(p->by_name[low]->name, name, len) || p->by_name[low]->name[len])
		return NULL;
	return &p->by_name[low];
}

/* Whether @at, from places_named() or behind it, has that name as well. */
static bool place_named(const struct probes *p, struct attach_place *const *at, const char *name,
			size_t len)
{
	return at < p->by_name + p->nr && !strncmp((*at)->name, name, len) && !(*at)->name[len];
}

/* Fills the places from the sections' names: tp_btf/NAME, fentry/NAME, fexit/NAME. */
static int places_init(struct probes *p, struct bpf_object *obj)
{
	struct bpf_program *program;
	size_t nr = 0;

	bpf_object__for_each_program (program, obj)
		nr++;
	p->places = calloc(nr, sizeof(*p->places));
	p->by_name = calloc(nr, sizeof(struct attach_place *));
	if (!p->places || !p->by_name)
		return -ENOMEM;
	bpf_object__for_each_program (program, obj) {
		const char *section = bpf_program__section_name(program);
		const char *slash = strchr(section, '/');

		if (!slash)
			continue;
		p->by_name[p->nr] = &p->places[p->nr];
		p->places[p->nr++] = (struct attach_place){
			.program = program,
			.name = slash + 1,
			.tracepoint = !strncmp(section, "tp_btf/", 7),
		};
	}
	qsort(p->by_name, p->nr, sizeof(struct attach_place *), by_name);
	return 0;
}

/* The name of the structure that a parameter of type @id points to, or "-". */
static const char *argument_name(const struct btf *btf, unsigned int id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const char *name = "";

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	if (!t || !btf_is_ptr(t))
		return "-";
	/* A structure without a name has that of its typedef. */
	for (t = btf__type_by_id(btf, t->type); t && (btf_is_mod(t) || btf_is_typedef(t));
	     t = btf__type_by_id(btf, t->type))
		if (btf_is_typedef(t))
			name = btf__name_by_offset(btf, t->name_off);
	if (!t || !(btf_is_composite(t) || btf_is_fwd(t)))
		return "-";
	if (t->name_off)
		name = btf__name_by_offset(btf, t->name_off);
	return name && *name ? name : "-";
}

/* Notes the arguments of @at, whose type is @t: the function, or the tracepoint's typedef. */
static void place_arguments(struct attach_place *at, const struct btf *btf,
			    const struct btf_type *t)
{
	const char *wanted = probe_takes(bpf_program__name(at->program));
	const char *section = bpf_program__section_name(at->program);
	const struct btf_param *param;
	size_t used = 0, len = wanted ? strlen(wanted) : 0;
	char takes[256] = "";

	t = btf__type_by_id(btf, t->type);
	/* A tracepoint's function. Its first argument is what the caller had registered. */
	if (at->tracepoint)
		t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	if (!t || !btf_is_func_proto(t))
		return;
	param = btf_params(t);
	at->args = btf_vlen(t);
	for (unsigned int i = at->tracepoint ? 1 : 0; i < at->args && used < sizeof(takes); i++)
		used += (size_t)snprintf(takes + used, sizeof(takes) - used, "%s%s",
					 used ? " " : "", argument_name(btf, param[i].type));
	/* At an entry, arguments after the expected ones do not matter. */
	at->fits = !wanted ||
		   (!strncmp(takes, wanted, len) &&
		    (!takes[len] || (takes[len] == ' ' && strncmp(section, "fexit/", 6) != 0)));
	at->takes = strdup(takes);
}

/*
 * Notes which places the types of @btf have, from id @first on. The first place of a name counts;
 * those of the kernel come before those of @module.
 */
static void places_find(struct probes *p, const struct btf *btf, unsigned int first,
			unsigned int module)
{
	/* include/trace/bpf_probe.h makes one such type for each tracepoint. */
	static const char prefix[] = "btf_trace_";
	const size_t prefix_len = sizeof(prefix) - 1;

	for (unsigned int id = first; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		bool tracepoint = btf_is_typedef(t);
		const char *name;
		size_t len;

		if (!tracepoint && !btf_is_func(t))
			continue;
		name = btf__name_by_offset(btf, t->name_off);
		if (!name || (tracepoint && strncmp(name, prefix, prefix_len) != 0))
			continue;
		if (tracepoint)
			name += prefix_len;
		len = strlen(name);
		for (struct attach_place **at = places_named(p, name, len);
		     at && place_named(p, at, name, len); at++) {
			if ((*at)->tracepoint != tracepoint || (*at)->typed)
				continue;
			(*at)->typed = true;
			(*at)->id = id;
			(*at)->module = module;
			place_arguments(*at, btf, t);
		}
	}
}

/*
 * Notes which functions ftrace can attach to, when the first one is needed: the kernel takes as
 * long to write that list as everything else here takes. Without a list, attaching will show it.
 */
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

	p->traced = true;
	if (!f)
		f = fopen(paths[1], "re");
	while (f && getline(&line, &size, f) > 0) {
		size_t len = strcspn(line, " \n");

		any = true;
		for (struct attach_place **at = places_named(p, line, len);
		     at && place_named(p, at, line, len); at++)
			(*at)->traceable = true;
	}
	for (size_t i = 0; !any && i < p->nr; i++)
		p->places[i].traceable = true;
	free(line);
	if (f)
		fclose(f);
}

/* Notes which functions the kernel has, and what the compiler made of others. */
static void symbols_read(struct probes *p)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char *line = NULL;
	size_t size = 0;

	p->symbols = true;
	while (f && getline(&line, &size, f) > 0) {
		/* "ADDRESS TYPE NAME", followed by a tab and the name of the module. */
		char *name = strchr(line, ' ');
		size_t len, plain;

		name = name ? strchr(name + 1, ' ') : NULL;
		if (!name)
			continue;
		name++;
		len = strcspn(name, "\t\n");
		name[len] = '\0';
		plain = strcspn(name, ".");
		for (struct attach_place **at = places_named(p, name, plain);
		     at && place_named(p, at, name, plain); at++) {
			if (plain == len)
				(*at)->symbol = true;
			else if (!(*at)->compiled && strcmp(name + plain, ".cold") != 0)
				(*at)->compiled = strdup(name);
		}
	}
	free(line);
	if (f)
		fclose(f);
}

/* Return: false if there is no memory for it. */
static bool places_refuse(struct probes *p, const struct refusals *refused)
{
	for (size_t i = 0; i < p->nr; i++) {
		const char *why = refusals_why(refused, bpf_program__name(p->places[i].program));

		p->places[i].refused = why ? strdup(why) : NULL;
		if (why && !p->places[i].refused)
			return false;
	}
	return true;
}

struct probes *probes_new(enum nt_side side, struct bpf_object *obj, const struct refusals *refused)
{
	struct btf *base = NULL, *btf;
	struct probes *p;
	char path[64];

	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->side = side;
	if (places_init(p, obj) || !places_refuse(p, refused)) {
		errno = ENOMEM;
		goto fail;
	}
	base = btf__load_vmlinux_btf();
	if (!base)
		goto fail;
	places_find(p, base, 1, 0);
	for (unsigned int i = 0; i < ATTACH_IDS_MODULES; i++) {
		btf = btf__load_module_btf(modules[side][i], base);
		if (btf)
			places_find(p, btf, btf__type_cnt(base), i + 1);
		p->module_btf = btf;
		btf__free(btf);
	}
	btf__free(base);
	snprintf(path, sizeof(path), "/sys/module/%s", driver_name(side));
	p->loaded = access(path, F_OK) == 0;
	return p;
fail:
	probes_free(p);
	return NULL;
}

void probes_free(struct probes *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nr; i++) {
		free(p->places[i].refused);
		free(p->places[i].compiled);
		free(p->places[i].takes);
	}
	free(p->by_name);
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

static void explain(struct probes *p, const struct attach_place *at, char *why, size_t size)
{
	bool of_driver = !strncmp(at->name, "nvme", 4);

	if (!at->typed && !at->tracepoint && !p->symbols)
		symbols_read(p);
	if (of_driver && !p->loaded) {
		snprintf(why, size, "module %s is not loaded", driver_name(p->side));
	} else if (of_driver && !p->module_btf) {
		snprintf(why, size, "module %s has no type information", driver_name(p->side));
	} else if (at->tracepoint && !at->typed) {
		snprintf(why, size, "no tracepoint %s%s", at->name,
			 of_driver ? ": the driver is not patched" : "");
	} else if (at->typed && !at->fits) {
		snprintf(why, size, "%s() has other arguments here: %s", at->name,
			 at->takes ? at->takes : "unknown");
	} else if (at->typed && at->args > TRAMPOLINE_ARGS) {
		snprintf(why, size, "%s() has %u arguments, more than the %d that a probe takes",
			 at->name, at->args, TRAMPOLINE_ARGS);
	} else if (at->refused) {
		snprintf(why, size, "the kernel refuses %s: %s", bpf_program__name(at->program),
			 at->refused);
	} else if (at->typed) {
		snprintf(why, size, "ftrace cannot trace %s()", at->name);
	} else if (at->symbol) {
		snprintf(why, size, "no type information of %s()", at->name);
	} else if (at->compiled) {
		snprintf(why, size, "the compiler made %s() into %s", at->name, at->compiled);
	} else {
		snprintf(why, size, "no function %s(): inlined, or not of this kernel", at->name);
	}
}

static bool place_works(struct probes *p, const struct attach_place *at)
{
	if (!at->typed || !at->fits || at->refused || at->tracepoint)
		return at->typed && at->fits && !at->refused;
	if (!p->traced)
		places_trace(p);
	return at->traceable && at->args <= TRAMPOLINE_ARGS;
}

bool probes_works(struct probes *p, const struct probe_way *w, char *why, size_t size)
{
	const struct attach_place *other = w->unless ? place_of(p, w->unless) : NULL;

	if (other && other->typed) {
		if (why)
			snprintf(why, size, "the driver of this kernel uses %s()", other->name);
		return false;
	}
	for (int i = 0; i < PROBES_WAY_PROGRAMS && w->programs[i]; i++) {
		const struct attach_place *at;

		if (w->programs[i][0] == '?')
			continue;
		at = place_of(p, w->programs[i]);
		if (at && place_works(p, at))
			continue;
		if (why && at)
			explain(p, at, why, size);
		else if (why)
			snprintf(why, size, "no program %s", w->programs[i]);
		return false;
	}
	return true;
}

const struct probe_way *probes_way(struct probes *p, enum nt_source source, unsigned int point)
{
	for (size_t i = 0; i < probe_ways_nr; i++) {
		const struct probe_way *w = &probe_ways[i];

		if (w->side == p->side && w->source == source && (w->points & 1u << point) &&
		    probes_works(p, w, NULL, 0))
			return w;
	}
	return NULL;
}

uint32_t probes_points(struct probes *p, enum nt_source source)
{
	uint32_t points = 0;

	for (unsigned int i = 0; i < NT_POINTS_MAX; i++)
		if (probes_way(p, source, i))
			points |= 1u << i;
	return points;
}

enum nt_source probes_source(struct probes *p)
{
	unsigned int nr = p->side == NT_HOST ? NT_HOST_POINTS_NR : NT_TARGET_POINTS_NR;

	return probes_points(p, NT_TRACEPOINTS) == (1u << nr) - 1 ? NT_TRACEPOINTS : NT_STOCK;
}

void probes_select(struct probes *p, struct object *o, enum nt_source source, uint32_t points)
{
	struct attach_ids *ids = &o->attach_ids;

	memset(ids, 0, sizeof(*ids));
	for (size_t i = 0; i < p->nr; i++)
		bpf_program__set_autoload(p->places[i].program, false);
	for (unsigned int point = 0; point < NT_POINTS_MAX; point++) {
		const struct probe_way *w = probes_way(p, source, point);

		if (!w || !(points & 1u << point))
			continue;
		for (int i = 0; i < PROBES_WAY_PROGRAMS && w->programs[i]; i++) {
			bool optional = w->programs[i][0] == '?';
			struct attach_place *at = place_of(p, w->programs[i] + optional);

			if (!at || !place_works(p, at) || bpf_program__autoload(at->program))
				continue;
			bpf_program__set_autoload(at->program, true);
			ids->at[ids->nr++] = (struct attach_id){
				.program = at->program,
				.id = at->id,
				.module = at->module,
			};
			if (at->module)
				ids->modules[at->module - 1] = modules[p->side][at->module - 1];
		}
	}
}
