/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets that TCP joins while they wait to be read (tcp_try_coalesce(), tcp_add_backlog()). The
 * packet that remains has the time stamp of the last one. So when two packets are about to be
 * joined, a note says which bytes came with the earlier one. The note is found again by the
 * place of a PDU in the stream. There is no cost where no packets are joined.
 *
 * Context: packets in the receive queue are joined under the socket's lock, in a softirq or a task;
 * packets in the backlog under its spinlock, in a softirq. So each of the two has a ring with one
 * writer at a time. There is one reader, the one of the queue's socket. On a host it holds the
 * socket's lock; on a target it may not. Writers may interrupt either reader, or run beside it on
 * another CPU.
 */
#ifndef NTPROF_JOINS_BPF_H
#define NTPROF_JOINS_BPF_H

#include "arrival.bpf.h"
#include "pools.bpf.h"
#include "queues.bpf.h"

/*
 * Value of @joins of struct nt_queue where no notes are left: its arrivals may be of later packets.
 */
#define NT_JOINS_LACKING (~0u)
/*
 * Joins of a queue whose bytes have not been read. A queue mostly has 128 commands, and a packet
 * holds several of them. One less is kept, because the next one may be written while another CPU
 * reads.
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
 * @head: number of joins that were ever noted; the last NT_JOINS_KEPT of them are in @at
 * @read: number of joins whose bytes have been read; those are not looked at any more
 * @lost: NT_JOINS_LOST and the end of the bytes whose notes were dropped or are out of order: of
 *        bytes before that, not everything is known. 0 if there are none
 */
#define NT_JOINS_LOST (1ULL << 32)
struct nt_join_ring {
	__u64 lost;
	__u32 head;
	__u32 read;
	struct nt_join at[NT_JOIN_SLOTS];
};

enum { NT_JOINED_RECEIVED, NT_JOINED_BACKLOG, NT_JOIN_RINGS };

/* Different CPUs write the notes of two queues. So these share no cache line. */
struct nt_joins {
	struct nt_join_ring rings[NT_JOIN_RINGS];
} __attribute__((aligned(64)));

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

/* @nr: as in struct nt_queue. Return: NULL where the queue has no notes, or none any more */
static __always_inline struct nt_joins *joins_numbered(__u32 nr)
{
	__u32 bank = nr >> NT_JOINS_BITS, at = nr & ((1u << NT_JOINS_BITS) - 1);
	void *joins;

	if (!nr)
		return NULL;
	joins = bpf_map_lookup_elem(&join_banks, &bank);
	return joins ? bpf_map_lookup_elem(joins, &at) : NULL;
}

/* The notes of a queue. Return: NULL where it has none, or none any more */
static __always_inline struct nt_joins *joins_of(const struct nt_queue *q)
{
	return joins_numbered(q->joins);
}

/*
 * Gives a queue room for its notes if it has none. If two CPUs both take some, they agree on one of
 * the two.
 * Return: NULL if none is left
 */
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
 * Adds one to @head. This is a full barrier on every machine: a CPU that sees a later store must
 * also see all earlier ones. An addition whose result is not used would be none,
 * as with atomics of the kernel (___bpf_prog_run() in kernel/bpf/core.c;
 * Documentation/atomic_t.txt, ORDERING).
 */
static __always_inline void joins_advance(struct nt_join_ring *r, __u32 head)
{
	__sync_val_compare_and_swap(&r->head, head, head + 1);
}

/* The same barrier, for the reader. */
static __always_inline __u32 joins_head(struct nt_join_ring *r)
{
	return __sync_fetch_and_add(&r->head, 0);
}

/* Whether @seq comes before @other, modulo 2^32. */
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

/* CO-RE: a member of a structure that has no name. */
struct sock___backlog {
	struct {
		struct sk_buff *tail;
	} sk_backlog;
} __attribute__((preserve_access_index));

/* CO-RE: these lie behind the struct sock. Kernels have no member @sk, which is not read. */
struct tcp_sock___stream {
	struct sock sk;
	__u32 rcv_nxt;
	__u32 write_seq;
} __attribute__((preserve_access_index));

/*
 * The end of the bytes that wait to be read from a socket, in its queue or its backlog. This is
 * rare, and reads by helper. @sk: a plain address
 */
static __always_inline __u32 waits_until(struct sock *sk)
{
	__u32 end = BPF_CORE_READ((struct tcp_sock___stream *)sk, rcv_nxt), behind;
	struct sk_buff *tail = BPF_CORE_READ((struct sock___backlog *)sk, sk_backlog.tail);
	struct tcp_skb_cb *cb;

	if (!tail)
		return end;
	cb = (void *)((__u64)tail + bpf_core_field_offset(struct sk_buff, cb));
	behind = BPF_CORE_READ(cb, end_seq);
	return is_before(end, behind) ? behind : end;
}

