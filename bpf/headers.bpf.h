/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which queue of the host a PDU's header is received for, by the address that it is copied to: each
 * queue has memory of its own for that, from when it is connected until it is disconnected (struct
 * nvme_tcp_queue, @pdu).
 *
 * Written when a queue's first command begins, and with each Connect; read whenever anybody on the
 * machine copies from a packet. Nothing is locked: an entry that is read while it is written leads
 * to no queue or to a wrong one, of which no command is in flight with the command id that is read.
 */
#ifndef NTPROF_HEADERS_BPF_H
#define NTPROF_HEADERS_BPF_H

#include "queues.bpf.h"

/*
 * Of a PDU that a host receives, without its digest (NVMe/TCP 1.0, 3.6.2: all have this header
 * length).
 */
#define HOST_PDU_BYTES 24
#define HOST_PDU_DIGEST_BYTES 4
/* Headers lie in memory from kmalloc(), which for so many bytes is aligned to this. */
#define NT_HEADER_ALIGN 32

/* Sixteen times as many as 128 CPUs have queues to eight controllers. */
#define NT_HEADER_BITS 14
/* An address is in one of so many entries, the first that is free from where it belongs. */
#define NT_HEADER_WAYS 8

struct nt_header nt_headers[1 << NT_HEADER_BITS] = {};

/* @way: counted from the entry where an address belongs. @to: typed or plain */
static __always_inline struct nt_header *header_entry(__u64 to, __u32 way)
{
	/* hashed() takes no account of the lowest 6 bits, of which one differs here. */
	__u32 of = low_half(to) / NT_HEADER_ALIGN << 6;

	return &nt_headers[(hashed(of, NT_HEADER_BITS) + way) & ((1 << NT_HEADER_BITS) - 1)];
}

/* @to: where a piece of a header may have been copied. Return: whose it is; NULL: nobody's */
static __always_inline const struct nt_header *header_find(__u64 to)
{
	_Pragma("unroll") for (__u32 way = 0; way < NT_HEADER_WAYS; way++)
	{
		const struct nt_header *h = header_entry(to, way);

		if (to - h->address < HOST_PDU_BYTES + HOST_PDU_DIGEST_BYTES)
			return h;
		if (!h->address)
			return NULL;
	}
	return NULL;
}

/* Whether another queue has that entry. One that got other memory since does not. */
static __always_inline bool header_taken(const struct nt_header *h, __u64 address)
{
	struct nt_queue *q;

	if (!h->address || h->address == address)
		return false;
	q = queue_at(h->slot);
	return q && q->header == h->address;
}

/*
 * Queue @q gets its headers at @address from now on. Where all entries for it are taken, the first
 * one gives way: it would take more queues than there are with states to have eight there.
 */
static __always_inline void header_learn(struct nt_queue *q, __u32 slot, __u64 address)
{
	struct nt_header *at = NULL;

	q->header = address;
	for (__u32 way = 0; way < NT_HEADER_WAYS; way++) {
		struct nt_header *h = header_entry(address, way);

		if (h->address == address) {
			at = h;
			break;
		}
		if (!at && !header_taken(h, address))
			at = h;
	}
	if (!at)
		at = header_entry(address, 0);
	at->slot = slot;
	asm volatile("" ::: "memory");
	at->address = address;
}

#endif /* NTPROF_HEADERS_BPF_H */
