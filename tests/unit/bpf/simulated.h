/* SPDX-License-Identifier: GPL-2.0-only */
/* Connections and commands that are made up, for the program in simulated.bpf.h. */
#ifndef NTPROF_TESTS_BPF_SIMULATED_H
#define NTPROF_TESTS_BPF_SIMULATED_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/**
 * struct simulated - the arguments of the program, one 64-bit word each
 * @what: SIMULATED_*
 * @owner: address of the command that begins or ends; with SIMULATED_CONNECT the address of the
 *         driver's queue
 * @cpu: the CPU on which the command ends
 */
struct simulated {
	__u64 what;
	__u64 slot;
	__u64 owner;
	__u64 tag;
	__u64 op;
	__u64 cpu;
};

enum { SIMULATED_CONNECT, SIMULATED_BEGIN, SIMULATED_END, SIMULATED_JOIN };

#endif /* NTPROF_TESTS_BPF_SIMULATED_H */
