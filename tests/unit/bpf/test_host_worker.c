// SPDX-License-Identifier: GPL-2.0-only
/* What a host's commands wait for a worker (--points fine); a target's are in test_target_worker.c
 */
#include "bpf/host.h"

#define SLOT 1
#define QUEUES (SLOT + 1)
#define FIRST_SEQ (~0u - 1000) /* wraps around */
#define TASK 5
#define WORKER 6

#include "bpf/host_machine.h"

static struct work_struct___data *const work = (void *)&m.queues[0][SLOT];

/* The next read of the clock gives @t. */
static void clock_at(__u64 t)
{
	kernel.now = t - 100;
}

static void begin(__u8 opcode, __u64 queued)
{
	struct nvme_tcp_cmd_pdu pdu = {};

	m.requests[0].sqe = (struct nvme_command){
		.common = {.opcode = opcode, .nsid = 1, .dptr.sgl.length = 4096},
	};
	pdu.cmd = m.requests[0].sqe;
	kernel.thread = TASK;
	clock_at(queued);
	queue_rq(NULL, &m.requests[0].rq, &pdu, SLOT, NULL, NULL, NULL, &m.queues[0][SLOT]);
	/* In the structures of tests this member and that of data_ready are one: see test_out.c. */
	kernel.queues[SLOT].opaque = 0;
}

static struct nt_cmd *command(void)
{
	return cmd_by_tag(&kernel.queues[SLOT], 0);
}

/* TCP has bytes of the stream up to @end, and tells the driver at @t. */
static void told(__u32 end, __u64 t)
{
	m.rcv_nxt = FIRST_SEQ + end;
	clock_at(t);
	data_ready(NULL, &m.sk);
}

static void runs(__u64 t)
{
	unsigned long long args[] = {(__u64)work};

	kernel.thread = WORKER;
	clock_at(t);
	io_work(args, work);
}

/* @again: it was queued again meanwhile */
static void sleeps(bool again)
{
	unsigned long long args[] = {(__u64)work};
	__s64 *data = (void *)work, before = *data;

	*data = again;
	io_work_end(args, work);
	*data = before;
}

/* Byte @at of the stream is in a packet that arrived at @rx. */
static void packet(__u32 at, __u64 rx)
{
	struct tcp_skb_cb *cb = (void *)m.skb.cb;

	cb->seq = FIRST_SEQ;
	cb->end_seq = FIRST_SEQ + at + 1;
	m.skb.sk = &m.sk;
	m.skb.tstamp = rx;
}

/* The driver handles at @t a PDU that arrived at @rx, whose header ends at byte @at. */
static void handles_response(__u32 at, __u64 rx, __u64 t)
{
	const struct nvme_tcp_rsp_pdu pdu = {.hdr.type = nvme_tcp_rsp};

	packet(at, rx);
	clock_at(t);
	pdu_received(&kernel.queues[SLOT], &pdu, &m.skb, at);
}

static void handles_r2t(__u32 at, __u64 rx, __u64 t)
{
	packet(at, rx);
	cmd_asked(command(), header_seq(&m.skb, at),
		  header_arrival(command(), &kernel.queues[SLOT], &m.skb, at, t), t);
}

