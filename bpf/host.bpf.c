// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's points, from the tracepoints of a patched nvme-tcp and from block_rq_complete; those for a
 * driver that nobody patched are in host_stock.bpf.h. src/probes.c says which program feeds which point,
 * and decides which of them are loaded.
 */
#include "common.bpf.h"

/* Queues a controller can have: queue id q of controller nvmeN has slot N * nt_qid_stride + q. */
const volatile __u32 nt_qid_stride = 1;

/*
 * Completions pass block_rq_complete for every disk of the machine. This table, indexed by
 * request_queue.id, says in one look-up which belong to NVMe/TCP: 0 for all others, else
 * (instance + 1) << 1, plus 1 for an admin queue.
 */
#define DISK_IDS 16384
__u32 nt_disk[DISK_IDS] = {};

#define NVME_TCP_F_DATA_SUCCESS (1 << 3) /* NVMe/TCP 1.0, 3.6.2.10: C2HData PDU flags */

static __always_inline struct nt_queue *queue_find(struct nvme_tcp_queue *queue, int qid)
{
	__u32 slot = (__u32)queue->ctrl->ctrl.instance * nt_qid_stride + (__u32)qid;

	return bpf_map_lookup_elem(&queues, &slot);
}

/* The state of a request in flight, NULL where its beginning was not seen. */
static __always_inline struct nt_cmd *cmd_of(struct nvme_tcp_queue *queue, int qid,
					     struct request *rq)
{
	struct nt_queue *q = queue_find(queue, qid);
	struct nt_cmd *c;

	if (!q)
		return NULL;
	c = cmd_find(q, rq->tag, false);
	if (!c || c->owner != (__u64)rq)
		return NULL;
	return c;
}

/* Who a request is for, as its driver's queue tells. */
struct host_queue {
	__u64 ctrl; /* address of its struct nvme_ctrl */
	__u32 instance;
	__u32 qid;
	__u16 cntlid;
	__u16 sqsize;
};

/* A command's first point. @sqe: BTF-typed, or on the stack. */
static __always_inline int begin(struct request *rq, const struct host_queue *h,
				 struct nvme_command *sqe)
{
	__u32 slot = h->instance * nt_qid_stride + h->qid;
	__u32 disk = (h->instance + 1) << 1 | (h->qid == 0);
	__u32 id = rq->q->id & (DISK_IDS - 1);
	__u64 submit = rq->start_time_ns;
	struct nt_queue *q;
	struct nt_cmd *c;
	__u32 flags = 0;

	if (h->qid >= nt_qid_stride)
		goto no_slot;
	q = bpf_map_lookup_elem(&queues, &slot);
	if (!q)
		goto no_slot;
	if (nt_disk[id] != disk)
		nt_disk[id] = disk;
	if (q->object != h->ctrl) {
		q->object = h->ctrl;
		q->instance = h->instance;
		q->qid = h->qid;
		q->sqsize = h->sqsize;
		q->gen++;
		q->identified = q->gen;
	}
	q->cntlid = h->cntlid;

	c = cmd_find(q, rq->tag, true);
	if (!c)
		goto no_slot;
	if (c->owner) {
		/* A request that goes round again keeps its start time. */
		if (c->r.points[NT_H_SUBMIT] == submit) {
			count(NT_CNT_REQUEUED);
			flags = NT_F_REQUEUED;
		} else {
			count(NT_CNT_OVERWRITTEN);
		}
	}
	__builtin_memset(c->r.points, 0, sizeof(c->r.points));
	record_sqe(&c->r, sqe, h->qid == 0);
	c->r.flags |= flags;
	c->r.side = NT_HOST;
	c->r.qid = h->qid;
	c->r.cntlid = q->cntlid;
	c->r.slot = slot;
	c->r.gen = q->gen;
	c->r.points[NT_H_SUBMIT] = submit;
	c->owner = (__u64)rq;
	c->r.points[NT_H_QUEUE_RQ] = bpf_ktime_get_ns();
	return 0;
no_slot:
	count(NT_CNT_NO_SLOT);
	return 0;
}

