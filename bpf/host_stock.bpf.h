/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's points for an nvme-tcp that nobody patched: from functions that the compiler kept, and
 * from what every kernel has. docs/points.md says how far each is from the tracepoint of its name.
 *
 * Functions of the driver have typed arguments; what hangs on a void pointer, or comes from a
 * per-CPU note, is a plain address and read with bpf_probe_read_kernel(), which tolerates a stale one.
 * No note is trusted by itself: the command that it leads to has to be in flight, with that identity.
 *
 * Programs on functions that the whole kernel shares leave what is not ours after one comparison.
 */
#ifndef NTPROF_HOST_STOCK_BPF_H
#define NTPROF_HOST_STOCK_BPF_H

/*
 * Address of nvme_tcp_queue_rq(): a request whose queue calls it is ours. Set by the loader from
 * /proc/kallsyms or, where that tells no addresses, learnt from the first request.
 */
__u64 nt_queue_rq = 0;

/* Linux keeps the tag in the low bits of the command id (nvme_tag_from_cid()). */
#define NVME_CID_TAG_MASK 0xfff
#define NVME_SQE_BYTES 64
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

/* What a CPU was last seen to do; noted by one program for the next ones. */
struct host_note {
	__u64 recv_queue; /* receiving: the struct nvme_tcp_queue, */
	__u64 recv_pdu;	  /* where it gathers the header of a PDU, */
	__u32 recv_slot;  /* and its slot */
	__u32 send_slot;
	__u64 send_queue; /* sending */
	__u64 send_sock;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct host_note);
} notes SEC(".maps");

/* 1 + tag of the command that a queue is sending, by slot: a queue sends one at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} sending SEC(".maps");

static __always_inline struct host_note *note_of_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&notes, &zero);
}

static __always_inline bool is_ours(struct request *rq)
{
	const struct blk_mq_ops___plain *ops = (const void *)rq->q->mq_ops;

	return nt_queue_rq && (__u64)ops->queue_rq == nt_queue_rq;
}

/* nvme_tcp_queue_id() */
static __always_inline __u32 queue_id(__u64 queue, __u64 queues)
{
	return (queue - queues) / bpf_core_type_size(struct nvme_tcp_queue);
}

/* The slot of a BTF-typed queue. */
static __always_inline __u32 slot_of(struct nvme_tcp_queue *queue)
{
	return (__u32)queue->ctrl->ctrl.instance * nt_qid_stride +
	       queue_id((__u64)queue, (__u64)queue->ctrl->queues);
}

/* The command in flight that has this identity. */
static __always_inline struct nt_cmd *cmd_by_cid(__u32 slot, __u16 cid)
{
	struct nt_queue *q = bpf_map_lookup_elem(&queues, &slot);
	struct nt_cmd *c;

	if (!q)
		return NULL;
	c = cmd_find(q, cid & NVME_CID_TAG_MASK, false);
	if (!c || !c->owner || c->r.cid != cid)
		return NULL;
	return c;
}

/* nvme_start_request(), the last thing that nvme_tcp_queue_rq() does before it queues the request. */
SEC("tp_btf/block_rq_issue")
int BPF_PROG(stock_queue_rq, struct request *rq)
{
	struct nvme_tcp_request *req;
	struct nvme_tcp_queue *queue;
	struct nvme_tcp_ctrl *ctrl;
	__u64 sqe[NVME_SQE_BYTES / 8];
	struct host_queue h;

	if (!is_ours(rq))
		return 0;
	req = driver_part(rq);
	queue = BPF_CORE_READ(req, queue);
	ctrl = BPF_CORE_READ(queue, ctrl);
	h = (struct host_queue){
		.ctrl = (__u64)ctrl + bpf_core_field_offset(struct nvme_tcp_ctrl, ctrl),
		.instance = BPF_CORE_READ(ctrl, ctrl.instance),
		.qid = queue_id((__u64)queue, (__u64)BPF_CORE_READ(ctrl, queues)),
		.cntlid = BPF_CORE_READ(ctrl, ctrl.cntlid),
		.sqsize = BPF_CORE_READ(ctrl, ctrl.sqsize),
	};
	if (bpf_probe_read_kernel(sqe, sizeof(sqe), BPF_CORE_READ(req, req.cmd)))
		return 0;
	return begin(rq, &h, (struct nvme_command *)sqe);
}

/* Only where addresses are hidden. Runs before the request's block_rq_issue. */
SEC("fentry/nvme_tcp_queue_rq")
int BPF_PROG(stock_learn, struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	const struct blk_mq_ops___plain *ops;

	if (nt_queue_rq)
		return 0;
	ops = (const void *)bd->rq->q->mq_ops;
	nt_queue_rq = (__u64)ops->queue_rq;
	return 0;
}

