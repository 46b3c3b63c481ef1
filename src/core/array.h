/* SPDX-License-Identifier: GPL-2.0-only */
/* How many elements an array has. */
#ifndef NTPROF_CORE_ARRAY_H
#define NTPROF_CORE_ARRAY_H

/** ARRAY_SIZE() - elements of an array; not for a pointer */
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif /* NTPROF_CORE_ARRAY_H */
