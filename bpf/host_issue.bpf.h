/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a command of the host begins, for an unpatched nvme-tcp: the block layer's tracepoint for a
 * request that a driver has got. The target of a void pointer is a plain address: see
 * host_stock.bpf.h.
 */
#ifndef NTPROF_HOST_ISSUE_BPF_H
#define NTPROF_HOST_ISSUE_BPF_H

#include "host_command.bpf.h"

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

	return nt_control.queue_rq && (__u64)ops->queue_rq == nt_control.queue_rq;
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
 */
static __always_inline void entry_of_request(struct request *rq, struct nvme_tcp_request *req,
					     struct nvme_command *sqe)
{
	sqe->common.opcode =
		(rq->cmd_flags & REQ_OP_MASK) == REQ_OP_READ ? NVME_CMD_READ : NVME_CMD_WRITE;
	sqe->common.command_id = BPF_CORE_READ(req, req.genctr) << NVME_CID_TAG_BITS | rq->tag;
	sqe->common.dptr.sgl.length = rq->__data_len;
	/* These are not used, but the verifier does not know that. */
	sqe->common.nsid = sqe->common.cdw10 = sqe->common.cdw11 = 0;
}

/*
 * Reads what is needed of a submission queue entry. @entry: filled
 * Return: not 0 if it cannot be read
 */
static __always_inline int entry_read(struct nvme_tcp_request *req, void *entry)
{
	return bpf_probe_read_kernel(entry, nt_knobs.events ? NVME_SQE_BYTES_ALL : NVME_SQE_BYTES,
				     BPF_CORE_READ(req, req.cmd));
}

/*
 * Fills the controller and the queue id by helper, for a queue that was not seen before. @h: has
 * @queue
 */
static __always_inline void host_queue_read(struct host_queue *h)
{
	struct nvme_tcp_queue *queue = (void *)h->queue;
	struct nvme_tcp_ctrl *ctrl = BPF_CORE_READ(queue, ctrl);

	h->ctrl = plain_number((__u64)ctrl) + bpf_core_field_offset(struct nvme_tcp_ctrl, ctrl);
	h->instance = BPF_CORE_READ(ctrl, ctrl.instance);
	h->qid = queue_id(plain_number(h->queue), (__u64)BPF_CORE_READ(ctrl, queues));
}

/* Whether stock_queue_rq() returns at once for a request of any driver: see request_skip(). */
static __always_inline bool stock_queue_rq_leaves(const unsigned long long *ctx)
{
	struct request *rq = (void *)ctx[0];

	return none_is_tracked() && is_read_or_write(rq) && request_left_out(rq) &&
	       !may_be_counted(ctx[0]);
}

/*
 * Whether the command of @sqe has begun already, because the other program was run for it. A
 * command that a reset has cancelled is sent again with the same command id: since Linux 6.1, the
 * generation in the id grows only when the command is answered (nvme_try_complete_req()). So the
 * number of retries has to be the same as well. @rq: typed
 */
static __always_inline bool has_begun(struct request *rq, const struct nt_queue *q,
				      const struct nvme_command *sqe)
{
	const struct nt_cmd *c = CMD_FIND_ANY(rq, q, rq->tag);
	__u8 retries;

	if (!c || c->r.cid != sqe->common.command_id)
		return false;
	retries = retries_of(rq);
	return !retries || (c->r.flags & NT_F_REQUEUED && c->r.side == retries);
}

/*
 * The driver has got a request. Its queue is that of the hardware context (nvme_tcp_init_hctx()).
 * The queue is known by its address until a Connect or another Fabrics command comes: by then
 * another controller may lie where an earlier one was.
 * @rq: typed, of any driver
 * @nested: this program stands in for one that was preempted or interrupted. It mostly finds that
 *          the other one has begun the command. Where it cannot know that, it returns: for Fabrics
 *          commands where not all commands have states, and for commands without a place, which
 *          must be counted only once
 */
static __always_inline int request_issued(struct request *rq, bool nested)
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
	/* Not if a command of this request may be in flight: see request_skip(). */
	if (nt_knobs.selects & NT_BY_COMMAND && plain && request_left_out(rq) &&
	    !cmd_any_by_owner((__u64)rq, &elsewhere) && !elsewhere)
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
		entry_of_request(rq, req, sqe);
	else if (entry_read(req, entry))
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
	if (nested && (!q || has_begun(rq, q, sqe)))
		return 0;
	if (nested && !all_have_states() && sqe->common.opcode == NVME_FABRICS_COMMAND)
		return 0;
	fate = request_fate(rq, sqe, h.qid);
	if (fate == NT_LEAVE)
		return request_skip(rq, &h, q, sqe);
	if (nested && place_claim(q, rq->tag) == NT_NOWHERE)
		return 0;
	return request_begin(rq, &h, q, sqe, fate == NT_MEASURE);
}

/*
 * nvme_start_request() is the last thing that nvme_tcp_queue_rq() does before it queues the
 * request.
 */
SEC("tp_btf/block_rq_issue")
int NT_PROG_LEAVING(nt_knobs.only.ops || nt_knobs.only.sizes.nr, stock_queue_rq_leaves(ctx),
		    stock_queue_rq, struct request *rq)
{
	return request_issued(rq, false);
}

/* See "nested" in control.bpf.h. */
SEC("tp_btf/block_rq_issue")
int NT_PROG_LEAVING(nt_knobs.only.ops || nt_knobs.only.sizes.nr, stock_queue_rq_leaves(ctx),
		    stock_queue_rq_nested, struct request *rq)
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

	if (nt_control.queue_rq)
		return 0;
	ops = (const void *)bd->rq->q->mq_ops;
	nt_control.queue_rq = (__u64)ops->queue_rq;
	return 0;
}

#endif /* NTPROF_HOST_ISSUE_BPF_H */
