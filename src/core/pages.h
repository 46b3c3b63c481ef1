/* SPDX-License-Identifier: GPL-2.0-only */
/* Reserves memory for the largest possible need. Pages that are never touched take no memory. */
#ifndef NTPROF_CORE_PAGES_H
#define NTPROF_CORE_PAGES_H

#include <stddef.h>

/**
 * pages_reserve() - reserve @size bytes, all zero
 *
 * Return: memory for pages_release(), or NULL if memory ran out.
 */
void *pages_reserve(size_t size);

/** pages_release() - give back the @size bytes of pages_reserve(); @at may be NULL */
void pages_release(void *at, size_t size);

#endif /* NTPROF_CORE_PAGES_H */
