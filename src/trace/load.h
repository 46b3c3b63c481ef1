/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a side's object to programs in the kernel: which of them, with which knobs, and maps of
 * which sizes. In this order: load_open(), load_choose(), load_finish().
 */
#ifndef NTPROF_TRACE_LOAD_H
#define NTPROF_TRACE_LOAD_H

#include <stddef.h>

#include "trace/messages.h"

struct tracer;

/**
 * load_open() - open the object of @t's side, and set what depends on the machine and on what was
 * asked for
 * @t: its options are read; object, cpus, nr_slots and expected are filled
 *
 * Return: 0 or a negative errno.
 */
int load_open(struct tracer *t);

/**
 * load_choose() - decide where the points come from, and which programs are loaded
 * @t: source, missing and into are filled
 * @detail: on failure filled with what to insert into the message; @size bytes
 *
 * Return: TRACER_OK, or why there is nothing to trace with.
 */
enum tracer_status load_choose(struct tracer *t, char *detail, size_t size);

/**
 * load_finish() - load what was chosen
 *
 * Return: 0 or a negative errno. Where it is a program that the kernel refused, that is added to
 * the tracer's refusals: another one, begun anew, does without it.
 */
int load_finish(struct tracer *t);

/** load_print_memory() - tell on standard error what memory the maps and pools take, and what is taken of these */
void load_print_memory(const struct tracer *t);

#endif /* NTPROF_TRACE_LOAD_H */
