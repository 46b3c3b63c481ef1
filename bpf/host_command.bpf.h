/* SPDX-License-Identifier: GPL-2.0-only */
/* The life of a command on the host. */
#ifndef NTPROF_HOST_COMMAND_BPF_H
#define NTPROF_HOST_COMMAND_BPF_H

#include "arrival.bpf.h"
#include "queues.bpf.h"
#include "records.bpf.h"
#include "stages.bpf.h"
#include "state.bpf.h"
#include "submission.bpf.h"

#define NVME_TCP_F_DATA_SUCCESS (1 << 3) /* NVMe/TCP 1.0, 3.6.2.10: C2HData PDU flags */

static __always_inline struct nt_queue *queue_find(struct nvme_tcp_queue *queue, int qid)
{
	__u32 slot = (__u32)queue->ctrl->ctrl.instance * nt_knobs.qid_stride + (__u32)qid;

	return bpf_map_lookup_elem(&queues, &slot);
}

/* The command of @tag, if it is that of @rq. */
static __always_inline struct nt_cmd *cmd_in(struct nt_queue *q, struct request *rq)
{
	struct nt_cmd *c = q ? cmd_find(q, rq->tag) : NULL;

	return c && c->owner == (__u64)rq ? c : NULL;
}

/* The state of a request in flight, NULL where its beginning was not seen. */
static __always_inline struct nt_cmd *cmd_of(struct nvme_tcp_queue *queue, int qid,
					     struct request *rq)
{
	bool elsewhere;
	struct nt_cmd *c = cmd_by_owner((__u64)rq, &elsewhere);

	if (c || !elsewhere)
		return c;
	return cmd_in(queue_find(queue, qid), rq);
}

/* Who a request is for, as its driver's queue tells. */
struct host_queue {
	__u64 ctrl;  /* address of its struct nvme_ctrl */
	__u64 queue; /* of its struct nvme_tcp_queue, if stock probes have to find it; else 0 */
	__u32 instance;
	__u32 qid;
};

/* The end of the command that had this request before was not seen. */
static __always_inline __u32 overwritten(const struct nt_cmd *c, __u64 submit)
{
	/* A request that goes round again keeps its start time. */
	if (c->r.points[NT_H_SUBMIT] == submit) {
		count(NT_CNT_REQUEUED);
		return NT_F_REQUEUED;
	}
	count(NT_CNT_OVERWRITTEN);
	return 0;
}

/* What is known of a queue only once it has been connected. This is rare, and read by helper. */
static __always_inline void queue_identify(struct nt_queue *q, const struct host_queue *h,
					   struct request *rq)
{
	struct nvme_tcp_queue *queue = (void *)h->queue;
	struct nvme_ctrl *ctrl = (void *)h->ctrl;

	/*
	 * Completions of a queue that one CPU has for itself are not redirected to another CPU or into a
	 * softirq (blk_mq_complete_request_remote(), since Linux 6.1). Admin queues are shared by all
	 * CPUs, but what they lose that way, if ever, is a Keep Alive, and it is counted.
	 */
	if (h->qid && BPF_CORE_READ(rq, mq_hctx, nr_ctx) > 1)
		nt_control.redirected = 1;
	nt_control.mq_ops[h->qid == 0] = (__u64)BPF_CORE_READ(rq, q, mq_ops);
	q->cntlid = BPF_CORE_READ(ctrl, cntlid);
	q->sqsize = BPF_CORE_READ(ctrl, sqsize);
	if (BPF_CORE_READ(ctrl, opts, disable_sqflow))
		nt_control.no_sqflow = 1;
	q->identified = q->gen;
	if (!queue)
		return;
	q->queue = h->queue;
	*slot_index(h->queue) = h->instance * nt_knobs.qid_stride + h->qid + 1;
	data_ready_learn(BPF_CORE_READ(queue, sock, sk));
}

/* A command's first point. @sqe: BTF-typed, or on the stack. */
static __always_inline int begin(struct request *rq, const struct host_queue *h,
				 struct nvme_command *sqe)
{
	__u32 slot = h->instance * nt_knobs.qid_stride + h->qid;
	__u64 submit = rq->start_time_ns;
	struct nt_cmd *c, *left;
	struct nt_queue *q;
	__u32 flags = 0;