/*
 * A connection begins, or is seen for the first time or again. In the latter cases, packets that
 * wait may have been joined without a note, or there may be notes of another connection.
 * @sk: its socket, a plain address
 * @fresh: the connection begins, so nothing waits
 */
static __always_inline void joins_begin(struct nt_queue *q, struct sock *sk, bool fresh)
{
	struct inet_connection_sock *icsk = (void *)sk;
	struct nt_joins *j;

	/* TLS decrypts its records into other packets, and counts their bytes differently. */
	q->opaque = BPF_CORE_READ(icsk, icsk_ulp_ops) != NULL;
	/* If no notes were left for it before, there may be some now. */
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

/*
 * The first command of a queue in a burst of all points: packets were joined without a note before.
 * @sk: see joins_begin(); it is evaluated only then
 */
#define JOINS_BURST(q, number, sk)                     \
	do {                                           \
		if ((q)->burst != (number)) {          \
			(q)->burst = (number);         \
			joins_begin((q), (sk), false); \
		}                                      \
	} while (0)

/* Sequence numbers of a TCP packet: of its first byte, and after its last one. @skb: typed */
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
 * Notes that another packet is about to be joined with @skb, typed. If that does not happen after
 * all, the note is true all the same.
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
	 * Not the next in the stream. Either something was lost on the way and has been sent again,
	 * or it was sent again although it had come, and there is a note of it already.
	 */
	if (head != r->read && !is_before(at->end, end)) {
		if (is_before(begin, at->begin) || skb->tstamp < at->tstamp)
			joins_lose(r, at->end);
		return;
	}
	/* The new note goes into the slot that is not read. The note behind it is dropped. */
	if (head - r->read >= NT_JOINS_KEPT)
		joins_lose(r, join_at(r, head + 1)->end);
	at = join_at(r, head);
	at->tstamp = skb->tstamp;
	at->begin = begin;
	at->end = end;
	/*
	 * The note must be there before it is counted, and both before the packet gets another
	 * stamp.
	 */
	joins_advance(r, head);
}

/* @skb: typed */
static __always_inline struct nt_join packet_of(const struct sk_buff *skb)
{
	return (struct nt_join){skb->tstamp, packet_begin(skb), packet_end(skb)};
}

/*
 * The packet that has byte @seq. Only its stamp is known. Its begin and end match no other packet.
 */
static __always_inline struct nt_join packet_stamped(__s64 tstamp, __u32 seq)
{
	return (struct nt_join){tstamp, seq + 1, seq + (1u << 30)};
}

/*
 * The first packet that ring @r has noted with byte @seq.
 * @found: filled, if there is one
 * Return: false if there may have been an earlier one whose note was dropped
 */
static __always_inline bool join_find_in(struct nt_join_ring *r, __u32 seq, struct nt_join *found)
{
	/* Read after the packet's stamp: the other half of the barrier in join_note(). */
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
	/* Checked after all notes were read: none of them had begun to be overwritten. */
	return joins_head(r) - first <= NT_JOINS_KEPT;
}

static __always_inline bool is_noted(const struct nt_join *j)
{
	return j->begin != j->end;
}

/*
 * The time stamp with which byte @seq came. Not static, so that it is verified once and not on each
 * path that leads to it, which took Linux 6.1 most of the time of loading.
 * @joins: of the queue, not 0
 * @tstamp: the present stamp of the packet [@begin, @end), which has byte @seq now
 * Return: negative if it may be the stamp of a later packet
 *
 * Of the notes in both rings, the one whose packet ends first is used: a packet of the backlog is
 * joined with received ones later. Where both end at the same byte, that is the one of the backlog,
 * as where an acknowledgement without data was joined. If the stamps are not in that order, bytes
 * that had already come were sent again and noted too, or some bytes came before those in front of
 * them, or the wall clock was set. Then the stamp is known only in two cases:
 *
 * - The packet does not reach beyond the noted bytes. Nothing was joined with it since the byte
 *   came.
 * - The note is of the packet itself, as far as it reached then. A packet that is received and sent
 *   again as a whole is dropped, so no other packet begins there and ends sooner. In the backlog
 *   there may be one.
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

/*
 * Finds when byte @seq of packet @p came. @tstamp: filled, with the time stamp
 * Return: false if it may be the stamp of a later packet
 */
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
