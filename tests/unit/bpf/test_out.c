// SPDX-License-Identifier: GPL-2.0-only
/* When the first byte of a PDU leaves TCP (--points fine), and until when a target's record waits.
 */
#include "bpf/target.h"

#define COMMANDS 2

#include "bpf/target_machine.h"
#include "bpf/target_steps.h"

/* Of TCP's queue: the next byte that is written, and the next one that is sent. */
static struct tcp_sock___stream tcp;
static __u32 sent;
static struct nvme_completion cqe;

static void connect_host(void)
{
	target_make();
	connection_make(0, 0);
	memset(&tcp, 0, sizeof(tcp));
	/* No TLS: in the structures of tests this member and that of data_ready are one. */
	m.socket[0].sk = &tcp.sk;
	tcp.sk.sk_user_data = &m.queue[0];
	m.ctrl[0].cntlid = 5;
	m.queue[0].nvme_sq.ctrl = &m.ctrl[0];
	m.queue[0].nvme_sq.qid = 1;
	m.queue[0].nvme_sq.size = 128;
	tcp.write_seq = sent = ~0u - 100; /* wraps around */
	nt_knobs.fine = true;
	run.source = TRACEPOINTS;
	/* A socket with that function is the driver's. */
	nt_control.data_ready = data_ready_of(&tcp.sk);
}

static int setup(void **state)
{
	connect_host();
	return 0;
}

static int teardown(void **state)
{
	nt_knobs.fine = false;
	return 0;
}

static struct nvmet_tcp_cmd *begin(int i, __u8 opcode)
{
	struct nvmet_tcp_cmd *cmd = &m.cmd[0][i];

	m.sqe[0][i] = (struct nvme_command){
		.common = {.opcode = opcode, .command_id = (__u16)i, .nsid = 1}};
	m.sqe[0][i].common.dptr.sgl.length = 4096;
	cmd->queue = &m.queue[0];
	cmd->req = (struct nvmet_req){.cmd = &m.sqe[0][i],
				      .cqe = &cqe,
				      .sq = &m.queue[0].nvme_sq,
				      .ops = &m.ops,
				      .transfer_len = 4096};
	capsule_comes(cmd, 0);
	execution_begins(cmd, opcode & 1, 0);
	answer_is_queued(cmd, false);
	return cmd;
}

/* The socket takes what a function of target_steps.h hands to it. */
static void answer(struct nvmet_tcp_cmd *cmd)
{
	if (cmd->req.cmd->common.opcode == NVME_CMD_READ) {
		data_pdu_is_sent(cmd);
		tcp.write_seq += 24 + 4096;
	}
	response_is_sent(cmd);
	tcp.write_seq += 24;
}

/* TCP sends a packet of @bytes from @seq on. */
static void packet(__u32 seq, __u32 bytes)
{
	struct sk_buff skb = {};
	struct tcp_skb_cb *cb = (void *)skb.cb;

	cb->seq = seq;
	cb->end_seq = seq + bytes;
	packet_leaves(NULL, &tcp.sk, &skb);
}

static void send_bytes(__u32 bytes)
{
	packet(sent, bytes);
	sent += bytes;
}

static __u64 out_of(const struct nt_record *r)
{
	assert_int_not_equal(r->fine[NT_TF_OUT], 0);
	return r->points[NT_T_SEND] + r->fine[NT_TF_OUT] - 1;
}

static void a_record_waits_until_its_answer_has_left(void **state)
{
	__u64 before, after;

	answer(begin(0, NVME_CMD_READ));
	assert_int_equal(kernel.nr_records, 0);
	packet(sent, 0); /* an acknowledgement has no bytes */
	assert_int_equal(kernel.nr_records, 0);
	before = kernel.now;
	send_bytes(1);
	after = kernel.now;
	assert_int_equal(kernel.nr_records, 1);
	assert_uint_in_range(out_of(last_record()), before, after);
	assert_int_equal(last_record()->points[NT_T_SENT] > last_record()->points[NT_T_SEND], 1);
}

/* Each command has the packet with its first byte; one packet may have several of them. */
static void packets_of_many_answers_and_answers_of_many_packets(void **state)
{
	__u64 first;

	answer(begin(0, NVME_CMD_READ));
	answer(begin(1, NVME_CMD_READ));
	send_bytes(1000);
	assert_int_equal(kernel.nr_records, 1);
	first = out_of(last_record());
	send_bytes(24 + 4096 + 24 - 1000);
	assert_int_equal(kernel.nr_records, 1);
	send_bytes(24 + 4096);
	assert_int_equal(kernel.nr_records, 2);
	assert_true(out_of(last_record()) > first);

	connect_host();
	answer(begin(0, NVME_CMD_FLUSH));
	answer(begin(1, NVME_CMD_FLUSH));
	send_bytes(48);
	assert_int_equal(kernel.nr_records, 2);
	assert_int_not_equal(kernel.records[0].fine[NT_TF_OUT], 0);
	assert_int_not_equal(kernel.records[1].fine[NT_TF_OUT], 0);
}

