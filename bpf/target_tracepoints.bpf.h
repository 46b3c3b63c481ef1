/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target's points from the tracepoints of a patched nvmet-tcp (kernel_patches/). All arguments
 * are typed. A command whose beginning was not seen, or that is not in the sample, is ignored. Why
 * pointers that are never NULL are compared with it: host_tracepoints.bpf.h.
 */
#ifndef NTPROF_TARGET_TRACEPOINTS_BPF_H
#define NTPROF_TARGET_TRACEPOINTS_BPF_H

#include "disk.bpf.h"
#include "target_command.bpf.h"

/* CO-RE: @recv_seq is where the PDU of a tracepoint begins in the stream. */
struct nvmet_tcp_queue___patched {
	__u32 recv_seq;
} __attribute__((preserve_access_index));

/* Where the PDU of the tracepoint begins in the stream. @queue: typed */
static __always_inline __u32 pdu_seq(struct nvmet_tcp_queue *queue)
{
	return ((struct nvmet_tcp_queue___patched *)queue)->recv_seq;
}

/*
 * When the PDU of the tracepoint arrived, CLOCK_MONOTONIC; 0 if it is unknown.
 * @q: NULL if there is none for its slot
 * @joined: filled; the time may be that of a later packet
 */
static __always_inline __u64 pdu_arrived_at(struct nt_queue *q, struct nvmet_tcp_queue *queue,
					    __s64 recv_time, __u64 now, bool *joined)
{
	struct nt_join p;
	__u32 seq;

	*joined = false;
	/* The entry may still be that of the connection before. */
	if (!q || q->object != (__u64)queue || !recv_time)
		return arrival(recv_time, now);
	if (q->opaque)
		return 0;
	seq = pdu_seq(queue);
	p = packet_stamped(recv_time, seq);
	*joined = !joins_resolve(q, seq, &p, &recv_time);
	return arrival(recv_time, now);
}

/* Whether done_recv_pdu() returns at once because of the command's opcode: see capsule_skip(). */
static __always_inline bool done_recv_pdu_leaves(const unsigned long long *ctx)
{
	struct nvme_tcp_cmd_pdu *pdu = (void *)ctx[0];

	return none_is_tracked() && pdu && opcode_skipped(&pdu->cmd) && ctx[4] &&
	       !may_be_counted(ctx[4]);
}

SEC("tp_btf/nvmet_tcp_done_recv_pdu")
int NT_PROG_LEAVING(nt_knobs.only.ops, done_recv_pdu_leaves(ctx), done_recv_pdu,
		    struct nvme_tcp_cmd_pdu *pdu, int qid, __s64 recv_time,
		    struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	struct target_capsule t = {
		.queue = queue,
		.cmd = (__u64)cmd,
		.qid = qid,
		.typed = true,
	};
	enum nt_fate fate;
	bool skipped;

	if (!pdu || !queue || !cmd)
		return 0;
	fate = sqe_fate(&pdu->cmd, qid);
	skipped = is_skipped(&pdu->cmd, fate);
	if (skipped && !nt_control.tracked && !may_be_counted((__u64)cmd))
		return 0;
	t.slot = queue->idx;
	if (skipped)
		return capsule_skip(&t);
	/*
	 * A command that is only counted needs the time for its age alone: the clock is not read
	 * again.
	 */
	t.now = fate == NT_MEASURE || !recv_time ? bpf_ktime_get_ns()
						 : (__u64)recv_time - nt_control.real_offset;
	t.q = queue_at(t.slot);
	if (!nt_knobs.ends || burst_now())
		capsule_arrived(&t, pdu_arrived_at(t.q, queue, recv_time, t.now, &t.joined));
	t.seq = pdu_seq(queue);
	t.has_ctrl = queue->nvme_sq.ctrl;
	return capsule_begin(&t, &pdu->cmd, fate);
}

SEC("tp_btf/nvmet_tcp_exec_read_req")
int NT_PROG_MEASURING(exec_read_req, struct nvme_command *sqe, int qid,
		      struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	if (queue && cmd)
		cmd_executing(cmd_of(queue, cmd));
	return 0;
}

SEC("tp_btf/nvmet_tcp_exec_write_req")
int NT_PROG_MEASURING(exec_write_req, struct nvme_command *sqe, int qid, int size,
		      struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	if (queue && cmd)
		cmd_executing(cmd_of(queue, cmd));
	return 0;
}

/*
 * Fires for an R2T as well, before exec. That one is not the end of the execution. Interrupts are
 * off where it fires, so no second program has to stand in for an interrupted one.
 */
