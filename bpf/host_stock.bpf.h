/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's points for an unpatched nvme-tcp: from functions that the compiler kept, and from what
 * every kernel has. docs/points.md says how far each is from the tracepoint of its name.
 *
 * Arguments are typed. The target of a void pointer, and an address out of a table of ours, are
 * plain addresses, and a read through one costs as much as nine typed ones. A queue that is found
 * by an address may be stale: the command that it leads to has to be in flight, and to have the
 * command id that was received.
 *
 * Programs on functions that the whole kernel shares return after one comparison where the call is
 * not for NVMe/TCP.
 */
#ifndef NTPROF_HOST_STOCK_BPF_H
#define NTPROF_HOST_STOCK_BPF_H

#include "host_command.bpf.h"

/*
 * Where a command begins: the block layer's tracepoint for a request that a driver has got.
 */

/* Linux keeps the tag in the low bits of the command id (nvme_tag_from_cid()). */
#define NVME_CID_TAG_BITS 12
#define NVME_CID_TAG_MASK ((1u << NVME_CID_TAG_BITS) - 1)
/* Bytes of a submission queue entry up to dword 11. */
#define NVME_SQE_BYTES 48
/* Bytes of the whole entry, for events. */
#define NVME_SQE_BYTES_ALL 64
/* CO-RE: struct blk_mq_ops with its function as a plain pointer. */
struct blk_mq_ops___plain {
	void *queue_rq;
} __attribute__((preserve_access_index));

/* @rq: typed */
static __always_inline bool is_nvme_tcp(struct request *rq)
{
	const struct blk_mq_ops___plain *ops = (const void *)rq->q->mq_ops;
	const struct nt_learned *l;

	if (!nt_control.queue_rq || (__u64)ops->queue_rq != nt_control.queue_rq)
		return false;
	l = learned_now();
	return l && (__u64)ops->queue_rq == l->queue_rq;
}

/* nvme_tcp_queue_id() */
static __always_inline __u32 queue_id(__u64 queue, __u64 queues)
{
	return (queue - queues) / bpf_core_type_size(struct nvme_tcp_queue);
}

/*
 * Finds a queue by the address of its struct nvme_tcp_queue. Verified: it is the last queue that
 * was seen there.
 * @slot: filled, if there is one
 * Return: NULL if none was seen there
 */
static __always_inline struct nt_queue *queue_by_address(__u64 address, __u32 *slot)
{
	struct nt_queue *q = queue_by_index(address, slot);

	return q && q->queue == address ? q : NULL;
}

/*
 * Whether a read or write is left out by what the block layer knows of it. Then its entry need not
 * be read. @rq: typed
 */
static __always_inline bool request_left_out(struct request *rq)
{
	__u32 op = (rq->cmd_flags & REQ_OP_MASK) == REQ_OP_READ ? NT_OP_READ : NT_OP_WRITE;

	if (nt_knobs.only.ops && !(nt_knobs.only.ops >> op & 1))
		return true;
	return nt_knobs.only.sizes.nr && !nt_in_ranges(&nt_knobs.only.sizes, rq->__data_len);
}

/* Whether what the block layer knows of a read or write is all that is needed of it. */
static __always_inline bool request_tells_all(void)
{
	return nt_knobs.select == NT_SELECT_NONE && !nt_knobs.events && !nt_knobs.sample_below &&
	       !nt_knobs.only.nsids.nr && !nt_knobs.only.lbas.nr;
}

/*
 * Fills the members of an entry that are needed from the request from which the driver made the
 * entry (nvme_setup_rw(), nvme_cid()). Only the generation in the command id has to be read by
 * helper.
 * @rq: typed; it reads or writes
 * @req: the driver's part of it
 * @op: its operation
 */
static __always_inline void entry_of_request(struct request *rq, struct nvme_tcp_request *req,
					     __u32 op, struct nvme_command *sqe)
{
	sqe->common.opcode = op == REQ_OP_READ ? NVME_CMD_READ : NVME_CMD_WRITE;
	sqe->common.command_id = rq->tag;
	/* No received header is compared with it where only the ends have programs. */
	if (!nt_knobs.ends || burst_now())
		sqe->common.command_id |= BPF_CORE_READ(req, req.genctr) << NVME_CID_TAG_BITS;
	sqe->common.dptr.sgl.length = rq->__data_len;
	/* These are not used, but the verifier does not know that. */
	sqe->common.nsid = sqe->common.cdw10 = sqe->common.cdw11 = 0;
}

/*
 * Reads the needed part of a submission queue entry. @entry: filled
 * Return: not 0 if it cannot be read
 */
