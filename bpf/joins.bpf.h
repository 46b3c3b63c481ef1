/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets that TCP joins while they wait to be read (tcp_try_coalesce(), tcp_add_backlog()): what is
 * left has the time stamp of the last one. Which bytes came with the one before is noted when two
 * are about to be joined, so that nothing is paid where they are not, and is found again by the
 * place of a PDU in the stream.
 *
 * Context: what is joined in the receive queue is so under the socket's lock, in a softirq or a
 * task; in the backlog, under its spinlock, in a softirq. So each of the two has a ring with one
 * writer at a time. There is one reader, that of the queue's socket: a host's has its lock, a
 * target's has not, and both may be interrupted by the writers, or beside them on another CPU.
 */
#ifndef NTPROF_JOINS_BPF_H
#define NTPROF_JOINS_BPF_H

#include "arrival.bpf.h"
#include "pools.bpf.h"
#include "queues.bpf.h"

/* What struct nt_queue says of queues for which no notes are left: they are told as not known. */
#define NT_JOINS_LACKING (~0u)
/*
 * Joins of a queue of which the bytes have not been read: a queue's commands are 128, mostly, and
 * packets hold several of them. One less is kept: the next one may be being written while another
 * CPU reads.
 */
#define NT_JOIN_SLOTS 128
#define NT_JOINS_KEPT (NT_JOIN_SLOTS - 1)

/* Bytes [@begin, @end) of a stream came with a packet that was stamped @tstamp, or before it. */
struct nt_join {
	__s64 tstamp;
	__u32 begin;
	__u32 end;
};

/*
 * @head: joins that were ever noted; the last NT_JOINS_KEPT of them are there
 * @read: those before belong to bytes that have been read
 * @lost: NT_JOINS_LOST and the end of the bytes that notes are not kept of any more, or that are out
 *        of order: what is known of bytes before is not all. 0 if there are none
 */
#define NT_JOINS_LOST (1ULL << 32)
struct nt_join_ring {
	__u64 lost;
	__u32 head;
	__u32 read;
	struct nt_join at[NT_JOIN_SLOTS];
};

enum { NT_JOINED_RECEIVED, NT_JOINED_BACKLOG, NT_JOIN_RINGS };

struct nt_joins {
	struct nt_join_ring rings[NT_JOIN_RINGS];
};

struct join_bank {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1 << NT_JOINS_BITS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct nt_joins));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, NT_JOINS_BANKS);
	__type(key, __u32);
	__array(values, struct join_bank);
} join_banks SEC(".maps");

/* @nr: as struct nt_queue has it; NULL where the queue has none (any more) */
static __always_inline struct nt_joins *joins_numbered(__u32 nr)
{
	__u32 bank = nr >> NT_JOINS_BITS, at = nr & ((1u << NT_JOINS_BITS) - 1);
	void *joins;

	if (!nr)
		return NULL;
	joins = bpf_map_lookup_elem(&join_banks, &bank);
	return joins ? bpf_map_lookup_elem(joins, &at) : NULL;
}

/* Those of a queue that has some; NULL where it has none (any more). */
static __always_inline struct nt_joins *joins_of(const struct nt_queue *q)
{
	return joins_numbered(q->joins);
}

/* NULL if none are left. Two CPUs that both take one agree on one of the two. */
static __always_inline struct nt_joins *joins_claim(struct nt_queue *q)
{
	__u32 nr;

	if (!q->joins) {
		nr = nt_take(NT_POOL_JOINS) ?: NT_JOINS_LACKING;
		__sync_val_compare_and_swap(&q->joins, 0, nr);
	}
	return joins_of(q);
}

/* @nr: of a join, among all that were ever noted */
static __always_inline struct nt_join *join_at(struct nt_join_ring *r, __u32 nr)
{
	return &r->at[nr & (NT_JOIN_SLOTS - 1)];
}

/*
 * One more than @head. A full barrier on every machine: who sees what is stored after it sees what was
 * stored before. An addition whose result nobody asks for would be none, as with atomics of the kernel
 * (___bpf_prog_run() in kernel/bpf/core.c; Documentation/atomic_t.txt, ORDERING).
 */
static __always_inline void joins_advance(struct nt_join_ring *r, __u32 head)
{
	__sync_val_compare_and_swap(&r->head, head, head + 1);
}

/* The same barrier, for who reads. */
static __always_inline __u32 joins_head(struct nt_join_ring *r)
{
	return __sync_fetch_and_add(&r->head, 0);
}

