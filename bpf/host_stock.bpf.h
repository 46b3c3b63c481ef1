/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's points for an nvme-tcp that nobody patched: from functions that the compiler kept, and
 * from what every kernel has. docs/points.md says how far each is from the tracepoint of its name.
 *
 * Functions have typed arguments; what hangs on a void pointer, or comes from a per-CPU note, is a plain
 * address and read with bpf_probe_read_kernel(), which tolerates a stale one, and costs as much as nine typed
 * reads. No note is trusted by itself: the command that it leads to has to be in flight, with that identity.
 *
 * Programs on functions that the whole kernel shares leave what is not ours after one comparison.
 */
#ifndef NTPROF_HOST_STOCK_BPF_H
#define NTPROF_HOST_STOCK_BPF_H

#include "host_command.bpf.h"

/* Linux keeps the tag in the low bits of the command id (nvme_tag_from_cid()). */
#define NVME_CID_TAG_MASK 0xfff
/* Of a submission queue entry: as far as dword 11. */
#define NVME_SQE_BYTES 48
/* Of a struct nvme_tcp_request: all that is asked for at once, where it begins as in Linux 6.1. */
#define HOST_REQUEST_BYTES 64
/* Of a PDU that a host receives, without its digest (NVMe/TCP 1.0, 3.6.2: all have this header length). */
#define HOST_PDU_BYTES 24
#define HOST_PDU_DIGEST_BYTES 4

/* CO-RE: struct blk_mq_ops with its function as a plain pointer. */
struct blk_mq_ops___plain {
	void *queue_rq;
} __attribute__((preserve_access_index));

/* include/net/tcp.h: has no tag, so vmlinux.h cannot list it. */
typedef struct {
	union {
		void *data;
	} arg;
} __attribute__((preserve_access_index)) read_descriptor_t;

/* What a CPU was last seen to receive; noted by one program for the next one. */
struct host_note {
	__u64 pdu;  /* where the queue gathers the header of a PDU, */
	__u32 slot; /* and its slot */
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct host_note);
} notes SEC(".maps");

static __always_inline struct host_note *note_of_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&notes, &zero);
}

static __always_inline bool is_ours(struct request *rq)
{
	const struct blk_mq_ops___plain *ops = (const void *)rq->q->mq_ops;

	return nt_control.queue_rq && (__u64)ops->queue_rq == nt_control.queue_rq;
}

/* nvme_tcp_queue_id() */
static __always_inline __u32 queue_id(__u64 queue, __u64 queues)
{
	return (queue - queues) / bpf_core_type_size(struct nvme_tcp_queue);
}

/* The queue at this address, if it was found before. @slot: filled */
static __always_inline struct nt_queue *queue_known(__u64 queue, __u32 *slot)
{
	struct nt_queue *q;

	*slot = *slot_index(queue) - 1;
	q = bpf_map_lookup_elem(&queues, slot);
	return q && q->queue == queue ? q : NULL;
}

/* The slot of the queue at this address. */
static __always_inline __u32 slot_of(__u64 address)
{
	struct nvme_tcp_queue *queue = (void *)address;
	struct nvme_tcp_ctrl *ctrl;
	__u32 slot;

	if (queue_known(address, &slot))
		return slot;
	ctrl = BPF_CORE_READ(queue, ctrl);
	return (__u32)BPF_CORE_READ(ctrl, ctrl.instance) * nt_knobs.qid_stride +
	       queue_id(address, (__u64)BPF_CORE_READ(ctrl, queues));
}

/* The command in flight that has this identity. */
static __always_inline struct nt_cmd *cmd_by_cid(__u32 slot, __u16 cid)
{
	struct nt_queue *q = bpf_map_lookup_elem(&queues, &slot);
	struct nt_cmd *c;

	if (!q)
		return NULL;
	c = cmd_find(q, cid & NVME_CID_TAG_MASK);
	if (!c || !in_flight(c) || c->r.cid != cid)
		return NULL;
	return c;
}

/* A pointer in a structure whose first bytes have been read, the others being read now. */
#define POINTER_IN(bytes, object, type, member)                                      \
	(bpf_core_field_offset(type, member) <= sizeof(bytes) - sizeof(__u64)        \
		 ? *(__u64 *)((void *)(bytes) + bpf_core_field_offset(type, member)) \
		 : (__u64)BPF_CORE_READ((type *)(object), member))

