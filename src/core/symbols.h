/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of the running kernel's functions, including modules, by the addresses in them. */
#ifndef NTPROF_CORE_SYMBOLS_H
#define NTPROF_CORE_SYMBOLS_H

#include <stdint.h>

#define SYMBOLS_FILE "/proc/kallsyms"

struct symbols;

/**
 * symbols_read() - read names
 * @path: SYMBOLS_FILE, or a file of the same format: "ADDRESS TYPE NAME [MODULE]", in any order
 *
 * Return: the names, for symbols_free(), or NULL with errno set: ENODATA if there are no functions,
 * EPERM if all addresses are 0. The kernel shows zeroes to readers without the right to see
 * addresses.
 */
struct symbols *symbols_read(const char *path);

/**
 * symbols_check() - whether symbols_read() will find names; fast, while the kernel has some 200,000
 * names
 * @path: as for symbols_read()
 *
 * Return: 0 or a negative errno, as for symbols_read().
 */
int symbols_check(const char *path);

/**
 * symbols_find() - the function that contains an address
 *
 * Return: its name, valid as long as @s; NULL if no function begins at or before the address.
 */
const char *symbols_find(const struct symbols *s, uint64_t address);

/** symbols_free() - release; @s may be NULL */
void symbols_free(struct symbols *s);

#endif /* NTPROF_CORE_SYMBOLS_H */
