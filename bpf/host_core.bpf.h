/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's points of controllers whose transport is not TCP: PCIe, RDMA, Fibre Channel, loop and
 * whatever else registers with nvme_core, from the tracepoints that nvme_core has for commands of
 * any controller. They are loaded only where such transports are selected.
 *
 * state     points            program
 * begun     submit, queue_rq  core_setup; core_setup_nested
 * answered  cqe               core_cqe; core_cqe_nested
 * released  complete          core_complete; core_complete_nested
 *
 * For events, core_sq sees what a CQE of PCIe says of its submission queue.
 *
 * The owner of such a command is the address of its struct request, and NT_CORE_OWNER. So programs
 * for TCP, which see the same requests end, do not find its state.
 *
 * Context: commands begin in a task or in a worker. They are answered and end in a hard interrupt,
 * in a softirq, or in a task that polls. All arguments are typed.
 */
#ifndef NTPROF_HOST_CORE_BPF_H
#define NTPROF_HOST_CORE_BPF_H

#include "host_command.bpf.h"
#include "host_stock.bpf.h"
#include "transport.bpf.h"

/* nvme_req(). @rq: typed, of a controller of any transport. Return: a plain address */
static __always_inline struct nvme_ctrl *core_ctrl(struct request *rq)
{
	return BPF_CORE_READ(nvme_part(rq), ctrl);
}

/* The entry of @core_ops for the operations of a request's queue. @rq: typed, of any driver */
static __always_inline __u64 *core_ops_of(struct request *rq)
{
	struct nt_learned *l = learned_now();

	return l ? &l->core_ops[hashed((__u64)rq->q->mq_ops, NT_CORE_OPS_BITS)] : NULL;
}

/* Whether that entry is of these operations. */
static __always_inline bool core_ops_are(__u64 entry, struct request *rq)
{
	return (entry & ~NT_CORE_TRANSPORT) == (__u64)rq->q->mq_ops;
}

static __always_inline bool transport_selected(__u32 transport)
{
	return nt_knobs.transports & NT_NOT_OF_TCP & 1u << (transport & NT_CORE_TRANSPORT);
}

/* Whether a request of any driver is of a selected transport, as far as was seen. @rq: typed */
static __always_inline bool core_is_of(struct request *rq)
{
	const __u64 *entry = core_ops_of(rq);

	return entry && core_ops_are(*entry, rq) && transport_selected(*entry & NT_CORE_TRANSPORT);
}

/*
 * The transport of a request. Drivers have operations of their own for their queues, so most times
 * they tell it. @rq: typed, of a controller of any transport
 */
static __always_inline __u32 core_transport(struct request *rq)
{
	__u64 *entry = core_ops_of(rq);
	__u32 transport;

	if (!entry)
		return NT_TRANSPORT_TCP;
	if (core_ops_are(*entry, rq))
		return *entry & NT_CORE_TRANSPORT;
	transport = transport_of(core_ctrl(rq));
	*entry = plain_number((__u64)rq->q->mq_ops) | transport;
	return transport;
}

/*
 * Finds the queue of a request. The queues of namespaces have data of their own, those of a
 * controller's admin commands have not. The Fabrics commands of an I/O queue go through a queue
 * that has not, either (nvme_req_qid()).
 */
static __always_inline struct nt_queue *core_queue(struct request *rq, struct host_queue *h)
{
	struct nvme_ctrl *ctrl = core_ctrl(rq);

	h->ctrl = (__u64)ctrl;
	h->queue = 0;
	h->instance = BPF_CORE_READ(ctrl, instance);
	h->qid = rq->q->queuedata || (__u64)rq->q->tag_set == (__u64)BPF_CORE_READ(ctrl, tagset)
			 ? rq->mq_hctx->queue_num + 1
			 : 0;
	return host_queue_at(h);
}