/* @seq and what comes behind it: by how much, modulo 2^32. */
static __always_inline bool is_before(__u32 seq, __u32 other)
{
	return (__s32)(seq - other) < 0;
}

static __always_inline void joins_lose(struct nt_join_ring *r, __u32 end)
{
	__u64 lost = r->lost;

	if (!lost || is_before((__u32)lost, end))
		r->lost = NT_JOINS_LOST | end;
}

/* CO-RE: what lies in a structure without a name. */
struct sock___backlog {
	struct {
		struct sk_buff *tail;
	} sk_backlog;
} __attribute__((preserve_access_index));

/* CO-RE: what lies behind a socket. Kernels have no member @sk, and nobody asks for it. */
struct tcp_sock___received {
	struct sock sk;
	__u32 rcv_nxt;
} __attribute__((preserve_access_index));

/* The end of the bytes that wait to be read from a socket, a plain address, in its queue or its backlog. By helper: rare. */
static __always_inline __u32 waits_until(struct sock *sk)
{
	__u32 end = BPF_CORE_READ((struct tcp_sock___received *)sk, rcv_nxt), behind;
	struct sk_buff *tail = BPF_CORE_READ((struct sock___backlog *)sk, sk_backlog.tail);
	struct tcp_skb_cb *cb;

	if (!tail)
		return end;
	cb = (void *)((__u64)tail + bpf_core_field_offset(struct sk_buff, cb));
	behind = BPF_CORE_READ(cb, end_seq);
	return is_before(end, behind) ? behind : end;
}

/*
 * A connection begins, or is seen for the first time, or anew: then what was joined of the bytes that wait may not have
 * been noted, or is noted of another connection.
 * @sk: its socket, a plain address
 * @fresh: it begins: nothing waits
 */
static __always_inline void joins_begin(struct nt_queue *q, struct sock *sk, bool fresh)
{
	struct inet_connection_sock *icsk = (void *)sk;
	struct nt_joins *j;

	/* Records of TLS are decrypted into other packets, and its bytes counted otherwise. */
	q->opaque = BPF_CORE_READ(icsk, icsk_ulp_ops) != NULL;
	/* What it lacked, it may get now. */
	if (q->joins == NT_JOINS_LACKING)
		q->joins = 0;
	j = joins_of(q);
	if (!j)
		return;
	for (int i = 0; i < NT_JOIN_RINGS; i++) {
		j->rings[i].read = j->rings[i].head;
		j->rings[i].lost = fresh ? 0 : NT_JOINS_LOST | waits_until(sk);
	}
}

/* Sequence numbers of a packet of TCP: of its first byte, and behind its last. @skb: typed */
static __always_inline __u32 packet_begin(const struct sk_buff *skb)
{
	const struct tcp_skb_cb *cb = (const void *)skb->cb;

	return cb->seq;
}

static __always_inline __u32 packet_end(const struct sk_buff *skb)
{
	const struct tcp_skb_cb *cb = (const void *)skb->cb;

	return cb->end_seq;
}

/*
 * Another packet is about to be joined with @skb, typed. If it is not in the end, what is noted is
 * true all the same.
 */
static __always_inline void join_note(struct nt_queue *q, const struct sk_buff *skb,
				      const __u32 which)
{
	__u32 begin = packet_begin(skb), end = packet_end(skb), head;
	struct nt_joins *j;
	struct nt_join_ring *r;
	struct nt_join *at;

	if (begin == end)
		return;
	j = joins_claim(q);
	if (!j)
		return;
	r = &j->rings[which];
	head = r->head;
	at = join_at(r, head - 1);
	/*
	 * Not the next of the stream: something was lost on the way, and has been sent again; or was sent again although it
	 * had come, with what is noted already.
	 */
	if (head != r->read && !is_before(at->end, end)) {
		if (is_before(begin, at->begin) || skb->tstamp < at->tstamp)
			joins_lose(r, at->end);
		return;
	}
	/* This one goes where nobody looks; the one behind it is not kept any more. */
	if (head - r->read >= NT_JOINS_KEPT)
		joins_lose(r, join_at(r, head + 1)->end);
	at = join_at(r, head);
	at->tstamp = skb->tstamp;
	at->begin = begin;
	at->end = end;
	/* It is there before it is counted, and both before the packet has another stamp. */
	joins_advance(r, head);
}

