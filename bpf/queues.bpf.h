/* SPDX-License-Identifier: GPL-2.0-only */
/* The queues of a side, and how they are found. */
#ifndef NTPROF_QUEUES_BPF_H
#define NTPROF_QUEUES_BPF_H

#include "addresses.bpf.h"
#include "control.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_queue);
} queues SEC(".maps");

/*
 * Stock probes find a queue by its address: 1 + its slot, or 0. An entry belongs to who came last, so who
 * reads it has to see whether it leads to the right one.
 */
#define NT_SLOT_INDEX_BITS 12
__u32 nt_slot_index[1 << NT_SLOT_INDEX_BITS] = {};

static __always_inline __u32 *slot_index(__u64 queue)
{
	return &nt_slot_index[hashed(queue, NT_SLOT_INDEX_BITS)];
}

/* CO-RE: struct sock with its function as a plain pointer. */
struct sock___plain {
	void *sk_data_ready;
} __attribute__((preserve_access_index));

/* @sk: BTF-typed */
static __always_inline __u64 data_ready_of(struct sock *sk)
{
	return (__u64)((struct sock___plain *)sk)->sk_data_ready;
}

/* The driver's queue that has this socket, 0 for sockets of others. @sk: BTF-typed */
static __always_inline __u64 queue_of_socket(struct sock *sk)
{
	return data_ready_of(sk) == nt_control.data_ready ? (__u64)sk->sk_user_data : 0;
}

/* @sk: an address; this is rare, and read by helper. */
static __always_inline void data_ready_learn(struct sock *sk)
{
	nt_control.data_ready = (__u64)BPF_CORE_READ((struct sock___plain *)sk, sk_data_ready);
}

#endif /* NTPROF_QUEUES_BPF_H */
