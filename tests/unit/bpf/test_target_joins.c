// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a target knows of the packets of a connection when it begins, or when it is seen for the
 * first time: notes of an earlier connection in its slot say nothing about this one.
 */
#include "bpf/target.h"

#include "bpf/target_machine.h"

#define RECEIVED 1000 /* the end of the bytes in the receive queue */

static struct tcp_sock___stream tcp;
static struct sk_buff tail;
static __u16 cid;

static struct nt_queue *queue(void)
{
	return &kernel.queues[0];
}

static struct nt_joins *joins(void)
{
	struct nt_joins *j = joins_of(queue());

	assert_non_null(j);
	return j;
}

/* There are notes in its slot; the first two have been read. */
static int setup(void **state)
{
	target_make();
	connection_make(0, 0);
	memset(&tcp, 0, sizeof(tcp));
	memset(&tail, 0, sizeof(tail));
	cid = 0;
	m.socket[0].sk = &tcp.sk;
	tcp.sk.sk_user_data = &m.queue[0];
	tcp.rcv_nxt = RECEIVED;
	assert_non_null(joins_claim(queue()));
	for (unsigned int i = 0; i < NT_JOIN_RINGS; i++) {
		joins()->rings[i].head = 5;
		joins()->rings[i].read = 2;
		joins()->rings[i].lost = NT_JOINS_LOST | 7;
	}
	return 0;
}

/*
 * The end of the packet at the end of the backlog. The members of a socket that this sets, among
 * them those of TLS, lie at the same place.
 */
static void backlog_until(__u32 end)
{
	struct tcp_skb_cb *cb = (void *)tail.cb;

	cb->end_seq = end;
	tcp.sk.sk_receive_queue.next = (void *)&tail;
}

static void receive(__u8 opcode)
{
	struct nvmet_tcp_queue *q = &m.queue[0];
	struct nvmet_tcp_cmd *cmd = opcode == NVME_FABRICS_COMMAND ? &q->connect : m.cmd[0];
	struct nvme_tcp_cmd_pdu pdu = {};

	m.sqe[0][0] =
		(struct nvme_command){.common = {.opcode = opcode, .command_id = cid++, .nsid = 1}};
	pdu.cmd = m.sqe[0][0];
	cmd->queue = q;
	cmd->req = (struct nvmet_req){
		.cmd = &m.sqe[0][0], .cqe = &m.cqe, .sq = &q->nvme_sq, .ops = &m.ops};
	done_recv_pdu(NULL, &pdu, q->nvme_sq.qid, 0, q, cmd);
}

static void is_connected(void)
{
	m.ctrl[0].cntlid = 5;
	m.queue[0].nvme_sq.ctrl = &m.ctrl[0];
	m.queue[0].nvme_sq.qid = 1;
	m.queue[0].nvme_sq.size = 128;
}

static void assert_rings(__u32 read, __u64 lost)
{
	for (unsigned int i = 0; i < NT_JOIN_RINGS; i++) {
		assert_int_equal(joins()->rings[i].head, 5);
		assert_int_equal(joins()->rings[i].read, read);
		assert_int_equal(joins()->rings[i].lost, lost);
	}
}

/* Nothing waits before its first command, whatever the numbers of its bytes are. */
static void a_connection_that_begins_has_lost_nothing(void **state)
{
	receive(NVME_FABRICS_COMMAND);
	assert_rings(5, 0);
	assert_false(queue()->opaque);
}

/* Packets that wait may have been joined without a note. */
static void of_one_that_is_seen_late_nothing_is_known_that_waits(void **state)
{
	static const struct {
		__u32 backlog; /* 0: there is none */
		__u32 until;
	} known[] = {{0, RECEIVED}, {RECEIVED - 100, RECEIVED}, {RECEIVED + 100, RECEIVED + 100}};

	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		setup(state);
		if (known[i].backlog)
			backlog_until(known[i].backlog);
		is_connected();
		receive(NVME_CMD_FLUSH);
		assert_rings(5, NT_JOINS_LOST | known[i].until);
	}
}

/* Nor does a Fabrics command that is no Connect. */
static void commands_of_a_known_connection_change_nothing(void **state)
{
	__u32 gen;

	receive(NVME_FABRICS_COMMAND);
	is_connected();
	receive(NVME_CMD_FLUSH);
	gen = queue()->gen;
	for (unsigned int i = 0; i < NT_JOIN_RINGS; i++)
		joins()->rings[i].read = 3;
	receive(NVME_CMD_FLUSH);
	receive(NVME_FABRICS_COMMAND);
	assert_rings(3, 0);
	assert_int_equal(queue()->gen, gen);
}

/* There may be some again. */
static void a_connection_that_begins_asks_for_notes_again(void **state)
{
	queue()->joins = NT_JOINS_LACKING;
	receive(NVME_FABRICS_COMMAND);
	assert_int_equal(queue()->joins, 0);
}

static void a_connection_with_tls_is_opaque(void **state)
{
	backlog_until(0);
	receive(NVME_FABRICS_COMMAND);
	assert_true(queue()->opaque);
	/* The function that the driver's sockets call is known by now. */
	assert_int_equal(nt_control.data_ready, (__u64)&tail);
}

/* One that is refused may be sent again over the same TCP connection, but not once that is closed.
 */
static void a_connect_after_the_end_is_of_another_connection(void **state)
{
	__u32 gen;

	receive(NVME_FABRICS_COMMAND);
	gen = queue()->gen;
	receive(NVME_FABRICS_COMMAND);
	assert_int_equal(queue()->gen, gen + 2);
	gen = queue()->gen;
	sock_set_state(NULL, &tcp.sk, 0, TCP_CLOSE);
	assert_int_equal(queue()->dead_gen, gen);
	receive(NVME_FABRICS_COMMAND);
	assert_int_equal(queue()->gen, gen + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(a_connection_that_begins_has_lost_nothing),
		TEST(of_one_that_is_seen_late_nothing_is_known_that_waits),
		TEST(commands_of_a_known_connection_change_nothing),
		TEST(a_connection_that_begins_asks_for_notes_again),
		TEST(a_connection_with_tls_is_opaque),
		TEST(a_connect_after_the_end_is_of_another_connection),
	};

	return cmocka_run_group_tests_name("joins of a target's connection", tests, NULL, NULL);
}