	if (h->qid >= nt_knobs.qid_stride)
		goto no_slot;
	q = bpf_map_lookup_elem(&queues, &slot);
	if (!q)
		goto no_slot;
	if (q->object != h->ctrl) {
		q->object = h->ctrl;
		q->instance = h->instance;
		q->qid = h->qid;
		q->gen++;
	}
	/* By the tag: with an I/O scheduler, a request gets another one each time. */
	c = cmd_place(q, rq->tag, (__u64)rq, &left);
	if (!c)
		goto no_slot;
	if (left) {
		flags = overwritten(left, submit);
		cmd_release(left);
	}
	if (in_flight(c))
		flags |= overwritten(c, submit);
	__builtin_memset(c->r.points, 0, sizeof(c->r.points));
	record_sqe(&c->r, sqe, h->qid == 0);
	/* Connect is the first command of a queue, and the first of one that has been connected anew. */
	if (q->identified != q->gen || c->r.op == NT_OP_FABRICS ||
	    (h->queue && q->queue != h->queue))
		queue_identify(q, h, rq);
	c->r.flags |= flags;
	c->r.slot = slot;
	c->r.gen = q->gen;
	c->r.points[NT_H_SUBMIT] = submit;
	cmd_take(c, (__u64)rq);
	c->r.points[NT_H_QUEUE_RQ] = bpf_ktime_get_ns();
	return 0;
no_slot:
	count(NT_CNT_NO_SLOT);
	return 0;
}

/* A command that is not measured. Nor is it taken for one whose end was not seen. */
static __always_inline int begin_unsampled(struct request *rq, const struct host_queue *h)
{
	__u32 slot = h->instance * nt_knobs.qid_stride + h->qid;
	bool elsewhere;
	struct nt_cmd *c = cmd_by_owner((__u64)rq, &elsewhere);

	if (!c && elsewhere)
		c = cmd_in(bpf_map_lookup_elem(&queues, &slot), rq);
	if (c) {
		overwritten(c, rq->start_time_ns);
		cmd_release(c);
	}
	return 0;
}

static __always_inline void no_cqe_follows(struct nt_cmd *c)
{
	c->r.flags |= NT_F_NO_CQE;
	if (!nt_control.no_sqflow)
		nt_control.no_sqflow = 1;
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

	if (!nt_control.began_ns || rq->state != MQ_RQ_COMPLETE)
		return;
	if (made ? made >= nt_control.began_ns
		 : BPF_CORE_READ(req, req.status) == NVME_SC_HOST_PATH_ERROR)
		count(NT_CNT_NEVER_SENT);
	else
		count(NT_CNT_NO_START);
}

/* The long way to a request's queue and command; @q NULL where it is no command of NVMe/TCP. */
static __always_inline struct nt_cmd *complete_find(struct request *rq, struct nt_queue **q)
{
	__u64 ops = (__u64)rq->q->mq_ops;
	struct nvme_tcp_request *req = driver_part(rq);
	__u32 slot;

	*q = NULL;
	if (ops != nt_control.mq_ops[0] && ops != nt_control.mq_ops[1])
		return NULL;
	slot = (__u32)BPF_CORE_READ(req, queue, ctrl, ctrl.instance) * nt_knobs.qid_stride;
	if (ops == nt_control.mq_ops[0])
		slot += rq->mq_hctx->queue_num + 1;
	*q = bpf_map_lookup_elem(&queues, &slot);
	return cmd_in(*q, rq);
}

static __always_inline int complete(struct request *rq, bool nested)
{
	struct nt_queue *q = NULL;
	struct nt_record *r;
	struct nt_cmd *c;
	bool elsewhere;
	__u32 shape, unknown = 0;
	__u64 now, begin;

	c = cmd_by_owner((__u64)rq, &elsewhere);
	if (c) {
		q = bpf_map_lookup_elem(&queues, &c->r.slot);
	} else {
		if (!elsewhere)
			return 0;
		c = complete_find(rq, &q);
		if (!c && q && !nested && !nt_knobs.sample_below)
			count_unknown(rq);
	}
	if (!c || !q)
		return 0;
	now = bpf_ktime_get_ns();
	r = &c->r;
	r->points[NT_H_COMPLETE] = now;
	cmd_release(c);

	shape = shape_of(r);
	r->shape = shape;
	begin = r->points[NT_H_SUBMIT];
	/* A read without CQE may have had its last data before anybody watched for them. */
	if (!r->points[NT_H_CQE] &&
	    (!(r->flags & NT_F_NO_CQE) || BPF_CORE_READ(driver_part(rq), req.status))) {
		count(NT_CNT_CANCELLED);
		r->flags |= NT_F_CANCELLED;
		record_submit(r, NT_HOST, q, now - (begin ?: r->points[NT_H_QUEUE_RQ]));
		return 0;
	}
	if (!begin) {
		count(NT_CNT_SUBMIT_MISSING);
		begin = r->points[NT_H_QUEUE_RQ];
		unknown = 1u << NT_HS_BLK_SUBMISSION;
	}
	latency_count(q, r, now - begin);
	if (!stages_count(NT_HOST, r, shape, unknown))
		cmd_unsplit(r);
	record_submit(r, NT_HOST, q, now - begin);
	return 0;
}

#endif /* NTPROF_HOST_COMMAND_BPF_H */
