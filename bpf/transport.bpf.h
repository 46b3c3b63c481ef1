/* SPDX-License-Identifier: GPL-2.0-only */
/* What any controller of a host says of itself, whatever its driver. All is read by helper. */
#ifndef NTPROF_TRANSPORT_BPF_H
#define NTPROF_TRANSPORT_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "shared/points.h"

/* The name of a transport, which has room for each of NT_TRANSPORTS, as one number. */
union core_name {
	char text[8];
	__u64 number;
};

/* The transport of a controller by the name that its driver gives. */
static __always_inline __u32 transport_of(struct nvme_ctrl *ctrl)
{
	union core_name name = {};

	bpf_probe_read_kernel_str(name.text, sizeof(name.text), BPF_CORE_READ(ctrl, ops, name));
#define CORE_IF_NAMED(id, is)                            \
	if (name.number == (union core_name){is}.number) \
		return NT_TRANSPORT_##id;
	NT_TRANSPORTS(CORE_IF_NAMED)
	return NT_TRANSPORT_OTHER;
}

/*
 * The name of the subsystem that a controller has turned out to be part of, which leaves @to as it
 * is where that is not known yet.
 */
static __always_inline void subsysnqn_read(char *to, __u32 size, struct nvme_ctrl *ctrl)
{
	struct nvme_subsystem *subsys = BPF_CORE_READ(ctrl, subsys);

	if (subsys)
		bpf_probe_read_kernel_str(
			to, size,
			(void *)((__u64)subsys +
				 bpf_core_field_offset(struct nvme_subsystem, subnqn)));
}

#endif /* NTPROF_TRANSPORT_BPF_H */
