// SPDX-License-Identifier: GPL-2.0-only
/* When a PDU came to the target, as seen from copies out of its socket's packets. */
#include "bpf/target.h"

#define SLOT 2
#define BEGIN 5000 /* place of the PDU in the stream */
#define STAMP 700
#define REST 64

#include "bpf/target_machine.h"

static struct nt_queue *const queue = &kernel.queues[SLOT];

static int setup(void **state)
{
	target_make();
	connection_make(0, SLOT);
	/*
	 * This sets sk_data_ready as well: the structures of tests have few members, so both lie at
	 * the same place. The programs have not learnt the driver's function yet, so with NULL this
	 * is a socket of the driver.
	 */
	m.sk[0].sk_receive_queue.next = NULL;
	m.skb.sk = m.sk;
	queue->object = (__u64)m.queue;
	queue->gen = 1;
	slot_index_set((__u64)m.queue, SLOT);
	return 0;
}

/* A packet of @length bytes from @begin on. */
static void packet(__u32 begin, __u32 length, __s64 tstamp)
{
	struct tcp_skb_cb *cb = (void *)m.skb.cb;

	cb->seq = begin;
	cb->end_seq = begin + length;
	m.skb.tstamp = tstamp;
}

static void time_is_of_the_packet_that_the_first_byte_is_copied_from(void **state)
{
	packet(BEGIN, 72, STAMP);
	copied_header(&m.skb, 0, m.queue);
	assert_int_equal(queue->pdu_time, STAMP);
	packet(BEGIN + PDU_COMMON_HEADER, REST, STAMP + 1);
	copied(&m.skb, 0, (char *)m.queue + PDU_COMMON_HEADER, REST);
	assert_int_equal(queue->pdu_time, STAMP);
}

/* The rest of the common header is in the next packet. */
static void header_in_two_packets_came_with_the_first(void **state)
{
	packet(BEGIN, 3, STAMP);
	copied_header(&m.skb, 0, m.queue);
	packet(BEGIN + 3, 69, STAMP + 1);
	/* The rest is asked for at once, and by itself. */
	copied(&m.skb, 0, m.queue, PDU_COMMON_HEADER - 3);
	copied(&m.skb, 0, (char *)m.queue + 3, PDU_COMMON_HEADER - 3);
	assert_int_equal(queue->pdu_time, STAMP);
}

/* The end of a PDU, and data, may be as long as the common header. */
static void what_is_as_long_is_no_other_one(void **state)
{
	char data[PDU_COMMON_HEADER];

	packet(BEGIN, 72, STAMP);
	copied_header(&m.skb, 0, m.queue);
	m.skb.tstamp = STAMP + 1;
	copied(&m.skb, 64, (char *)m.queue + REST, PDU_COMMON_HEADER);
	copied(&m.skb, 64, data, sizeof(data));
	copied(&m.skb, 64, NULL, PDU_COMMON_HEADER);
	assert_int_equal(queue->pdu_time, STAMP);
}

/* The memory at @kvec is read only if the iterator is of that type. */
static void buffer_of_user_space_is_no_queue(void **state)
{
	struct iov_iter iter = {.count = PDU_COMMON_HEADER, .kvec = (void *)8};

	packet(BEGIN, 72, STAMP);
	iter.iter_type = ITER_KVEC___named + 1;
	stock_copied(NULL, &m.skb, 0, &iter);
	assert_int_equal(queue->pdu_time, 0);
}

/* The time of a PDU that no program took is not that of the next PDU. */
static void time_of_another_one_is_forgotten(void **state)
{
	packet(BEGIN, 72, STAMP);
	copied_header(&m.skb, 0, m.queue);
	packet(BEGIN + 72, 72, STAMP + 1);
	copied_header(&m.skb, 0, m.queue);
	assert_int_equal(queue->pdu_time, STAMP + 1);
	/* Packets are not stamped any more. */
	packet(BEGIN + 144, 72, 0);
	copied_header(&m.skb, 0, m.queue);
	assert_int_equal(queue->pdu_time, 0);
}