static __always_inline struct nt_queue *core_queue_of_request(struct request *rq)
{
	struct host_queue h;

	return core_is_of(rq) ? core_queue(rq, &h) : NULL;
}

/*
 * Whether a queue has to be identified. A controller may have the address of an earlier one, but
 * not its number: its first command is one of its admin queue.
 */
static __always_inline bool core_is_new(const struct nt_queue *q, const struct host_queue *h)
{
	const struct nt_controller *c;

	if (q->object != h->ctrl || q->identified != q->gen || !h->qid)
		return true;
	c = bpf_map_lookup_elem(&controllers, &h->instance);
	return c && c->last >> NT_CONTROLLER_SHIFT != q->controller;
}

/*
 * As queue_identify(). No Connect has to be waited for: a controller is identified once it is part
 * of a subsystem. One that is not, with a number that was identified, is another one.
 */
static __always_inline void core_identify(struct nt_queue *q, const struct host_queue *h,
					  struct request *rq)
{
	struct nvme_ctrl *ctrl = (void *)h->ctrl;
	bool known = BPF_CORE_READ(ctrl, subsys), was = q->gen && q->identified == q->gen;
	__u16 number = controller_number(h->instance, ctrl, !h->qid && was);

	if (queue_take(q, h, number, core_transport(rq)))
		q->queue = 0;
	else if (was)
		return;
	if (h->qid) {
		/* Otherwise a command ends on the CPU that it began on: see queue_identify(). */
		if (BPF_CORE_READ(rq, mq_hctx, nr_ctx) > 1)
			nt_control.redirected = 1;
		nt_control.identified_ns = bpf_ktime_get_ns();
		loader_call();
	}
	if (known) {
		controller_rename(h->instance, number, ctrl);
		q->cntlid = BPF_CORE_READ(ctrl, cntlid);
		q->sqsize = sqsize_of(q, ctrl);
		queue_identified(q);
	}
	host_queue_select(q, known ? q->cntlid : NT_CNTLID_NONE);
}

/*
 * Whether a command in flight is prepared once more before it was sent, because the driver had no
 * memory for it the first time (BLK_STS_RESOURCE). @c: in flight
 */
static __always_inline bool core_begins_again(struct request *rq, const struct nt_cmd *c)
{
	return is_of_request(c, rq, true) && !c->r.points[NT_H_CQE] && rq->start_time_ns &&
	       c->r.points[NT_H_SUBMIT] == rq->start_time_ns;
}

/*
 * Bytes of data that a command transfers. The driver maps them later. Those of a Dataset Management
 * command are its ranges; Write Zeroes has none (NVM Command Set 1.0, 3.2.3 and 3.2.8).
 */
static __always_inline __u32 core_length(struct request *rq, struct nvme_command *sqe, __u32 qid)
{
	__u8 opcode = sqe->common.opcode;

	if (qid && opcode == NVME_CMD_WRITE_ZEROES)
		return 0;
	if (qid && opcode == NVME_CMD_DSM)
		return ((sqe->common.cdw10 & 0xff) + 1) * 16;
	return rq->__data_len;
}

/*
 * Copies a typed entry: all of it for events, and otherwise what selections and records need, which
 * plain loads do in half the instructions of the helper. Return: 0, or negative
 */
static __always_inline int core_entry(struct nvme_command *cmd, struct nvme_command *sqe)
{
	if (nt_knobs.events)
		return entry_read(cmd, sqe);
	sqe->common.opcode = cmd->common.opcode;
	sqe->common.command_id = cmd->common.command_id;
	sqe->common.nsid = cmd->common.nsid;
	sqe->common.cdw10 = cmd->common.cdw10;
	sqe->common.cdw11 = cmd->common.cdw11;
	sqe->common.dptr.sgl.type = 0;
	return 0;
}

/*
 * nvme_core has prepared a command, and its driver sends it next.
 * @rq: typed, or NULL
 * @cmd: its entry, typed, or NULL
 * @nested: see stand_in_returns()
 */
