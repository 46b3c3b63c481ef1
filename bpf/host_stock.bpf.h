/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's points for an nvme-tcp that nobody patched: from functions that the compiler kept, and
 * from what every kernel has. docs/points.md says how far each is from the tracepoint of its name.
 *
 * Arguments are typed; what hangs on a void pointer, or comes from a table of ours, is a plain
 * address, whose read costs as much as nine typed ones. A queue that is known by an address may be
 * stale: the command that it leads to has to be in flight, with the command id that was received.
 *
 * Programs on functions that the whole kernel shares return after one comparison where they are not
 * called for NVMe/TCP.
 */
#ifndef NTPROF_HOST_STOCK_BPF_H
#define NTPROF_HOST_STOCK_BPF_H

#include "host_command.bpf.h"

/* Linux keeps the tag in the low bits of the command id (nvme_tag_from_cid()). */
#define NVME_CID_TAG_BITS 12
#define NVME_CID_TAG_MASK ((1u << NVME_CID_TAG_BITS) - 1)
/* Of a submission queue entry: as far as dword 11. */
#define NVME_SQE_BYTES 48
/* All of it, where events are asked for. */
#define NVME_SQE_BYTES_ALL 64
/* CO-RE: struct blk_mq_ops with its function as a plain pointer. */
struct blk_mq_ops___plain {
	void *queue_rq;
} __attribute__((preserve_access_index));

/* @rq: typed */
static __always_inline bool is_nvme_tcp(struct request *rq)
{
	const struct blk_mq_ops___plain *ops = (const void *)rq->q->mq_ops;

	return nt_control.queue_rq && (__u64)ops->queue_rq == nt_control.queue_rq;
}

/* nvme_tcp_queue_id() */
static __always_inline __u32 queue_id(__u64 queue, __u64 queues)
{
	return (queue - queues) / bpf_core_type_size(struct nvme_tcp_queue);
}

/*
 * By the address of its struct nvme_tcp_queue. Verified: the last queue that was seen there; NULL
 * if none was.
 * @slot: filled, if there is one
 */
static __always_inline struct nt_queue *queue_by_address(__u64 address, __u32 *slot)
{
	struct nt_queue *q = queue_by_index(address, slot);

	return q && q->queue == address ? q : NULL;
}

/*
 * The slot of the struct nvme_tcp_queue at a plain address, whether a command of its was seen or
 * not.
 */
static __always_inline __u32 slot_by_address(__u64 address)
{
	struct nvme_tcp_queue *queue = (void *)address;
	struct nvme_tcp_ctrl *ctrl;
	__u32 slot;

	if (queue_by_address(address, &slot))
		return slot;
	ctrl = BPF_CORE_READ(queue, ctrl);
	return (__u32)BPF_CORE_READ(ctrl, ctrl.instance) * nt_knobs.qid_stride +
	       queue_id(plain_number(address), (__u64)BPF_CORE_READ(ctrl, queues));
}

/* By queue and command id. Verified: in flight, measured, and of that command id, its generation included. */
static __always_inline struct nt_cmd *cmd_by_cid(const struct nt_queue *q, __u16 cid)
{
	struct nt_cmd *c = cmd_by_tag(q, cid & NVME_CID_TAG_MASK);

	if (!c || !measured(c) || c->r.cid != cid)
		return NULL;
	return c;
}

/* Whether a read or write is left out by what the block layer knows of it: its entry need not be read. @rq: typed */
static __always_inline bool request_left_out(struct request *rq)
{
	__u32 op = (rq->cmd_flags & REQ_OP_MASK) == REQ_OP_READ ? NT_OP_READ : NT_OP_WRITE;

	if (nt_knobs.only.ops && !(nt_knobs.only.ops >> op & 1))
		return true;
	return nt_knobs.only.sizes.nr && !nt_in_ranges(&nt_knobs.only.sizes, rq->__data_len);
}

/* Whether nobody asks for more of a read or write than what the block layer knows of it. */
static __always_inline bool request_tells_all(void)
{
	return nt_knobs.select == NT_SELECT_NONE && !nt_knobs.events && !nt_knobs.sample_below &&
	       !nt_knobs.only.nsids.nr && !nt_knobs.only.lbas.nr;
}

/*
 * Fills what is asked for of an entry from the request that it was made of (nvme_setup_rw(), nvme_cid()): only the
 * generation of the command id has to be read by helper.
 * @rq: typed; it reads or writes. @req: its driver's part
 */
