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

/**
 * rights_hide() - keep other processes of this user out of the memory, the descriptors and /proc/PID of this one
 *
 * Capabilities are a thread's, but the memory is that of all threads: a process of the same user without any could write to it by
 * way of a thread without any (ptrace_may_access() in kernel/ptrace.c). Children that execute nothing are kept the same way. A
 * process that is not root and has no capability has nothing that others of its user lack: debuggers go on working there.
 */
void rights_hide(void);

/** rights_held() - those that the calling thread may use; 0 where the kernel does not tell */
uint64_t rights_held(void);

/** rights_bound() - for all that the calling thread executes: none but @keep, where it may say so (CAP_SETPCAP) */
void rights_bound(uint64_t keep);

/**
 * rights_reduce() - give up all but @keep, for the calling thread, and by rights_bound() for all that it executes
 *
 * Other threads have capabilities of their own.
 * Return: 0 or a negative errno.
 */
int rights_reduce(uint64_t keep);

/** rights_text() - their names, "CAP_BPF, CAP_KILL", or "no capability"; Return: @buf, of @size bytes */
const char *rights_text(uint64_t rights, char *buf, size_t size);

#endif /* NTPROF_CORE_RIGHTS_H */