static void byte_of_a_joined_packet_has_the_time_of_its_own(void **state)
{
	packet(BEGIN, 72, STAMP);
	join_note(queue, &m.skb, NT_JOINED_RECEIVED);
	/* Another 72 bytes were joined with it. */
	packet(BEGIN, 144, STAMP + 1);
	copied_header(&m.skb, 0, m.queue);
	assert_int_equal(queue->pdu_time, STAMP);
	copied_header(&m.skb, 72, m.queue);
	assert_int_equal(queue->pdu_time, STAMP + 1);
	nt_knobs.joins_unseen = 1;
	copied_header(&m.skb, 72, m.queue);
	nt_knobs.joins_unseen = 0;
	assert_int_equal(queue->pdu_time, -(STAMP + 1));
}

/*
 * The queue was connected before tracing began, or has the place of one that has closed. A slot
 * alone is not enough.
 */
static void queue_that_was_not_seen_is_known_by_its_socket(void **state)
{
	packet(BEGIN, 72, STAMP);
	queue->dead_gen = queue->gen;
	m.sk[0].sk_user_data = NULL;
	copied_header(&m.skb, 0, m.queue);
	assert_int_equal(queue->pdu_time, 0);
	m.skb.sk = NULL;
	copied_header(&m.skb, 0, m.queue);
	assert_int_equal(queue->pdu_time, 0);
	m.skb.sk = m.sk;
	m.sk[0].sk_user_data = m.queue;
	copied_header(&m.skb, 0, m.queue);
	assert_int_equal(queue->pdu_time, STAMP);
	memset(nt_slot_index, 0, sizeof(nt_slot_index));
	queue->object = 1;
	m.skb.tstamp++;
	copied_header(&m.skb, 0, m.queue);
	assert_int_equal(queue->pdu_time, STAMP + 1);
	assert_int_equal(queue->object, (__u64)m.queue);
}

/* TLS decrypts its bytes into other packets. */
static void connection_of_tls_has_no_times(void **state)
{
	packet(BEGIN, 72, STAMP);
	queue->opaque = 1;
	copied_header(&m.skb, 0, m.queue);
	assert_int_equal(queue->pdu_time, 0);
}

/* The arguments of nvmet_req_init(). */
static __u64 args[] = {(__u64)&m.cmd[0][0].req, 0, (__u64)&m.queue[0].nvme_sq, (__u64)&m.ops};
#define SQ_ARGUMENT 2

/* The driver receives the capsule of a command. */
static void arrive(__u8 opcode)
{
	m.ops.type = NVMF_TRTYPE_TCP;
	m.sqe[0][0].common.opcode = opcode;
	m.queue[0].nvme_sq.ctrl = m.ctrl;
	m.queue[0].nvme_sq.qid = 1;
	m.cmd[0][0].queue = m.queue;
	m.cmd[0][0].req = (struct nvmet_req){
		.cmd = m.sqe[0], .cqe = &m.cqe, .sq = &m.queue[0].nvme_sq, .ops = &m.ops};
	packet(BEGIN, 72, STAMP);
	copied_header(&m.skb, 0, m.queue);
}

/* The driver has received the capsule of a command. */
static void receive(__u8 opcode)
{
	arrive(opcode);
	stock_cmd(args, &m.cmd[0][0].req, NULL, &m.queue[0].nvme_sq, &m.ops);
}

static void capsule_that_is_left_out_leaves_no_time(void **state)
{
	static const struct nt_selection writes = {.ops = 1u << NT_OP_WRITE};

	knobs_select(&writes);
	receive(NVME_CMD_READ);
	assert_int_equal(queue->pdu_time, 0);
	assert_int_equal(nt_control.tracked, 0);
	assert_int_equal(nt_pools[NT_POOL_CMDS].taken, 0);
	receive(NVME_CMD_WRITE);
	assert_int_equal(nt_control.tracked, 1);
}

