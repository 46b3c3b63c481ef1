// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every command that begins is counted as ended, in flight or lost, whatever part of the commands
 * is sampled.
 */
#include "bpf/target.h"

#include <stdlib.h>

#define CONNECTIONS 3
#define COMMANDS 6

#include "bpf/target_machine.h"

/* The state of the made-up driver. */
static struct {
	bool out[CONNECTIONS][COMMANDS];
	bool stock;
	bool misses;   /* some ends are missed */
	bool ends;     /* only the ends of commands have programs */
	bool bursts;   /* all points have programs now and then */
	bool attached; /* programs between the ends */
	unsigned int switches;
	__u64 whole;			    /* commands that began and ended in one burst */
	__u16 began[CONNECTIONS][COMMANDS]; /* in which burst */
	unsigned int begun;
} done;

/* The number of a burst comes after the programs, and goes before them. */
static void switch_now_and_then(void)
{
	if (!done.bursts || random() % 4)
		return;
	if (!done.attached) {
		done.attached = true;
	} else if (!nt_control.burst && random() % 2) {
		nt_control.burst = done.switches++ % 65535 + 1;
	} else {
		done.attached = nt_control.burst;
		nt_control.burst = 0;
	}
}

static void receive(int i, int n, __u8 opcode)
{
	struct nvmet_tcp_queue *queue = &m.queue[i];
	struct nvmet_tcp_cmd *cmd = &m.cmd[i][n];
	struct nvme_tcp_cmd_pdu pdu;

	m.sqe[i][n] = (struct nvme_command){
		.common = {.opcode = opcode, .command_id = n, .nsid = 1, .cdw10 = random() % 1000},
	};
	m.sqe[i][n].common.dptr.sgl.length = 4096;
	m.sqe[i][n].common.dptr.sgl.type = opcode == NVME_CMD_WRITE && random() % 2 && !done.bursts
						   ? 0x5a
						   : NVME_SGL_IN_CAPSULE;
	switch_now_and_then();
	cmd->rbytes_done = 0;
	done.begun++;
	done.out[i][n] = true;
	pdu.cmd = m.sqe[i][n];
	cmd->queue = queue;
	cmd->req = (struct nvmet_req){
		.cmd = &m.sqe[i][n],
		.cqe = &m.cqe,
		.sq = &queue->nvme_sq,
		.ops = &m.ops,
		.transfer_len = 4096,
	};
	if (done.stock) {
		__u64 args[] = {(__u64)&cmd->req, 0, (__u64)&queue->nvme_sq, (__u64)&m.ops};

		m.skb.sk = queue->sock->sk;
		m.skb.tstamp = kernel.now;
		if (done.attached || !done.bursts)
			copied_header(&m.skb, 0, queue);
		done.began[i][n] = done.attached ? nt_control.burst : 0;
		stock_cmd(args, &cmd->req, NULL, &queue->nvme_sq, &m.ops);
	} else {
		bool known = done.bursts ? done.attached : random() % 2;

		done.began[i][n] = known ? nt_control.burst : 0;
		done_recv_pdu(NULL, &pdu, queue->nvme_sq.qid, known ? kernel.now : 0, queue, cmd);
	}
}

/* nvmet_tcp_queue_response() runs, and one of two stock programs may be skipped. */
static void queue_answer(int i, int n)
{
	struct nvmet_tcp_cmd *cmd = &m.cmd[i][n];
	__u64 args[] = {(__u64)&cmd->req};
	int skipped = random() % 3;

	if (!done.stock) {
		queue_response(NULL, &m.sqe[i][n], cmd->queue->nvme_sq.qid, cmd->queue, cmd);
		return;
	}
	if (skipped != 1)
		stock_done_nested(args, &cmd->req);
	if (skipped != 2)
		stock_done(args, &cmd->req);
}