/* nvme_start_request(), the last thing that nvme_tcp_queue_rq() does before it queues the request. */
SEC("tp_btf/block_rq_issue")
int BPF_PROG(stock_queue_rq, struct request *rq)
{
	struct nvme_tcp_request *req = driver_part(rq);
	__u64 bytes[HOST_REQUEST_BYTES / 8];
	__u64 entry[NVME_SQE_BYTES / 8];
	struct nvme_command *sqe = (struct nvme_command *)entry;
	struct nvme_tcp_ctrl *ctrl;
	struct host_queue h = {};
	struct nt_queue *q;
	__u32 slot;

	if (!is_ours(rq))
		return 0;
	if (bpf_probe_read_kernel(bytes, sizeof(bytes), req))
		return 0;
	h.queue = POINTER_IN(bytes, req, struct nvme_tcp_request, queue);
	h.ctrl = POINTER_IN(bytes, req, struct nvme_tcp_request, req.ctrl);
	if (bpf_probe_read_kernel(entry, sizeof(entry),
				  (void *)POINTER_IN(bytes, req, struct nvme_tcp_request, req.cmd)))
		return 0;
	q = queue_known(h.queue, &slot);
	/* Another controller may come to lie where one was that is gone: its Connect says so. */
	if (q && sqe->common.opcode == NVME_FABRICS_COMMAND)
		q->queue = 0;
	if (q && q->queue && q->object == h.ctrl) {
		h.instance = q->instance;
		h.qid = q->qid;
	} else {
		ctrl = (void *)(h.ctrl - bpf_core_field_offset(struct nvme_tcp_ctrl, ctrl));
		h.instance = BPF_CORE_READ(ctrl, ctrl.instance);
		h.qid = queue_id(h.queue, (__u64)BPF_CORE_READ(ctrl, queues));
	}
	return sqe_sampled(sqe, h.qid) ? begin(rq, &h, sqe) : begin_unsampled(rq, &h);
}

/* Runs before the first request's block_rq_issue; not needed after that. */
SEC("fentry/nvme_tcp_queue_rq")
int BPF_PROG(stock_learn, struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	const struct blk_mq_ops___plain *ops;

	if (nt_control.queue_rq)
		return 0;
	ops = (const void *)bd->rq->q->mq_ops;
	nt_control.queue_rq = (__u64)ops->queue_rq;
	return 0;
}

/*
 * A request is about to go to the socket, or a part of it: first its capsule, and once an R2T has come, the
 * first H2C data PDU.
 */
static __always_inline void send_some(struct nvme_tcp_request *req)
{
	/* Not by the command id: data PDUs are made where the capsule was. */
	struct request *rq = (void *)((__u64)req - bpf_core_type_size(struct request));
	struct nt_queue *q = NULL;
	struct nt_cmd *c;
	bool elsewhere;
	__u32 slot;

	/* The asynchronous event request lies in no struct request, and is not in flight here. */
	c = cmd_by_owner((__u64)rq, &elsewhere);
	if (!c && elsewhere) {
		slot = slot_of((__u64)BPF_CORE_READ(req, queue));
		q = bpf_map_lookup_elem(&queues, &slot);
		c = q ? cmd_find(q, BPF_CORE_READ(rq, tag)) : NULL;
	}
	if (!c || c->owner != (__u64)rq)
		return;
	/* Only a reader of records asks when they have been sent. */
	if (nt_knobs.select != NT_SELECT_NONE) {
		q = bpf_map_lookup_elem(&queues, &c->r.slot);
		if (q)
			q->sending = (c->r.cid & NVME_CID_TAG_MASK) + 1;
	}
	if (!c->r.points[NT_H_SEND_CMD])
		c->r.points[NT_H_SEND_CMD] = bpf_ktime_get_ns();
	else if (c->r.points[NT_H_R2T] && !c->r.points[NT_H_SEND_DATA])
		c->r.points[NT_H_SEND_DATA] = bpf_ktime_get_ns();
}

SEC("fentry/nvme_tcp_try_send_cmd_pdu")
int BPF_PROG(stock_send_cmd, struct nvme_tcp_request *req)
{
	send_some((void *)plain_argument(ctx, 0));
	return 0;
}

SEC("fentry/nvme_tcp_try_send_data_pdu")
int BPF_PROG(stock_send_data, struct nvme_tcp_request *req)
{
	send_some((void *)plain_argument(ctx, 0));
	return 0;
}

/* Where those two are inlined: what a queue hands to its socket is a part of the request that it sends. */
static __always_inline int to_socket(struct socket *sock)
{
	struct nvme_tcp_queue *queue = (void *)queue_of_socket(sock->sk);
	struct nvme_tcp_request *req;

	if (!queue)
		return 0;
	req = BPF_CORE_READ(queue, request);
	if (req)
		send_some(req);
	return 0;
}

SEC("fentry/kernel_sendpage")
int BPF_PROG(stock_sendpage, struct socket *sock)
{
	return to_socket(sock);
}

SEC("fentry/sock_no_sendpage")
int BPF_PROG(stock_no_sendpage, struct socket *sock)
{
	return to_socket(sock);
}

SEC("fentry/sock_sendmsg")
int BPF_PROG(stock_sendmsg, struct socket *sock)
{
	return to_socket(sock);
}

/* nvme_tcp_done_send_req() is inlined; what it does is to leave the queue without a request. */
SEC("fexit/nvme_tcp_try_send")
int BPF_PROG(stock_sent, struct nvme_tcp_queue *queue, int ret)
{
	__u32 slot, tag;
	struct nt_queue *q;
	struct nt_cmd *c;

	if (queue->request)
		return 0;
	slot = slot_of(plain_argument(ctx, 0));
	q = bpf_map_lookup_elem(&queues, &slot);
	if (!q || !q->sending)
		return 0;
	tag = q->sending - 1;
	q->sending = 0;
	if (ret < 0)
		return 0;
	c = cmd_find(q, tag);
	/* See done_send_req(): the answer may have come already, and the tag be in use again. */
	if (!c || !in_flight(c) || !c->r.points[NT_H_SEND_CMD])
		return 0;
	if (!c->r.points[NT_H_SENT_CMD])
		c->r.points[NT_H_SENT_CMD] = bpf_ktime_get_ns();
	else
		c->r.points[NT_H_SENT_DATA] = bpf_ktime_get_ns();
	return 0;
}

