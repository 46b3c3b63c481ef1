/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory for the most that there may ever be: pages that are never touched take none.
 */
#ifndef NTPROF_CORE_PAGES_H
#define NTPROF_CORE_PAGES_H

#include <stddef.h>

/** pages_reserve() - @size bytes, all zero; Return: pages_release() them, NULL when memory ran out */
void *pages_reserve(size_t size);

/** pages_release() - give back what pages_reserve() gave of that @size; @at may be NULL */
void pages_release(void *at, size_t size);

#endif /* NTPROF_CORE_PAGES_H */
