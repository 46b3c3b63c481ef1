// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs do not look at commands that are left out: here each address that they must not read is
 * invalid.
 */
#include "bpf/host.h"

#define QID 1
#define TAG 5
#define CAPSULE 72
#define PAGE 4096
#define QUEUES (QID + 1)

#include "bpf/host_machine.h"

static int setup(void **state)
{
	static const struct nt_selection writes = {.ops = 1u << NT_OP_WRITE};

	host_make();
	nt_knobs.select = NT_SELECT_NONE;
	knobs_select(&writes);
	m.requests[0].rq.state = 0;
	m.requests[0].rq.tag = TAG;
	m.requests[0].req.req.cmd = NULL;
	return 0;
}

/* @entry_is_there: false: reading the entry would fail */
static void submit(__u8 opcode, __u32 length, bool entry_is_there)
{
	m.requests[0].sqe = (struct nvme_command){
		.common = {.opcode = opcode, .command_id = (m.cid += 0x1000) | TAG, .nsid = 1},
	};
	m.requests[0].sqe.common.dptr.sgl.length = length;
	m.requests[0].rq.start_time_ns = kernel.now += 100;
	request_make(&m.requests[0].rq, &m.requests[0].req, &m.requests[0].sqe);
	m.requests[0].req.req.cmd = entry_is_there ? &m.requests[0].sqe : NULL;
	stock_queue_rq(NULL, &m.requests[0].rq);
}

static struct nt_cmd *state_of_request(void)
{
	return cmd_by_tag(queue_at(QID), TAG);
}

static void read_is_left_by_its_request(void **state)
{
	submit(NVME_CMD_READ, PAGE, false);
	assert_int_equal(nt_pools[NT_POOL_CMDS].taken, 0);
	assert_int_equal(nt_control.tracked, 0);
	submit(NVME_CMD_WRITE, PAGE, true);
	assert_int_equal(nt_control.tracked, 1);
	assert_true(measured(state_of_request()));
	assert_int_equal(state_of_request()->r.op, NT_OP_WRITE);
}

static void sizes_are_known_by_the_request(void **state)
{
	static const struct nt_selection small = {
		.sizes = {.nr = 1, .range = {{.from = 512, .to = PAGE}}},
	};

	knobs_select(&small);
	submit(NVME_CMD_READ, 2 * PAGE, false);
	assert_int_equal(nt_control.tracked, 0);
	/* The first command of a queue may be a Connect, so its entry is read. */
	submit(NVME_CMD_READ, PAGE, true);
	assert_int_equal(nt_control.tracked, 1);
}

/* Its end was not seen. The command that is left out must not be taken for it. */
static void what_was_in_flight_of_the_request_is_released(void **state)
{
	submit(NVME_CMD_WRITE, PAGE, true);
	submit(NVME_CMD_READ, PAGE, true);
	assert_false(in_flight(state_of_request()));
	assert_int_equal(counted(NT_CNT_OVERWRITTEN), 1);
	rq_complete(NULL, &m.requests[0].rq, 0);
	assert_int_equal(latencies(), 0);
}

static void while_none_is_measured_nothing_is_looked_at(void **state)
{
	stock_sendpage(NULL, NULL, NULL, 0, CAPSULE);
	stock_no_sendpage(NULL, NULL, NULL, 0, CAPSULE);
	stock_recv_pdu(NULL, NULL, 0, NULL, HOST_PDU_BYTES, 0);
	stock_sent(NULL, NULL, 0);
	stock_sent(NULL, NULL, 1);
}

/* Whether the programs of the request and of its command return before they do anything else. */
static bool request_is_left_at_once(__u32 op)
{
	unsigned long long ctx[] = {(__u64)&m.requests[0].rq};

	m.requests[0].rq.cmd_flags = ~REQ_OP_MASK | op;
	return stock_queue_rq_leaves(ctx);
}

static bool command_is_left_at_once(__u8 opcode)
{
	struct nvme_tcp_cmd_pdu pdu = {.cmd.common.opcode = opcode};
	unsigned long long ctx[] = {(__u64)&m.requests[0].rq, (__u64)&pdu, QID};

	return queue_rq_leaves(ctx);
}

static void what_is_left_out_is_left_at_once(void **state)
{
	assert_true(request_is_left_at_once(REQ_OP_READ));
	assert_true(command_is_left_at_once(NVME_CMD_READ));
	assert_true(command_is_left_at_once(NVME_CMD_FLUSH));
	assert_false(request_is_left_at_once(REQ_OP_WRITE));
	assert_false(command_is_left_at_once(NVME_CMD_WRITE));
}

