/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs that see packets being joined: see joins.bpf.h. Their functions serve all sockets of
 * the machine. They are called only where earlier data wait to be read, and the programs return
 * after one comparison where the socket is not of NVMe/TCP. To be included after the side's
 * queue_by_address().
 */
#ifndef NTPROF_JOINED_BPF_H
#define NTPROF_JOINED_BPF_H

#include "joins.bpf.h"

/* @sk: typed. Return: NULL for a socket of others, or of a queue that is not known */
static __always_inline struct nt_queue *queue_of_socket(struct sock *sk)
{
	__u64 address = queue_address_of(sk);
	__u32 slot;

	return address ? queue_by_address(address, &slot) : NULL;
}

/* In the receive queue, where packets belong to their socket. Those of a backlog belong to none. */
SEC("fentry/skb_try_coalesce")
int BPF_PROG(packet_joined, struct sk_buff *to)
{
	struct sock *sk = to->sk;
	struct nt_queue *q;

	seldom_ran(NT_SELDOM_packet_joined);
	if (!sk)
		return 0;
	q = queue_of_socket(sk);
	if (q)
		join_note(q, to, NT_JOINED_RECEIVED);
	return 0;
}

/* In the backlog, which takes packets while another context holds the socket's lock. */
SEC("fentry/tcp_add_backlog")
int BPF_PROG(packet_waits, struct sock *sk, struct sk_buff *skb)
{
	struct sk_buff *tail;
	struct nt_queue *q;

	seldom_ran(NT_SELDOM_packet_waits);
	q = queue_of_socket(sk);
	if (!q)
		return 0;
	tail = ((struct sock___backlog *)sk)->sk_backlog.tail;
	if (tail && packet_end(tail) == packet_begin(skb))
		join_note(q, tail, NT_JOINED_BACKLOG);
	return 0;
}

#endif /* NTPROF_JOINED_BPF_H */
