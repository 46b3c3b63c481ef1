// SPDX-License-Identifier: GPL-2.0-only
/* The last queue of a target that has room, and what happens to the next one: see docs/sizes.md. */
#include "bpf/target.h"

#define COMMANDS 2
#define CONNECTIONS 2

#include "bpf/target_machine.h"

static struct nvme_tcp_cmd_pdu pdu;

static int setup(void **state)
{
	target_make();
	connection_make(0, 0);
	memset(nt_past, 0, sizeof(nt_past));
	nt_control.began_ns = 1;
	return 0;
}

/* Handles a command of the queue with index @idx, from its capsule to its response. */
static void serve(int idx, bool stock, __u8 opcode)
{
	struct nvmet_tcp_cmd *cmd = &m.cmd[0][1];
	__u64 args[] = {(__u64)&cmd->req, 0, (__u64)&m.queue[0].nvme_sq, (__u64)&m.ops};
	struct nvme_tcp_rsp_pdu rsp = {};

	m.queue[0].idx = idx;
	m.queue[0].nvme_sq.qid = 1;
	m.queue[0].nvme_sq.ctrl = opcode == NVME_FABRICS_COMMAND ? NULL : &m.ctrl[0];
	pdu.cmd.common = (struct nvme_common_command){.opcode = opcode, .command_id = 1, .nsid = 1};
	*cmd = (struct nvmet_tcp_cmd){
		.queue = &m.queue[0],
		.req = {.cmd = &pdu.cmd, .cqe = &m.cqe, .sq = &m.queue[0].nvme_sq, .ops = &m.ops},
	};
	kernel.now += 100;
	if (stock)
		stock_cmd(args, &cmd->req, NULL, &m.queue[0].nvme_sq, &m.ops);
	else
		done_recv_pdu(NULL, &pdu, 1, 0, &m.queue[0], cmd);
	m.queue[0].nvme_sq.ctrl = &m.ctrl[0];
	kernel.now += 100;
	if (stock)
		stock_send_response(NULL, cmd);
	else
		try_send_response(NULL, &m.cqe, &rsp, 1, 0, &m.queue[0], cmd);
}

static void queues_beyond_the_last_are_told(bool stock)
{
	serve(SLOTS - 1, stock, NVME_FABRICS_COMMAND);
	serve(SLOTS - 1, stock, NVME_CMD_FLUSH);
	assert_int_equal(kernel.nr_records, 2);
	assert_int_equal(counted(NT_CNT_NO_SLOT), 0);
	/* Other connections, in the memory that the first one had. */
	sock_set_state(NULL, m.sk, 0, TCP_CLOSE);
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
	queues_beyond_the_last_are_told(false);
}

static void queues_beyond_the_last_are_told_by_stock_probes(void **state)
{
	queues_beyond_the_last_are_told(true);
}

/*
 * As many sockets have closed unseen as the map has room for. The end of the next one is noticed
 * only when another connection has its slot.
 */
static void sockets_beyond_the_last_close_unnoticed(void **state)
{
	struct nvmet_tcp_cmd *cmd = &m.cmd[0][1];
	struct nt_cmd *c;

	for (int i = 0; i < SLOTS; i++)
		kernel.sockets[i].sk = i + 1;
	serve(0, false, NVME_FABRICS_COMMAND);
	serve(0, false, NVME_CMD_FLUSH);
	assert_int_equal(kernel.nr_records, 2);
	done_recv_pdu(NULL, &pdu, 1, 0, &m.queue[0], cmd);
	sock_set_state(NULL, m.sk, 0, TCP_CLOSE);
	assert_int_equal(kernel.queues[0].dead_gen, 0);
	c = cmd_at(*index_of((__u64)cmd));
	assert_true(in_flight(c));
	m.socket[0].sk = m.sk + 1;
	serve(0, false, NVME_FABRICS_COMMAND);
	serve(0, false, NVME_CMD_FLUSH);
	assert_int_equal(counted(NT_CNT_DIED), 1);
	assert_int_equal(kernel.nr_records, 4);
}

/* Who only connects has commands fail in many ways. */
static void errors_of_who_connects_leave_room_for_those_of_reads(void **state)
{
	nt_control.errors_connecting = NT_ERRORS_CONNECTING - 2;
	for (uint16_t status = 1; status <= ERRORS_MAX; status++) {
		m.cqe.status = (uint16_t)(status << 1);
		serve(0, false, NVME_FABRICS_COMMAND);
	}
	assert_int_equal(kernel.nr_errors, 2);
	assert_int_equal(nt_control.errors_connecting, NT_ERRORS_CONNECTING);
	assert_int_equal(counted(NT_CNT_ERRORS_FULL), ERRORS_MAX - 2);
	assert_int_equal(nt_control.errors_past[NT_OP_FABRICS], ERRORS_MAX - 2);
	m.cqe.status = 0x281 << 1;
	serve(1, false, NVME_CMD_READ);
	assert_int_equal(errors_of(NT_OP_READ, 0x281), 1);
	assert_int_equal(nt_control.errors_past[NT_OP_READ], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(errors_of_who_connects_leave_room_for_those_of_reads, setup),
		cmocka_unit_test_setup(queues_beyond_the_last_are_told_by_tracepoints, setup),
		cmocka_unit_test_setup(queues_beyond_the_last_are_told_by_stock_probes, setup),
		cmocka_unit_test_setup(sockets_beyond_the_last_close_unnoticed, setup),
	};

	return cmocka_run_group_tests_name("target_limits", tests, NULL, NULL);
}
