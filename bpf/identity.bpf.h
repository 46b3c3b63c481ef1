/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who a connection is, told to user space as soon as it is known: what it has counted may be read only when the slot has
 * been given to others.
 */
#ifndef NTPROF_IDENTITY_BPF_H
#define NTPROF_IDENTITY_BPF_H

#include "pools.bpf.h"

/* This is rare. @names: in a map, or NULL. The others: see struct nt_identity */
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
