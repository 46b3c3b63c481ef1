/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the kernel stacks at which commands are given to a driver. It has programs of its own
 * (bpf/stacks.bpf.c), and uses no tracer.
 */
#ifndef NTPROF_TRACE_STACKS_H
#define NTPROF_TRACE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/paths.h"
#include "trace/messages.h"

struct stacks;

/**
 * stacks_open() - load and attach
 * @out: set on success; release with stacks_close()
 * @sample: one command in about this many is looked at; 0 and 1: every one
 * @transports: of the controllers, see core/transport.h
 * @verbose: see &tracer_options.verbose
 * @detail: on failure filled with the text to insert into the message; @size bytes
 *
 * Return: TRACER_OK, or why not; TRACER_NO_MODULE if nvme-tcp is asked for and not loaded.
 */
enum tracer_status stacks_open(struct stacks **out, uint32_t sample, unsigned int transports,
			       unsigned int verbose, char *detail, size_t size);

/**
 * stacks_detach() - stop counting
 *
 * The program that sees commands begin goes first. So some commands in flight still end before this
 * returns.
 */
void stacks_detach(struct stacks *s);

/**
 * stacks_read() - all that was counted; after stacks_detach()
 * @paths: all zeroes; filled and sorted; release it with paths_free()
 * @name, @context: the names of frames, see paths_add()
 *
 * Return: 0 or a negative errno.
 */
int stacks_read(struct stacks *s, struct paths *paths, path_name_fn *name, const void *context);

/** stacks_close() - release everything; NULL is fine */
void stacks_close(struct stacks *s);

#endif /* NTPROF_TRACE_STACKS_H */