static __always_inline int core_request(struct request *rq, struct nvme_command *cmd, bool nested)
{
	__u64 entry[NVME_SQE_BYTES_ALL / 8];
	struct nvme_command *sqe = (struct nvme_command *)entry;
	struct nt_task noted;
	struct host_queue h;
	struct nt_queue *q;
	enum nt_fate fate;
	struct nt_cmd *c;

	if (!rq || !cmd || !transport_selected(core_transport(rq)))
		return 0;
	q = core_queue(rq, &h);
	if (core_entry(cmd, sqe))
		return 0;
	sqe->common.dptr.sgl.length = core_length(rq, sqe, h.qid);
	if (nested && (!q || has_begun(rq, q, sqe, true)))
		return 0;
	task_take(&noted, rq);
	fate = request_fate(rq, sqe, h.qid);
	if (fate == NT_LEAVE) {
		c = CMD_FIND_BY(cmd_any, rq, NT_CORE_OWNER, q, rq->tag);
		if (c) {
			count_unended(rq, c, c, true);
			cmd_release(c);
		}
		return 0;
	}
	if (nested && place_claim(q, rq->tag) == NT_NOWHERE)
		return 0;
	return request_begin(rq, &h, q, sqe, &noted, fate == NT_MEASURE, true);
}

SEC("tp_btf/nvme_setup_cmd")
int BPF_PROG(core_setup, struct request *rq, struct nvme_command *cmd)
{
	return core_request(rq, cmd, false);
}

/* See "nested" in control.bpf.h. */
SEC("tp_btf/nvme_setup_cmd")
int BPF_PROG(core_setup_nested, struct request *rq, struct nvme_command *cmd)
{
	return core_request(rq, cmd, true);
}

/*
 * nvme_core has got the status of a command: that of its CQE, or that with which the host ends a
 * command without one. A command that is sent again begins again. @rq: typed, or NULL
 */
static __always_inline int core_answered(struct request *rq)
{
	struct nt_cmd *c;
	__u16 status;

	if (!rq)
		return 0;
	c = CMD_FIND_BY(cmd, rq, NT_CORE_OWNER, core_queue_of_request(rq), rq->tag);
	if (!c || c->r.points[NT_H_CQE])
		return 0;
	status = status_of_request(rq);
	if (is_of_host(status & NT_STATUS_MASK))
		return 0;
	c->r.points[NT_H_CQE] = bpf_ktime_get_ns();
	c->r.status = status;
	return 0;
}

/* The driver of PCIe reads an entry of a completion queue. For events alone. */
SEC("tp_btf/nvme_sq")
int BPF_PROG(core_sq, struct request *rq, __u16 sq_head, int sq_tail)
{
	struct nt_cmd *c;

	if (!rq)
		return 0;
	c = CMD_FIND_BY(cmd, rq, NT_CORE_OWNER, core_queue_of_request(rq), rq->tag);
	if (c)
		c->r.seq[0] = NT_CORE_SQ_HEAD | sq_head;
	return 0;
}

SEC("tp_btf/nvme_complete_rq")
int NT_PROG_MEASURING(core_cqe, struct request *rq)
{
	return core_answered(rq);
}

/* See "nested" in control.bpf.h. */
SEC("tp_btf/nvme_complete_rq")
int NT_PROG_MEASURING(core_cqe_nested, struct request *rq)
{
	return core_answered(rq);
}

SEC("tp_btf/block_rq_complete")
int NT_PROG_COUNTING(core_complete, struct request *rq, int error)
{
	return request_end(rq, error, false, true);
}

/* See "nested" in control.bpf.h. */
SEC("tp_btf/block_rq_complete")
int NT_PROG_COUNTING(core_complete_nested, struct request *rq, int error)
{
	return request_end(rq, error, true, true);
}

#endif /* NTPROF_HOST_CORE_BPF_H */
