/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Capabilities of the calling thread, as bits (1 << CAP_...): what is not needed is given up, and cannot be had again.
 */
#ifndef NTPROF_CORE_RIGHTS_H
#define NTPROF_CORE_RIGHTS_H

#include <stddef.h>
#include <stdint.h>

#define RIGHT(capability) (1ULL << (capability))
#define RIGHTS_ALL UINT64_MAX

/** rights_held() - those that the calling thread may use; 0 where the kernel does not tell */
uint64_t rights_held(void);

/**
 * rights_reduce() - give up all but @keep, for the calling thread, and where it may (CAP_SETPCAP) for all that it executes
 *
 * Other threads have capabilities of their own.
 * Return: 0 or a negative errno.
 */
int rights_reduce(uint64_t keep);

/** rights_text() - their names, "CAP_BPF, CAP_KILL", or "no capability"; Return: @buf, of @size bytes */
const char *rights_text(uint64_t rights, char *buf, size_t size);

#endif /* NTPROF_CORE_RIGHTS_H */