/* @skb: typed */
static __always_inline struct nt_join packet_of(const struct sk_buff *skb)
{
	return (struct nt_join){skb->tstamp, packet_begin(skb), packet_end(skb)};
}

/* Of the packet that has byte @seq, only its stamp is known: it begins and ends like no other. */
static __always_inline struct nt_join packet_stamped(__s64 tstamp, __u32 seq)
{
	return (struct nt_join){tstamp, seq + 1, seq + (1u << 30)};
}

/*
 * The first packet of ring @r that is noted with byte @seq.
 * @found: filled, if there is one
 * Return: false if there may have been one that is not kept.
 */
static __always_inline bool join_find_in(struct nt_join_ring *r, __u32 seq, struct nt_join *found)
{
	/* Later than the packet's stamp was read: the other half of the barrier in join_note(). */
	__u32 head = joins_head(r), read = r->read, first;
	__u64 lost = r->lost;
	struct nt_join *at;

	if (lost) {
		if (is_before(seq, (__u32)lost))
			return false;
		__sync_val_compare_and_swap(&r->lost, lost, 0);
	}
	if (head - read > NT_JOINS_KEPT)
		read = head - NT_JOINS_KEPT;
	first = read;
	for (int i = 0; i < NT_JOINS_KEPT && read != head; i++) {
		at = join_at(r, read);
		if (is_before(seq, at->begin))
			break;
		if (is_before(seq, at->end)) {
			*found = *at;
			break;
		}
		read++;
	}
	r->read = read;
	/* After all that was read of them: none of those had begun to be overwritten. */
	return joins_head(r) - first <= NT_JOINS_KEPT;
}

static __always_inline bool is_noted(const struct nt_join *j)
{
	return j->begin != j->end;
}

/*
 * What @tstamp, that of the packet [@begin, @end) which has byte @seq now, was when that byte came; negative if it
 * may be that of a later packet. Not static: so it is verified once, and not on each way that leads to it, which
 * took Linux 6.1 most of the time of loading.
 *
 * Of both rings it is the packet that ends first: what waited in the backlog is joined with what has been received later;
 * with the same end, too, where an acknowledgement without data was joined. Stamps that are not in that order tell that
 * bytes were sent again although they had come, and are noted too; or that some had come before those in front of them; or
 * that the wall clock was set. Then it is known only
 *
 * - where the packet does not reach behind what is noted: nothing was joined with it since the byte came;
 * - where what is noted is the packet itself, as far as it reached then. What is received and sent again as a whole is
 *   dropped, so that no other packet begins there and ends sooner; in the backlog there may be one.
 *
 * @joins: of the queue, not 0
 */
__noinline __s64 joins_find(__u32 joins, __u32 seq, __s64 tstamp, __u32 begin, __u32 end)
{
	struct nt_join received = {}, waited = {}, first;
	struct nt_joins *j;

	j = joins_numbered(joins);
	if (!j || !join_find_in(&j->rings[NT_JOINED_RECEIVED], seq, &received) ||
	    !join_find_in(&j->rings[NT_JOINED_BACKLOG], seq, &waited))
		return -tstamp;
	if (!is_noted(&received) && !is_noted(&waited))
		return tstamp;
	first = received;
	if (!is_noted(&received) || (is_noted(&waited) && waited.end - seq <= received.end - seq))
		first = waited;
	if (first.tstamp > tstamp) {
		if (!is_before(first.end, end))
			return tstamp;
		return !is_noted(&waited) && first.begin == begin ? first.tstamp : -first.tstamp;
	}
	return is_noted(&received) && first.tstamp > received.tstamp ? -first.tstamp : first.tstamp;
}

/* Whether packets may have been joined without a note. */
static __always_inline bool joins_unseen(void)
{
	return nt_knobs.joins_unseen || nt_control.joins_missed;
}

/* When byte @seq of packet @p came, by the stamp @tstamp, which is filled. Return: false if it may be that of a later packet. */
static __always_inline bool joins_resolve(struct nt_queue *q, __u32 seq, const struct nt_join *p,
					  __s64 *tstamp)
{
	__s64 found;

	*tstamp = p->tstamp;
	if (NT_PLAIN_ARRIVALS)
		return true;
	if (joins_unseen())
		return false;
	if (!q->joins)
		return true;
	found = joins_find(q->joins, seq, p->tstamp, p->begin, p->end);
	*tstamp = found < 0 ? -found : found;
	return found >= 0;
}

#endif /* NTPROF_JOINS_BPF_H */
