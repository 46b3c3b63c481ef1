/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of the running kernel's functions, modules' included, by the addresses that are in them. */
#ifndef NTPROF_CORE_SYMBOLS_H
#define NTPROF_CORE_SYMBOLS_H

#include <stdint.h>

#define SYMBOLS_FILE "/proc/kallsyms"

struct symbols;

/**
 * symbols_read() - read names
 * @path: SYMBOLS_FILE, or a file that looks like it: "ADDRESS TYPE NAME [MODULE]", in any order
 *
 * Return: them, to be released with symbols_free(), or NULL with errno set: ENODATA where there are no functions,
 * EPERM where all addresses are 0, which is what a reader sees whom the kernel does not trust with them.
 */
struct symbols *symbols_read(const char *path);

/**
 * symbols_check() - whether symbols_read() will find something; quick, where the kernel has some 200,000 names
 * @path: as there
 *
 * Return: 0 or a negative errno, as there.
 */
int symbols_check(const char *path);

/**
 * symbols_find() - the function that an address lies in
 *
 * Return: its name, valid as long as @s; NULL where no function begins at the address or before.
 */
const char *symbols_find(const struct symbols *s, uint64_t address);

/** symbols_free() - release; NULL is fine */
void symbols_free(struct symbols *s);

#endif /* NTPROF_CORE_SYMBOLS_H */
