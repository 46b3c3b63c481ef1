// SPDX-License-Identifier: GPL-2.0-only
/* When a PDU of the target came, by looks at its socket before each read. */
#include "bpf/target.h"

#define SLOT 2
#define BEGIN 5000 /* of the PDU in the stream */
#define STAMP 700
#define REST 64

static struct machine {
	struct nvmet_tcp_queue queue;
	struct nvmet_fabrics_ops ops;
	struct nvmet_tcp_cmd cmd;
	struct nvme_command sqe;
	struct socket socket;
	struct sock sk;
	struct sk_buff skb;
	struct tcp_sock tcp;
} m;

static struct nt_queue *const queue = &kernel.queues[SLOT];

static int setup(void **state)
{
	(void)state;
	kernel_reset();
	memset(&m, 0, sizeof(m));
	m.sk.sk_receive_queue.next = (struct sk_buff *)&m.sk.sk_receive_queue;
	m.socket.sk = &m.sk;
	m.queue.sock = &m.socket;
	m.queue.idx = SLOT;
	tcp_of_sockets = &m.tcp;
	queue->object = (__u64)&m.queue;
	queue->gen = 1;
	return 0;
}

/* A packet at the head of the queue, that has @length bytes from @begin on. */
static void packet(__u32 begin, __u32 length)
{
	struct tcp_skb_cb *cb = (void *)m.skb.cb;

	cb->seq = begin;
	cb->end_seq = begin + length;
	m.skb.len = length;
	m.skb.tstamp = STAMP;
	m.sk.sk_receive_queue.next = &m.skb;
}

/* The driver is about to ask for @size bytes, having @read of the PDU. */
static void look(__u64 size, int read)
{
	m.queue.offset = read;
	m.tcp.copied_seq = BEGIN + (__u32)read;
	note_arrival(queue, &m.sk, size);
}

static void packet_that_waits_is_known_at_the_first_look(void **state)
{
	(void)state;
	packet(BEGIN, 72);
	look(PDU_COMMON_HEADER, 0);
	assert_int_equal(queue->pdu_time, STAMP);
	/* What is behind it may be there already. */
	m.skb.tstamp = STAMP + 1;
	look(REST, PDU_COMMON_HEADER);
	assert_int_equal(queue->pdu_time, STAMP);
}

static void packet_that_comes_after_the_look_is_known_at_the_next(void **state)
{
	(void)state;
	look(PDU_COMMON_HEADER, 0);
	assert_int_equal(queue->pdu_time, 0);
	packet(BEGIN, 72);
	look(REST, PDU_COMMON_HEADER);
	assert_int_equal(queue->pdu_time, STAMP);
}

static void packet_behind_it_is_not_taken_for_it(void **state)
{
	(void)state;
	look(PDU_COMMON_HEADER, 0);
	packet(BEGIN + PDU_COMMON_HEADER, REST);
	look(REST, PDU_COMMON_HEADER);
	assert_int_equal(queue->pdu_time, 0);
}

/* The last of a PDU is as long as its first. */
static void its_end_is_no_other_one(void **state)
{
	(void)state;
	packet(BEGIN, 72);
	look(PDU_COMMON_HEADER, 0);
	m.skb.tstamp = STAMP + 1;
	look(PDU_COMMON_HEADER, REST);
	assert_int_equal(queue->pdu_time, STAMP);
}

/* What was not asked for is of no PDU behind it. */
static void time_of_another_one_is_forgotten(void **state)
{
	(void)state;
	packet(BEGIN, 72);
	look(PDU_COMMON_HEADER, 0);
	m.sk.sk_receive_queue.next = (struct sk_buff *)&m.sk.sk_receive_queue;
	look(PDU_COMMON_HEADER, 0);
	assert_int_equal(queue->pdu_time, 0);
}

static void capsule_that_is_left_out_leaves_no_time(void **state)
{
	static const struct nt_selection writes = {.ops = 1u << NT_OP_WRITE};
	__u64 args[] = {(__u64)&m.cmd.req, 0, (__u64)&m.queue.nvme_sq, (__u64)&m.ops};

	(void)state;
	knobs_select(&writes);
	m.ops.type = NVMF_TRTYPE_TCP;
	m.sqe.common.opcode = NVME_CMD_READ;
	m.cmd.queue = &m.queue;
	m.cmd.req = (struct nvmet_req){.cmd = &m.sqe, .sq = &m.queue.nvme_sq, .ops = &m.ops};
	packet(BEGIN, 72);
	look(PDU_COMMON_HEADER, 0);
	stock_cmd(args, &m.cmd.req, NULL, &m.queue.nvme_sq, &m.ops);
	assert_int_equal(queue->pdu_time, 0);
	assert_int_equal(nt_control.tracked, 0);
	assert_int_equal(nt_pools[NT_POOL_CMDS].taken, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(packet_that_waits_is_known_at_the_first_look),
		TEST(packet_that_comes_after_the_look_is_known_at_the_next),
		TEST(packet_behind_it_is_not_taken_for_it),
		TEST(its_end_is_no_other_one),
		TEST(time_of_another_one_is_forgotten),
		TEST(capsule_that_is_left_out_leaves_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