static __always_inline void entry_of_request(struct request *rq, struct nvme_tcp_request *req,
					     struct nvme_command *sqe)
{
	sqe->common.opcode =
		(rq->cmd_flags & REQ_OP_MASK) == REQ_OP_READ ? NVME_CMD_READ : NVME_CMD_WRITE;
	sqe->common.command_id = BPF_CORE_READ(req, req.genctr) << NVME_CID_TAG_BITS | rq->tag;
	sqe->common.dptr.sgl.length = rq->__data_len;
	/* Nobody looks at these, but the verifier does not know. */
	sqe->common.nsid = sqe->common.cdw10 = sqe->common.cdw11 = 0;
}

/* @entry: filled with what is asked for of it. Return: not 0 if it cannot be read */
static __always_inline int entry_read(struct nvme_tcp_request *req, void *entry)
{
	return bpf_probe_read_kernel(entry, nt_knobs.events ? NVME_SQE_BYTES_ALL : NVME_SQE_BYTES,
				     BPF_CORE_READ(req, req.cmd));
}

/* By helper, where the queue was not seen before. @h: its queue is filled in, and the rest is now */
static __always_inline void host_queue_read(struct host_queue *h)
{
	struct nvme_tcp_queue *queue = (void *)h->queue;
	struct nvme_tcp_ctrl *ctrl = BPF_CORE_READ(queue, ctrl);

	h->ctrl = plain_number((__u64)ctrl) + bpf_core_field_offset(struct nvme_tcp_ctrl, ctrl);
	h->instance = BPF_CORE_READ(ctrl, ctrl.instance);
	h->qid = queue_id(plain_number(h->queue), (__u64)BPF_CORE_READ(ctrl, queues));
}

/* Whether stock_queue_rq() is left, by a request of any driver: see request_skip(). */
static __always_inline bool stock_queue_rq_leaves(const unsigned long long *ctx)
{
	struct request *rq = (void *)ctx[0];

	return none_is_tracked() && is_read_or_write(rq) && request_left_out(rq);
}

/*
 * nvme_start_request(), the last thing that nvme_tcp_queue_rq() does before it queues the request. The queue is that of
 * the hardware context (nvme_tcp_init_hctx()), and known by its address, until a Connect or another Fabrics command
 * comes: another controller may lie by then where one was that is gone.
 */
SEC("tp_btf/block_rq_issue")
int NT_PROG_LEAVING(nt_knobs.only.ops || nt_knobs.only.sizes.nr, stock_queue_rq_leaves(ctx),
		    stock_queue_rq, struct request *rq)
{
	struct nvme_tcp_request *req = driver_part(rq);
	__u64 entry[NVME_SQE_BYTES_ALL / 8];
	struct nvme_command *sqe = (struct nvme_command *)entry;
	struct host_queue h = {};
	bool plain, elsewhere;
	struct nt_queue *q;
	enum nt_fate fate;

	if (!is_nvme_tcp(rq))
		return 0;
	plain = is_read_or_write(rq);
	/* What was in flight of this request, if anything: see request_skip(). */
	if (nt_knobs.selects & NT_BY_COMMAND && plain && request_left_out(rq) &&
	    !cmd_by_owner((__u64)rq, &elsewhere) && !elsewhere)
		return 0;
	h.queue = (__u64)rq->mq_hctx->driver_data;
	q = queue_by_address(h.queue, &h.slot);
	/* The compiler is kept from having whether there is one apart from which it is, which the verifier cannot follow. */
	asm volatile("" : "+r"(q));
	if (plain && q && queue_left_out(q))
		return 0;
	if (plain && request_tells_all())
		entry_of_request(rq, req, sqe);
	else if (entry_read(req, entry))
		return 0;
	if (!plain && q && sqe->common.opcode == NVME_FABRICS_COMMAND) {
		q->queue = 0;
		q = NULL;
	}
	asm volatile("" : "+r"(q));
	if (q) {
		h.ctrl = q->object;
		h.instance = q->instance;
		h.qid = q->qid;
	} else {
		host_queue_read(&h);
		q = host_queue_at(&h);
	}
	fate = request_fate(rq, sqe, h.qid);
	return fate == NT_LEAVE ? request_skip(rq, &h, q, sqe)
				: request_begin(rq, &h, q, sqe, fate == NT_MEASURE);
}

/*
 * Notes the address of nvme_tcp_queue_rq(), before the first request's block_rq_issue asks for it.
 * The loader then detaches it.
 */
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
 * To sending: a request, or a part of it, is about to go to the socket. First this is its capsule
 * and, once an R2T has come, the first H2C data PDU.
 * @req: a plain address
 */