static void a_packet_that_is_sent_again_changes_nothing(void **state)
{
	__u32 first = sent;

	answer(begin(0, NVME_CMD_FLUSH));
	send_bytes(24);
	answer(begin(1, NVME_CMD_FLUSH));
	packet(first, 24);
	assert_int_equal(kernel.nr_records, 1);
	send_bytes(24);
	assert_int_equal(kernel.nr_records, 2);
}

/* TCP may send the data while the response is still being made. */
static void an_answer_that_leaves_before_its_end_does_not_wait(void **state)
{
	struct nvmet_tcp_cmd *cmd = begin(0, NVME_CMD_READ);

	data_pdu_is_sent(cmd);
	tcp.write_seq += 24 + 4096;
	send_bytes(100);
	assert_int_equal(kernel.nr_records, 0);
	response_is_sent(cmd);
	assert_int_equal(kernel.nr_records, 1);
	assert_uint_in_range(out_of(last_record()), last_record()->points[NT_T_SEND],
			     last_record()->points[NT_T_SENT]);
}

static void an_r2t_has_a_point_of_its_own(void **state)
{
	struct nvmet_tcp_cmd *cmd = &m.cmd[0][0];
	const struct nt_record *r;
	__u32 first = sent;

	m.sqe[0][0] = (struct nvme_command){
		.common = {.opcode = NVME_CMD_WRITE, .command_id = 7, .nsid = 1}};
	m.sqe[0][0].common.dptr.sgl.length = 4096;
	cmd->queue = &m.queue[0];
	cmd->req = (struct nvmet_req){.cmd = &m.sqe[0][0],
				      .cqe = &cqe,
				      .sq = &m.queue[0].nvme_sq,
				      .ops = &m.ops,
				      .transfer_len = 4096};
	capsule_comes(cmd, 0);
	r2t_is_sent(cmd);
	tcp.write_seq += 24;
	send_bytes(24);
	h2c_data_come(cmd, 0);
	execution_begins(cmd, true, 0);
	answer_is_queued(cmd, false);
	answer(cmd);
	assert_int_equal(kernel.nr_records, 0);
	send_bytes(24);
	assert_int_equal(kernel.nr_records, 1);
	r = last_record();
	assert_true(r->fine[NT_TF_R2T_OUT] &&
		    r->points[NT_T_SEND_R2T] + r->fine[NT_TF_R2T_OUT] - 1 < r->points[NT_T_DATA]);
	assert_true(out_of(r) >= r->points[NT_T_SEND]);
	assert_int_equal(r->seq[NT_TF_R2T_OUT], first);
	assert_int_equal(r->seq[NT_TF_OUT], first + 24);
}

/* Each time it is of the command that is there now, and it wraps around as TCP's numbers do. */
static void a_record_has_the_number_of_its_answers_first_byte(void **state)
{
	__u32 first = sent;

	for (__u32 i = 0; i < 4; i++) {
		answer(begin(i & 1, NVME_CMD_FLUSH));
		send_bytes(24);
		assert_int_equal(last_record()->seq[NT_TF_OUT], first + 24 * i);
		assert_int_equal(last_record()->seq[NT_TF_R2T_OUT], 0);
		if (i == 1) {
			tcp.write_seq += 4096;
			send_bytes(4096);
			first += 4096;
		}
	}
}

/* Where a socket has no room for more notes, or TLS makes other bytes of them. */
static void without_a_note_a_record_does_not_wait(void **state)
{
	for (unsigned int i = 0; i < NT_OUTS; i++) {
		answer(begin(0, NVME_CMD_FLUSH));
		/* The next command in its place: the note was lost, or the packet was not seen. */
		assert_int_equal(kernel.nr_records, i);
	}
	answer(begin(1, NVME_CMD_FLUSH));
	assert_int_equal(kernel.nr_records, NT_OUTS);
	assert_int_equal(last_record()->cid, 1);
	assert_int_equal(last_record()->fine[NT_TF_OUT], 0);
	assert_int_equal(last_record()->seq[NT_TF_OUT], sent + 24 * NT_OUTS);
	/* All that waits is one record: the other notes are of commands that have ended. */
	send_bytes(24 * NT_OUTS);
	assert_int_equal(kernel.nr_records, NT_OUTS + 1);
	assert_int_equal(last_record()->cid, 0);

	connect_host();
	kernel.storage[0].sk = &tcp.sk;
	kernel.storage[0].outs.kind = NT_OUTS_OPAQUE;
	answer(begin(0, NVME_CMD_FLUSH));
	assert_int_equal(kernel.nr_records, 1);
	assert_int_equal(last_record()->fine[NT_TF_OUT], 0);
	assert_int_equal(last_record()->seq[NT_TF_OUT], 0);
}

