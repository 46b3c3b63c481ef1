/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queues of a side. Each has a slot in one map, whose entries user space reads while programs
 * write them. Stock probes find a queue by the address of the driver's structure for it, and that
 * address by the socket.
 *
 * A queue's entry is written by its first command and by the Connect command, before which no other
 * command passes, and whose answer says which controller the queue belongs to. See struct nt_queue
 * for what changes later. There is no lock: code that finds a queue by something that may be stale
 * verifies it.
 */
#ifndef NTPROF_QUEUES_BPF_H
#define NTPROF_QUEUES_BPF_H

#include "addresses.bpf.h"
#include "control.bpf.h"
#include "kernel_queues.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_queue);
} queues SEC(".maps");

/*
 * The addresses in struct nt_queue can be written by user space. They are only compared with
 * others, and memory is never read through them: see kernel_queues.bpf.h.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_RDONLY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_learned);
} learned SEC(".maps");

/* Queue @q is known: whoever sees that must also see its names, numbers and size. */
static __always_inline void queue_identified(struct nt_queue *q)
{
	in_order();
	q->identified = q->gen;
}

/* Never NULL, but the verifier does not know that. */
static __always_inline struct nt_learned *learned_now(void)
{
	__u32 only = 0;

	return bpf_map_lookup_elem(&learned, &only);
}

/* A queue takes its slot. @queue, @sk: plain addresses */
static __always_inline void kernel_queue_set(__u32 slot, __u64 queue, struct sock *sk)
{
	struct nt_kernel_queue *k = bpf_map_lookup_elem(&kernel_queues, &slot);

	if (!k)
		return;
	k->queue = 0;
	k->sock = (__u64)sk;
	k->queue = queue;
}

/*
 * The address of the driver's structure for the queue that was last seen in this slot. Verified:
 * its socket still leads to it, so it is not freed. This is rare, and reads by helper.
 * Return: 0 if there is none
 */
static __always_inline __u64 kernel_queue_at(__u32 slot)
{
	struct nt_kernel_queue *k = bpf_map_lookup_elem(&kernel_queues, &slot);
	__u64 queue = k ? k->queue : 0;
	struct sock *sk = k ? (void *)k->sock : NULL;

	return queue && (__u64)BPF_CORE_READ(sk, sk_user_data) == queue ? queue : 0;
}

/* Attempts of slot_seen(), of which each other CPU at the same time makes one fail. */
#define NT_SLOT_SEEN_ATTEMPTS 8

/* A queue takes its slot, where user space has to look from now on. */
static __always_inline void slot_seen(__u32 slot)
{
	__u32 seen = nt_control.slots_seen, was;

	for (__u32 i = 0; i < NT_SLOT_SEEN_ATTEMPTS; i++) {
		if (seen > slot)
			return;
		was = __sync_val_compare_and_swap(&nt_control.slots_seen, seen, slot + 1);
		if (was == seen)
			return;
		seen = was;
	}
	nt_control.slots_seen = ~0u;
}

/* Return: NULL if the map has no such slot */
static __always_inline struct nt_queue *queue_at(__u32 slot)
{
	return bpf_map_lookup_elem(&queues, &slot);
}

/* The queue of a command in flight. Never NULL, but the verifier does not know that. */
static __always_inline struct nt_queue *queue_of_cmd(const struct nt_cmd *c)
{
	return bpf_map_lookup_elem(&queues, &c->r.slot);
}

/* Leads from the address of the driver's structure for a queue to its slot: see shared/pools.h. */
struct nt_slot_bucket nt_slot_index[1 << NT_SLOT_INDEX_BITS] = {};

/* The bucket of an address with this hash: see slot_hash(). */
static __always_inline struct nt_slot_bucket *slot_bucket(__u32 hash)
{
	return &nt_slot_index[hash >> (32 - NT_SLOT_INDEX_BITS)];
}

static __always_inline __u32 slot_hash(__u64 address)
{
	return hashed(address, 32);
}

/*
 * The queue of @slot is at @address from now on. If the bucket is full, one entry is replaced; user
 * space removes the entries of queues that are gone. This is rare.
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

/*
 * Finds a queue by the index. Not verified: it may be another queue. @slot: filled, with its slot
 */
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

/* A command begins. User space looks for commands in flight only in queues where one has begun. */
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
 * The address of the driver's structure for the queue of this socket, to be compared with others.
 * @sk: typed
 * Return: 0 for sockets of others
 */
static __always_inline __u64 queue_address_of(struct sock *sk)
{
	return data_ready_of(sk) == nt_control.data_ready ? (__u64)sk->sk_user_data : 0;
}

/* The same, to be read through: see struct nt_learned. */
static __always_inline __u64 queue_of_sock(struct sock *sk)
{
	const struct nt_learned *l;

	if (data_ready_of(sk) != nt_control.data_ready)
		return 0;
	l = learned_now();
	return l && data_ready_of(sk) == l->data_ready ? (__u64)sk->sk_user_data : 0;
}

#define NT_AF_INET 2
#define NT_AF_INET6 10

/* CO-RE: what a socket has of its connection. Kernels may lack IPv6. */
struct sock_common___ends {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	short unsigned int skc_family;
	struct in6_addr___bytes {
		__u8 byte[16];
	} skc_v6_daddr, skc_v6_rcv_saddr;
} __attribute__((preserve_access_index));
struct sock___ends {
	struct sock_common___ends __sk_common;
} __attribute__((preserve_access_index));

/*
 * Learns the addresses and ports of a queue. This is rare, and reads by helper. @sk: a plain
 * address
 */
static __always_inline void ends_learn(struct nt_queue *q, struct sock *sk)
{
	struct sock___ends *ends = (void *)sk;
	struct nt_ends *e = &q->ends;

	e->family = BPF_CORE_READ(ends, __sk_common.skc_family);
	e->local_port = BPF_CORE_READ(ends, __sk_common.skc_num);
	e->remote_port = __builtin_bswap16(BPF_CORE_READ(ends, __sk_common.skc_dport));
	if (e->family == NT_AF_INET) {
		*(__be32 *)e->local = BPF_CORE_READ(ends, __sk_common.skc_rcv_saddr);
		*(__be32 *)e->remote = BPF_CORE_READ(ends, __sk_common.skc_daddr);
	} else if (e->family == NT_AF_INET6 &&
		   bpf_core_field_exists(ends->__sk_common.skc_v6_daddr)) {
		*(struct in6_addr___bytes *)e->local =
			BPF_CORE_READ(ends, __sk_common.skc_v6_rcv_saddr);
		*(struct in6_addr___bytes *)e->remote =
			BPF_CORE_READ(ends, __sk_common.skc_v6_daddr);
	}
}

/*
 * Learns from a queue's socket which function the driver's sockets call. The socket does not show
 * it before the driver has taken over the socket, nor after the driver has given it back, which may
 * happen while the queue is still in use: then it calls the function that all sockets call. This is
 * rare, and reads by helper.
 * @sk: a plain address
 * @queue: address of the driver's structure
 * @original: the function that the driver has replaced, as it says; 0 if there is none
 */
static __always_inline void data_ready_learn(struct sock *sk, __u64 queue, __u64 original)
{
	__u64 ready = (__u64)BPF_CORE_READ((struct sock___plain *)sk, sk_data_ready);
	struct nt_learned *l = learned_now();

	if (!l || !original || ready == original || (__u64)BPF_CORE_READ(sk, sk_user_data) != queue)
		return;
	l->data_ready = ready;
	nt_control.data_ready = ready;
}

#endif /* NTPROF_QUEUES_BPF_H */