SEC("tp_btf/nvme_tcp_queue_rq")
int BPF_PROG(queue_rq, struct request *rq, struct nvme_tcp_cmd_pdu *pdu, int qid, void *req_list,
	     void *send_list, void *send_mutex, struct nvme_tcp_queue *queue)
{
	struct nvme_ctrl *ctrl = &queue->ctrl->ctrl;
	struct host_queue h = {
		.ctrl = (__u64)ctrl,
		.instance = ctrl->instance,
		.qid = qid,
		.cntlid = ctrl->cntlid,
		.sqsize = ctrl->sqsize,
	};

	return begin(rq, &h, &pdu->cmd);
}

SEC("tp_btf/nvme_tcp_try_send_cmd_pdu")
int BPF_PROG(try_send_cmd_pdu, struct request *rq, struct socket *sock, int qid, int len,
	     struct nvme_tcp_queue *queue)
{
	struct nt_cmd *c = cmd_of(queue, qid, rq);

	if (c && !c->r.points[NT_H_SEND_CMD])
		c->r.points[NT_H_SEND_CMD] = bpf_ktime_get_ns();
	return 0;
}

/*
 * The send may be over only after the answer has come: the tag can be in use again by then. A new
 * command is known by not having been sent yet, since one queue sends one command at a time.
 */
