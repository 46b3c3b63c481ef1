/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Capabilities of the calling thread, as bits (1 << CAP_...). Those that are not needed are dropped
 * for good.
 */
#ifndef NTPROF_CORE_RIGHTS_H
#define NTPROF_CORE_RIGHTS_H

#include <stddef.h>
#include <stdint.h>

#define RIGHT(capability) (1ULL << (capability))
#define RIGHTS_ALL UINT64_MAX

/**
 * rights_hide() - deny other processes of this user the memory, the descriptors and /proc/PID of
 * this process
 *
 * Each thread has its own capabilities, but all threads share the memory. So a process of the same
 * user without capabilities could attach to a thread without capabilities, and write to the memory
 * of all (ptrace_may_access() in kernel/ptrace.c). Children that do not execute a program are
 * protected in the same way. A process that is not root and has no capability has nothing to
 * protect from its own user, so debuggers still work there.
 */
void rights_hide(void);

/**
 * rights_isolate() - deny the calling thread the memory, the descriptors and the root directory of
 * all processes but those that it makes from now on, even if they have fewer capabilities
 *
 * It makes a Landlock domain, from which no process outside of it can be traced
 * (hook_ptrace_access_check() in security/landlock/). Threads and processes that are made later are
 * in the domain; threads that exist already are not. As a side effect, the thread can no longer
 * rename or link a file into another folder.
 *
 * Return: 0 or a negative errno: -ENOSYS or -EOPNOTSUPP if the kernel has no Landlock, -EPERM if
 * the thread has neither no_new_privs nor CAP_SYS_ADMIN.
 */
int rights_isolate(void);

/**
 * rights_held() - the permitted capabilities of the calling thread; 0 if the kernel does not report
 * them
 */
uint64_t rights_held(void);

/** rights_effective() - those that are in effect; RIGHTS_ALL if the kernel does not report them */
uint64_t rights_effective(void);

/**
 * rights_bound() - limit the capabilities of programs that the calling thread executes to @keep
 *
 * It needs CAP_SETPCAP, and does nothing without it.
 */
void rights_bound(uint64_t keep);

/**
 * rights_reduce() - drop all capabilities but @keep in the calling thread
 *
 * It also limits the programs that the thread executes: by rights_bound(), and because it clears
 * the inheritable capabilities. The kernel then clears the ambient ones as well (capabilities(7)).
 * Other threads keep their own.
 *
 * Return: 0 or a negative errno.
 */
int rights_reduce(uint64_t keep);

/**
 * rights_text() - names of capabilities: "CAP_BPF, CAP_KILL", or "no capability"; Return: @buf, of
 * @size bytes
 */
const char *rights_text(uint64_t rights, char *buf, size_t size);

#endif /* NTPROF_CORE_RIGHTS_H */