static __always_inline int entry_read(struct nvme_command *sqe, void *entry)
{
	return bpf_probe_read_kernel(entry, nt_knobs.events ? NVME_SQE_BYTES_ALL : NVME_SQE_BYTES,
				     sqe);
}

/*
 * Fills the controller and the queue id by helper, for a queue that was not seen before. @h: has
 * @queue
 */
static __always_inline void host_queue_read(struct host_queue *h)
{
	struct nvme_tcp_queue *queue = (void *)h->queue;
	struct nvme_tcp_ctrl *ctrl = BPF_CORE_READ(queue, ctrl);

	h->ctrl = ctrl_of(queue);
	h->instance = BPF_CORE_READ(ctrl, ctrl.instance);
	h->qid = queue_id(plain_number(h->queue), (__u64)BPF_CORE_READ(ctrl, queues));
}

/*
 * Whether stock_queue_rq() returns at once for a request of any driver: see request_skip(). Not
 * before its note is taken, if there are any.
 */
static __always_inline bool stock_queue_rq_leaves(const unsigned long long *ctx)
{
	struct request *rq = (void *)ctx[0];

	return none_is_tracked() && is_read_or_write(rq) && request_left_out(rq) &&
	       !may_be_counted(ctx[0]);
}

/*
 * The driver has got a request. Its queue is that of the hardware context (nvme_tcp_init_hctx()).
 * The queue is known by its address until a Connect or another Fabrics command comes: by then
 * another controller may lie where an earlier one was.
 * @rq: typed, of any driver
 * @nested: see stand_in_returns()
 */
