// SPDX-License-Identifier: GPL-2.0-only
/* What a target's commands wait for a worker (--points fine); see test_host_worker.c, too. */
#include "bpf/target.h"

#include "bpf/target_machine.h"
#include "bpf/target_steps.h"

#define FIRST_SEQ (~0u - 100) /* wraps around */
#define WORKER 6

static struct tcp_sock___stream tcp;
static struct work_struct___data *const work = (void *)&m.queue[0];

/* The next read of the clock gives @t. */
static void clock_at(__u64 t)
{
	kernel.now = t - 100;
}

static void told(__u32 end, __u64 t)
{
	tcp.rcv_nxt = FIRST_SEQ + end;
	clock_at(t);
	data_ready(NULL, &tcp.sk);
}

static void runs(__u64 t)
{
	unsigned long long args[] = {(__u64)work};

	kernel.thread = WORKER;
	clock_at(t);
	io_work(args, work);
}

static void sleeps(void)
{
	unsigned long long args[] = {(__u64)work};
	__s64 *data = (void *)work, before = *data;

	*data = 0;
	io_work_end(args, work);
	*data = before;
}

/* The PDU that comes next begins at byte @at. */
static void pdu_begins(__u32 at)
{
	struct tcp_skb_cb *cb = (void *)m.skb.cb;

	cb->seq = FIRST_SEQ + at;
	cb->end_seq = cb->seq + 100;
}

static const struct nt_record *waiting(void)
{
	return &cmd_at(*index_of((__u64)&m.cmd[0][0]))->r;
}

static void begin(__u8 opcode, __u32 at, __u64 rx, __u64 t)
{
	struct nvmet_tcp_cmd *cmd = &m.cmd[0][0];

	m.sqe[0][0] = (struct nvme_command){.common = {.opcode = opcode, .nsid = 1}};
	m.sqe[0][0].common.dptr.sgl.length = 4096;
	cmd->queue = &m.queue[0];
	cmd->req = (struct nvmet_req){.cmd = &m.sqe[0][0],
				      .cqe = &m.cqe,
				      .sq = &m.queue[0].nvme_sq,
				      .ops = &m.ops,
				      .transfer_len = 4096};
	run.source = FUNCTIONS;
	pdu_begins(at);
	clock_at(t);
	capsule_comes(cmd, (__s64)rx);
}

static int setup(void **state)
{
	target_make();
	connection_make(0, 0);
	memset(&tcp, 0, sizeof(tcp));
	m.socket[0].sk = &tcp.sk;
	tcp.sk.sk_user_data = &m.queue[0];
	m.ctrl[0].cntlid = 5;
	m.queue[0].nvme_sq.ctrl = &m.ctrl[0];
	m.queue[0].nvme_sq.qid = 1;
	nt_knobs.fine = nt_knobs.no_outs = nt_knobs.workers = true;
	begin(NVME_CMD_FLUSH, 0, 0, 1000);
	/* In the structures of tests this member and that of data_ready are one: see test_out.c. */
	kernel.queues[0].opaque = 0;
	told(10, 1100);
	return 0;
}

static int teardown(void **state)
{
	nt_knobs.fine = nt_knobs.no_outs = nt_knobs.workers = false;
	return 0;
}

static void a_capsule_waits_for_the_stack_and_the_worker(void **state)
{
	told(82, 3000);
	told(154, 4000);
	runs(6000);
	begin(NVME_CMD_READ, 82, 3500, 8000);
	assert_int_equal(waiting()->wait[NT_W_STACK], 1 + 500);
	assert_int_equal(waiting()->wait[NT_W_WAKEUP], 1 + 2000);
	assert_int_equal(waiting()->wait[NT_W_SEND_WAKEUP], 0);
}

static void an_answer_waits_for_the_worker_to_send_it(void **state)
{
	struct nvmet_tcp_cmd *cmd = &m.cmd[0][0];

	runs(6000);
	begin(NVME_CMD_READ, 82, 3500, 8000);
	execution_begins(cmd, true, 0);
	sleeps();
	clock_at(10000);
	answer_is_queued(cmd, false);
	runs(13000);
	clock_at(14000);
	data_pdu_is_sent(cmd);
	assert_int_equal(waiting()->wait[NT_W_SEND_WAKEUP], 1 + 3000);

	/* It was executed at once. */
	begin(NVME_CMD_READ, 154, 3500, 15000);
	execution_begins(cmd, true, 0);
	answer_is_queued(cmd, false);
	data_pdu_is_sent(cmd);
	assert_int_equal(waiting()->wait[NT_W_SEND_WAKEUP], 1);
}

static void a_capsule_and_its_data_wait_both(void **state)
{
	struct nvmet_tcp_cmd *cmd = &m.cmd[0][0];

	told(82, 3000);
	runs(6000);
	begin(NVME_CMD_WRITE, 10, 2500, 8000);
	assert_int_equal(waiting()->wait[NT_W_STACK], 1 + 500);
	r2t_is_sent(cmd);
	sleeps();
	told(182, 11000);
	runs(12000);
	pdu_begins(82);
	clock_at(13000);
	h2c_data_come(cmd, 10000);
	assert_int_equal(waiting()->wait[NT_W_STACK], 1 + 500 + 1000);
	assert_int_equal(waiting()->wait[NT_W_WAKEUP], 1 + 3000 + 1000);
}

static void each_point_has_the_cpu_that_took_it(void **state)
{
	struct nvmet_tcp_cmd *cmd = &m.cmd[0][0];
	struct nt_record r;

	told(82, 3000);
	kernel.cpu = 1;
	begin(NVME_CMD_WRITE, 10, 2500, 8000);
	kernel.cpu = 2;
	r2t_is_sent(cmd);
	told(182, 11000);
	pdu_begins(82);
	kernel.cpu = 0;
	clock_at(13000);
	h2c_data_come(cmd, 10000);
	execution_begins(cmd, true, 0);
	kernel.cpu = 2;
	disk_reach((__u64)&cmd->req, NT_TD_ISSUE, 14000, 0);
	kernel.cpu = 1;
	disk_reach((__u64)&cmd->req, NT_TD_DONE, 15000, 0);
	answer_is_queued(cmd, false);
	cpus_fill(&r, (__u64)cmd | NT_RELEASED);
	assert_int_equal(r.cpu[NT_TC_CMD], 1 + 1);
	assert_int_equal(r.cpu[NT_TC_SEND_R2T], 1 + 2);
	assert_int_equal(r.cpu[NT_TC_DATA], 1 + 0);
	assert_int_equal(r.cpu[NT_TC_DISK_ISSUE], 1 + 2);
	assert_int_equal(r.cpu[NT_TC_DISK_DONE], 1 + 1);
	assert_int_equal(r.cpu[NT_TC_DONE], 1 + 1);
	assert_int_equal(r.cpu[NT_TC_SEND], 0);
	/* The next command there begins without them. */
	begin(NVME_CMD_READ, 182, 16000, 17000);
	cpus_fill(&r, (__u64)cmd);
	assert_int_equal(r.cpu[NT_TC_CMD], 1 + 1);
	assert_int_equal(r.cpu[NT_TC_DONE], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_capsule_waits_for_the_stack_and_the_worker),
		TEST(an_answer_waits_for_the_worker_to_send_it),
		TEST(a_capsule_and_its_data_wait_both),
		TEST(each_point_has_the_cpu_that_took_it),
	};

	return cmocka_run_group_tests_name("waits for a target's worker", tests, NULL, NULL);
}