SEC("tp_btf/nvme_tcp_done_send_req")
int BPF_PROG(done_send_req, struct request *rq, int qid, struct nvme_tcp_queue *queue)
{
	struct nt_cmd *c = cmd_of(queue, qid, rq);

	if (!c || !c->r.points[NT_H_SEND_CMD])
		return 0;
	if (!c->r.points[NT_H_SENT_CMD])
		c->r.points[NT_H_SENT_CMD] = bpf_ktime_get_ns();
	else
		c->r.points[NT_H_SENT_DATA] = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/nvme_tcp_handle_r2t")
int BPF_PROG(handle_r2t, struct request *rq, struct nvme_tcp_r2t_pdu *pdu, int qid, __u64 recv_time,
	     struct nvme_tcp_queue *queue)
{
	struct nt_cmd *c = cmd_of(queue, qid, rq);
	__u64 now;

	if (!c || c->r.points[NT_H_R2T])
		return 0;
	now = bpf_ktime_get_ns();
	c->r.points[NT_H_R2T_RX] = arrival(recv_time, now);
	c->r.points[NT_H_R2T] = now;
	return 0;
}

SEC("tp_btf/nvme_tcp_try_send_data_pdu")
int BPF_PROG(try_send_data_pdu, struct request *rq, struct nvme_tcp_data_pdu *pdu, int qid, int len,
	     struct nvme_tcp_queue *queue)
{
	struct nt_cmd *c = cmd_of(queue, qid, rq);

	if (c && !c->r.points[NT_H_SEND_DATA])
		c->r.points[NT_H_SEND_DATA] = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/nvme_tcp_handle_c2h_data")
int BPF_PROG(handle_c2h_data, struct request *rq, int qid, __u32 data_len, __u64 recv_time,
	     struct nvme_tcp_data_pdu *pdu, struct nvme_tcp_queue *queue)
{
	struct nt_cmd *c = cmd_of(queue, qid, rq);
	__u64 now;

	if (!c)
		return 0;
	if (pdu->hdr.flags & NVME_TCP_F_DATA_SUCCESS)
		c->r.flags |= NT_F_NO_CQE;
	if (c->r.points[NT_H_C2H])
		return 0;
	now = bpf_ktime_get_ns();
	c->r.points[NT_H_RX] = arrival(recv_time, now);
	c->r.points[NT_H_C2H] = now;
	return 0;
}

/* A read that ends with the SUCCESS flag has no CQE: its last data take that place. */
SEC("tp_btf/nvme_tcp_recv_data")
int BPF_PROG(recv_data, struct request *rq, int qid, __u32 len, __u64 recv_time,
	     struct nvme_tcp_data_pdu *pdu, struct nvme_tcp_queue *queue)
{
	struct nt_cmd *c;

	if (!(pdu->hdr.flags & NVME_TCP_F_DATA_SUCCESS))
		return 0;
	c = cmd_of(queue, qid, rq);
	if (c)
		c->r.points[NT_H_CQE] = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/nvme_tcp_process_nvme_cqe")
int BPF_PROG(process_nvme_cqe, struct request *rq, struct nvme_tcp_rsp_pdu *pdu, int qid,
	     __u64 recv_time, struct nvme_tcp_queue *queue)
{
	struct nt_cmd *c = cmd_of(queue, qid, rq);
	__u64 now;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	if (!c->r.points[NT_H_C2H])
		c->r.points[NT_H_RX] = arrival(recv_time, now);
	c->r.points[NT_H_CQE] = now;
	c->r.flags &= ~NT_F_NO_CQE;
	c->r.status = pdu->cqe.status >> 1;
	return 0;
}

static __always_inline __u8 shape_of(const struct nt_record *r)
{
	if (r->points[NT_H_R2T])
		return NT_SHAPE_R2T_WRITE;
	if (r->points[NT_H_C2H])
		return NT_SHAPE_READ;
	/* NVMe Base 2.0, 3.3.3.1: bit 0 of an opcode says host to controller data transfer. */
	if (r->length && (r->opcode & 1) && r->op != NT_OP_FABRICS)
		return NT_SHAPE_INLINE_WRITE;
	return NT_SHAPE_NO_DATA;
}

/* blk_mq_rq_to_pdu() */
static __always_inline struct nvme_tcp_request *driver_part(struct request *rq)
{
	return (void *)((__u64)rq + bpf_core_type_size(struct request));
}

/* The status with which the host ends a command that it cannot send (drivers/nvme/host/core.c). */
#define NVME_SC_HOST_PATH_ERROR 0x370

/*
 * Completions whose beginning was not seen. Flushes that the block layer ends by itself never were a
 * command. While a controller resets, the host ends commands that it has not even begun: those are
 * the ones that were made since we began to look or, where that is not known, that say so.
 */
static __always_inline void count_unknown(struct request *rq)
{
	struct nvme_tcp_request *req = driver_part(rq);
	__u64 made = rq->start_time_ns;

	if (!nt_began_ns || rq->state != MQ_RQ_COMPLETE)
		return;
	if (made ? made >= nt_began_ns
		 : BPF_CORE_READ(req, req.status) == NVME_SC_HOST_PATH_ERROR)
		count(NT_CNT_NEVER_SENT);
	else
		count(NT_CNT_NO_START);
}

static __always_inline int complete(struct request *rq, bool nested)
{
	__u32 disk = nt_disk[rq->q->id & (DISK_IDS - 1)];
	__u64 stage[NT_HOST_STAGES_NR] = {};
	struct nt_queue *q;
	struct nt_record *r;
	struct nt_cmd *c;
	__u64 now, begin, last = 0;
	__u32 slot, shape;
	bool broken = false;

	if (!disk)
		return 0;
	slot = ((disk >> 1) - 1) * nt_qid_stride;
	if (!(disk & 1))
		slot += rq->mq_hctx->queue_num + 1;
	q = bpf_map_lookup_elem(&queues, &slot);
	if (!q)
		return 0;
	c = cmd_find(q, rq->tag, false);
	if (!c || c->owner != (__u64)rq) {
		if (!nested)
			count_unknown(rq);
		return 0;
	}
	now = bpf_ktime_get_ns();
	r = &c->r;
	r->points[NT_H_COMPLETE] = now;
	c->owner = 0;

	shape = shape_of(r);
	r->shape = shape;
	begin = r->points[NT_H_SUBMIT];
	if (!r->points[NT_H_CQE]) {
		count(NT_CNT_CANCELLED);
		r->flags |= NT_F_CANCELLED;
		record_submit(r, now - (begin ?: r->points[NT_H_QUEUE_RQ]));
		return 0;
	}
#define NT_SEGMENT(st, shapes, from, to) \
	NT_SUM_SEGMENT(NT_##st, shapes, NT_##from, NT_##to, NT_H_SUBMIT)
	NT_HOST_SEGMENTS(NT_SEGMENT)
#undef NT_SEGMENT
	if (!begin) {
		count(NT_CNT_SUBMIT_MISSING);
		begin = r->points[NT_H_QUEUE_RQ];
		stage[NT_HS_BLK_SUBMISSION] = NT_STAGE_UNKNOWN;
	}
	if (broken)
		r->flags |= NT_F_UNSPLIT;
	cmd_measured(q, r, now - begin, stage, NT_HOST_STAGES_NR);
	record_submit(r, now - begin);
	return 0;
}

/* See "nested" in common.bpf.h. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(rq_complete_nested, struct request *rq)
{
	return complete(rq, true);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(rq_complete, struct request *rq)
{
	return complete(rq, false);
}

#include "host_stock.bpf.h"
