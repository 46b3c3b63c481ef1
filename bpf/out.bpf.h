/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finer points, with --points fine: when TCP sends the packet that has the first byte of a PDU.
 * What a PDU waited before that, it waited in the sender's socket, and not on the wire.
 *
 * Where a PDU goes to its socket, its first byte gets the number write_seq of the stream, because a
 * queue sends one PDU at a time. This is noted, in the order of the stream. The first packet that
 * reaches beyond that byte has it, whether it is of one segment or of many (GSO). A packet that is
 * sent again finds no note any more.
 *
 * Context: notes are made by the task or worker that sends for the queue, one at a time (send_mutex
 * of a host, the worker of a target), and taken under the lock of the socket, in any context. So
 * each socket has a ring with one writer and one reader, on different CPUs. It belongs to the
 * socket, and goes with it.
 */
#ifndef NTPROF_OUT_BPF_H
#define NTPROF_OUT_BPF_H

#include "joins.bpf.h"
#include "queues.bpf.h"
#include "state.bpf.h"

/*
 * PDUs that wait in a socket at a time: a queue mostly has 128 commands. One that finds no room has
 * no finer point. 4 KiB, of the 20 that a socket may have for such things (net.core.optmem_max).
 */
#define NT_OUTS 256

/*
 * @owner: of the command
 * @since: the low half of its point before this one, which tells it from the owner's other commands
 * @seq: of the first byte of the PDU
 */
struct nt_out {
	__u64 owner;
	__u32 since;
	__u32 seq;
};

/*
 * @head: number of notes that were ever made
 * @tail: number of those that were taken
 * @kind: whether the socket sends PDUs as they are, once that is known; with TLS it does not
 */
enum { NT_OUTS_NEW, NT_OUTS_PLAIN, NT_OUTS_OPAQUE };
struct nt_outs {
	__u32 head;
	__u32 tail;
	__u64 kind;
	struct nt_out at[NT_OUTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct nt_outs);
} outs SEC(".maps");

/* The socket for the functions below. @sk is evaluated only where finer points are asked for. */
#define OUT_SOCKET(sk) (nt_knobs.fine ? (sk) : NULL)

/*
 * A PDU of @c goes to socket @sk: typed, or NULL. The record gets the number of its first byte,
 * also where there is no room for a note.
 * @point: has just been set; @fine: the finer point after it
 * Return: whether out_reach() will be called for it
 */
static __always_inline bool out_expect(struct nt_cmd *c, struct sock *sk, __u32 point, __u32 fine)
{
	struct inet_connection_sock *icsk = (void *)sk;
	struct nt_outs *o;
	struct nt_out *at;
	__u32 head, seq;

	if (!nt_knobs.fine || nt_knobs.no_outs || !sk)
		return false;
	o = bpf_sk_storage_get(&outs, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!o)
		return false;
	if (o->kind == NT_OUTS_NEW)
		o->kind = BPF_CORE_READ(icsk, icsk_ulp_ops) ? NT_OUTS_OPAQUE : NT_OUTS_PLAIN;
	if (o->kind == NT_OUTS_OPAQUE)
		return false;
	seq = BPF_CORE_READ((struct tcp_sock___stream *)sk, write_seq);
	c->r.seq[fine] = seq;
	head = o->head;
	if (head - o->tail >= NT_OUTS)
		return false;
	at = &o->at[head & (NT_OUTS - 1)];
	at->owner = owner_of(c);
	at->since = c->r.points[point];
	at->seq = seq;
	/* A full barrier, as in joins_advance(). */
	__sync_val_compare_and_swap(&o->head, head, head + 1);
	return true;
}

/* Sets a finer point of @r at @now, if it belongs to the PDU of the note. */
#define NT_FINE_REACH(id, name, from, what)                                       \
	if ((__u32)r->points[NT_##from] == since && now > r->points[NT_##from] && \
	    now - r->points[NT_##from] < ~0u && !r->fine[NT_##id])                \
		r->fine[NT_##id] = now - r->points[NT_##from] + 1;

/*
 * The packet with the first byte of a PDU leaves TCP. Not static, so that it is verified once.
 * @owner, @since: as noted
 * @now: 0: the connection has closed, so it does not
 */
__noinline int out_reach(__u64 owner, __u32 since, __u64 now);

/* Takes the notes of the bytes before @end, or all of them. @now: see out_reach() */
static __always_inline void outs_take(struct nt_outs *o, bool all, __u32 end, __u64 now)
{
	__u32 tail = o->tail, head, taken;

	if (tail == o->head)
		return;
	head = __sync_fetch_and_add(&o->head, 0);
	taken = tail;
	for (int i = 0; i < NT_OUTS && taken != head; i++) {
		struct nt_out *at = &o->at[taken & (NT_OUTS - 1)];

		if (!all && !is_before(at->seq, end))
			break;
		out_reach(at->owner, at->since, now ?: all ? 0 : bpf_ktime_get_ns());
		taken++;
	}
	if (taken != tail)
		__sync_val_compare_and_swap(&o->tail, tail, taken);
}

/*
 * TCP hands a packet to IP, for the first time or again. This runs for each packet of the machine,
 * and returns after one comparison where it is of another socket.
 */
SEC("fentry/__tcp_transmit_skb")
int BPF_PROG(packet_leaves, struct sock *sk, struct sk_buff *skb)
{
	struct nt_outs *o;

	if (data_ready_of(sk) != nt_control.data_ready)
		return 0;
	o = bpf_sk_storage_get(&outs, sk, NULL, 0);
	if (o)
		outs_take(o, false, packet_end(skb), 0);
	return 0;
}

#endif /* NTPROF_OUT_BPF_H */
