/* SPDX-License-Identifier: GPL-2.0-only */
/* The number of elements of an array. */
#ifndef NTPROF_CORE_ARRAY_H
#define NTPROF_CORE_ARRAY_H

/** ARRAY_SIZE() - number of elements of an array; it does not work for a pointer */
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif /* NTPROF_CORE_ARRAY_H */