/* Such a command may be a Connect. */
static void what_may_say_more_is_not_left_at_once(void **state)
{
	static const struct nt_selection admin = {.ops = 1u << NT_OP_ADMIN};
	static const struct nt_selection reads = {.ops = 1u << NT_OP_READ};

	assert_false(request_is_left_at_once(REQ_OP_WRITE + 1));
	assert_false(command_is_left_at_once(NVME_FABRICS_COMMAND));
	knobs_select(&reads);
	assert_true(request_is_left_at_once(REQ_OP_WRITE));
	assert_false(request_is_left_at_once(REQ_OP_WRITE + 1));
	assert_false(command_is_left_at_once(NVME_FABRICS_COMMAND));
	/* The opcode of Read on an admin queue is Get Log Page. */
	knobs_select(&admin);
	assert_false(command_is_left_at_once(NVME_CMD_READ));
}

/* The first program was skipped for this command. */
static void what_is_selected_is_seen_by_the_program_that_stands_in(void **state)
{
	submit(NVME_CMD_READ, PAGE, false);
	m.requests[0].sqe.common.opcode = NVME_CMD_WRITE;
	request_make(&m.requests[0].rq, &m.requests[0].req, &m.requests[0].sqe);
	m.requests[0].req.req.cmd = &m.requests[0].sqe;
	stock_queue_rq_nested(NULL, &m.requests[0].rq);
	assert_int_equal(nt_control.tracked, 1);
	stock_queue_rq_nested(NULL, &m.requests[0].rq);
	assert_int_equal(counted(NT_CNT_OVERWRITTEN), 0);
}

/* Commands outside the sample that have ended. */
static __u64 others(void)
{
	__u64 n = 0;

	for (unsigned int h = 0; h < HISTS; h++)
		n += hist_at(h)->others;
	return n;
}

/* The same for a command outside the sample, which is only counted. */
static void what_was_only_counted_of_the_request_is_released(void **state)
{
	struct nvme_tcp_cmd_pdu pdu = {.cmd.common.opcode = NVME_CMD_READ};

	for (int stock = 0; stock < 2; stock++) {
		setup(state);
		knobs_sample(1, true);
		submit(NVME_CMD_WRITE, PAGE, true);
		assert_int_equal(nt_control.tracked, 0);
		assert_true(in_flight(state_of_request()));
		assert_false(request_is_left_at_once(REQ_OP_READ));
		assert_false(command_is_left_at_once(NVME_CMD_READ));
		if (stock)
			submit(NVME_CMD_READ, PAGE, true);
		else
			queue_rq(NULL, &m.requests[0].rq, &pdu, QID, NULL, NULL, NULL,
				 &m.queues[0][QID]);
		assert_false(in_flight(state_of_request()));
		assert_int_equal(counted(NT_CNT_OVERWRITTEN), 1);
		rq_complete(NULL, &m.requests[0].rq, 0);
		assert_int_equal(others(), 0);
		/* Once commands have ended, programs leave at once again. */
		assert_true(request_is_left_at_once(REQ_OP_READ));
		assert_true(command_is_left_at_once(NVME_CMD_READ));
		submit(NVME_CMD_WRITE, PAGE, true);
		rq_complete(NULL, &m.requests[0].rq, 0);
		assert_int_equal(others(), 1);
		assert_true(request_is_left_at_once(REQ_OP_READ));
		assert_true(command_is_left_at_once(NVME_CMD_READ));
	}
}

/* The measured command may be of the same request. */
static void while_one_is_measured_none_is_left_at_once(void **state)
{
	submit(NVME_CMD_WRITE, PAGE, true);
	assert_false(request_is_left_at_once(REQ_OP_READ));
	assert_false(command_is_left_at_once(NVME_CMD_READ));
	untrack();
	assert_false(request_is_left_at_once(REQ_OP_READ));
	rq_complete(NULL, &m.requests[0].rq, 0);
	untrack();
	assert_true(request_is_left_at_once(REQ_OP_READ));
	assert_true(command_is_left_at_once(NVME_CMD_READ));
}

static unsigned int atomics_on_tracked;

static void count_on_tracked(const volatile void *at)
{
	atomics_on_tracked += at == &nt_control.tracked;
}

/*
 * Each CPU reads the line of @tracked for each command. Writes would take it from the others. Only
 * the first command that is selected writes it, and the first after user space has looked.
 */
