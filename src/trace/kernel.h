/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What depends on the running kernel's version, and which versions those are; which modules it has.
 */
#ifndef NTPROF_TRACE_KERNEL_H
#define NTPROF_TRACE_KERNEL_H

#include <stdbool.h>

/* The least that tests have been run on (docs/kernels.md). */
#define KERNEL_MAJOR 5
#define KERNEL_MINOR 14

/**
 * kernel_too_old() - whether the programs cannot be loaded; false if the kernel does not tell its
 * version
 */
bool kernel_too_old(void);

/**
 * kernel_ends_locally() - whether requests of a queue that one CPU has for itself end on that CPU,
 * in its worker
 *
 * They do since 6.1; false if the kernel does not tell its version.
 */
bool kernel_ends_locally(void);

/**
 * kernel_has_module() - whether a module is there, and done with its own beginning: before that the kernel lets no program
 * be attached to it
 * @name: as /sys/module has it
 */
bool kernel_has_module(const char *name);

#endif /* NTPROF_TRACE_KERNEL_H */
