/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The controllers of a host, by the N of their nvmeN. After a controller was deleted, another one
 * may get its N and its memory. So each controller has a number. The names of controllers are kept
 * here, because another controller may have come by the time that user space asks the kernel for
 * them.
 *
 * An entry is written when a controller's first command is seen, and by the Connect command of its
 * admin queue, before which no other command passes. If two CPUs see a first command at once, they
 * agree on one number.
 */
#ifndef NTPROF_CONTROLLERS_BPF_H
#define NTPROF_CONTROLLERS_BPF_H

#include "addresses.bpf.h"
#include "pools.bpf.h"
#include "transport.bpf.h"

/*
 * Sends user space the identity of a connection as soon as it is known. User space may read what
 * the connection has counted only after another connection has got the slot.
 */

/*
 * This is rare. For the other parameters see struct nt_identity.
 * @names: in a map; NULL: nothing is sent
 */
static __always_inline void identity_tell(__u32 slot, __u32 who, __u32 instance, __u16 qid,
					  __u16 cntlid, const struct nt_names *names)
{
	struct nt_identity *i;

	if (!names)
		return;
	i = bpf_ringbuf_reserve(&calls, sizeof(*i), 0);
	if (!i)
		return;
	i->slot = slot;
	i->who = who;
	i->instance = instance;
	i->qid = qid;
	i->cntlid = cntlid;
	/* A copy by the compiler would be a hundred instructions. */
	bpf_probe_read_kernel(&i->names, sizeof(i->names), names);
	bpf_ringbuf_submit(i, 0);
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_controller);
} controllers SEC(".maps");

/*
 * The names that the host was asked to connect with: of the subsystem, and its own. They are known
 * before it is connected. A controller that nothing was asked for, as of PCIe, is no part of a
 * subsystem until the host has identified it, and knows no name of the host.
 */
static __always_inline void controller_name(struct nt_names *n, struct nvme_ctrl *ctrl)
{
	struct nvmf_ctrl_options *opts = BPF_CORE_READ(ctrl, opts);
	struct nvmf_host *host;

	if (!opts) {
		n->hostnqn[0] = n->subsysnqn[0] = '\0';
		subsysnqn_read(n->subsysnqn, sizeof(n->subsysnqn), ctrl);
		return;
	}
	host = BPF_CORE_READ(opts, host);

	bpf_probe_read_kernel_str(n->subsysnqn, sizeof(n->subsysnqn),
				  BPF_CORE_READ(opts, subsysnqn));
	bpf_probe_read_kernel_str(
		n->hostnqn, sizeof(n->hostnqn),
		(void *)((__u64)host + bpf_core_field_offset(struct nvmf_host, nqn)));
}

/*
 * Writes the names of controller @number to @n. User space that reads them meanwhile sees that they
 * belong to no controller.
 */
static __always_inline void names_set(struct nt_controller *c, __u16 number, struct nt_names *n,
				      struct nvme_ctrl *ctrl)
{
	c->named[number & 1] = 0;
	in_order();
	controller_name(n, ctrl);
	in_order();
	c->named[number & 1] = number + 1;
}

/*
 * The number of a controller on one of whose queues a command begins. This is rare, and reads by
 * helper.
 * @ctrl: typed, or a plain address
 * @connect: its admin queue is being connected. The kernel knows the subsystem of a controller only
 *           if it has been connected before
 */
static __always_inline __u16 controller_number(__u32 instance, struct nvme_ctrl *ctrl, bool connect)
{
	const __u64 mask = (1ULL << NT_CONTROLLER_SHIFT) - 1;
	struct nt_controller *c = bpf_map_lookup_elem(&controllers, &instance);
	__u64 address = plain_number((__u64)ctrl), last, next;
	struct nt_names *n;

	if (!c)
		return 0;
	last = c->last;
	if (last && !((address ^ last) & mask) && !(connect && !BPF_CORE_READ(ctrl, subsys)))
		return last >> NT_CONTROLLER_SHIFT;
	next = ((last >> NT_CONTROLLER_SHIFT) + 1) << NT_CONTROLLER_SHIFT | (address & mask);
	if (__sync_val_compare_and_swap(&c->last, last, next) != last)
		return c->last >> NT_CONTROLLER_SHIFT;
	next >>= NT_CONTROLLER_SHIFT;
	n = &c->names[next & 1];
	names_set(c, next, n, ctrl);
	identity_tell(instance * nt_knobs.qid_stride, next, instance, 0, NT_CNTLID_NONE, n);
	return next;
}

/*
 * The subsystem of a controller is known by now. Its first commands came before that if its driver
 * has just found it. @number: of the controller
 */
static __always_inline void controller_rename(__u32 instance, __u16 number, struct nvme_ctrl *ctrl)
{
	struct nt_controller *c = bpf_map_lookup_elem(&controllers, &instance);
	struct nt_names *n;

	if (!c || c->last >> NT_CONTROLLER_SHIFT != number)
		return;
	n = &c->names[number & 1];
	if (n->subsysnqn[0])
		return;
	names_set(c, number, n, ctrl);
}

#endif /* NTPROF_CONTROLLERS_BPF_H */
