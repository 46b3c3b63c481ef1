// SPDX-License-Identifier: GPL-2.0-only
/* The last queue of a target that there is room for, and what becomes of the next: see docs/sizes.md. */
#include "bpf/target.h"

static struct machine {
	struct nvmet_fabrics_ops ops;
	struct nvmet_subsys subsys;
	struct nvmet_ctrl ctrl;
	struct nvmet_tcp_queue queue;
	struct nvmet_tcp_cmd cmd[2];
	struct nvme_tcp_cmd_pdu pdu;
	struct socket socket;
	struct sock sk;
	struct sk_buff skb;
	struct nvme_completion cqe;
} m;

static int setup(void **state)
{
	(void)state;
	kernel_reset();
	memset(nt_past, 0, sizeof(nt_past));
	memset(&m, 0, sizeof(m));
	m.ops.type = NVMF_TRTYPE_TCP;
	m.subsys.subsysnqn = "nqn.subsystem";
	m.ctrl.subsys = &m.subsys;
	m.socket.sk = &m.sk;
	m.sk.sk_receive_queue.next = &m.skb;
	m.sk.sk_user_data = &m.queue;
	nt_control.began_ns = 1;
	return 0;
}

/* A command of the queue of index @idx, from its capsule to its answer. */
static void serve(int idx, bool stock, __u8 opcode)
{
	struct nvmet_tcp_cmd *cmd = &m.cmd[1];
	__u64 args[] = {(__u64)&cmd->req, 0, (__u64)&m.queue.nvme_sq, (__u64)&m.ops};
	struct nvme_tcp_rsp_pdu rsp = {};

	m.queue.idx = idx;
	m.queue.sock = &m.socket;
	m.queue.cmds = m.cmd;
	m.queue.nvme_sq.qid = 1;
	m.queue.nvme_sq.ctrl = opcode == NVME_FABRICS_COMMAND ? NULL : &m.ctrl;
	m.pdu.cmd.common =
		(struct nvme_common_command){.opcode = opcode, .command_id = 1, .nsid = 1};
	*cmd = (struct nvmet_tcp_cmd){
		.queue = &m.queue,
		.req = {.cmd = &m.pdu.cmd, .cqe = &m.cqe, .sq = &m.queue.nvme_sq, .ops = &m.ops},
	};
	kernel.now += 100;
	if (stock)
		stock_cmd(args, &cmd->req, NULL, &m.queue.nvme_sq, &m.ops);
	else
		done_recv_pdu(NULL, &m.pdu, 1, 0, &m.queue, cmd);
	m.queue.nvme_sq.ctrl = &m.ctrl;
	kernel.now += 100;
	if (stock)
		stock_send_response(NULL, cmd);
	else
		try_send_response(NULL, &m.cqe, &rsp, 1, 0, &m.queue, cmd);
}

static void queues_beyond_the_last_are_told(bool stock)
{
	serve(SLOTS - 1, stock, NVME_FABRICS_COMMAND);
	serve(SLOTS - 1, stock, NVME_CMD_FLUSH);
	assert_int_equal(kernel.nr_records, 2);
	assert_int_equal(counted(NT_CNT_NO_SLOT), 0);
	/* Other connections, which lie where that one did. */
	sock_set_state(NULL, &m.sk, 0, TCP_CLOSE);
	for (int i = 0; i < 2; i++) {
		serve(SLOTS + i, stock, NVME_FABRICS_COMMAND);
		serve(SLOTS + i, stock, NVME_CMD_FLUSH);
	}
	assert_int_equal(counted(NT_CNT_NO_SLOT), 4);
	assert_int_equal(queues_past(NT_PAST_SLOTS), 2);
	assert_int_equal(kernel.nr_records, 2);
}

static void queues_beyond_the_last_are_told_by_tracepoints(void **state)
{
	(void)state;
	queues_beyond_the_last_are_told(false);
}

static void queues_beyond_the_last_are_told_by_stock_probes(void **state)
{
	(void)state;
	queues_beyond_the_last_are_told(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(queues_beyond_the_last_are_told_by_tracepoints, setup),
		cmocka_unit_test_setup(queues_beyond_the_last_are_told_by_stock_probes, setup),
	};

	return cmocka_run_group_tests_name("target_limits", tests, NULL, NULL);
}
