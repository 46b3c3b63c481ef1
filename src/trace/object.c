// SPDX-License-Identifier: GPL-2.0-only
#include "trace/object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/array.h"
#include "host.skel.h"
#include "target.skel.h"
#include "trace/kernel.h"

/*
 * libbpf's handlers belong to the process, and know only what they were given when they were
 * registered. So this points to what the object that is just being loaded attaches to; NULL at all
 * other times.
 */
static struct attach_ids *current;

static int prepare(struct bpf_program *program, struct bpf_prog_load_opts *opts, long cookie)
{
	/* Of another object, by bpf_program__set_attach_target(). */
	if (opts->attach_btf_id)
		return 0;
	for (size_t i = 0; current && i < current->nr; i++) {
		unsigned int module = current->at[i].module;

		if (current->at[i].program != program)
			continue;
		current->loading = program;
		opts->attach_btf_id = current->at[i].id;
		opts->attach_btf_obj_fd = module ? current->fds[module - 1] : 0;
		return 0;
	}
	return -ENOENT;
}

/*
 * Makes libbpf take the ids from here for all objects that are opened from now on; once in a
 * process.
 *
 * This applies to sections "tp_btf/", "fentry/" and "fexit/"; attach their programs with
 * bpf_program__attach_trace().
 *
 * Return: 0 or a negative errno.
 */
static int attach_ids_register(void)
{
	static const struct {
		const char *section;
		enum bpf_attach_type type;
	} kinds[] = {
		{"tp_btf+", BPF_TRACE_RAW_TP},
		{"fentry+", BPF_TRACE_FENTRY},
		{"fexit+", BPF_TRACE_FEXIT},
	};
	const struct libbpf_prog_handler_opts opts = {
		.sz = sizeof(opts),
		.prog_prepare_load_fn = prepare,
	};
	static size_t registered;

	for (; registered < ARRAY_SIZE(kinds); registered++) {
		int id = libbpf_register_prog_handler(kinds[registered].section,
						      BPF_PROG_TYPE_TRACING, kinds[registered].type,
						      &opts);

		if (id < 0)
			return id;
	}
	return 0;
}

/* Return: a descriptor of the kernel's type information for @module, or a negative errno. */
static int module_fd(const char *module)
{
	uint32_t id = 0;

	while (!bpf_btf_get_next_id(id, &id)) {
		char name[64] = "";
		struct bpf_btf_info info = {
			.name = (uintptr_t)name,
			.name_len = sizeof(name),
		};
		uint32_t len = sizeof(info);
		int fd = bpf_btf_get_fd_by_id(id);

		/* The module has gone since. */
		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) && info.kernel_btf &&
		    !strcmp(name, module))
			return fd;
		close(fd);
	}
	return -ENOENT;
}

int attach_ids_open(struct attach_ids *ids)
{
	ids->loading = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(ids->fds); i++)
		ids->fds[i] = -1;
	for (size_t i = 0; i < ARRAY_SIZE(ids->fds); i++) {
		if (!ids->modules[i])
			continue;
		ids->fds[i] = module_fd(ids->modules[i]);
		if (ids->fds[i] < 0) {
			int err = ids->fds[i];

			attach_ids_close(ids);
			return err;
		}
	}
	current = ids;
	return 0;
}

void attach_ids_close(struct attach_ids *ids)
{
	current = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(ids->fds); i++)
		if (ids->fds[i] >= 0)
			close(ids->fds[i]);
}

int object_open(struct object *o, enum nt_side side)
{
	int err;

	*o = (struct object){0};
	err = attach_ids_register();
	if (err)
		return err;
	if (side == NT_HOST) {
		o->host = nt_host__open();
		if (!o->host)
			return errno ? -errno : -ENOMEM;
		o->obj = o->host->obj;
		o->knobs = &o->host->rodata->nt_knobs;
	} else {
		o->target = nt_target__open();
		if (!o->target)
			return errno ? -errno : -ENOMEM;
		o->obj = o->target->obj;
		o->knobs = &o->target->rodata->nt_knobs;
	}
	return 0;
}

