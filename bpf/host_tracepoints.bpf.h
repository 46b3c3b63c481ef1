/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's points from the tracepoints of a patched nvme-tcp (kernel_patches/). All arguments are
 * typed. A command whose beginning was not seen, or that is not in the sample, is ignored.
 *
 * No pointer is NULL. From Linux 6.12 on, the verifier has a program compare each that it uses,
 * because the tracepoints are those of a module (btf_ctx_access() in kernel/bpf/btf.c).
 */
#ifndef NTPROF_HOST_TRACEPOINTS_BPF_H
#define NTPROF_HOST_TRACEPOINTS_BPF_H

#include "host_command.bpf.h"

/* CO-RE: drivers with earlier versions of the patches do not have it. */
struct nvme_tcp_queue___patched {
	__u32 recv_seq;
} __attribute__((preserve_access_index));

/*
 * Where in the stream the header ends that @queue has received last. That header is of @c.
 * @p: filled, with the packet of the header
 */
static __always_inline __u32 recv_seq(struct nt_cmd *c, struct nvme_tcp_queue *queue,
				      __s64 recv_time, struct nt_join *p)
{
	struct nvme_tcp_queue___patched *patched = (void *)queue;
	__u32 seq = 0;

	if (bpf_core_field_exists(patched->recv_seq))
		seq = patched->recv_seq;
	else
		record_joined(&c->r);
	*p = packet_stamped(recv_time, seq);
	return seq;
}

/*
 * Whether queue_rq() returns at once because of the command's opcode: see request_skip(). Not
 * before its note is taken, if there are any.
 */
static __always_inline bool queue_rq_leaves(const unsigned long long *ctx)
{
	struct nvme_tcp_cmd_pdu *pdu = (void *)ctx[1];

	return none_is_tracked() && pdu && opcode_skipped(&pdu->cmd) && ctx[0] &&
	       !may_be_counted(ctx[0]);
}

/* Fills @h. Return: as host_queue_at(). @queue: typed */
static __always_inline struct nt_queue *host_queue_of(struct host_queue *h,
						      struct nvme_tcp_queue *queue, int qid)
{
	struct nvme_ctrl *ctrl = &queue->ctrl->ctrl;

	*h = (struct host_queue){
		.ctrl = (__u64)ctrl,
		.queue = (__u64)queue,
		.instance = ctrl->instance,
		.qid = qid,
	};
	return host_queue_at(h);
}

/*
 * The driver has got a request. @rq, @pdu, @queue: typed, or NULL
 * @nested: see stand_in_returns(). It is asked first: request_fate() counts what it is asked for
 */
static __always_inline int request_queued(struct request *rq, struct nvme_tcp_cmd_pdu *pdu, int qid,
					  struct nvme_tcp_queue *queue, bool nested)
{
	struct nt_queue *q = NULL;
	struct nt_task noted;
	struct host_queue h;
	enum nt_fate fate;

	if (!rq || !pdu || !queue)
		return 0;
	if (nested) {
		q = host_queue_of(&h, queue, qid);
		if (stand_in_returns(rq, q, &pdu->cmd))
			return 0;
	}
	task_take(&noted, rq);
	fate = request_fate(rq, &pdu->cmd, qid);
	if (fate == NT_LEAVE && !nt_control.tracked &&
	    pdu->cmd.common.opcode != NVME_FABRICS_COMMAND && !may_be_counted((__u64)rq))
		return 0;
	if (!nested)
		q = host_queue_of(&h, queue, qid);
	if (fate == NT_LEAVE)
		return request_skip(rq, &h, q, &pdu->cmd);
	if (nested && place_claim(q, rq->tag) == NT_NOWHERE)
		return 0;
	return request_begin(rq, &h, q, &pdu->cmd, &noted, fate == NT_MEASURE, false);
}

SEC("tp_btf/nvme_tcp_queue_rq")
int NT_PROG_LEAVING(nt_knobs.only.ops &&no_notes(), queue_rq_leaves(ctx), queue_rq,
		    struct request *rq, struct nvme_tcp_cmd_pdu *pdu, int qid, void *req_list,
		    void *send_list, void *send_mutex, struct nvme_tcp_queue *queue)
{
	return request_queued(rq, pdu, qid, queue, false);
}

/* See "nested" in control.bpf.h. */
SEC("tp_btf/nvme_tcp_queue_rq")
int NT_PROG_LEAVING(nt_knobs.only.ops &&no_notes(), queue_rq_leaves(ctx), queue_rq_nested,
		    struct request *rq, struct nvme_tcp_cmd_pdu *pdu, int qid, void *req_list,
		    void *send_list, void *send_mutex, struct nvme_tcp_queue *queue)
{
	return request_queued(rq, pdu, qid, queue, true);
}

