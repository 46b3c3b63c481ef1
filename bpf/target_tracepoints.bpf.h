/* SPDX-License-Identifier: GPL-2.0-only */
/* The target's points, from the tracepoints of a patched nvmet-tcp. */
#ifndef NTPROF_TARGET_TRACEPOINTS_BPF_H
#define NTPROF_TARGET_TRACEPOINTS_BPF_H

#include "target_command.bpf.h"

SEC("tp_btf/nvmet_tcp_done_recv_pdu")
int BPF_PROG(done_recv_pdu, struct nvme_tcp_cmd_pdu *pdu, int qid, __s64 recv_time,
	     struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	struct target_capsule t = {
		.queue = queue,
		.cmd = (__u64)cmd,
		.qid = qid,
		.typed = true,
	};

	if (is_skipped(&pdu->cmd, qid))
		return nt_control.tracked ? BEGIN_SKIPPED(cmd, queue->idx, tag_of(queue, cmd)) : 0;
	t.slot = queue->idx;
	t.now = bpf_ktime_get_ns();
	t.rx = arrival(recv_time, t.now);
	t.has_ctrl = queue->nvme_sq.ctrl;
	return begin(&t, &pdu->cmd);
}

SEC("tp_btf/nvmet_tcp_exec_read_req")
int BPF_PROG(exec_read_req, struct nvme_command *sqe, int qid, struct nvmet_tcp_queue *queue,
	     struct nvmet_tcp_cmd *cmd)
{
	return exec(queue, cmd);
}

SEC("tp_btf/nvmet_tcp_exec_write_req")
int BPF_PROG(exec_write_req, struct nvme_command *sqe, int qid, int size,
	     struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	return exec(queue, cmd);
}

/* Fires with interrupts off, and so never while it is being handled. */
SEC("tp_btf/nvmet_tcp_queue_response")
int BPF_PROG(queue_response, struct nvme_command *sqe, int qid, struct nvmet_tcp_queue *queue,
	     struct nvmet_tcp_cmd *cmd)
{
	return done(queue, cmd);
}

SEC("tp_btf/nvmet_tcp_try_send_r2t")
int BPF_PROG(try_send_r2t, struct nvme_command *sqe, struct nvme_tcp_r2t_pdu *pdu, int qid, int len,
	     struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	struct nt_cmd *c = cmd_of(queue, cmd);

	if (c && !c->r.points[NT_T_SEND_R2T])
		c->r.points[NT_T_SEND_R2T] = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/nvmet_tcp_handle_h2c_data_pdu")
int BPF_PROG(handle_h2c_data_pdu, struct nvme_tcp_data_pdu *data, struct nvme_command *sqe, int qid,
	     __u32 data_len, __s64 recv_time, struct nvmet_tcp_queue *queue,
	     struct nvmet_tcp_cmd *cmd)
{
	struct nt_cmd *c = cmd_of(queue, cmd);
	__u64 now;

	if (!c || c->r.points[NT_T_DATA])
		return 0;
	now = bpf_ktime_get_ns();
	c->r.points[NT_T_DATA_RX] = arrival(recv_time, now);
	c->r.points[NT_T_DATA] = now;
	return 0;
}

SEC("tp_btf/nvmet_tcp_try_recv_data")
int BPF_PROG(try_recv_data, struct nvme_command *sqe, int qid, int len, __s64 recv_time,
	     struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	struct nt_cmd *c = cmd_of(queue, cmd);

	if (c)
		c->r.points[NT_T_DATA_DONE] = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/nvmet_tcp_try_send_data_pdu")
int BPF_PROG(try_send_data_pdu, struct nvme_completion *cqe, struct nvme_tcp_data_pdu *pdu, int qid,
	     int len, struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	struct nt_cmd *c = cmd_of(queue, cmd);

	if (send_begins(c) && !nt_control.data_watched && queue->nvme_sq.sqhd_disabled)
		end_unwatched(queue, c);
	return 0;
}

/* Where the host asked for no SQ flow control, a read ends with its last data. */
SEC("tp_btf/nvmet_tcp_try_send_data")
int BPF_PROG(try_send_data, struct nvme_completion *cqe, int qid, int len,
	     struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	if (!queue->nvme_sq.sqhd_disabled || cmd->wbytes_done + len < cmd->req.transfer_len)
		return 0;
	data_sent(queue, cmd_of(queue, cmd));
	return 0;
}

SEC("tp_btf/nvmet_tcp_try_send_response")
int BPF_PROG(try_send_response, struct nvme_completion *cqe, struct nvme_tcp_rsp_pdu *pdu, int qid,
	     int len, struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	struct nt_cmd *c = cmd_of(queue, cmd);
	struct nt_queue *q = c ? bpf_map_lookup_elem(&queues, &c->r.slot) : NULL;
	__u64 now;

	if (!q) {
		/* What has been sent in part already has ended before. */
		if (!nt_knobs.sample_below && !cmd->offset &&
		    (qid || cmd->req.cmd->common.opcode != NVME_ADMIN_ASYNC_EVENT))
			count_no_start();
		return 0;
	}
	now = bpf_ktime_get_ns();
	if (!c->r.points[NT_T_SEND])
		c->r.points[NT_T_SEND] = now;
	c->r.status = cqe->status >> 1;
	cmd_end(q, queue, c, now);
	return 0;
}

#endif /* NTPROF_TARGET_TRACEPOINTS_BPF_H */
