/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps of a command on a target, and the programs that see each step: those of a patched
 * driver, and those of other drivers, in which functions may be inlined. Include it after
 * "bpf/target_machine.h".
 */
#ifndef NTPROF_TESTS_BPF_TARGET_STEPS_H
#define NTPROF_TESTS_BPF_TARGET_STEPS_H

enum step { END, CAPSULE, EXECUTE, DONE, R2T, H2C, RECEIVE, DATA_PDU, DATA, RESPONSE };

enum source { TRACEPOINTS, FUNCTIONS, PAGES, MESSAGES, SOURCES };

static struct {
	enum source source;
	bool is_tls;
	__u64 now;
} run;

/* Set as kernel.on_clock, it lets every read of the clock give @run.now. */
static inline void clock_stands_still(void)
{
	kernel.now = run.now - 100;
}

/* A queue hands @size bytes of a command to its socket, which accepts @taken of them. */
static inline void hand_over(struct nvmet_tcp_cmd *cmd, enum nvmet_tcp_send_state state,
			     size_t size, int taken)
{
	struct msghdr msg = {.msg_iter.count = size};
	struct socket *socket = cmd->queue->sock;
	/* A command has memory of its own for each of its PDUs. */
	__u64 page = (__u64)cmd & ~4095ULL;
	int offset = (int)((__u64)cmd & 4095) + state;
	__u64 args[] = {(__u64)socket, page, (__u64)offset, size};

	cmd->state = state;
	cmd->queue->snd_cmd = cmd;
	if (run.source == PAGES) {
		stock_sendpage(args, socket, (void *)page, offset, size);
		stock_sendpage_end(NULL, socket, NULL, 0, size, 0, taken);
	} else {
		stock_sendmsg(NULL, socket, &msg);
		stock_sendmsg_end(NULL, socket, NULL, taken);
	}
	cmd->queue->snd_cmd = NULL;
}

/*
 * The driver reads the first bytes of a PDU. @stamp: of its packet, CLOCK_REALTIME; 0: it has none
 */
static inline void header_comes(struct nvmet_tcp_queue *queue, __s64 stamp)
{
	m.skb.sk = queue->sock->sk;
	m.skb.tstamp = stamp;
	if (run.source != TRACEPOINTS)
		copied_header(&m.skb, 0, queue);
}

static inline void capsule_comes(struct nvmet_tcp_cmd *cmd, __s64 stamp)
{
	struct nvmet_tcp_queue *queue = cmd->queue;
	__u64 args[] = {(__u64)&cmd->req, 0, (__u64)&queue->nvme_sq, (__u64)&m.ops};
	struct nvme_tcp_cmd_pdu pdu = {.cmd = *cmd->req.cmd};

	header_comes(queue, stamp);
	if (run.source == TRACEPOINTS) {
		done_recv_pdu(NULL, &pdu, queue->nvme_sq.qid, stamp, queue, cmd);
		return;
	}
	/* The queue of another transport calls the function, too. */
	m.ops.type = NVMF_TRTYPE_TCP - 1;
	stock_cmd(args, &cmd->req, NULL, &queue->nvme_sq, &m.ops);
	m.ops.type = NVMF_TRTYPE_TCP;
	if (run.source == MESSAGES) {
		args[1] = args[2];
		stock_cmd_no_cq(args, &cmd->req, &queue->nvme_sq, &m.ops);
	} else {
		stock_cmd(args, &cmd->req, NULL, &queue->nvme_sq, &m.ops);
	}
}

/* Calls req->execute() of a command that reads, or that brings data. */
static inline void execute(struct nvmet_req *req, int function)
{
	typedef int (*program)(unsigned long long *ctx, struct nvmet_req *req);
	static const program programs[] = {
		stock_exec_nvmet_bdev_execute_rw,	   stock_exec_nvmet_bdev_execute_dsm,
		stock_exec_nvmet_bdev_execute_zone_append, stock_exec_nvmet_file_execute_rw,
		stock_exec_nvmet_file_execute_dsm,	   stock_exec_nvmet_passthru_execute_cmd,
		stock_exec_nvmet_execute_set_features,	   stock_exec_nvmet_execute_admin_connect,
		stock_exec_nvmet_execute_io_connect,	   stock_exec_nvmet_execute_auth_send,
	};
	unsigned long long args[] = {(__u64)req};

	programs[function % (sizeof(programs) / sizeof(programs[0]))](args, req);
}