SEC("tp_btf/nvme_tcp_try_send_cmd_pdu")
int NT_PROG_MEASURING(try_send_cmd_pdu, struct request *rq, struct socket *sock, int qid, int len,
		      struct nvme_tcp_queue *queue)
{
	if (rq && queue)
		cmd_sends(cmd_of(queue, qid, rq), OUT_SOCKET(queue->sock->sk), NT_H_SEND_CMD);
	return 0;
}

SEC("tp_btf/nvme_tcp_done_send_req")
int NT_PROG_MEASURING(done_send_req, struct request *rq, int qid, struct nvme_tcp_queue *queue)
{
	struct nt_cmd *c = rq && queue ? cmd_of(queue, qid, rq) : NULL;

	if (c)
		cmd_sent(c);
	return 0;
}

SEC("tp_btf/nvme_tcp_handle_r2t")
int NT_PROG_MEASURING(handle_r2t, struct request *rq, struct nvme_tcp_r2t_pdu *pdu, int qid,
		      __u64 recv_time, struct nvme_tcp_queue *queue)
{
	struct nt_cmd *c = rq && queue ? cmd_of(queue, qid, rq) : NULL;
	struct nt_join p;
	__u64 now;
	__u32 seq;

	if (!c || c->r.points[NT_H_R2T])
		return 0;
	seq = recv_seq(c, queue, recv_time, &p);
	now = bpf_ktime_get_ns();
	cmd_asked(c, seq, cmd_arrival(c, queue_of_cmd(c), &p, seq, now), now);
	return 0;
}

SEC("tp_btf/nvme_tcp_try_send_data_pdu")
int NT_PROG_MEASURING(try_send_data_pdu, struct request *rq, struct nvme_tcp_data_pdu *pdu, int qid,
		      int len, struct nvme_tcp_queue *queue)
{
	if (rq && queue)
		cmd_sends(cmd_of(queue, qid, rq), OUT_SOCKET(queue->sock->sk), NT_H_SEND_DATA);
	return 0;
}

SEC("tp_btf/nvme_tcp_handle_c2h_data")
int NT_PROG_MEASURING(handle_c2h_data, struct request *rq, int qid, __u32 data_len, __u64 recv_time,
		      struct nvme_tcp_data_pdu *pdu, struct nvme_tcp_queue *queue)
{
	struct nt_cmd *c = rq && queue ? cmd_of(queue, qid, rq) : NULL;
	struct nt_join p;
	__u64 now;
	__u32 seq;

	if (!c || !pdu)
		return 0;
	if (pdu->hdr.flags & NVME_TCP_F_DATA_SUCCESS)
		cmd_without_cqe(c);
	if (c->r.points[NT_H_C2H])
		return 0;
	seq = recv_seq(c, queue, recv_time, &p);
	now = bpf_ktime_get_ns();
	cmd_answering(c, seq, cmd_arrival(c, queue_of_cmd(c), &p, seq, now), now);
	return 0;
}

/* A read that ends with the SUCCESS flag has no CQE. Its last data set the point instead. */
SEC("tp_btf/nvme_tcp_recv_data")
int BPF_PROG(recv_data, struct request *rq, int qid, __u32 len, __u64 recv_time,
	     struct nvme_tcp_data_pdu *pdu, struct nvme_tcp_queue *queue)
{
	struct nt_cmd *c;

	if (!rq || !queue || !pdu || !(pdu->hdr.flags & NVME_TCP_F_DATA_SUCCESS))
		return 0;
	c = cmd_of(queue, qid, rq);
	if (c)
		c->r.points[NT_H_CQE] = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/nvme_tcp_process_nvme_cqe")
int NT_PROG_MEASURING(process_nvme_cqe, struct request *rq, struct nvme_tcp_rsp_pdu *pdu, int qid,
		      __u64 recv_time, struct nvme_tcp_queue *queue)
{
	struct nt_cmd *c = rq && queue ? cmd_of(queue, qid, rq) : NULL;
	struct nt_queue *q;
	struct nt_join p;
	__u32 seq;
	__u64 now;

	if (!c || !pdu)
		return 0;
	q = queue_of_cmd(c);
	now = bpf_ktime_get_ns();
	if (answer_is_cqe(c)) {
		seq = recv_seq(c, queue, recv_time, &p);
		cmd_answer_comes(c, NT_HC_CQE, seq, cmd_arrival(c, q, &p, seq, now), now);
	}
	cmd_answered(c, q, now, pdu);
	return 0;
}

#endif /* NTPROF_HOST_TRACEPOINTS_BPF_H */
