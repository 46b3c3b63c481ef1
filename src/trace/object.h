/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One side's BPF programs and maps, and the memory that user space shares with them. Both sides'
 * objects are used in the same way: only object.c knows which of the two skeletons it is.
 */
#ifndef NTPROF_TRACE_OBJECT_H
#define NTPROF_TRACE_OBJECT_H

#include <bpf/libbpf.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/control.h"
#include "shared/points.h"
#include "shared/record.h"
#include "shared/selection.h"
#include "trace/pool.h"

/*
 * Hands libbpf the type ids of what programs attach to. libbpf by itself looks up each one when it
 * loads the program, in one pass over all types of the kernel and its modules. For the programs of
 * a side, that takes longer than everything else at a start. trace/probes.c finds all of them in
 * one pass.
 */

struct bpf_program;

/* More programs than either side has. */
#define ATTACH_IDS_MAX 64
/* Modules with functions to attach to: the driver of PCIe, the core, and the driver. */
#define ATTACH_IDS_MODULES 3

/**
 * struct attach_id - what one program attaches to
 * @id: the function's or the tracepoint's type
 * @module: the module that has it, its number in struct attach_ids plus 1; 0 is the kernel itself
 */
struct attach_id {
	const struct bpf_program *program;
	uint32_t id;
	unsigned int module;
};

/**
 * struct attach_ids - all zeroes when there is none
 * @at: the @nr programs that are to be loaded
 * @modules: names, or NULL
 * @fds: their type information, open from attach_ids_open() to attach_ids_close()
 * @loading: the program of these that libbpf has handed to the kernel last, or NULL
 */
struct attach_ids {
	size_t nr;
	struct attach_id at[ATTACH_IDS_MAX];
	const char *modules[ATTACH_IDS_MODULES];
	int fds[ATTACH_IDS_MODULES];
	const struct bpf_program *loading;
};

/**
 * attach_ids_open() - programs loaded until attach_ids_close() attach to @ids
 *
 * Return: 0 or a negative errno: -ENOENT if a module has gone.
 */
int attach_ids_open(struct attach_ids *ids);
void attach_ids_close(struct attach_ids *ids);

struct nt_host;
struct nt_target;

/**
 * struct object - all zeroes when there is none
 * @host, @target: the skeleton of the side's object; the other one is NULL
 * @obj: libbpf's object for it
 * @knobs: to be written between object_open() and object_load()
 * @attach_ids: likewise
 * @control: shared with the programs from object_load() on, like all members below
 * @counters: [NT_CPUS]
 * @hist_index: [1 << NT_HIST_INDEX_BITS]
 * @stages_of: [NT_CPUS]
 * @slot_index: [1 << NT_SLOT_INDEX_BITS]
 * @past: [NT_PASTS_NR]
 * @pools: by enum nt_pool_id
 * @grace: of all pools
 * @hists_shared: [max_entries of the map of that name]
 * @alikes: [NT_ALIKE], see shared/selection.h
 * @queues: [max_entries of the map of that name]
 * @names: likewise; the target's only
 * @controllers: likewise; the host's only
 * @path_lost: events of controllers that found no room; the host's only
 */
struct object {
	struct nt_host *host;
	struct nt_target *target;
	struct bpf_object *obj;
	struct nt_knobs *knobs;
	struct attach_ids attach_ids;
	struct nt_control *control;
	struct nt_counters *counters;
	struct nt_hist_bucket *hist_index;
	struct nt_stages_of *stages_of;
	struct nt_slot_bucket *slot_index;
	struct nt_past *past;
	struct pool pools[NT_POOLS_NR];
	struct pool_grace grace;
	struct nt_hist *hists_shared;
	uint32_t *alikes;
	struct nt_queue *queues;
	struct nt_names *names;
	struct nt_controller *controllers;
	uint64_t *path_lost;
};

/**
 * object_open() - read the programs; nothing is loaded yet
 * @o: filled; release it with object_close(), after a failure as well
 * @side: host or target
 *
 * Return: 0 or a negative errno.
 */
int object_open(struct object *o, enum nt_side side);

/** object_map() - the map @name, or NULL if this side has none */
struct bpf_map *object_map(const struct object *o, const char *name);

/** object_loads() - whether the program @program is chosen to be loaded; false if there is none */
bool object_loads(const struct object *o, const char *program);

/**
 * object_size_map() - set the number of entries of the map @name, if there is one; before
 * object_load()
 */
void object_size_map(struct object *o, const char *name, uint32_t entries);

/**
 * object_load() - load the chosen programs, and map the shared memory
 * @log: filled with the verifier's explanation if it refuses a program
 * @size: of @log, bytes
 * @refused: set to the program that the kernel refused, if that is what failed, or else NULL
 *
 * After a failure, only object_close() may be called for @o. Return: 0 or a negative errno.
 */
int object_load(struct object *o, char *log, size_t size, const struct bpf_program **refused);

/**
 * object_link() - where the link of the program @name is kept; object_close() destroys the link
 *
 * Return: NULL if there is no such program.
 */
struct bpf_link **object_link(const struct object *o, const char *name);

/** object_close() - detach and unload everything */
void object_close(struct object *o);

#endif /* NTPROF_TRACE_OBJECT_H */
