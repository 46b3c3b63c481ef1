/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a PDU arrived at a target whose nvmet-tcp nobody patched: by a look at the packet that its first byte is
 * copied from.
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

/* @pdu_time of struct nt_queue, of the byte at @offset of packet @skb, typed. */
static __always_inline __s64 stamp_resolved(struct nt_queue *q, const struct sk_buff *skb,
					    int offset)
{
	const struct nt_join p = packet_of(skb);
	__s64 tstamp;

	return joins_resolve(q, p.begin + offset, &p, &tstamp) ? tstamp : -tstamp;
}

/* CO-RE: where the driver gathers what comes before a PDU's data; of the kernel it is a union. */
struct nvmet_tcp_queue___gathers {
	struct nvme_tcp_cmd_pdu pdu;
} __attribute__((preserve_access_index));

/* CO-RE: since Linux 6.4. The verifier takes what lies at @kvec for the first member of this one, which is no kernel's. */
struct iovec___first {
	void *iov_base;
} __attribute__((preserve_access_index));
struct iov_iter___first {
	struct iovec___first __ubuf_iovec;
} __attribute__((preserve_access_index));

/* CO-RE: by its name, as kernels have other numbers for it. */
enum iter_type___named { ITER_KVEC___named = 1 };

/* Where the next bytes go; 0 where that is no buffer of the kernel. @to: typed */
static __always_inline __u64 copied_to(struct iov_iter *to)
{
	const struct kvec *vec;
	__u64 base = 0;

	if (to->iter_type != bpf_core_enum_value(enum iter_type___named, ITER_KVEC___named))
		return 0;
	vec = to->kvec;
	if (!bpf_core_field_exists(((struct iov_iter___first *)0)->__ubuf_iovec))
		return (__u64)vec->iov_base;
	bpf_probe_read_kernel(&base, sizeof(base),
			      (void *)((__u64)vec + bpf_core_field_offset(struct kvec, iov_base)));
	return base;
}

/*
 * The first byte of a PDU is about to be copied from packet @skb, typed, where it is at @offset. What is noted is the
 * PDU's until the next one begins, or it is told. This runs in the queue's worker, and nobody else reads from the socket,
 * whose lock it has: nothing is joined with the packet meanwhile.
 */
static __always_inline void note_arrival(struct nt_queue *q, const struct sk_buff *skb, int offset)
{
	__s64 tstamp = skb->tstamp;

	/* Where nothing was joined the stamp is right, whichever byte is read. */
	q->pdu_time = !q->joins && !joins_unseen() ? tstamp : stamp_resolved(q, skb, offset);
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

/*
 * Bytes are copied from a packet to whoever reads the socket. nvmet_tcp_try_recv_pdu() asks for the common header of a PDU
 * first, at the place where the queue gathers it, by which the queue is known. Its first byte is in the packet from which
 * so many are still to be copied; all other copies, of the rest, of data and of other sockets, are left at once, or are of
 * no queue's.
 */
SEC("fentry/skb_copy_datagram_iter")
int BPF_PROG(stock_copied, const struct sk_buff *skb, int offset, struct iov_iter *to)
{
	struct nt_queue *q;
	struct sock *sk;
	__u64 address;
	__u32 slot;

	if (to->count != PDU_COMMON_HEADER)
		return 0;
	address = copied_to(to);
	if (!address)
		return 0;
	address -= bpf_core_field_offset(struct nvmet_tcp_queue___gathers, pdu);
	q = queue_by_address(address, &slot);
	if (!q) {
		/* Its first command came before tracing did. */
		sk = skb->sk;
		if (!sk || queue_address_of(sk) != address)
			return 0;
		q = queue_by_idx(address, &slot);
		if (!q)
			return 0;
		if (q->object != address)
			queue_begin(q, (void *)address, slot);
	}
	if (!q->opaque)
		note_arrival(q, skb, offset);
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