static __always_inline void cmd_sending(struct nvme_tcp_request *req)
{
	/*
	 * By the request, because a data PDU is made where the capsule was, and overwrites the
	 * command id. The asynchronous event request lies in no struct request: nothing is found
	 * for it.
	 */
	struct request *rq = (void *)((__u64)req - bpf_core_type_size(struct request));
	struct nt_cmd *c = CMD_FIND(rq, queue_at(slot_by_address((__u64)BPF_CORE_READ(req, queue))),
				    BPF_CORE_READ(rq, tag));
	struct nt_queue *q;

	if (!c)
		return;
	/* Only records have the points sent_cmd and sent_data. */
	if (nt_knobs.select != NT_SELECT_NONE) {
		q = queue_of_cmd(c);
		if (q)
			q->sending = (c->r.cid & NVME_CID_TAG_MASK) + 1;
	}
	if (!c->r.points[NT_H_SEND_CMD])
		c->r.points[NT_H_SEND_CMD] = bpf_ktime_get_ns();
	else if (c->r.points[NT_H_R2T] && !c->r.points[NT_H_SEND_DATA])
		c->r.points[NT_H_SEND_DATA] = bpf_ktime_get_ns();
}

SEC("fentry/nvme_tcp_try_send_cmd_pdu")
int NT_PROG_MEASURING(stock_send_cmd, struct nvme_tcp_request *req)
{
	cmd_sending((void *)plain_argument(ctx, 0));
	return 0;
}

SEC("fentry/nvme_tcp_try_send_data_pdu")
int NT_PROG_MEASURING(stock_send_data, struct nvme_tcp_request *req)
{
	cmd_sending((void *)plain_argument(ctx, 0));
	return 0;
}

/* What is longer than a capsule and its digest, or the header of a data PDU, is data: they are not the first of anything. */
#define HOST_PDU_SENT_BYTES 76

/*
 * Where those two are inlined: what a queue hands to its socket is a part of the request that it
 * sends.
 * @sock: typed
 * @size: bytes
 */
static __always_inline int to_socket(struct socket *sock, __u64 size)
{
	struct nvme_tcp_queue *queue;
	struct nvme_tcp_request *req;

	if (size > HOST_PDU_SENT_BYTES || none_is_measured())
		return 0;
	queue = (void *)queue_address_of(sock->sk);
	if (!queue)
		return 0;
	req = BPF_CORE_READ(queue, request);
	if (req)
		cmd_sending(req);
	return 0;
}

SEC("fentry/kernel_sendpage")
int NT_PROG_MEASURING(stock_sendpage, struct socket *sock, void *page, int offset, __u64 size)
{
	return to_socket(sock, size);
}

SEC("fentry/sock_no_sendpage")
int NT_PROG_MEASURING(stock_no_sendpage, struct socket *sock, void *page, int offset, __u64 size)
{
	return to_socket(sock, size);
}

SEC("fentry/sock_sendmsg")
int NT_PROG_MEASURING(stock_sendmsg, struct socket *sock, struct msghdr *msg)
{
	return to_socket(sock, msg->msg_iter.count);
}

/*
 * nvme_tcp_done_send_req() is inlined; what it does is to leave the queue without a request. By the
 * tag, because the request that was sent is no longer told: cmd_sent() leaves a new command with
 * that tag alone. @ret: positive, where something was sent; an errno; 0: there was nothing, or no room for it
 */
SEC("fexit/nvme_tcp_try_send")
int NT_PROG_MEASURING(stock_sent, struct nvme_tcp_queue *queue, int ret)
{
	struct nt_queue *q;
	struct nt_cmd *c;
	__u32 tag;

	/* Most attempts find nothing to send. */
	if (!ret || none_is_measured() || queue->request)
		return 0;
	q = queue_at(slot_by_address(plain_argument(ctx, 0)));
	if (!q || !q->sending)
		return 0;
	tag = q->sending - 1;
	q->sending = 0;
	if (ret < 0)
		return 0;
	c = cmd_by_tag(q, tag);
	if (c && measured(c))
		cmd_sent(c);
	return 0;
}

/*
 * The header of a PDU has been received whole: nvme_tcp_handle_c2h_data(), _r2t(), _comp() follow.
 * @pdu: HOST_PDU_BYTES of it, on the stack
 * @skb: typed, the packet that it ends in
 * @at: its last byte in that
 */