#define assert_waited(wake, ns)                                         \
	do {                                                            \
		assert_int_not_equal(command()->r.wait[NT_##wake], 0);  \
		assert_int_equal(command()->r.wait[NT_##wake] - 1, ns); \
	} while (0)
#define assert_not_known(wake) assert_int_equal(command()->r.wait[NT_##wake], 0)

static int setup(void **state)
{
	host_make();
	nt_knobs.fine = nt_knobs.no_outs = nt_knobs.workers = true;
	/* The driver's structures of tests are small: the two members of the work are in one. */
	m.sk.sk_user_data = &m.queues[0][SLOT];
	begin(NVME_CMD_WRITE, 1000);
	told(10, 1100);
	return 0;
}

static int teardown(void **state)
{
	nt_knobs.fine = nt_knobs.no_outs = nt_knobs.workers = false;
	return 0;
}

static void a_worker_that_sleeps_is_woken(void **state)
{
	begin(NVME_CMD_WRITE, 2000);
	told(34, 5000);
	runs(9000);
	handles_response(33, 4000, 10000);
	assert_waited(W_STACK, 1000);
	assert_waited(W_WAKEUP, 4000);
}

/* Each PDU has the first note that reaches beyond it, and its own arrival. */
static void pdus_that_wait_together_have_each_its_time(void **state)
{
	begin(NVME_CMD_WRITE, 2000);
	told(34, 5000);
	told(58, 6000);
	told(58, 6500);
	told(82, 7000);
	runs(9000);
	handles_response(57, 5500, 10000);
	assert_waited(W_STACK, 500);
	assert_waited(W_WAKEUP, 3000);
	handles_response(58, 5500, 10500);
	assert_waited(W_STACK, 1500);
	assert_waited(W_WAKEUP, 2000);
}

static void a_worker_that_runs_is_not_woken(void **state)
{
	begin(NVME_CMD_WRITE, 2000);
	runs(4000);
	told(34, 5000);
	handles_response(33, 4500, 10000);
	assert_waited(W_STACK, 500);
	assert_waited(W_WAKEUP, 0);
}

/* It has used up its time, or was queued while it ran. */
static void a_worker_that_runs_again_was_awake(void **state)
{
	begin(NVME_CMD_WRITE, 2000);
	runs(3000);
	sleeps(true);
	told(34, 5000);
	runs(6000);
	handles_response(33, 4500, 10000);
	assert_waited(W_WAKEUP, 0);
	sleeps(false);
	begin(NVME_CMD_WRITE, 12000);
	told(58, 13000);
	runs(14000);
	handles_response(57, 12500, 15000);
	assert_waited(W_WAKEUP, 1000);
}

/* The CPUs of a record that ends now. */
static const __u16 *cpus(void)
{
	static struct nt_record r;

	cpus_fill(&r, command()->owner);
	return r.cpu;
}

static void each_point_has_the_cpu_that_took_it(void **state)
{
	kernel.cpu = 3;
	begin(NVME_CMD_WRITE, 2000);
	kernel.cpu = 0;
	cmd_sends(command(), NULL, NT_H_SEND_CMD);
	told(34, 5000);
	kernel.cpu = 1;
	handles_r2t(33, 4000, 6000);
	kernel.cpu = 4;
	cmd_sends(command(), NULL, NT_H_SEND_DATA);
	assert_int_equal(cpus()[NT_HC_CQE], 0);
	told(58, 7000);
	kernel.cpu = 2;
	handles_response(57, 5500, 10000);
	assert_int_equal(cpus()[NT_HC_QUEUE_RQ], 1 + 3);
	assert_int_equal(cpus()[NT_HC_SEND_CMD], 1 + 0);
	assert_int_equal(cpus()[NT_HC_R2T], 1 + 1);
	assert_int_equal(cpus()[NT_HC_SEND_DATA], 1 + 4);
	assert_int_equal(cpus()[NT_HC_C2H], 0);
	assert_int_equal(cpus()[NT_HC_CQE], 1 + 2);
	/* Another command in the place forgets them. */
	kernel.cpu = 0;
	begin(NVME_CMD_WRITE, 12000);
	assert_int_equal(cpus()[NT_HC_QUEUE_RQ], 1 + 0);
	assert_int_equal(cpus()[NT_HC_CQE], 0);
}

/* Of two commands that share an entry, the one that began last has it. */
static void cpus_of_another_command_are_not_its(void **state)
{
	begin(NVME_CMD_WRITE, 2000);
	assert_int_not_equal(cpus()[NT_HC_QUEUE_RQ], 0);
	taken_at(command()->owner)->owner += 64;
	cpu_note(command()->owner, NT_HC_CQE);
	assert_int_equal(cpus()[NT_HC_QUEUE_RQ], 0);
	assert_int_equal(taken_at(command()->owner)->cpu[NT_HC_CQE], 0);
}

static void what_is_queued_on_the_connection_is_counted(void **state)
{
	static struct list_head___sends sends[NT_QUEUED_MOST + 2];
	static struct llist_node___sends node[2];
	struct nvme_tcp_queue___sends queue = {.send_list.next = &queue.send_list};

	assert_int_equal(queued_look(0), 0);
	assert_int_equal(queued_look((__u64)&queue), 1 | NT_QUEUED_FREE);
	sends[0].next = &queue.send_list;
	queue.send_list.next = &sends[0];
	node[0].next = &node[1];
	queue.req_list.first = &node[0];
	queue.send_mutex.owner.counter = 1;
	assert_int_equal(queued_look((__u64)&queue), (1 + 3) | NT_QUEUED_FREE);
	queue.request = (void *)&queue;
	queue.send_mutex.owner.counter = 0x1001;
	assert_int_equal(queued_look((__u64)&queue), (1 + 4) | NT_QUEUED_LOCKED);
	/* A list that is longer, or that leads elsewhere meanwhile. */
	for (unsigned int i = 0; i < NT_QUEUED_MOST + 2; i++)
		sends[i].next = &sends[(i + 1) % (NT_QUEUED_MOST + 2)];
	assert_int_equal(NT_QUEUED_NR(queued_look((__u64)&queue)), 1 + NT_QUEUED_MOST);
	sends[1].next = NULL;
	assert_int_equal(NT_QUEUED_NR(queued_look((__u64)&queue)), 1 + 2 + 3);
	nt_knobs.fine = false;
	assert_int_equal(queued_look((__u64)&queue), 0);
}

static void a_task_that_polls_waits_for_no_worker(void **state)
{
	begin(NVME_CMD_WRITE, 2000);
	told(34, 5000);
	runs(9000);
	kernel.thread = TASK;
	handles_response(33, 4000, 10000);
	assert_waited(W_STACK, 1000);
	assert_waited(W_WAKEUP, 0);
}

static void an_arrival_that_seems_to_be_later_has_no_stack(void **state)
{
	begin(NVME_CMD_WRITE, 2000);
	told(34, 5000);
	runs(9000);
	handles_response(33, 5010, 10000);
	assert_waited(W_STACK, 0);
	assert_waited(W_WAKEUP, 3990);
}

static void without_an_arrival_or_its_note_waits_are_not_known(void **state)
{
	begin(NVME_CMD_WRITE, 2000);
	runs(4000);
	handles_response(33, 4500, 10000);
	assert_not_known(W_STACK);
	assert_not_known(W_WAKEUP);

	begin(NVME_CMD_WRITE, 12000);
	told(34, 13000);
	handles_response(33, 0, 14000);
	assert_not_known(W_STACK);

	/* What came before the first note, which is of other bytes as well. */
	setup(NULL);
	begin(NVME_CMD_WRITE, 2000);
	runs(4000);
	handles_response(9, 1000, 10000);
	assert_not_known(W_STACK);
}

static void a_note_that_has_given_way_is_not_known(void **state)
{
	begin(NVME_CMD_WRITE, 2000);
	for (__u32 i = 1; i <= NT_READY; i++)
		told(10 + 24 * i, 3000);
	runs(4000);
	handles_response(10 + 24, 2500, 10000);
	assert_waited(W_STACK, 500);

	begin(NVME_CMD_WRITE, 12000);
	for (__u32 i = 1; i <= NT_READY + 2; i++)
		told(10 + 24 * (NT_READY + i), 13000);
	handles_response(10 + 24 * NT_READY, 12500, 14000);
	assert_not_known(W_STACK);
	handles_response(10 + 24 * (NT_READY + 5), 12500, 14000);
	assert_waited(W_STACK, 500);
}

/* Its stream begins elsewhere. */
static void notes_of_the_connection_before_are_not_of_this_one(void **state)
{
	begin(NVME_CMD_WRITE, 2000);
	told(34, 3000);
	told(58, 3000);
	kernel.queues[SLOT].gen += 2;
	told(20, 4000);
	told(44, 5000);
	runs(9000);
	handles_response(43, 4500, 10000);
	assert_waited(W_STACK, 500);
}

static void an_r2t_write_waits_twice(void **state)
{
	begin(NVME_CMD_WRITE, 2000);
	clock_at(2500);
	cmd_sends(command(), NULL, NT_H_SEND_CMD);
	assert_waited(W_SEND_WAKEUP, 0);
	told(34, 5000);
	runs(9000);
	handles_r2t(33, 4000, 10000);
	assert_waited(W_STACK, 1000);
	assert_waited(W_WAKEUP, 4000);
	sleeps(false);
	runs(11000);
	clock_at(12000);
	cmd_sends(command(), NULL, NT_H_SEND_DATA);
	assert_waited(W_SEND_WAKEUP, 1000);
	sleeps(false);
	told(58, 15000);
	runs(15500);
	handles_response(57, 14000, 16000);
	assert_waited(W_STACK, 2000);
	assert_waited(W_WAKEUP, 4500);

	/* Of one of them it is not known. */
	begin(NVME_CMD_WRITE, 20000);
	handles_r2t(81, 21000, 22000);
	told(106, 24000);
	handles_response(105, 23000, 25000);
	assert_not_known(W_STACK);
	assert_not_known(W_WAKEUP);
}

static void a_worker_that_sends_was_waited_for(void **state)
{
	begin(NVME_CMD_WRITE, 2000);
	runs(4000);
	clock_at(5000);
	cmd_sends(command(), NULL, NT_H_SEND_CMD);
	assert_waited(W_SEND_WAKEUP, 2000);

	begin(NVME_CMD_WRITE, 6000);
	kernel.thread = WORKER;
	clock_at(7000);
	cmd_sends(command(), NULL, NT_H_SEND_CMD);
	assert_waited(W_SEND_WAKEUP, 0);
	sleeps(false);

	begin(NVME_CMD_WRITE, 8000);
	runs(9000);
	kernel.thread = TASK;
	clock_at(9500);
	cmd_sends(command(), NULL, NT_H_SEND_CMD);
	assert_waited(W_SEND_WAKEUP, 0);
}

static void a_command_begins_without_the_waits_of_the_one_before(void **state)
{
	begin(NVME_CMD_WRITE, 2000);
	told(34, 5000);
	runs(9000);
	handles_response(33, 4000, 10000);
	begin(NVME_CMD_WRITE, 12000);
	assert_not_known(W_STACK);
	assert_not_known(W_WAKEUP);
	assert_not_known(W_SEND_WAKEUP);
}

static void queues_past_the_limit_have_no_waits(void **state)
{
	kernel.queues[SLOT].worker = 0;
	nt_workers_taken = SLOTS;
	begin(NVME_CMD_WRITE, 2000);
	told(34, 5000);
	told(58, 6000);
	runs(9000);
	clock_at(9500);
	cmd_sends(command(), NULL, NT_H_SEND_CMD);
	assert_not_known(W_SEND_WAKEUP);
	handles_response(57, 5500, 10000);
	assert_not_known(W_STACK);
	assert_not_known(W_WAKEUP);
	assert_int_equal(nt_workers_taken, SLOTS + 1);
}

static void without_finer_points_nothing_is_noted(void **state)
{
	nt_knobs.fine = nt_knobs.no_outs = nt_knobs.workers = false;
	memset(kernel.workers, 0, sizeof(kernel.workers));
	begin(NVME_CMD_WRITE, 2000);
	told(34, 5000);
	runs(9000);
	handles_response(33, 4000, 10000);
	assert_not_known(W_STACK);
	assert_int_equal(kernel.workers[1].head, 0);
	assert_int_equal(kernel.workers[1].awake, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_worker_that_sleeps_is_woken),
		TEST(pdus_that_wait_together_have_each_its_time),
		TEST(a_worker_that_runs_is_not_woken),
		TEST(each_point_has_the_cpu_that_took_it),
		TEST(cpus_of_another_command_are_not_its),
		TEST(what_is_queued_on_the_connection_is_counted),
		TEST(a_worker_that_runs_again_was_awake),
		TEST(a_task_that_polls_waits_for_no_worker),
		TEST(an_arrival_that_seems_to_be_later_has_no_stack),
		TEST(without_an_arrival_or_its_note_waits_are_not_known),
		TEST(a_note_that_has_given_way_is_not_known),
		TEST(notes_of_the_connection_before_are_not_of_this_one),
		TEST(an_r2t_write_waits_twice),
		TEST(a_worker_that_sends_was_waited_for),
		TEST(a_command_begins_without_the_waits_of_the_one_before),
		TEST(queues_past_the_limit_have_no_waits),
		TEST(without_finer_points_nothing_is_noted),
	};

	return cmocka_run_group_tests_name("waits for a host's worker", tests, NULL, NULL);
}
