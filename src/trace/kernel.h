/* SPDX-License-Identifier: GPL-2.0-only */
/* What depends on the version of the running kernel, and which modules it has. */
#ifndef NTPROF_TRACE_KERNEL_H
#define NTPROF_TRACE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The oldest version on which tests have been run (docs/kernels.md). */
#define KERNEL_MAJOR 5
#define KERNEL_MINOR 14

/** kernel_too_old() - whether the kernel is too old for the programs; false if it is not known */
bool kernel_too_old(void);

/**
 * kernel_ends_locally() - whether requests of a queue that one CPU has for itself end on that CPU,
 * in its worker
 *
 * They do since Linux 6.1; false if the kernel's version is unknown.
 */
bool kernel_ends_locally(void);

/**
 * kernel_module_id() - identify a driver that is built into the kernel, or that is loaded and has
 * finished its initialization, before which the kernel lets no program be attached to it
 * @name: as in /sys/module
 *
 * Return: another number each time it is loaded, until the machine starts again; 0 if it is not
 * there.
 */
uint64_t kernel_module_id(const char *name);

/** kernel_has_module() - whether kernel_module_id() finds it */
bool kernel_has_module(const char *name);

/**
 * kernel_has_builtin() - whether a driver is part of the kernel, whose type information then has
 * the driver's types as well
 * @name: as in /sys/module
 */
bool kernel_has_builtin(const char *name);

/**
 * kernel_address() - the address of a function of the kernel or of a module
 *
 * Return: 0 if there is none of that name, or the kernel shows its address to nobody
 * (kptr_restrict)
 */
uint64_t kernel_address(const char *function);

/**
 * kernel_traceable() - the kernel's list of functions that programs can be attached to: lines with
 * a name and, of a module, " [module]"
 *
 * Return: to be closed; NULL if the kernel shows none to this process.
 */
FILE *kernel_traceable(void);

/* The memory of a BPF map, as the kernel reports it. */

/** memlock_of() - locked memory of the map behind a descriptor; 0 where it is not reported */
size_t memlock_of(int fd);

#endif /* NTPROF_TRACE_KERNEL_H */