static void selected_commands_do_not_write_what_all_cpus_read(void **state)
{
	unsigned int writes = 0;

	atomics_on_tracked = 0;
	on_atomic = count_on_tracked;
	for (unsigned int i = 0; i < 1000; i++) {
		/* One CPU begins it, and another one ends it. */
		kernel.cpu = i & 1;
		if (i == 500)
			nt_control.tracked = NT_TRACKED_FADING;
		writes += nt_control.tracked != NT_TRACKED_SOME;
		submit(NVME_CMD_WRITE, PAGE, true);
		assert_tracked(1);
		kernel.cpu = !kernel.cpu;
		rq_complete(NULL, &m.requests[0].rq, 0);
		assert_tracked(1);
	}
	assert_int_equal(atomics_on_tracked, 0);
	assert_int_equal(writes, 2);
}

/* With a sample, which has few commands, programs leave at once as soon as none is in flight. */
static void sampled_commands_are_numbered(void **state)
{
	atomics_on_tracked = 0;
	on_atomic = count_on_tracked;
	knobs_sample(UINT32_MAX, false);
	submit(NVME_CMD_WRITE, PAGE, true);
	assert_int_equal(nt_control.tracked, 1);
	rq_complete(NULL, &m.requests[0].rq, 0);
	assert_int_equal(nt_control.tracked, 0);
	assert_int_equal(atomics_on_tracked, 2);
}

static void attempts_that_send_nothing_are_not_looked_at(void **state)
{
	submit(NVME_CMD_WRITE, PAGE, true);
	stock_sent(NULL, NULL, 0);
}

/* No connection has reads that end without a CQE. */
static void data_are_not_looked_at_where_cqes_follow_them(void **state)
{
	submit(NVME_CMD_WRITE, PAGE, true);
	stock_in_short(NULL, NULL, NULL);
	stock_end(NULL, NULL);
}

static void data_that_are_sent_are_not_looked_at(void **state)
{
	submit(NVME_CMD_WRITE, PAGE, true);
	stock_sendpage(NULL, NULL, NULL, 0, PAGE);
	stock_no_sendpage(NULL, NULL, NULL, 0, PAGE);
}

/* A live view shows nothing that is only in the submission queue entry. */
static void read_is_known_by_its_request(void **state)
{
	struct nvme_tcp_rsp_pdu rsp = {.hdr.type = nvme_tcp_rsp};

	knobs_select(NULL);
	submit(NVME_CMD_WRITE, PAGE, true);
	/* It fails over. */
	m.requests[0].rq.bio = NULL;
	rq_complete(NULL, &m.requests[0].rq, 0);
	m.requests[0].rq.bio = (struct bio *)&m;
	submit(NVME_CMD_READ, 3 * PAGE, false);
	assert_int_equal(state_of_request()->r.op, NT_OP_READ);
	assert_int_equal(state_of_request()->r.opcode, NVME_CMD_READ);
	assert_int_equal(state_of_request()->r.length, 3 * PAGE);
	assert_int_equal(state_of_request()->r.cid, m.cid | TAG);
	rsp.cqe.command_id = m.cid | TAG;
	pdu_received(queue_at(QID), &rsp, &m.skb, 0);
	rq_complete(NULL, &m.requests[0].rq, 0);
	/* The first command failed over without a response, so no latency is counted. */
	assert_int_equal(latencies(), 1);
}

/* The block layer does not know the entries of Fabrics commands and of user commands. */
static void all_but_reads_and_writes_are_known_by_their_entries(void **state)
{
	knobs_select(NULL);
	submit(NVME_CMD_DSM, 16, true);
	assert_int_equal(state_of_request()->r.op, NT_OP_DISCARD);
	assert_int_equal(state_of_request()->r.length, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(read_is_left_by_its_request),
		TEST(sizes_are_known_by_the_request),
		TEST(what_was_in_flight_of_the_request_is_released),
		TEST(while_none_is_measured_nothing_is_looked_at),
		TEST(what_is_left_out_is_left_at_once),
		TEST(what_may_say_more_is_not_left_at_once),
		TEST(what_is_selected_is_seen_by_the_program_that_stands_in),
		TEST(what_was_only_counted_of_the_request_is_released),
		TEST(while_one_is_measured_none_is_left_at_once),
		TEST(selected_commands_do_not_write_what_all_cpus_read),
		TEST(sampled_commands_are_numbered),
		TEST(data_that_are_sent_are_not_looked_at),
		TEST(attempts_that_send_nothing_are_not_looked_at),
		TEST(data_are_not_looked_at_where_cqes_follow_them),
		TEST(read_is_known_by_its_request),
		TEST(all_but_reads_and_writes_are_known_by_their_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