SEC("tp_btf/nvmet_tcp_queue_response")
int NT_PROG_LEAVING(nt_knobs.tracks && !(nt_knobs.ends && nt_knobs.count_all), none_is_tracked(),
		    queue_response, struct nvme_command *sqe, int qid,
		    struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	struct nt_cmd *c;

	if (!queue || !cmd)
		return 0;
	if (nt_knobs.ends)
		return CMD_END_QUEUED(&cmd->req, cmd, cmd_any_of(queue, cmd));
	c = cmd_of(queue, cmd);
	if (c && c->r.points[NT_T_EXEC] && !c->r.points[NT_T_DONE])
		disk_executed(c, &cmd->req);
	return 0;
}

SEC("tp_btf/nvmet_tcp_try_send_r2t")
int NT_PROG_MEASURING(try_send_r2t, struct nvme_command *sqe, struct nvme_tcp_r2t_pdu *pdu, int qid,
		      int len, struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	if (queue && cmd)
		cmd_asking(cmd_of(queue, cmd), OUT_SOCKET(queue->sock->sk));
	return 0;
}

SEC("tp_btf/nvmet_tcp_handle_h2c_data_pdu")
int NT_PROG_MEASURING(handle_h2c_data_pdu, struct nvme_tcp_data_pdu *data, struct nvme_command *sqe,
		      int qid, __u32 data_len, __s64 recv_time, struct nvmet_tcp_queue *queue,
		      struct nvmet_tcp_cmd *cmd)
{
	struct nt_cmd *c = queue && cmd ? cmd_of(queue, cmd) : NULL;
	__u64 now, rx;
	bool joined;

	if (!c || c->r.points[NT_T_DATA])
		return 0;
	now = bpf_ktime_get_ns();
	rx = pdu_arrived_at(queue_of_cmd(c), queue, recv_time, now, &joined);
	cmd_receiving(c, pdu_seq(queue), rx, joined, now);
	return 0;
}

SEC("tp_btf/nvmet_tcp_try_recv_data")
int NT_PROG_MEASURING(try_recv_data, struct nvme_command *sqe, int qid, int len, __s64 recv_time,
		      struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	struct nt_cmd *c = queue && cmd ? cmd_of(queue, cmd) : NULL;

	if (c)
		c->r.points[NT_T_DATA_DONE] = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/nvmet_tcp_try_send_data_pdu")
int NT_PROG_COUNTING(try_send_data_pdu, struct nvme_completion *cqe, struct nvme_tcp_data_pdu *pdu,
		     int qid, int len, struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	struct nt_cmd *c;

	if (!queue || !cmd)
		return 0;
	/* A command that is only counted needs nothing here, unless it ends here. */
	if (nt_knobs.count_all && !nt_control.tracked && !queue->nvme_sq.sqhd_disabled)
		return 0;
	c = cmd_any_of(queue, cmd);
	if (cmd_answers(c, OUT_SOCKET(queue->sock->sk)) && !nt_control.data_watched &&
	    queue->nvme_sq.sqhd_disabled)
		cmd_end_unwatched(c);
	return 0;
}

/* Where the host has asked for no SQ flow control, a read ends with its last data. */
SEC("tp_btf/nvmet_tcp_try_send_data")
int BPF_PROG(try_send_data, struct nvme_completion *cqe, int qid, int len,
	     struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	if (!queue || !cmd || !queue->nvme_sq.sqhd_disabled ||
	    cmd->wbytes_done + len < cmd->req.transfer_len)
		return 0;
	cmd_end_by_data(cmd_any_of(queue, cmd));
	return 0;
}

SEC("tp_btf/nvmet_tcp_try_send_response")
int NT_PROG_COUNTING(try_send_response, struct nvme_completion *cqe, struct nvme_tcp_rsp_pdu *pdu,
		     int qid, int len, struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	struct nt_queue *q;
	struct nt_cmd *c;
	__u64 now;

	if (!cqe || !queue || !cmd)
		return 0;
	c = cmd_any_of(queue, cmd);
	q = c ? queue_of_cmd(c) : NULL;
	if (!q) {
		/*
		 * If a part of the response has been sent before, its command has ended before,
		 * too.
		 */
		if (!nt_knobs.stages && all_have_states() && !cmd->offset &&
		    (qid || cmd->req.cmd->common.opcode != NVME_ADMIN_ASYNC_EVENT) &&
		    !was_answered(queue, cmd))
			count_unbegun();
		return 0;
	}
	c->r.status = cqe->status >> 1;
	if (only_counted(c)) {
		cmd_end(q, c, 0);
		return 0;
	}
	now = bpf_ktime_get_ns();
	if (!c->r.points[NT_T_SEND])
		cmd_sends(c, OUT_SOCKET(queue->sock->sk), NT_T_SEND, now);
	cmd_end(q, c, now);
	return 0;
}

#endif /* NTPROF_TARGET_TRACEPOINTS_BPF_H */