static bool is_left_at_once(__u8 opcode)
{
	arrive(opcode);
	return capsule_leaves(args, &m.cmd[0][0].req, SQ_ARGUMENT);
}

static void capsule_that_is_left_at_once_leaves_no_time(void **state)
{
	static const struct nt_selection writes = {.ops = 1u << NT_OP_WRITE};

	knobs_select(&writes);
	assert_true(is_left_at_once(NVME_CMD_READ));
	assert_int_equal(queue->pdu_time, 0);
	assert_false(is_left_at_once(NVME_CMD_WRITE));
	assert_int_equal(queue->pdu_time, STAMP);
	/* It may be a Connect. */
	assert_false(is_left_at_once(NVME_FABRICS_COMMAND));
	assert_int_equal(queue->pdu_time, STAMP);
	/* The command in flight may be at the same address. */
	receive(NVME_CMD_WRITE);
	assert_false(is_left_at_once(NVME_CMD_READ));
	assert_int_equal(queue->pdu_time, STAMP);
}

/* The queue may be one of another transport, or its time is noted elsewhere. */
static void capsule_of_a_queue_that_is_not_known_is_not_left_at_once(void **state)
{
	static const struct nt_selection writes = {.ops = 1u << NT_OP_WRITE};

	knobs_select(&writes);
	arrive(NVME_CMD_READ);
	queue->object = 0;
	assert_false(capsule_leaves(args, &m.cmd[0][0].req, SQ_ARGUMENT));
}

/* The next capsule, which no program sees, has no known time. */
static void time_is_told_once(void **state)
{
	bool joined;

	receive(NVME_CMD_WRITE);
	assert_int_equal(queue->pdu_time, 0);
	arrive(NVME_CMD_WRITE);
	assert_int_equal(queue->pdu_time, STAMP);
	pdu_arrived(queue, kernel.now, &joined);
	assert_false(joined);
	assert_int_equal(queue->pdu_time, 0);
}

static struct nt_cmd *measured_read(void)
{
	__u64 args[] = {(__u64)&m.cmd[0][0].req};
	struct nt_cmd *c;
	bool elsewhere;

	receive(NVME_CMD_READ);
	c = cmd_by_owner((__u64)m.cmd[0], 0, &elsewhere);
	assert_non_null(c);
	assert_int_equal(c->r.points[NT_T_EXEC], 0);
	stock_exec_nvmet_bdev_execute_rw(args, &m.cmd[0][0].req);
	return c;
}

/* The function that executes a read also executes writes. */
static void reads_and_writes_are_executed_by_their_function(void **state)
{
	__u64 args[] = {(__u64)&m.cmd[0][0].req};
	struct nt_cmd *c = measured_read();
	__u64 exec = c->r.points[NT_T_EXEC];

	assert_int_not_equal(exec, 0);
	receive(NVME_CMD_WRITE);
	assert_int_equal(c->r.points[NT_T_EXEC], 0);
	stock_exec_nvmet_bdev_execute_rw(args, &m.cmd[0][0].req);
	assert_uint_in_range(c->r.points[NT_T_EXEC], exec + 1, kernel.now);
}

/* The loader leaves a program attached between bursts of all points as long as it has not run. */
static void run_of_a_program_that_may_stay_attached_is_noted(void **state)
{
	const __u8 *ran = nt_control.ran;

	measured_read();
	assert_int_equal(ran[NT_SELDOM_stock_exec_nvmet_bdev_execute_rw], 0);
	nt_knobs.stages = true;
	measured_read();
	nt_knobs.stages = false;
	assert_int_equal(ran[NT_SELDOM_stock_exec_nvmet_bdev_execute_rw], 1);
	assert_int_equal(ran[NT_SELDOM_stock_exec_nvmet_file_execute_rw], 0);
}

