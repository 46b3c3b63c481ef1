/* SPDX-License-Identifier: GPL-2.0-only */
/* The capabilities that this process needs in order to trace. */
#ifndef NTPROF_TRACE_CAPABILITIES_H
#define NTPROF_TRACE_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>

/**
 * capabilities_lack() - whether the process lacks what it needs to load and attach the programs,
 * whatever its user id
 * @lacks: filled with the capabilities that it lacks, such as "CAP_SYS_ADMIN"; @size bytes
 *
 * Loading needs CAP_BPF, and CAP_PERFMON because the programs read kernel memory. CAP_SYS_ADMIN
 * stands for both. In addition, the kernel hands the types of a module to CAP_SYS_ADMIN only. They
 * are needed to attach programs to its functions and tracepoints (BPF_BTF_GET_FD_BY_ID and
 * BPF_BTF_GET_NEXT_ID in kernel/bpf/syscall.c, as of Linux 6.12).
 */
bool capabilities_lack(char *lacks, size_t size);

#endif /* NTPROF_TRACE_CAPABILITIES_H */