/* An R2T is queued as an answer is. After a failure, an answer may be queued twice. */
static void end_of(int i, int n)
{
	struct nvmet_tcp_cmd *cmd = &m.cmd[i][n];

	if (m.sqe[i][n].common.dptr.sgl.type != NVME_SGL_IN_CAPSULE)
		queue_answer(i, n);
	cmd->rbytes_done = 4096;
	switch_now_and_then();
	if (done.attached && done.stock)
		stock_exec_nvmet_bdev_execute_rw((__u64[]){(__u64)&cmd->req}, &cmd->req);
	else if (done.attached)
		exec_read_req(NULL, &m.sqe[i][n], 1, cmd->queue, cmd);
	switch_now_and_then();
	for (int attempt = random() % 3; attempt >= 0; attempt--)
		queue_answer(i, n);
	switch_now_and_then();
	if (done.attached && done.stock)
		stock_send_response(NULL, cmd);
	else if (done.attached)
		try_send_response(NULL, &m.cqe, NULL, cmd->queue->nvme_sq.qid, 0, cmd->queue, cmd);
	done.whole += nt_control.burst && nt_control.burst == done.began[i][n];
}

static void respond_to(int i, int n)
{
	struct nvmet_tcp_queue *queue = &m.queue[i];
	struct nvmet_tcp_cmd *cmd = &m.cmd[i][n];
	struct nvme_tcp_rsp_pdu rsp = {};
	struct nvme_tcp_data_pdu data = {};

	done.out[i][n] = false;
	if (done.ends) {
		end_of(i, n);
		return;
	}
	if (m.sqe[i][n].common.opcode == NVME_CMD_READ) {
		if (done.stock)
			stock_send_data_pdu(NULL, cmd);
		else
			try_send_data_pdu(NULL, &m.cqe, &data, 1, 24, queue, cmd);
		/* Its data are sent in two parts. It has no response then. */
		for (int part = 1; part <= 2 && queue->nvme_sq.sqhd_disabled; part++) {
			if (!nt_control.data_watched)
				return;
			cmd->wbytes_done = (part - 1) * 2048;
			if (done.stock)
				stock_send_data_end(NULL, cmd, true, part == 2);
			else
				try_send_data(NULL, &m.cqe, 1, 2048, queue, cmd);
		}
		if (queue->nvme_sq.sqhd_disabled)
			return;
	}
	/* The socket may have no room for it yet. */
	for (int attempt = random() % 3; attempt >= 0; attempt--) {
		if (done.stock)
			stock_send_response(NULL, cmd);
		else
			try_send_response(NULL, &m.cqe, &rsp, queue->nvme_sq.qid, 0, queue, cmd);
	}
}

/*
 * Opens the connection in memory place number @i, with a slot of its own or one that another had.
 */
static void open_connection(int i)
{
	int idx;

	do {
		idx = random() % (CONNECTIONS + 1);
		for (int k = 0; k < CONNECTIONS; k++)
			if (k != i && m.queue[k].sock && m.queue[k].idx == idx)
				idx = -1;
	} while (idx < 0);
	connection_make(i, idx);
	memset(done.out[i], 0, sizeof(done.out[i]));
	receive(i, 0, NVME_FABRICS_COMMAND);
	m.queue[i].nvme_sq.ctrl = m.ctrl;
	m.queue[i].nvme_sq.qid = i + 1;
	m.queue[i].nvme_sq.sqhd_disabled = random() % 2;
	respond_to(i, 0);
}

static void step(void)
{
	int i = random() % CONNECTIONS, n = random() % COMMANDS;

	if (random() % (done.bursts ? 1000 : 50) == 0) {
		sock_set_state(NULL, &m.sk[i], 0, TCP_CLOSE);
		open_connection(i);
	} else if (random() % 40 == 0) {
		sweep();
	} else if (!done.out[i][n]) {
		receive(i, n, random() % 3 ? NVME_CMD_READ : NVME_CMD_WRITE);
	} else if (done.misses && random() % 10 == 0) {
		done.out[i][n] = false;
	} else {
		respond_to(i, n);
	}
}

