/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queues of a side: each has a slot in one map, whose entries user space reads while programs
 * write them. Stock probes find a queue by the address of the driver's structure for it, and that
 * by its socket.
 *
 * A queue's entry is written by its first command and by the Connect command, before which no other
 * passes, and whose answer says which controller it is; see struct nt_queue for what changes later.
 * Nothing is locked: who finds a queue by something that may be stale verifies it.
 */
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

/* NULL if the map has no such slot. */
static __always_inline struct nt_queue *queue_at(__u32 slot)
{
	return bpf_map_lookup_elem(&queues, &slot);
}

/* Of a command in flight; NULL never, but the verifier does not know. */
static __always_inline struct nt_queue *queue_of_cmd(const struct nt_cmd *c)
{
	return bpf_map_lookup_elem(&queues, &c->r.slot);
}

/* By the address of the driver's structure for it, the slot of a queue: see core/pools.h. */
struct nt_slot_bucket nt_slot_index[1 << NT_SLOT_INDEX_BITS] = {};

/* Of an address, typed or plain. */
static __always_inline struct nt_slot_bucket *slot_bucket(__u32 hash)
{
	return &nt_slot_index[hash >> (32 - NT_SLOT_INDEX_BITS)];
}

static __always_inline __u32 slot_hash(__u64 address)
{
	return hashed(address, 32);
}

/*
 * The queue of @slot is at @address from now on. Where a bucket is full, one gives way: user space takes those of
 * queues that are gone out. This is rare.
 */
static __always_inline void slot_index_set(__u64 address, __u32 slot)
{
	__u32 hash = slot_hash(address), to = hash & (NT_SLOT_WAYS - 1);
	__u32 tag = NT_SLOT_TAG(hash), value = tag | (slot + 1);
	struct nt_slot_bucket *b = slot_bucket(hash);

	for (__u32 i = 0; i < NT_SLOT_WAYS; i++) {
		__u32 at = b->at[i];

		if (!at || (at & ~NT_SLOT_MASK) == tag || (at & NT_SLOT_MASK) == slot + 1) {
			to = i;
			break;
		}
	}
	b->at[to] = value;
}

/* By the index. Not verified: it may be another queue's. @slot: filled, with its slot */
static __always_inline struct nt_queue *queue_by_index(__u64 address, __u32 *slot)
{
	__u32 hash = slot_hash(address), tag = NT_SLOT_TAG(hash);
	struct nt_slot_bucket *b = slot_bucket(hash);

	*slot = ~0u;
	for (__u32 i = 0; i < NT_SLOT_WAYS; i++) {
		__u32 at = b->at[i];

		if (at && (at & ~NT_SLOT_MASK) == tag) {
			*slot = (at & NT_SLOT_MASK) - 1;
			break;
		}
	}
	return queue_at(*slot);
}

/* A command begins: user space, which looks at what is in flight, leaves queues alone where none has. */
static __always_inline void queue_begins(struct nt_queue *q)
{
	if (q->begun != nt_control.epoch)
		q->begun = nt_control.epoch;
}

/* CO-RE: struct sock with its function as a plain pointer. */
struct sock___plain {
	void *sk_data_ready;
} __attribute__((preserve_access_index));

/* @sk: typed */
static __always_inline __u64 data_ready_of(struct sock *sk)
{
	return (__u64)((struct sock___plain *)sk)->sk_data_ready;
}

/*
 * The address of the driver's structure for the queue of this socket, 0 for sockets of others. @sk:
 * typed
 */
static __always_inline __u64 queue_address_of(struct sock *sk)
{
	return data_ready_of(sk) == nt_control.data_ready ? (__u64)sk->sk_user_data : 0;
}

/*
 * A queue's socket shows which function the driver's sockets call, unless the driver has not got it
 * yet, or has given it back, which it may do while the queue is still in use: then it calls what all
 * sockets call. @sk: a plain address; this is rare, and read by helper
 * @queue: address of the driver's structure
 * @original: the function that the driver has taken the place of, as it says; 0 if there is none
 */
static __always_inline void data_ready_learn(struct sock *sk, __u64 queue, __u64 original)
{
	__u64 ready = (__u64)BPF_CORE_READ((struct sock___plain *)sk, sk_data_ready);

	if (original && ready != original && (__u64)BPF_CORE_READ(sk, sk_user_data) == queue)
		nt_control.data_ready = ready;
}

#endif /* NTPROF_QUEUES_BPF_H */