static __always_inline int request_issued(struct request *rq, bool nested)
{
	struct nvme_tcp_request *req = driver_part(rq);
	__u64 entry[NVME_SQE_BYTES_ALL / 8];
	struct nvme_command *sqe = (struct nvme_command *)entry;
	struct host_queue h = {};
	bool plain, elsewhere;
	struct nt_task noted;
	struct nt_queue *q;
	enum nt_fate fate;
	__u32 op;

	if (!is_nvme_tcp(rq))
		return 0;
	if (!nested)
		task_take(&noted, rq);
	op = rq->cmd_flags & REQ_OP_MASK;
	plain = op <= REQ_OP_WRITE;
	/* Not if a command of this request may be in flight: see request_skip(). */
	if (nt_knobs.selects & NT_BY_COMMAND && plain && request_left_out(rq) &&
	    !cmd_any_by_owner((__u64)rq, 0, &elsewhere) && !elsewhere)
		return 0;
	h.queue = (__u64)rq->mq_hctx->driver_data;
	q = queue_by_address(h.queue, &h.slot);
	/*
	 * Keeps the compiler from holding the answer to "is it NULL" apart from the pointer, which
	 * the verifier cannot follow.
	 */
	asm volatile("" : "+r"(q));
	if (plain && q && queue_left_out(q))
		return 0;
	if (plain && request_tells_all())
		entry_of_request(rq, req, op, sqe);
	else if (entry_read(BPF_CORE_READ(req, req.cmd), entry))
		return 0;
	if (!plain && q && sqe->common.opcode == NVME_FABRICS_COMMAND) {
		if (!nested)
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
	if (nested && stand_in_returns(rq, q, sqe))
		return 0;
	if (nested)
		task_take(&noted, rq);
	fate = request_fate(rq, sqe, h.qid);
	if (fate == NT_LEAVE)
		return request_skip(rq, &h, q, sqe);
	if (nested && place_claim(q, rq->tag) == NT_NOWHERE)
		return 0;
	return request_begin(rq, &h, q, sqe, &noted, fate == NT_MEASURE, false);
}

/*
 * nvme_start_request() is the last thing that nvme_tcp_queue_rq() does before it queues the
 * request.
 */
SEC("tp_btf/block_rq_issue")
int NT_PROG_LEAVING((nt_knobs.only.ops || nt_knobs.only.sizes.nr) && no_notes(),
		    stock_queue_rq_leaves(ctx), stock_queue_rq, struct request *rq)
{
	return request_issued(rq, false);
}

/* See "nested" in control.bpf.h. */
SEC("tp_btf/block_rq_issue")
int NT_PROG_LEAVING((nt_knobs.only.ops || nt_knobs.only.sizes.nr) && no_notes(),
		    stock_queue_rq_leaves(ctx), stock_queue_rq_nested, struct request *rq)
{
	return request_issued(rq, true);
}

/*
 * Notes the address of nvme_tcp_queue_rq(), before block_rq_issue needs it for the first request.
 * The loader then detaches this program.
 */
SEC("fentry/nvme_tcp_queue_rq")
int BPF_PROG(stock_learn, struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	const struct blk_mq_ops___plain *ops;
	struct nt_learned *l = learned_now();

	if (nt_control.queue_rq || !l)
		return 0;
	ops = (const void *)bd->rq->q->mq_ops;
	l->queue_rq = (__u64)ops->queue_rq;
	nt_control.queue_rq = (__u64)ops->queue_rq;
	return 0;
}

/*
 * The slot of the struct nvme_tcp_queue at a plain address, whether or not a command of it was
 * seen.
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

/*
 * Finds a command by queue and command id. Verified: it is in flight and measured, and has that
 * command id, including the generation.
 */
static __always_inline struct nt_cmd *cmd_by_cid(const struct nt_queue *q, __u16 cid)
{
	struct nt_cmd *c = cmd_by_tag(q, cid & NVME_CID_TAG_MASK);

	if (!c || !measured(c) || c->r.cid != cid)
		return NULL;
	return c;
}

/*
 * To sending: a request, or a part of it, is about to go to the socket. The first part is the
 * capsule. Once an R2T has come, it is the first H2C data PDU.
 * @req: a plain address
 * @sk: see OUT_SOCKET()
 */
static __always_inline void cmd_sending(struct nvme_tcp_request *req, struct sock *sk)
{
	/*
	 * Found by the request, because a data PDU is made where the capsule was, and overwrites
	 * the command id. The asynchronous event request is in no struct request, so nothing is
	 * found for it.
	 */
	struct request *rq = (void *)((__u64)req - bpf_core_type_size(struct request));
	struct nt_cmd *c = CMD_FIND(rq, queue_at(slot_by_address((__u64)BPF_CORE_READ(req, queue))),
				    BPF_CORE_READ(rq, tag));
	struct nt_queue *q;

	if (!c)
		return;
	/* Only records need the points sent_cmd and sent_data. */
	if (nt_knobs.select != NT_SELECT_NONE) {
		q = queue_of_cmd(c);
		if (q)
			q->sending = (c->r.cid & NVME_CID_TAG_MASK) + 1;
	}
	if (!c->r.points[NT_H_SEND_CMD])
		cmd_sends(c, sk, NT_H_SEND_CMD);
	else if (c->r.points[NT_H_R2T])
		cmd_sends(c, sk, NT_H_SEND_DATA);
}

SEC("fentry/nvme_tcp_try_send_cmd_pdu")
int NT_PROG_MEASURING(stock_send_cmd, struct nvme_tcp_request *req)
{
	cmd_sending((void *)plain_argument(ctx, 0), OUT_SOCKET(req->queue->sock->sk));
	return 0;
}

SEC("fentry/nvme_tcp_try_send_data_pdu")
int NT_PROG_MEASURING(stock_send_data, struct nvme_tcp_request *req)
{
	cmd_sending((void *)plain_argument(ctx, 0), OUT_SOCKET(req->queue->sock->sk));
	return 0;
}

/*
 * A capsule with its digest; the header of a data PDU is shorter. Anything longer is data, which is
 * never the first part of anything.
 */
#define HOST_PDU_SENT_BYTES 76

/*
 * For kernels where those two functions are inlined. A queue hands to its socket a part of the
 * request that it is sending.
 * @sock: typed
 * @size: bytes
 */
static __always_inline int to_socket(struct socket *sock, __u64 size)
{
	struct nvme_tcp_queue *queue;
	struct nvme_tcp_request *req;

	if (size > HOST_PDU_SENT_BYTES || none_is_measured())
		return 0;
	queue = (void *)queue_of_sock(sock->sk);
	if (!queue)
		return 0;
	req = BPF_CORE_READ(queue, request);
	if (req)
		cmd_sending(req, OUT_SOCKET(sock->sk));
	return 0;
}

SEC("fentry/kernel_sendpage")
int NT_PROG_MEASURING(stock_sendpage, struct socket *sock, void *page, int offset, __u64 size)
{
	return to_socket(sock, size);
}

SEC("fentry/sock_no_sendpage")
int NT_PROG_SELDOM(stock_no_sendpage, struct socket *sock, void *page, int offset, __u64 size)
{
	seldom_ran(NT_SELDOM_stock_no_sendpage);
	return to_socket(sock, size);
}

SEC("fentry/sock_sendmsg")
int NT_PROG_MEASURING(stock_sendmsg, struct socket *sock, struct msghdr *msg)
{
	return to_socket(sock, msg->msg_iter.count);
}

/*
 * nvme_tcp_done_send_req() is inlined; its effect is that the queue has no request any more. So the
 * command is found by its tag. cmd_sent() leaves a new command with that tag alone.
 * @ret: positive where something was sent; an errno; 0: there was nothing to send, or no room for
 *       it
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
 * As cmd_arrival(), for a header that ends at byte @at of packet @skb, typed. Where nothing was
 * joined, the place of the packet in the stream is not read. The task holds the lock of the socket,
 * so nothing is joined with a packet that it reads.
 */
static __always_inline __u64 header_arrival(struct nt_cmd *c, struct nt_queue *q,
					    const struct sk_buff *skb, __u32 at, __u64 now)
{
	struct nt_join p;

	if (!q->joins && !q->opaque && !joins_unseen())
		return arrival(skb->tstamp, now);
	p = packet_of(skb);
	return cmd_arrival(c, q, &p, p.begin + at, now);
}

/* The place of that byte in the stream, for cmd_waited(). Only finer points need it. */
static __always_inline __u32 header_seq(const struct sk_buff *skb, __u32 at)
{
	return nt_knobs.workers ? packet_begin(skb) + at : 0;
}

/*
 * The whole header of a PDU has been received: nvme_tcp_handle_c2h_data(), _r2t() or _comp()
 * follows.
 * @pdu: HOST_PDU_BYTES of it, on the stack
 * @skb: typed, the packet in which it ends
 * @at: the place of its last byte in that packet
 */
static __always_inline void pdu_received(struct nt_queue *q, const void *pdu,
					 const struct sk_buff *skb, __u32 at)
{
	__u8 type = ((const struct nvme_tcp_hdr *)pdu)->type;
	const struct nvme_tcp_data_pdu *data = pdu;
	const struct nvme_tcp_rsp_pdu *rsp = pdu;
	const struct nvme_tcp_r2t_pdu *r2t = pdu;
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
		cmd_answering(c, header_seq(skb, at), header_arrival(c, q, skb, at, now), now);
		return;
	case nvme_tcp_r2t:
		c = cmd_by_cid(q, r2t->command_id);
		if (!c || c->r.points[NT_H_R2T])
			return;
		now = bpf_ktime_get_ns();
		cmd_asked(c, header_seq(skb, at), header_arrival(c, q, skb, at, now), now);
		return;
	case nvme_tcp_rsp:
		c = cmd_by_cid(q, rsp->cqe.command_id);
		if (!c)
			return;
		now = bpf_ktime_get_ns();
		if (answer_is_cqe(c))
			cmd_answer_comes(c, NT_HC_CQE, header_seq(skb, at),
					 header_arrival(c, q, skb, at, now), now);
		cmd_answered(c, q, now, rsp);
		return;
	}
}