static void run_of(__u32 below, bool all, bool stock, bool misses, bool ends)
{
	__u64 begun = 0, ended = 0, waits = 0, measures = 0;

	target_make();
	memset(&done, 0, sizeof(done));
	done.stock = stock;
	done.misses = misses;
	nt_knobs.ends = done.ends = ends;
	nt_knobs.select = NT_SELECT_NONE;
	knobs_sample(below, all);
	nt_control.began_ns = 1;
	memset(nt_alikes, 0, sizeof(nt_alikes));
	nt_control.data_watched = random() % 2;
	for (int i = 0; i < CONNECTIONS; i++)
		open_connection(i);
	for (int i = 0; i < 3000; i++)
		step();
	sweep();
	for (unsigned int h = 0; h < HISTS; h++) {
		ended += hist_at(h)->others;
		for (unsigned int b = 0; b < NT_BUCKETS; b++)
			ended += hist_at(h)->buckets[b];
	}
	for (unsigned int c = 0; c < PIECES * NT_CHUNK_CMDS; c++) {
		waits += in_flight(cmd_at(c));
		measures += measured(cmd_at(c));
	}
	/*
	 * Programs that do not count the commands outside the sample know only of the measured
	 * ones.
	 */
	for (unsigned int i = 0; i < NT_ALIKE; i++)
		begun += nt_alikes[i];
	if (!below || all)
		begun = done.begun;
	if (below)
		assert_int_equal(nt_control.tracked, measures);
	assert_int_equal(counted(NT_CNT_NO_START), 0);
	if (!misses)
		assert_int_equal(counted(NT_CNT_OVERWRITTEN), 0);
	assert_int_equal(begun, ended + waits + counted(NT_CNT_OVERWRITTEN) + counted(NT_CNT_DIED));
	assert_int_equal(ends && counted(NT_CNT_POINT_MISSING), 0);
	nt_knobs.ends = 0;
}

/*
 * Programs of all points come and go under load. A command has stages if it began and ended in the
 * same burst of them, and is counted once in any case. Connections close now and then.
 */
static void switches_between_ends_and_all_lose_and_double_nothing(void **state)
{
	for (int stock = 0; stock < 2; stock++) {
		__u64 ended = 0, split = 0, waits = 0;

		target_make();
		memset(&done, 0, sizeof(done));
		memset(nt_first_stages, 0, sizeof(nt_first_stages));
		srandom(3);
		done.stock = stock;
		done.ends = done.bursts = true;
		nt_knobs.ends = nt_knobs.stages = 1;
		nt_knobs.select = NT_SELECT_NONE;
		knobs_sample(0, false);
		nt_control.began_ns = 1;
		for (int i = 0; i < CONNECTIONS; i++)
			open_connection(i);
		while (done.switches < 10000) {
			kernel.now += 10;
			step();
		}
		sweep();
		for (unsigned int h = 0; h < HISTS; h++)
			for (unsigned int b = 0; b < NT_BUCKETS; b++)
				ended += hist_at(h)->buckets[b];
		/* More connections come than there are histograms. */
		for (unsigned int b = 0; b < NT_BUCKETS; b++)
			ended += kernel.shared.buckets[b];
		for (unsigned int i = 0; i < STAGES; i++)
			for (unsigned int b = 0; b < NT_STAGE_BUCKETS; b++)
				split += stages_at(i)->h[NT_TS_TARGET_SUBSYSTEM].buckets[b];
		for (unsigned int c = 0; c < PIECES * NT_CHUNK_CMDS; c++)
			waits += in_flight(cmd_at(c)) && !(cmd_at(c)->r.flags & NT_F_COUNTED);
		assert_int_equal(counted(NT_CNT_NO_START), 0);
		assert_int_equal(counted(NT_CNT_OVERWRITTEN), 0);
		assert_int_equal(counted(NT_CNT_POINT_MISSING), 0);
		assert_int_equal(done.begun, ended + waits + counted(NT_CNT_DIED));
		assert_int_not_equal(done.whole, 0);
		assert_int_equal(split, done.whole);
	}
	nt_knobs.ends = nt_knobs.stages = nt_control.burst = 0;
}

