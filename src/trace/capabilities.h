/* SPDX-License-Identifier: GPL-2.0-only */
/* What this process has to be allowed to do, in order to trace. */
#ifndef NTPROF_TRACE_CAPABILITIES_H
#define NTPROF_TRACE_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>

/**
 * capabilities_lack() - whether it may not load and attach the programs, whoever it is
 * @lacks: filled with the capabilities that it lacks, such as "CAP_SYS_ADMIN"; @size bytes
 *
 * Loading takes CAP_BPF, and CAP_PERFMON as the programs look into the kernel; CAP_SYS_ADMIN stands for both. Besides, the
 * types of a module, with which programs are attached to its functions and tracepoints, are handed to CAP_SYS_ADMIN only
 * (BPF_BTF_GET_FD_BY_ID and BPF_BTF_GET_NEXT_ID in kernel/bpf/syscall.c, as of Linux 6.12).
 */
bool capabilities_lack(char *lacks, size_t size);

#endif /* NTPROF_TRACE_CAPABILITIES_H */