static __always_inline void pdu_received(struct nt_queue *q, const void *pdu,
					 const struct sk_buff *skb, __u32 at)
{
	__u8 type = ((const struct nvme_tcp_hdr *)pdu)->type;
	const struct nvme_tcp_data_pdu *data = pdu;
	const struct nvme_tcp_rsp_pdu *rsp = pdu;
	const struct nvme_tcp_r2t_pdu *r2t = pdu;
	struct nt_join p;
	struct nt_cmd *c;
	__u64 now;

	switch (type) {
	case nvme_tcp_c2h_data:
		c = cmd_by_cid(q, data->command_id);
		if (!c)
			return;
		if (data->hdr.flags & NVME_TCP_F_DATA_SUCCESS)
			cmd_without_cqe(c);
		if (c->r.points[NT_H_C2H])
			return;
		now = bpf_ktime_get_ns();
		p = packet_of(skb);
		cmd_answering(c, q, &p, p.begin + at, now);
		return;
	case nvme_tcp_r2t:
		c = cmd_by_cid(q, r2t->command_id);
		if (!c || c->r.points[NT_H_R2T])
			return;
		now = bpf_ktime_get_ns();
		p = packet_of(skb);
		cmd_asked(c, q, &p, p.begin + at, now);
		return;
	case nvme_tcp_rsp:
		c = cmd_by_cid(q, rsp->cqe.command_id);
		if (!c)
			return;
		now = bpf_ktime_get_ns();
		if (answer_is_cqe(c)) {
			p = packet_of(skb);
			c->r.points[NT_H_RX] = cmd_arrival(c, q, &p, p.begin + at, now);
		}
		cmd_answered(c, q, now, rsp);
		return;
	}
}

/*
 * Whether a packet lies within another one, where GRO has put it: skb_copy_bits() calls itself for
 * those, which know neither their place in the stream nor when they came. Where a packet waits to be
 * read it belongs to its socket (tcp_queue_rcv()); one within another to none, or still to the socket
 * of this machine that has sent it (skb_gro_receive()). What TLS has decrypted belongs to none, and
 * is of no packet. @skb: typed
 */
static __always_inline bool is_within(const struct sk_buff *skb, const struct nt_queue *q)
{
	struct sock *sk = skb->sk;
	__u64 user;

	if (!sk)
		return !q->opaque;
	user = (__u64)sk->sk_user_data;
	/* The driver may have given the socket back already. */
	return user && user != q->queue && q->queue && !q->opaque;
}

/*
 * nvme_tcp_recv_pdu() is inlined; it copies a header with this, in one piece or several. The last
 * piece is the one that ends where the header does, or its digest. Its queue is known by where the
 * header goes, so nothing has to hold from an earlier program to this one: the task may have been
 * preempted and have gone to another CPU. Nobody else writes to @to before this returns.
 */
SEC("fexit/skb_copy_bits")
int NT_PROG_MEASURING(stock_recv_pdu, const struct sk_buff *skb, int offset, void *to, int len,
		      int ret)
{
	const struct nt_header *h;
	__u64 pdu[HOST_PDU_BYTES / 8];
	struct nt_queue *q;
	__u64 end;

	if (none_is_measured())
		return 0;
	h = header_find((__u64)to);
	if (!h || ret)
		return 0;
	end = (__u64)to - h->address + len;
	if (end != HOST_PDU_BYTES && end != HOST_PDU_BYTES + HOST_PDU_DIGEST_BYTES)
		return 0;
	q = queue_at(h->slot);
	if (!q || is_within(skb, q))
		return 0;
	if (bpf_probe_read_kernel(pdu, sizeof(pdu), (void *)h->address))
		return 0;
	pdu_received(q, pdu, skb, offset + len - 1);
	return 0;
}

/*
 * To answered: a read that ends with the SUCCESS flag has no CQE, and what follows its last data
 * takes that place. @no_sqflow says so before the first command has NT_F_NO_CQE, and is not taken back.
 * @c: NULL where its beginning was not seen
 */
static __always_inline int cmd_answered_by_data(struct nt_cmd *c)
{
	if (c && (c->r.flags & NT_F_NO_CQE) && !c->r.points[NT_H_CQE])
		c->r.points[NT_H_CQE] = bpf_ktime_get_ns();
	return 0;
}

SEC("fentry/nvme_tcp_data_in_short")
int BPF_PROG(stock_in_short, struct nvme_tcp_queue *queue, struct request *rq)
{
	__u32 qid;

	if (!nt_control.no_sqflow)
		return 0;
	qid = queue_id((__u64)queue, (__u64)queue->ctrl->queues);
	return cmd_answered_by_data(cmd_of(queue, qid, rq));
}

/* Cancelled requests pass here too, with a status that says so, and requests of other drivers. */
SEC("fentry/blk_mq_complete_request_remote")
int BPF_PROG(stock_end, struct request *rq)
{
	struct nvme_tcp_request *req = driver_part(rq);
	struct nt_cmd *c;

	if (!nt_control.no_sqflow)
		return 0;
	c = CMD_FIND(rq, queue_of_request(rq), rq->tag);
	if (!c || BPF_CORE_READ(req, req.status))
		return 0;
	return cmd_answered_by_data(c);
}

#endif /* NTPROF_HOST_STOCK_BPF_H */