static void begun_is_ended_in_flight_or_lost(void **state)
{
	srandom(1);
	for (int round = 0; round < 10; round++) {
		for (int how = 0; how < 4; how++) {
			run_of(0, false, how & 1, round % 2, how & 2);
			run_of(1u << 31, true, how & 1, round % 2, how & 2);
			run_of(1u << 28, true, how & 1, round % 2, how & 2);
			run_of(1u << 31, false, how & 1, round % 2, how & 2);
		}
	}
}

static __u64 others(void)
{
	__u64 n = 0;

	for (unsigned int h = 0; h < HISTS; h++)
		n += hist_at(h)->others;
	return n;
}

/* Whether the capsule of connection 0's command 0 would be left at once, by its opcode. */
static bool capsule_is_left_at_once(__u8 opcode)
{
	struct nvme_command sqe = {.common.opcode = opcode};
	struct nvmet_tcp_queue *queue = &m.queue[0];
	struct nvmet_tcp_cmd *cmd = &m.cmd[0][0];
	struct nvme_tcp_cmd_pdu pdu = {.cmd = sqe};
	unsigned long long ctx[] = {(__u64)&pdu, 1, 0, (__u64)queue, (__u64)cmd};
	unsigned long long args[] = {(__u64)&cmd->req, 0, (__u64)&queue->nvme_sq, (__u64)&m.ops};
	bool leaves;

	cmd->req.cmd = &sqe;
	leaves = done.stock ? capsule_leaves(args, &cmd->req, 2) : done_recv_pdu_leaves(ctx);
	cmd->req.cmd = NULL;
	return leaves;
}

/* The end of a command outside the sample was not seen. Its place is used by one that is left out.
 */
static void an_end_that_was_missed_is_not_that_of_a_command_that_is_left_out(void **state)
{
	static const struct nt_selection writes = {.ops = 1u << NT_OP_WRITE};

	for (int stock = 0; stock < 2; stock++) {
		target_make();
		memset(&done, 0, sizeof(done));
		done.stock = stock;
		nt_control.began_ns = 1;
		nt_knobs.select = NT_SELECT_NONE;
		knobs_select(&writes);
		knobs_sample(1, true);
		connection_make(0, 1);
		m.queue[0].nvme_sq.ctrl = m.ctrl;
		m.queue[0].nvme_sq.qid = 1;
		receive(0, 0, NVME_CMD_WRITE);
		assert_int_equal(nt_control.tracked, 0);
		assert_false(capsule_is_left_at_once(NVME_CMD_READ));
		receive(0, 0, NVME_CMD_READ);
		assert_int_equal(counted(NT_CNT_OVERWRITTEN), 1);
		respond_to(0, 0);
		assert_int_equal(others(), 0);
		assert_true(capsule_is_left_at_once(NVME_CMD_READ));
		receive(0, 0, NVME_CMD_WRITE);
		respond_to(0, 0);
		assert_int_equal(others(), 1);
		assert_int_equal(counted(NT_CNT_OVERWRITTEN), 1);
		assert_true(capsule_is_left_at_once(NVME_CMD_READ));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begun_is_ended_in_flight_or_lost),
		cmocka_unit_test(switches_between_ends_and_all_lose_and_double_nothing),
		cmocka_unit_test(an_end_that_was_missed_is_not_that_of_a_command_that_is_left_out),
	};

	return cmocka_run_group_tests_name("target_counted", tests, NULL, NULL);
}
