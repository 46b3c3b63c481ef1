/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a PDU arrived at a target whose nvmet-tcp nobody patched: by looks at a queue's socket before it is read.
 */
#ifndef NTPROF_TARGET_ARRIVAL_BPF_H
#define NTPROF_TARGET_ARRIVAL_BPF_H

#include "target_command.bpf.h"

/* How many bytes nvmet_tcp_try_recv_pdu() asks for first of each PDU: its common header. */
#define PDU_COMMON_HEADER 8

/*
 * By the address of its struct nvmet_tcp_queue. Verified: the queue that was last seen there, and
 * not known to have closed; NULL if none was. After a connection has closed, another one with
 * another slot may come to lie at its address. @slot: filled, if there is one
 */
static __always_inline struct nt_queue *queue_by_address(__u64 address, __u32 *slot)
{
	struct nt_queue *q = queue_by_index(address, slot);

	return q && q->object == address && q->gen != q->dead_gen ? q : NULL;
}

/*
 * By the slot that the struct nvmet_tcp_queue at a plain address says, which has it already. @slot:
 * filled
 */
static __always_inline struct nt_queue *queue_by_idx(__u64 address, __u32 *slot)
{
	*slot = BPF_CORE_READ((struct nvmet_tcp_queue *)address, idx);
	return queue_at(*slot);
}

/* @pdu_time of struct nt_queue, where byte @seq is in a packet that is stamped @tstamp. */
static __always_inline __s64 stamp_resolved(struct nt_queue *q, __u32 seq, __s64 tstamp)
{
	return joins_resolve(q, seq, &tstamp) ? tstamp : -tstamp;
}

/*
 * The place in the stream of the first byte of the PDU that is being read from @sk, typed. Return: false if it is not
 * known.
 */
static __always_inline bool pdu_begin(struct sock *sk, __u32 already_read, __u32 *seq)
{
	struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);

	if (!tcp)
		return false;
	*seq = tcp->copied_seq - already_read;
	return true;
}

/*
 * A queue's socket is about to be read: notes when the PDU arrived that is read from it. This runs
 * in the queue's worker, and nobody else reads from the socket.
 *
 * nvmet_tcp_try_recv_pdu() reads the common header of a PDU and then the rest. The PDU arrived with
 * the packet at the head of the socket's queue when the first byte is read. Where the packet comes
 * between this look and the first read, the look before the second read finds it still, partly
 * read.
 * @sk: typed
 * @size: how many bytes are asked for
 */
static __always_inline void note_arrival(struct nt_queue *q, struct sock *sk, __u64 size)
{
	struct nvmet_tcp_queue *queue = (void *)q->object;
	bool first = size == PDU_COMMON_HEADER;
	struct sk_buff *skb;
	__s64 tstamp;
	__u32 seq;

	/* The last of a PDU may be as long as its first, too. */
	if (q->pdu_time && (!first || BPF_CORE_READ(queue, offset)))
		return;
	skb = sk->sk_receive_queue.next;
	if ((__u64)skb == (__u64)sk + bpf_core_field_offset(struct sock, sk_receive_queue)) {
		q->pdu_time = 0;
		return;
	}
	/*
	 * First the stamp, then what was joined: where another packet is joined in between, the stamp is
	 * that of the one before.
	 */
	tstamp = skb->tstamp;
	asm volatile("" ::: "memory");
	/* Where nothing was joined the stamp is right, whichever byte is read. */
	if (first && !q->joins && !nt_knobs.joins_unseen) {
		q->pdu_time = tstamp;
		return;
	}
	q->pdu_time = 0;
	if (!pdu_begin(sk, first ? 0 : BPF_CORE_READ(queue, offset), &seq))
		return;
	if (first || seq - packet_begin(skb) < skb->len)
		q->pdu_time = stamp_resolved(q, seq, tstamp);
}

/* Notes what tells the sockets of nvmet-tcp from others. The loader then detaches it. */
SEC("fentry/nvmet_tcp_try_recv_pdu")
int BPF_PROG(stock_try_recv, struct nvmet_tcp_queue *queue)
{
	struct nvmet_tcp_queue___plain *plain = (void *)queue;

	if (!nt_control.data_ready)
		data_ready_learn(queue->sock->sk, (__u64)queue, (__u64)plain->data_ready);
	return 0;
}

SEC("fentry/kernel_recvmsg")
int BPF_PROG(stock_recvmsg, struct socket *sock, void *msg, void *vec, __u64 num, __u64 size)
{
	struct sock *sk = sock->sk;
	__u64 address = queue_address_of(sk);
	struct nt_queue *q;
	__u32 slot;

	if (!address)
		return 0;
	q = queue_by_address(address, &slot);
	if (!q) {
		/* Its first command came before tracing did. */
		q = queue_by_idx(address, &slot);
		if (!q)
			return 0;
		if (q->object != address)
			queue_begin(q, (void *)address, slot);
	}
	if (!q->opaque)
		note_arrival(q, sk, size);
	return 0;
}

/*
 * When the PDU arrived whose header has just been received, CLOCK_MONOTONIC; 0 where it is unknown,
 * @q is NULL, or it was told before. @joined: filled; it may be that of a later packet
 */
static __always_inline __u64 pdu_arrived(struct nt_queue *q, __u64 now, bool *joined)
{
	__s64 time;

	*joined = false;
	if (!q)
		return 0;
	time = q->pdu_time;
	q->pdu_time = 0;
	*joined = time < 0;
	return arrival(time < 0 ? -time : time, now);
}

#endif /* NTPROF_TARGET_ARRIVAL_BPF_H */
