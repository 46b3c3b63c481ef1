/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the queue of each slot lies, for the side's programs and for those that read the state of
 * its TCP connection: user space gives the map of the former to the latter. It cannot write it. To
 * be included after vmlinux.h, <bpf/bpf_helpers.h> and shared/control.h.
 */
#ifndef NTPROF_KERNEL_QUEUES_BPF_H
#define NTPROF_KERNEL_QUEUES_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_RDONLY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_kernel_queue);
} kernel_queues SEC(".maps");

#endif /* NTPROF_KERNEL_QUEUES_BPF_H */
