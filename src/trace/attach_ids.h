/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hands libbpf the type ids of what programs attach to. libbpf by itself looks up each one when it
 * loads the program, in one pass over all types of the kernel and its modules. For the programs of
 * a side, that takes longer than everything else at a start. trace/probes.c finds all of them in
 * one pass.
 */
#ifndef NTPROF_TRACE_ATTACH_IDS_H
#define NTPROF_TRACE_ATTACH_IDS_H

#include <stddef.h>
#include <stdint.h>

struct bpf_program;

/* More programs than either side has. */
#define ATTACH_IDS_MAX 64
/* Modules with functions to attach to: the driver and its core. */
#define ATTACH_IDS_MODULES 2

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
 * attach_ids_register() - make libbpf take the ids from here for all objects that are opened from
 * now on; once in a process
 *
 * This applies to sections "tp_btf/", "fentry/" and "fexit/"; attach their programs with
 * bpf_program__attach_trace().
 *
 * Return: 0 or a negative errno.
 */
int attach_ids_register(void);

/**
 * attach_ids_open() - what is loaded from now on until attach_ids_close() attaches to @ids
 *
 * Return: 0 or a negative errno: -ENOENT if a module has gone.
 */
int attach_ids_open(struct attach_ids *ids);
void attach_ids_close(struct attach_ids *ids);

#endif /* NTPROF_TRACE_ATTACH_IDS_H */