SEC("fentry/nvme_tcp_recv_skb")
int BPF_PROG(stock_recv_skb, read_descriptor_t *desc)
{
	struct nvme_tcp_queue *queue = desc->arg.data;
	struct host_note *n = note_of_cpu();

	if (!n)
		return 0;
	n->slot = slot_of((__u64)queue);
	n->pdu = (__u64)BPF_CORE_READ(queue, pdu);
	return 0;
}

/* The header of a PDU has been received whole: nvme_tcp_handle_c2h_data(), _r2t(), _comp() follow. */
static __always_inline void pdu_received(__u32 slot, const void *pdu, __s64 tstamp)
{
	__u8 type = ((const struct nvme_tcp_hdr *)pdu)->type;
	const struct nvme_tcp_data_pdu *data = pdu;
	const struct nvme_tcp_rsp_pdu *rsp = pdu;
	const struct nvme_tcp_r2t_pdu *r2t = pdu;
	__u64 now = bpf_ktime_get_ns();
	struct nt_cmd *c;

	switch (type) {
	case nvme_tcp_c2h_data:
		c = cmd_by_cid(slot, data->command_id);
		if (!c)
			return;
		if (data->hdr.flags & NVME_TCP_F_DATA_SUCCESS)
			no_cqe_follows(c);
		if (c->r.points[NT_H_C2H])
			return;
		c->r.points[NT_H_RX] = arrival(tstamp, now);
		c->r.points[NT_H_C2H] = now;
		return;
	case nvme_tcp_r2t:
		c = cmd_by_cid(slot, r2t->command_id);
		if (!c || c->r.points[NT_H_R2T])
			return;
		c->r.points[NT_H_R2T_RX] = arrival(tstamp, now);
		c->r.points[NT_H_R2T] = now;
		return;
	case nvme_tcp_rsp:
		c = cmd_by_cid(slot, rsp->cqe.command_id);
		if (!c)
			return;
		if (!c->r.points[NT_H_C2H])
			c->r.points[NT_H_RX] = arrival(tstamp, now);
		c->r.points[NT_H_CQE] = now;
		c->r.flags &= ~NT_F_NO_CQE;
		c->r.status = rsp->cqe.status >> 1;
		return;
	}
}

/*
 * nvme_tcp_recv_pdu() is inlined; it copies a header with this, in one piece or several. The last piece is
 * the one that ends where the header does, or its digest.
 */
SEC("fexit/skb_copy_bits")
int BPF_PROG(stock_recv_pdu, const struct sk_buff *skb, int offset, void *to, int len, int ret)
{
	struct host_note *n = note_of_cpu();
	__u64 pdu[HOST_PDU_BYTES / 8];
	__u64 end;

	if (!n || (__u64)to - n->pdu >= HOST_PDU_BYTES + HOST_PDU_DIGEST_BYTES || ret)
		return 0;
	end = (__u64)to - n->pdu + len;
	if (end != HOST_PDU_BYTES && end != HOST_PDU_BYTES + HOST_PDU_DIGEST_BYTES)
		return 0;
	if (bpf_probe_read_kernel(pdu, sizeof(pdu), (void *)n->pdu))
		return 0;
	pdu_received(n->slot, pdu, skb->tstamp);
	return 0;
}

/* A read that ends with the SUCCESS flag has no CQE: what follows its last data takes that place. */
static __always_inline int no_cqe(struct nt_cmd *c)
{
	if (c && (c->r.flags & NT_F_NO_CQE) && !c->r.points[NT_H_CQE])
		c->r.points[NT_H_CQE] = bpf_ktime_get_ns();
	return 0;
}

SEC("fentry/nvme_tcp_data_in_short")
int BPF_PROG(stock_in_short, struct nvme_tcp_queue *queue, struct request *rq)
{
	__u32 qid = queue_id((__u64)queue, (__u64)queue->ctrl->queues);

	return no_cqe(cmd_of(queue, qid, rq));
}

/* Cancelled requests pass here too, with a status that says so. */
SEC("fentry/blk_mq_complete_request_remote")
int BPF_PROG(stock_end, struct request *rq)
{
	struct nvme_tcp_request *req = driver_part(rq);
	struct nt_queue *q;
	struct nt_cmd *c;
	bool elsewhere;

	c = cmd_by_owner((__u64)rq, &elsewhere);
	if (!c && elsewhere)
		c = complete_find(rq, &q);
	if (!c || BPF_CORE_READ(req, req.status))
		return 0;
	return no_cqe(c);
}

#endif /* NTPROF_HOST_STOCK_BPF_H */
