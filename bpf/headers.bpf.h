/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the queue of the host for which the header of a PDU is received, by the address to which
 * the header is copied. Each queue has memory of its own for that, from connect to disconnect
 * (struct nvme_tcp_queue, @pdu).
 *
 * An entry is written when a queue's first command begins, and with each Connect. The table is read
 * whenever anything on the machine copies from a packet. There is no lock. An entry that is read
 * while it is written leads to no queue or to a wrong one. In a wrong queue, no command is in
 * flight with the command id that is read.
 */
#ifndef NTPROF_HEADERS_BPF_H
#define NTPROF_HEADERS_BPF_H

#include "queues.bpf.h"

/*
 * Bytes of the header of a PDU that a host receives, without its digest (NVMe/TCP 1.0, 3.6.2: all
 * of them have this header length).
 */
#define HOST_PDU_BYTES 24
#define HOST_PDU_DIGEST_BYTES 4
/* Headers lie in memory from kmalloc(), which aligns that many bytes to this. */
#define NT_HEADER_ALIGN 32

/* 16 times as many entries as queues of 128 CPUs to eight controllers. */
#define NT_HEADER_BITS 14
/* An address is in one of this many entries: the first free one from where it belongs. */
#define NT_HEADER_WAYS 8

struct nt_header nt_headers[1 << NT_HEADER_BITS] = {};

/* @way: counted from the entry where an address belongs. @to: typed or plain */
static __always_inline struct nt_header *header_entry(__u64 to, __u32 way)
{
	/* hashed() ignores the lowest 6 bits, one of which differs here. */
	__u32 of = low_half(to) / NT_HEADER_ALIGN << 6;

	return &nt_headers[(hashed(of, NT_HEADER_BITS) + way) & ((1 << NT_HEADER_BITS) - 1)];
}

/*
 * The header to which @to belongs, an address to which a part of a header may have been copied.
 * Return: NULL if it belongs to no header
 */
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

/* Whether another queue uses that entry. A queue that has got other memory since then does not. */
static __always_inline bool header_taken(const struct nt_header *h, __u64 address)
{
	struct nt_queue *q;

	if (!h->address || h->address == address)
		return false;
	q = queue_at(h->slot);
	return q && q->header == h->address;
}

/*
 * Queue @q gets its headers at @address from now on. If all eight entries for the address are used,
 * the first one is replaced. That many queues share entries only where there are more queues than
 * have states.
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