static struct bpf_object_skeleton *skeleton_of(const struct object *o)
{
	return o->host ? o->host->skeleton : o->target->skeleton;
}

struct bpf_map *object_map(const struct object *o, const char *name)
{
	return bpf_object__find_map_by_name(o->obj, name);
}

void object_size_map(struct object *o, const char *name, uint32_t entries)
{
	struct bpf_map *map = object_map(o, name);

	if (map)
		bpf_map__set_max_entries(map, entries);
}

bool object_loads(const struct object *o, const char *program)
{
	const struct bpf_program *p = bpf_object__find_program_by_name(o->obj, program);

	return p && bpf_program__autoload(p);
}

static size_t shared_size(const struct bpf_map *map)
{
	return (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
}

static void *map_shared(const struct object *o, const char *name)
{
	const struct bpf_map *map = object_map(o, name);
	void *at = mmap(NULL, shared_size(map), PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_map__fd(map), 0);

	return at == MAP_FAILED ? NULL : at;
}

static void unmap_shared(const struct object *o, const char *name, void *at)
{
	if (at)
		munmap(at, shared_size(object_map(o, name)));
}

/* A variable that the programs of both sides have under the same name. */
#define SHARED(o, name) ((o)->host ? (o)->host->bss->name : (o)->target->bss->name)

/* Adds a map to a pool's map of maps. */
static void *bank_add(struct pool *p, uint32_t nr)
{
	const struct bpf_map_create_opts opts = {.sz = sizeof(opts), .map_flags = BPF_F_MMAPABLE};
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bank", sizeof(__u32), p->value_size,
				p->entries, &opts);
	void *at;

	if (fd < 0)
		return NULL;
	at = mmap(NULL, (size_t)p->value_size * p->entries, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		  0);
	if (at != MAP_FAILED && bpf_map_update_elem(p->outer_fd, &nr, &fd, BPF_ANY)) {
		munmap(at, (size_t)p->value_size * p->entries);
		at = MAP_FAILED;
	}
	/* There is no descriptor of it any more: the map of maps and the mapping keep it. */
	p->bank_bytes = memlock_of(fd);
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

/*
 * Before Linux 6.8 the kernel does not wait for programs that have just found the map
 * (876673364161, "bpf: Defer the free of inner map when necessary"). So the mapping keeps the map
 * until this has waited for them.
 */
static bool bank_remove(struct pool *p, uint32_t nr)
{
	if (bpf_map_delete_elem(p->outer_fd, &nr))
		return false;
	pool_wait(p);
	munmap(p->bank[nr], (size_t)p->value_size * p->entries);
	return true;
}

static const struct {
	const char *map;
	uint32_t per_bank;
} pool_kinds[NT_POOLS_NR] = {
	[NT_POOL_CMDS] = {"cmd_banks", 1u << NT_CMDS_BITS},
	[NT_POOL_HISTS] = {"hist_banks", 1u << NT_HISTS_BITS},
	[NT_POOL_STAGES] = {"stage_banks", 1u << NT_STAGES_BITS},
	[NT_POOL_JOINS] = {"join_banks", 1u << NT_JOINS_BITS},
};

/* To be called before the programs are loaded, as libbpf then forgets what a bank is like. */
static void size_pools(struct object *o)
{
	for (unsigned int i = 0; i < NT_POOLS_NR; i++) {
		const struct bpf_map *outer = object_map(o, pool_kinds[i].map);
		const struct bpf_map *bank = bpf_map__inner_map(object_map(o, pool_kinds[i].map));
		struct pool *p = &o->pools[i];

		p->add = bank_add;
		p->remove = bank_remove;
		p->value_size = bpf_map__value_size(bank);
		p->entries = bpf_map__max_entries(bank);
		p->per_bank = pool_kinds[i].per_bank;
		p->item_bytes = (size_t)p->value_size * (p->entries / p->per_bank);
		p->max_banks = bpf_map__max_entries(outer);
	}
}

static int open_pools(struct object *o)
{
	int err = pool_grace_open(&o->grace);

	o->pools[NT_POOL_CMDS].first = SHARED(o, nt_first_cmds);
	o->pools[NT_POOL_HISTS].first = SHARED(o, nt_first_hists);
	o->pools[NT_POOL_STAGES].first = SHARED(o, nt_first_stages);
	for (unsigned int i = 0; !err && i < NT_POOLS_NR; i++) {
		struct pool *p = &o->pools[i];

		p->ring = &SHARED(o, nt_pools)[i];
		p->numbers = SHARED(o, nt_free)[i];
		p->outer_fd = bpf_map__fd(object_map(o, pool_kinds[i].map));
		p->grace = o->grace;
		err = pool_init(p);
	}
	return err;
}

int object_load(struct object *o, char *log, size_t size, const struct bpf_program **refused)
{
	struct bpf_program *program;
	int err = attach_ids_open(&o->attach_ids);

	*refused = NULL;
	if (err)
		return err;
	size_pools(o);
	log[0] = '\0';
	bpf_object__for_each_program (program, o->obj) {
		bpf_program__set_log_buf(program, log, size);
	}
	err = bpf_object__load_skeleton(skeleton_of(o));
	/*
	 * Programs are loaded one after the other. So the last one that was begun is the one that
	 * failed, unless all of them are loaded. A lack of rights or of memory is no fault of that
	 * program.
	 */
	if (err && err != -EPERM && err != -ENOMEM && o->attach_ids.loading &&
	    bpf_program__fd(o->attach_ids.loading) < 0)
		*refused = o->attach_ids.loading;
	attach_ids_close(&o->attach_ids);
	if (err)
		return err;
	o->control = o->host ? &o->host->bss->nt_control : &o->target->bss->nt_control;
	o->counters = SHARED(o, nt_counters);
	o->hist_index = SHARED(o, nt_hist_index);
	o->stages_of = SHARED(o, nt_stages_of);
	o->past = SHARED(o, nt_past);
	o->slot_index = SHARED(o, nt_slot_index);
	o->hists_shared = map_shared(o, "hists_shared");
	if (!o->hists_shared)
		return -ENOMEM;
	err = open_pools(o);
	if (err)
		return err;
	o->alikes = o->host ? o->host->bss->nt_alikes : o->target->bss->nt_alikes;
	o->queues = map_shared(o, "queues");
	if (!o->queues)
		return -ENOMEM;
	if (o->target) {
		o->names = map_shared(o, "names");
		if (!o->names)
			return -ENOMEM;
	} else {
		o->controllers = map_shared(o, "controllers");
		if (!o->controllers)
			return -ENOMEM;
		o->path_lost = (uint64_t *)&o->host->bss->path_lost;
	}
	return 0;
}

struct bpf_link **object_link(const struct object *o, const char *name)
{
	const struct bpf_object_skeleton *s = skeleton_of(o);

	for (int i = 0; i < s->prog_cnt; i++)
		if (!strcmp(s->progs[i].name, name))
			return s->progs[i].link;
	return NULL;
}

void object_close(struct object *o)
{
	if (!o->obj)
		return;
	for (unsigned int i = 0; i < NT_POOLS_NR; i++)
		pool_close(&o->pools[i]);
	pool_grace_close(&o->grace);
	unmap_shared(o, "hists_shared", o->hists_shared);
	unmap_shared(o, "queues", o->queues);
	unmap_shared(o, "names", o->names);
	unmap_shared(o, "controllers", o->controllers);
	nt_host__destroy(o->host);
	nt_target__destroy(o->target);
	*o = (struct object){0};
}
