/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of a BPF map, as the kernel reports it. */
#ifndef NTPROF_TRACE_MEMLOCK_H
#define NTPROF_TRACE_MEMLOCK_H

#include <stddef.h>

/** memlock_of() - locked memory of the map behind a descriptor; 0 where it is not reported */
size_t memlock_of(int fd);

#endif /* NTPROF_TRACE_MEMLOCK_H */
