/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which controller and connection a queue of the host belongs to, from its first command and its
 * Connect.
 */
#ifndef NTPROF_HOST_QUEUE_BPF_H
#define NTPROF_HOST_QUEUE_BPF_H

#include "controllers.bpf.h"
#include "joins.bpf.h"
#include "queues.bpf.h"
#include "request.bpf.h"
#include "select.bpf.h"

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
	/* Addresses differ in one of the lowest 6 bits, which hashed() ignores. */
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
	in_order();
	at->address = address;
}

/* CO-RE: struct nvme_tcp_queue with its function as a plain pointer. */
struct nvme_tcp_queue___plain {
	void *data_ready;
} __attribute__((preserve_access_index));

/* The queue of a request, from the driver's structure for it. */
struct host_queue {
	__u64 ctrl;  /* address of its struct nvme_ctrl, to be compared with others */
	__u64 queue; /* address of its struct nvme_tcp_queue */
	__u32 instance;
	__u32 qid;
	__u32 slot; /* of its struct nt_queue, if there is one */
};

/* Fills in the slot. Return: the struct nt_queue; NULL if there is none */
static __always_inline struct nt_queue *host_queue_at(struct host_queue *h)
{
	h->slot = h->instance * nt_knobs.qid_stride + h->qid;
	return h->qid < nt_knobs.qid_stride ? queue_at(h->slot) : NULL;
}

/*
 * Connect is a queue's first command (NVMe over Fabrics 1.1, 3.3). A fabrics command has its type
 * where others have the first byte of the NSID.
 */
#define NVME_FABRICS_TYPE_CONNECT 0x01

/* This is rare, and reads by helper. @rq: typed */
static __always_inline bool is_connect(struct request *rq)
{
	struct nvme_command *sqe = BPF_CORE_READ(nvme_part(rq), cmd);

	return BPF_CORE_READ(sqe, common.opcode) == NVME_FABRICS_COMMAND &&
	       (BPF_CORE_READ(sqe, common.nsid) & 0xff) == NVME_FABRICS_TYPE_CONNECT;
}

/* @cntlid: see queue_select() */
static __always_inline void host_queue_select(struct nt_queue *q, __u16 cntlid)
{
	struct nt_controller *c;

	if (!(nt_knobs.selects & NT_BY_QUEUE))
		return;
	c = bpf_map_lookup_elem(&controllers, &q->instance);
	queue_select(q, NT_HOST, cntlid, q->qid, c ? &c->names[q->controller & 1] : NULL);
}

/* NVME_AQ_DEPTH less 1 (include/linux/nvme.h), as in nvmf_connect_admin_queue(). */
#define NT_ADMIN_SQSIZE 31

/*
 * The size as Connect gives it, 0's based. The controller's member is the size of its I/O queues.
 */
static __always_inline __u16 sqsize_of(const struct nt_queue *q, struct nvme_ctrl *ctrl)
{
	return q->qid ? BPF_CORE_READ(ctrl, sqsize) : NT_ADMIN_SQSIZE;
}

/* The address of a queue's struct nvme_ctrl. Reads by helper. @queue: a plain address */
static __always_inline __u64 ctrl_of(struct nvme_tcp_queue *queue)
{
	return plain_number((__u64)BPF_CORE_READ(queue, ctrl)) +
	       bpf_core_field_offset(struct nvme_tcp_ctrl, ctrl);
}

/*
 * A slot has the queue of another controller than before: of one with number @number.
 * Return: whether that is so
 */
static __always_inline bool queue_take(struct nt_queue *q, const struct host_queue *h, __u16 number,
				       __u32 transport)
{
	if (q->object == h->ctrl && q->controller == number)
		return false;
	slot_seen(h->slot);
	q->object = h->ctrl;
	q->controller = number;
	q->instance = h->instance;
	q->qid = h->qid;
	q->transport = transport;
	q->gen += (q->gen ^ number) & 1 ? 1 : 2;
	return true;
}

/*
 * Fills what a queue's entry says of its controller, which has an id once Connect has been
 * answered. When Connect begins on a queue, that is another connection. It is identified by the
 * answer or, if that is not seen, by the next command. This is rare, and reads by helper.
 * @rq: typed, of the command that is beginning
 * Return: whether it is a Connect
 */
static __always_inline bool queue_identify(struct nt_queue *q, const struct host_queue *h,
					   struct request *rq)
{
	struct nvme_tcp_queue *queue = (void *)h->queue;
	struct nvme_ctrl *ctrl = (void *)ctrl_of(queue);
	bool connect = is_connect(rq);
	__u16 number = controller_number(h->instance, ctrl, connect && !h->qid);
	struct nt_learned *l = learned_now();
	struct sock *sk;

	if (!queue_take(q, h, number, NT_TRANSPORT_TCP) && connect)
		q->gen += 2;
	/*
	 * If one CPU has a queue for itself, completions are not redirected into a softirq, and not
	 * to another CPU as long as that CPU receives (blk_mq_complete_request_remote(), since
	 * Linux 6.1; until 6.6, never to another CPU): see redirect_learn(). All CPUs share an
	 * admin queue. If one loses a command that way, it is a Keep Alive, and it is counted.
	 */
	if (h->qid) {
		if (BPF_CORE_READ(rq, mq_hctx, nr_ctx) > 1)
			nt_control.redirected = 1;
		/* No CQE shows it: what receives for the queue does not run where it submits. */
		if (nt_knobs.ends &&
		    (__u32)BPF_CORE_READ(queue, io_cpu) != bpf_get_smp_processor_id())
			nt_control.redirected = 1;
		nt_control.identified_ns = bpf_ktime_get_ns();
		loader_call();
	}
	if (l)
		l->mq_ops[h->qid == 0] = (__u64)BPF_CORE_READ(rq, q, mq_ops);
	if (BPF_CORE_READ(ctrl, opts, disable_sqflow))
		nt_control.no_sqflow = 1;
	if (!connect) {
		q->cntlid = BPF_CORE_READ(ctrl, cntlid);
		q->sqsize = sqsize_of(q, ctrl);
		queue_identified(q);
	}
	host_queue_select(q, connect ? NT_CNTLID_NONE : q->cntlid);
	q->queue = h->queue;
	slot_index_set(h->queue, h->slot);
	header_learn(q, h->slot, (__u64)BPF_CORE_READ(queue, pdu));
	sk = BPF_CORE_READ(queue, sock, sk);
	kernel_queue_set(h->slot, h->queue, sk);
	joins_begin(q, sk, connect);
	ends_learn(q, sk);
	data_ready_learn(sk, h->queue,
			 (__u64)BPF_CORE_READ((struct nvme_tcp_queue___plain *)queue, data_ready));
	return connect;
}

#endif /* NTPROF_HOST_QUEUE_BPF_H */
