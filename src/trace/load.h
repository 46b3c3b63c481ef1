/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a side's object to programs in the kernel: chooses the programs, sets the knobs, and sizes
 * the maps. In this order: load_open(), load_choose(), load_finish().
 */
#ifndef NTPROF_TRACE_LOAD_H
#define NTPROF_TRACE_LOAD_H

#include <stddef.h>

#include "trace/messages.h"

struct tracer;

/**
 * load_open() - open the object of @t's side, and set what depends on the machine and on the
 * options
 * @t: its options are read; object, cpus, nr_slots and expected are filled
 *
 * Return: 0 or a negative errno.
 */
int load_open(struct tracer *t);

/**
 * load_choose() - decide where the points come from, and which programs are loaded
 * @t: source, missing and into are filled
 * @detail: on failure filled with the text to insert into the message; @size bytes
 *
 * Return: TRACER_OK, or why tracing is not possible.
 */
enum tracer_status load_choose(struct tracer *t, char *detail, size_t size);

/**
 * load_finish() - load the chosen programs
 *
 * Return: 0 or a negative errno. If the kernel refused a program, that is added to the tracer's
 * refusals, and a new tracer does without it.
 */
int load_finish(struct tracer *t);

/**
 * load_print_memory() - print to standard error what memory the maps and pools take, and how much
 * of the pools is taken
 */
void load_print_memory(const struct tracer *t);

#endif /* NTPROF_TRACE_LOAD_H */
