/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a PDU arrived at a target with an unpatched nvmet-tcp, from the packet out of which its
 * first byte is copied.
 */
#ifndef NTPROF_TARGET_ARRIVAL_BPF_H
#define NTPROF_TARGET_ARRIVAL_BPF_H

#include "target_command.bpf.h"

/* Bytes that nvmet_tcp_try_recv_pdu() asks for first of each PDU: its common header. */
#define PDU_COMMON_HEADER 8

/*
 * Finds a queue by the address of its struct nvmet_tcp_queue. Verified: it is the queue that was
 * last seen there, and it is not known to have closed. After a connection has closed, another one
 * with another slot may lie at its address.
 * @slot: filled, if there is one
 * Return: NULL if none was seen there
 */
static __always_inline struct nt_queue *queue_by_address(__u64 address, __u32 *slot)
{
	struct nt_queue *q = queue_by_index(address, slot);

	return q && q->object == address && q->gen != q->dead_gen ? q : NULL;
}

/*
 * Finds a queue by the slot that the struct nvmet_tcp_queue at a plain address says, which the
 * driver has set by now. @slot: filled
 */
static __always_inline struct nt_queue *queue_by_idx(__u64 address, __u32 *slot)
{
	*slot = BPF_CORE_READ((struct nvmet_tcp_queue *)address, idx);
	return queue_at(*slot);
}

/* The value of @pdu_time of struct nt_queue for the byte at @offset of packet @skb, typed. */
static __always_inline __s64 stamp_resolved(struct nt_queue *q, const struct sk_buff *skb,
					    int offset)
{
	const struct nt_join p = packet_of(skb);
	__s64 tstamp;

	return joins_resolve(q, p.begin + offset, &p, &tstamp) ? tstamp : -tstamp;
}

/*
 * CO-RE: where the driver gathers what comes before the data of a PDU. In the kernel it is a union.
 */
struct nvmet_tcp_queue___gathers {
	struct nvme_tcp_cmd_pdu pdu;
} __attribute__((preserve_access_index));

/*
 * CO-RE: since Linux 6.4, @kvec shares its place with this structure. The verifier takes a load of
 * @kvec for one of the first member here, which is no pointer of the kernel's.
 */
struct iovec___first {
	void *iov_base;
} __attribute__((preserve_access_index));
struct iov_iter___first {
	struct iovec___first __ubuf_iovec;
} __attribute__((preserve_access_index));

/* CO-RE: found by its name, as its number is not the same on all kernels. */
enum iter_type___named { ITER_KVEC___named = 1 };

/*
 * The address to which the next bytes are copied. @to: typed
 * Return: 0 where it is no buffer of the kernel
 */
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
 * The first byte of a PDU is about to be copied from packet @skb, typed, where it is at @offset.
 * The noted time belongs to the PDU until the next one begins, or until pdu_arrived() has returned
 * it. This runs in the queue's worker, which holds the lock of the socket. Nothing else reads from
 * the socket, so nothing is joined with the packet meanwhile.
 */
static __always_inline void note_arrival(struct nt_queue *q, const struct sk_buff *skb, int offset)
{
	__s64 tstamp = skb->tstamp;

	/* Where nothing was joined the stamp is right, whichever byte is read. */
	q->pdu_time = !q->joins && !joins_unseen() ? tstamp : stamp_resolved(q, skb, offset);
}

/*
 * Notes what distinguishes the sockets of nvmet-tcp from others. The loader then detaches this
 * program.
 */
SEC("fentry/nvmet_tcp_try_recv_pdu")
int BPF_PROG(stock_try_recv, struct nvmet_tcp_queue *queue)
{
	struct nvmet_tcp_queue___plain *plain = (void *)queue;

	if (!nt_control.data_ready)
		data_ready_learn(queue->sock->sk, (__u64)queue, (__u64)plain->data_ready);
	return 0;
}

/*
 * Bytes are copied from a packet to the reader of a socket. nvmet_tcp_try_recv_pdu() asks for the
 * common header of a PDU first, and has it copied to where the queue gathers it. That address leads
 * to the queue. The packet from which all of these bytes are still to be copied has the first byte.
 * Other copies, of the rest, of data and of other sockets, return at once, or lead to no queue.
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
		/* Its first command came before tracing began. */
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
 * When the PDU arrived whose header has just been received, CLOCK_MONOTONIC.
 * @q: may be NULL
 * @joined: filled; the time may be that of a later packet
 * Return: 0 where it is unknown, or was returned before
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