/*
 * Whether a packet lies within another one, where GRO has put it. skb_copy_bits() calls itself for
 * such packets, which know neither their place in the stream nor when they came. A packet that
 * waits to be read belongs to its socket (tcp_queue_rcv()). A packet within another one belongs to
 * no socket, or still to the socket of this machine that has sent it (skb_gro_receive()). Data that
 * TLS has decrypted belong to no socket, and to no packet of the network. @skb: typed
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
 * nvme_tcp_recv_pdu() is inlined. It copies a header with skb_copy_bits(), in one piece or several.
 * The last piece is the one that ends where the header ends, or its digest. The address of the copy
 * leads to the queue. So nothing has to be kept from an earlier program to this one: the task may
 * have been preempted and have moved to another CPU. Nothing else writes to @to before
 * skb_copy_bits() returns.
 */
SEC("fexit/skb_copy_bits")
int NT_PROG_MEASURING(stock_recv_pdu, const struct sk_buff *skb, int offset, void *to, int len,
		      int ret)
{
	const struct nt_header *h;
	__u64 pdu[HOST_PDU_BYTES / 8];
	struct nt_queue *q;
	__u64 address, end;

	if (none_is_measured())
		return 0;
	h = header_find((__u64)to);
	if (!h || ret)
		return 0;
	/*
	 * User space can write the entry. What is read lies beside @to, wherever it says, as the
	 * address is loaded once.
	 */
	address = *(const volatile __u64 *)&h->address;
	end = (__u64)to - address + len;
	if (end != HOST_PDU_BYTES && end != HOST_PDU_BYTES + HOST_PDU_DIGEST_BYTES)
		return 0;
	q = queue_at(h->slot);
	if (!q || is_within(skb, q))
		return 0;
	if (bpf_probe_read_kernel(pdu, sizeof(pdu), (void *)address))
		return 0;
	pdu_received(q, pdu, skb, offset + len - 1);
	return 0;
}

/*
 * To answered: a read that ends with the SUCCESS flag has no CQE. The point is set by what follows
 * its last data. @no_sqflow is set before the first command has NT_F_NO_CQE, and is not cleared.
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

/* Cancelled requests pass here too, with a status that says so. So do requests of other drivers. */
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