/* No program sees what executes them: they are at the device as long as they are not answered. */
static void command_without_data_is_executed_at_once(void **state)
{
	static const __u8 opcodes[] = {NVME_CMD_FLUSH, NVME_CMD_WRITE_ZEROES,
				       0x79 /* Zone Management Send */};
	struct nt_cmd *c;
	bool elsewhere;

	for (unsigned int i = 0; i < sizeof(opcodes); i++) {
		receive(opcodes[i]);
		c = cmd_by_owner((__u64)m.cmd[0], 0, &elsewhere);
		assert_non_null(c);
		assert_int_not_equal(c->r.points[NT_T_EXEC], 0);
		assert_int_equal(c->r.points[NT_T_EXEC], c->r.points[NT_T_CMD]);
	}
	m.sqe[0][0].common.dptr.sgl.length = 16;
	receive(NVME_CMD_DSM);
	assert_int_equal(cmd_by_owner((__u64)m.cmd[0], 0, &elsewhere)->r.points[NT_T_EXEC], 0);
}

static struct nt_cmd *received_write(__u8 opcode, __u8 sgl_type)
{
	struct nt_cmd *c;
	bool elsewhere;

	m.sqe[0][0].common.dptr.sgl.length = 16;
	m.sqe[0][0].common.dptr.sgl.type = sgl_type;
	receive(opcode);
	m.cmd[0][0].req.transfer_len = 16;
	c = cmd_by_owner((__u64)m.cmd[0], 0, &elsewhere);
	assert_non_null(c);
	return c;
}

#define RESERVATION_REGISTER 0x0d
#define DATA_BLOCK_OFFSET 0x01 /* the data are in the capsule (NVMe/TCP 1.0, 3.5) */
#define TRANSPORT_DATA_BLOCK 0x5a

static void assert_split(struct nt_cmd *c, __u64 exec)
{
	__u64 missing = counted(NT_CNT_POINT_MISSING);

	assert_int_not_equal(exec, 0);
	assert_int_equal(c->r.points[NT_T_EXEC], exec);
	assert_uint_in_range(c->r.points[NT_T_DONE], exec + 1, kernel.now);
	stock_send_response(NULL, m.cmd[0]);
	assert_false(in_flight(c));
	assert_int_equal(counted(NT_CNT_POINT_MISSING), missing);
}

/* Reservations and some features: no program sees their execution begin. */
static void write_whose_function_is_not_watched_is_executed_since_its_data_came(void **state)
{
	__u64 args[] = {(__u64)&m.cmd[0][0].req};
	struct nt_cmd *c = received_write(RESERVATION_REGISTER, DATA_BLOCK_OFFSET);

	stock_done(args, &m.cmd[0][0].req);
	assert_split(c, c->r.points[NT_T_CMD]);

	c = received_write(RESERVATION_REGISTER, TRANSPORT_DATA_BLOCK);
	/* The same function is called for its R2T. */
	stock_done(args, &m.cmd[0][0].req);
	assert_int_equal(c->r.points[NT_T_DONE], 0);
	stock_send_r2t(NULL, m.cmd[0]);
	packet(BEGIN + 72, 40, (ktime_t)kernel.now);
	copied_header(&m.skb, 0, m.queue);
	stock_data(NULL, m.cmd[0]);
	stock_done(args, &m.cmd[0][0].req);
	stock_done_nested(args, &m.cmd[0][0].req);
	assert_split(c, c->r.points[NT_T_DATA]);
}

/* The function of a plain write is watched: the program was skipped. */
static void write_that_was_not_seen_to_be_executed_has_no_such_point(void **state)
{
	__u64 args[] = {(__u64)&m.cmd[0][0].req};
	struct nt_cmd *c = received_write(NVME_CMD_WRITE, DATA_BLOCK_OFFSET);

	stock_done(args, &m.cmd[0][0].req);
	assert_int_equal(c->r.points[NT_T_EXEC], 0);
	stock_send_response(NULL, m.cmd[0]);
	assert_int_equal(counted(NT_CNT_POINT_MISSING), 1);
	/* A write that the target refuses has no such point either; its status shows that. */
	m.cqe.status = 0x4006 << 1;
	c = received_write(RESERVATION_REGISTER, DATA_BLOCK_OFFSET);
	stock_done(args, &m.cmd[0][0].req);
	assert_int_equal(c->r.points[NT_T_EXEC], 0);
}

