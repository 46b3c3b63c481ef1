/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sends user space the identity of a connection as soon as it is known. User space may read what
 * the connection has counted only after another connection has got the slot.
 */
#ifndef NTPROF_IDENTITY_BPF_H
#define NTPROF_IDENTITY_BPF_H

#include "pools.bpf.h"

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

#endif /* NTPROF_IDENTITY_BPF_H */