static void a_connection_that_closes_ends_the_wait(void **state)
{
	answer(begin(0, NVME_CMD_READ));
	assert_int_equal(kernel.nr_records, 0);
	sock_set_state(NULL, &tcp.sk, 0, TCP_CLOSE);
	assert_int_equal(kernel.nr_records, 1);
	assert_int_equal(last_record()->fine[NT_TF_OUT], 0);
}

/* From Linux 6.8 on, a socket closes when another connection already has the slot of its queue. */
static void what_waits_keeps_its_queue_when_another_has_the_slot(void **state)
{
	answer(begin(0, NVME_CMD_READ));
	assert_int_equal(queue_at(0)->identified, queue_at(0)->gen);
	queue_at(0)->gen++;
	queue_at(0)->identified++;
	queue_at(0)->qid = 2;
	queue_at(0)->cntlid = 6;
	sock_set_state(NULL, &tcp.sk, 0, TCP_CLOSE);
	assert_int_equal(kernel.nr_records, 1);
	assert_int_equal(last_record()->qid, 1);
	assert_int_equal(last_record()->cntlid, 5);
}

/* So user space need not ask again when it hands over what waits. */
static void a_record_that_is_not_asked_for_does_not_wait(void **state)
{
	nt_knobs.failed = true;
	answer(begin(0, NVME_CMD_FLUSH));
	assert_int_equal(cmd_at(*index_of((__u64)&m.cmd[0][0]))->out, 0);
	send_bytes(24);
	assert_int_equal(kernel.nr_records, 0);
	nt_knobs.failed = false;
	answer(begin(0, NVME_CMD_FLUSH));
	assert_int_equal(cmd_at(*index_of((__u64)&m.cmd[0][0]))->out, NT_OUT_ENDED);
	send_bytes(24);
	assert_int_equal(kernel.nr_records, 1);
}

/* User space has handed over the record of a connection that has closed, or at the end. */
static void what_user_space_took_is_not_handed_over_again(void **state)
{
	const struct nvmet_tcp_cmd *cmd = begin(0, NVME_CMD_READ);
	struct nt_cmd *c = cmd_at(*index_of((__u64)cmd));

	answer(&m.cmd[0][0]);
	assert_int_equal(c->out, NT_OUT_ENDED);
	c->out = NT_OUT_NO_NOTE;
	send_bytes(24 + 4096 + 24);
	begin(0, NVME_CMD_READ);
	assert_int_equal(kernel.nr_records, 0);
}

static void sockets_of_others_are_left_alone(void **state)
{
	struct sk_buff skb = {};
	struct sock other = {};

	answer(begin(0, NVME_CMD_READ));
	other.sk_receive_queue.next = &skb;
	packet_leaves(NULL, &other, &skb);
	assert_int_equal(kernel.nr_records, 0);
	assert_ptr_equal(kernel.storage[1].sk, NULL);
}

static void without_finer_points_nothing_is_noted(void **state)
{
	nt_knobs.fine = false;
	answer(begin(0, NVME_CMD_READ));
	assert_int_equal(kernel.nr_records, 1);
	assert_ptr_equal(kernel.storage[0].sk, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_record_waits_until_its_answer_has_left),
		TEST(packets_of_many_answers_and_answers_of_many_packets),
		TEST(a_packet_that_is_sent_again_changes_nothing),
		TEST(an_answer_that_leaves_before_its_end_does_not_wait),
		TEST(an_r2t_has_a_point_of_its_own),
		TEST(a_record_has_the_number_of_its_answers_first_byte),
		TEST(without_a_note_a_record_does_not_wait),
		TEST(a_connection_that_closes_ends_the_wait),
		TEST(what_waits_keeps_its_queue_when_another_has_the_slot),
		TEST(a_record_that_is_not_asked_for_does_not_wait),
		TEST(what_user_space_took_is_not_handed_over_again),
		TEST(sockets_of_others_are_left_alone),
		TEST(without_finer_points_nothing_is_noted),
	};

	return cmocka_run_group_tests_name("when PDUs leave TCP", tests, NULL, NULL);
}