/* With TLS no arrival is known, so the network's stage includes the network stack's. */
static void without_arrivals_a_write_is_in_stages(void **state)
{
	const struct nt_record *r;
	const struct nt_stage_hist *h;
	__u64 args[] = {(__u64)&m.cmd[0][0].req};
	struct nt_cmd *c;

	queue->opaque = 1;
	c = received_write(NVME_CMD_WRITE, TRANSPORT_DATA_BLOCK);
	stock_send_r2t(NULL, m.cmd[0]);
	kernel.now += 1000000;
	stock_data(NULL, m.cmd[0]);
	stock_exec_nvmet_bdev_execute_rw(args, &m.cmd[0][0].req);
	stock_done(args, &m.cmd[0][0].req);
	stock_send_response(NULL, m.cmd[0]);
	r = &c->r;
	assert_int_equal(r->points[NT_T_RX], 0);
	assert_int_equal(r->points[NT_T_DATA_RX], 0);
	assert_false(r->flags & NT_F_UNSPLIT);
	assert_int_equal(counted(NT_CNT_ARRIVAL_MISSING), 1);
	h = stages_with(NT_HIST_KEY(r->slot, r->gen, NT_OP_WRITE, kernel.cpu))->h;
	assert_int_equal(h[NT_TS_NETWORK_AND_HOST].sum,
			 r->points[NT_T_DATA] - r->points[NT_T_SEND_R2T]);
	assert_int_equal(h[NT_TS_NVMET_TCP_SUBMISSION].sum,
			 r->points[NT_T_SEND_R2T] - r->points[NT_T_CMD] + r->points[NT_T_EXEC] -
				 r->points[NT_T_DATA]);
	for (unsigned int b = 0; b < NT_STAGE_BUCKETS; b++)
		assert_int_equal(h[NT_TS_NSTACK_SUBMISSION].buckets[b], 0);
}

static void end_of_its_execution_is_what_the_first_program_has_seen(void **state)
{
	__u64 args[] = {(__u64)&m.cmd[0][0].req};
	struct nt_cmd *c = measured_read();
	__u64 done;

	m.cqe.status = 0x4006 << 1;
	stock_done_nested(args, &m.cmd[0][0].req);
	done = c->r.points[NT_T_DONE];
	assert_int_not_equal(done, 0);
	stock_done(args, &m.cmd[0][0].req);
	assert_int_equal(c->r.points[NT_T_DONE], done);
	assert_int_equal(c->r.status, 0x4006);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(time_is_of_the_packet_that_the_first_byte_is_copied_from),
		TEST(header_in_two_packets_came_with_the_first),
		TEST(what_is_as_long_is_no_other_one),
		TEST(buffer_of_user_space_is_no_queue),
		TEST(time_of_another_one_is_forgotten),
		TEST(byte_of_a_joined_packet_has_the_time_of_its_own),
		TEST(queue_that_was_not_seen_is_known_by_its_socket),
		TEST(connection_of_tls_has_no_times),
		TEST(capsule_that_is_left_out_leaves_no_time),
		TEST(capsule_that_is_left_at_once_leaves_no_time),
		TEST(capsule_of_a_queue_that_is_not_known_is_not_left_at_once),
		TEST(time_is_told_once),
		TEST(reads_and_writes_are_executed_by_their_function),
		TEST(run_of_a_program_that_may_stay_attached_is_noted),
		TEST(command_without_data_is_executed_at_once),
		TEST(write_whose_function_is_not_watched_is_executed_since_its_data_came),
		TEST(write_that_was_not_seen_to_be_executed_has_no_such_point),
		TEST(without_arrivals_a_write_is_in_stages),
		TEST(end_of_its_execution_is_what_the_first_program_has_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