/* @with_data: the data come from the host */
static inline void execution_begins(struct nvmet_tcp_cmd *cmd, bool with_data, int function)
{
	struct nvmet_tcp_queue *queue = cmd->queue;
	int qid = queue->nvme_sq.qid;

	if (run.source == TRACEPOINTS) {
		if (with_data)
			exec_write_req(NULL, cmd->req.cmd, qid, 4096, queue, cmd);
		else
			exec_read_req(NULL, cmd->req.cmd, qid, queue, cmd);
	} else if (with_data) {
		execute(&cmd->req, function);
	}
}

/* Calls nvmet_tcp_queue_response(), which queues R2Ts as well. */
static inline void answer_is_queued(struct nvmet_tcp_cmd *cmd, bool nested)
{
	__u64 args[] = {(__u64)&cmd->req};

	if (run.source == TRACEPOINTS)
		queue_response(NULL, cmd->req.cmd, 1, cmd->queue, cmd);
	else if (nested)
		stock_done_nested(args, &cmd->req);
	else
		stock_done(args, &cmd->req);
}

static inline void r2t_is_sent(struct nvmet_tcp_cmd *cmd)
{
	if (run.source == TRACEPOINTS)
		try_send_r2t(NULL, cmd->req.cmd, NULL, 1, 24, cmd->queue, cmd);
	else if (run.source == FUNCTIONS)
		stock_send_r2t(NULL, cmd);
	else
		hand_over(cmd, NVMET_TCP_SEND_R2T, 24, 24);
}

static inline void h2c_data_come(struct nvmet_tcp_cmd *cmd, __s64 stamp)
{
	struct nvmet_tcp_queue *queue = cmd->queue;

	header_comes(queue, stamp);
	if (run.source == TRACEPOINTS)
		handle_h2c_data_pdu(NULL, NULL, cmd->req.cmd, 1, 512, stamp, queue, cmd);
	else if (run.source == MESSAGES)
		stock_data_map(NULL, cmd);
	else
		stock_data(NULL, cmd);
}

/* Data of a command are received. For data in the capsule the driver calls the same functions. */
static inline void data_are_received(struct nvmet_tcp_cmd *cmd)
{
	if (run.source == TRACEPOINTS)
		try_recv_data(NULL, cmd->req.cmd, 1, 512, 0, cmd->queue, cmd);
	else
		stock_data(NULL, cmd);
}

static inline void data_pdu_is_sent(struct nvmet_tcp_cmd *cmd)
{
	if (run.source == TRACEPOINTS)
		try_send_data_pdu(NULL, &m.cqe, NULL, 1, 24, cmd->queue, cmd);
	else if (run.source == FUNCTIONS)
		stock_send_data_pdu(NULL, cmd);
	else
		hand_over(cmd, NVMET_TCP_SEND_DATA_PDU, 24, 24);
}

/* The socket accepts @len bytes of a command's data. @done bytes were sent before. */
static inline void data_are_taken(struct nvmet_tcp_cmd *cmd, u32 done, int len)
{
	cmd->wbytes_done = done;
	if (run.source == TRACEPOINTS)
		try_send_data(NULL, &m.cqe, 1, len, cmd->queue, cmd);
	else if (run.source == FUNCTIONS)
		stock_send_data_end(NULL, cmd, true,
				    len <= 0 ? len : done + (u32)len == cmd->req.transfer_len);
	else
		hand_over(cmd, NVMET_TCP_SEND_DATA, 512, len);
}

static inline void response_is_sent(struct nvmet_tcp_cmd *cmd)
{
	if (run.source == TRACEPOINTS)
		try_send_response(NULL, cmd->req.cqe, NULL, cmd->queue->nvme_sq.qid, 0, cmd->queue,
				  cmd);
	else if (run.source == FUNCTIONS)
		stock_send_response(NULL, cmd);
	else
		hand_over(cmd, NVMET_TCP_SEND_RESPONSE, 24, 24);
}

#endif /* NTPROF_TESTS_BPF_TARGET_STEPS_H */