/* A request is about to go to the socket, or a part of it. */
static __always_inline void send_some(__u32 slot, struct nvme_tcp_request *req)
{
	/* Not by the command id: data PDUs are made where the capsule was. */
	struct request *rq = (void *)((__u64)req - bpf_core_type_size(struct request));
	enum nvme_tcp_send_state state = BPF_CORE_READ(req, state);
	struct nt_queue *q = bpf_map_lookup_elem(&queues, &slot);
	__u32 point, tag, *current;
	struct nt_cmd *c;

	if (state == bpf_core_enum_value(enum nvme_tcp_send_state, NVME_TCP_SEND_CMD_PDU))
		point = NT_H_SEND_CMD;
	else if (state == bpf_core_enum_value(enum nvme_tcp_send_state, NVME_TCP_SEND_H2C_PDU))
		point = NT_H_SEND_DATA;
	else
		return;
	/* The asynchronous event request lies in no struct request, and is not in flight here. */
	tag = BPF_CORE_READ(rq, tag);
	c = q ? cmd_find(q, tag, false) : NULL;
	if (!c || c->owner != (__u64)rq)
		return;
	current = bpf_map_lookup_elem(&sending, &slot);
	if (current)
		*current = tag + 1;
	if (!c->r.points[point])
		c->r.points[point] = bpf_ktime_get_ns();
}

SEC("fentry/nvme_tcp_try_send_cmd_pdu")
int BPF_PROG(stock_send_cmd, struct nvme_tcp_request *req)
{
	send_some(slot_of(req->queue), req);
	return 0;
}

SEC("fentry/nvme_tcp_try_send_data_pdu")
int BPF_PROG(stock_send_data, struct nvme_tcp_request *req)
{
	send_some(slot_of(req->queue), req);
	return 0;
}

/* Where those two are inlined: who sends on this CPU, and then what it hands to its socket. */
SEC("fentry/nvme_tcp_try_send")
int BPF_PROG(stock_try_send, struct nvme_tcp_queue *queue)
{
	struct host_note *n = note_of_cpu();

	if (!n)
		return 0;
	n->send_slot = slot_of(queue);
	n->send_queue = (__u64)queue;
	n->send_sock = (__u64)queue->sock;
	return 0;
}

static __always_inline int to_socket(struct socket *sock)
{
	struct host_note *n = note_of_cpu();
	struct nvme_tcp_request *req;
	struct nvme_tcp_queue *queue;

	if (!n || n->send_sock != (__u64)sock)
		return 0;
	queue = (void *)n->send_queue;
	req = BPF_CORE_READ(queue, request);
	if (req)
		send_some(n->send_slot, req);
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
	__u32 slot, tag, *current;
	struct nt_queue *q;
	struct nt_cmd *c;

	if (queue->request)
		return 0;
	slot = slot_of(queue);
	current = bpf_map_lookup_elem(&sending, &slot);
	if (!current || !*current)
		return 0;
	tag = *current - 1;
	*current = 0;
	q = bpf_map_lookup_elem(&queues, &slot);
	if (!q || ret < 0)
		return 0;
	c = cmd_find(q, tag, false);
	/* See done_send_req(): the answer may have come already, and the tag be in use again. */
	if (!c || !c->owner || !c->r.points[NT_H_SEND_CMD])
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
	struct nvme_tcp_ctrl *ctrl;

	if (!n)
		return 0;
	ctrl = BPF_CORE_READ(queue, ctrl);
	n->recv_slot = (__u32)BPF_CORE_READ(ctrl, ctrl.instance) * nt_qid_stride +
		       queue_id((__u64)queue, (__u64)BPF_CORE_READ(ctrl, queues));
	n->recv_queue = (__u64)queue;
	n->recv_pdu = (__u64)BPF_CORE_READ(queue, pdu);
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
			c->r.flags |= NT_F_NO_CQE;
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

/* nvme_tcp_recv_pdu() is inlined; it copies a header with this, in one piece or several. */
SEC("fexit/skb_copy_bits")
int BPF_PROG(stock_recv_pdu, const struct sk_buff *skb, int offset, void *to, int len, int ret)
{
	struct host_note *n = note_of_cpu();
	__u64 pdu[HOST_PDU_BYTES / 8];
	struct nvme_tcp_queue *queue;

	if (!n || (__u64)to - n->recv_pdu >= HOST_PDU_BYTES + HOST_PDU_DIGEST_BYTES || ret)
		return 0;
	queue = (void *)n->recv_queue;
	if (BPF_CORE_READ(queue, pdu_remaining) != len)
		return 0;
	if (bpf_probe_read_kernel(pdu, sizeof(pdu), (void *)n->recv_pdu))
		return 0;
	pdu_received(n->recv_slot, pdu, skb->tstamp);
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
	__u32 disk = nt_disk[rq->q->id & (DISK_IDS - 1)];
	__u32 slot = ((disk >> 1) - 1) * nt_qid_stride;
	struct nvme_tcp_request *req = driver_part(rq);
	struct nt_queue *q;
	struct nt_cmd *c;

	if (!disk || !is_ours(rq))
		return 0;
	if (!(disk & 1))
		slot += rq->mq_hctx->queue_num + 1;
	q = bpf_map_lookup_elem(&queues, &slot);
	c = q ? cmd_find(q, rq->tag, false) : NULL;
	if (!c || c->owner != (__u64)rq || BPF_CORE_READ(req, req.status))
		return 0;
	return no_cqe(c);
}

#endif /* NTPROF_HOST_STOCK_BPF_H */
