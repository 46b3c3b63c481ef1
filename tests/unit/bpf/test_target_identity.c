// SPDX-License-Identifier: GPL-2.0-only
#include "bpf/target.h"

#define CONNECTIONS 2

#include "bpf/target_machine.h"

static __u16 cid;
static bool stock;

static void close_connection(int i)
{
	sock_set_state(NULL, &m.sk[i], 0, TCP_CLOSE);
}

static int setup(void **state)
{
	target_make();
	cid = 0;
	for (int i = 0; i < CONNECTIONS; i++)
		connection_make(i, i);
	return 0;
}

static int setup_stock(void **state)
{
	stock = true;
	return setup(state);
}

static int teardown_stock(void **state)
{
	stock = false;
	return 0;
}

static void receive(struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	struct nvme_tcp_cmd_pdu pdu = {.cmd = m.sqe[0][0]};

	cmd->queue = queue;
	cmd->req = (struct nvmet_req){
		.cmd = &m.sqe[0][0],
		.cqe = &m.cqe,
		.sq = &queue->nvme_sq,
		.ops = &m.ops,
	};
	if (stock) {
		__u64 args[] = {(__u64)&cmd->req, 0, (__u64)&queue->nvme_sq, (__u64)&m.ops};

		m.skb.sk = queue->sock->sk;
		copied_header(&m.skb, 0, queue);
		stock_cmd(args, &cmd->req, NULL, &queue->nvme_sq, &m.ops);
	} else {
		done_recv_pdu(NULL, &pdu, queue->nvme_sq.qid, 0, queue, cmd);
	}
}

static void respond_to(struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd, __u16 status)
{
	struct nvme_tcp_rsp_pdu rsp = {};

	m.cqe.status = status << 1;
	if (stock) {
		__u64 args[] = {(__u64)&cmd->req};

		stock_done(args, &cmd->req);
		stock_send_response(NULL, cmd);
	} else {
		try_send_response(NULL, &m.cqe, &rsp, queue->nvme_sq.qid, 0, queue, cmd);
	}
}

/* @cntlid: 0: the target refuses the Connect */
static void connect_queue(int i, int qid, __u16 cntlid)
{
	struct nvmet_tcp_queue *queue = &m.queue[i];

	m.sqe[0][0] = (struct nvme_command){
		.common = {.opcode = NVME_FABRICS_COMMAND, .command_id = cid++, .nsid = 1},
	};
	m.sqe[0][0].common.dptr.sgl.length = 1024;
	receive(queue, &queue->connect);
	if (cntlid) {
		m.ctrl[i].cntlid = cntlid;
		queue->nvme_sq.ctrl = &m.ctrl[i];
		queue->nvme_sq.qid = qid;
		queue->nvme_sq.size = 128;
	}
	respond_to(queue, &queue->connect, cntlid ? 0 : 0x182);
}

static void io(int i)
{
	struct nvmet_tcp_queue *queue = &m.queue[i];

	m.sqe[0][0] = (struct nvme_command){
		.common = {.opcode = NVME_CMD_READ, .command_id = cid++, .nsid = 1},
	};
	receive(queue, m.cmd[i]);
	respond_to(queue, m.cmd[i], 0);
}

#define assert_named(record, of_qid, of_cntlid)                \
	do {                                                   \
		assert_int_equal((record)->qid, of_qid);       \
		assert_int_equal((record)->cntlid, of_cntlid); \
	} while (0)

static void connect_is_of_the_controller_that_it_made(void **state)
{
	connect_queue(0, 1, 5);
	assert_named(last_record(), 1, 5);
	io(0);
	assert_named(last_record(), 1, 5);
	assert_string_equal(kernel.names[0].subsysnqn, "nqn.subsystem");
	assert_string_equal(kernel.names[0].hostnqn, "nqn.host");
}

/* Its slot and its place in memory may have been another connection's. */
static void refused_connect_is_of_no_controller(void **state)
{
	connect_queue(0, 1, 5);
	io(0);
	close_connection(0);
	connection_make(0, 0);
	connect_queue(0, 1, 0);
	assert_named(last_record(), 0, NT_CNTLID_NONE);
	connect_queue(0, 1, 6);
	assert_named(last_record(), 1, 6);
}

/* A connection closes, and another one takes its place. Return: the generation of the first */
static __u32 another_comes(int other)
{
	__u32 gen;

	setup(NULL);
	connect_queue(0, 1, 5);
	io(0);
	gen = last_record()->gen;
	close_connection(0);
	connection_make(other, 0);
	return gen;
}

static void connection_after_another_is_a_generation_with_other_histograms(void **state)
{
	__u32 gen;

	for (int other = 0; other < CONNECTIONS; other++) {
		gen = another_comes(other);
		connect_queue(other, 1, 6);
		io(other);
		assert_named(last_record(), 1, 6);
		assert_int_not_equal(last_record()->gen, gen);
		assert_int_not_equal(last_record()->gen & 1, gen & 1);
	}
}

/* From Linux 6.8 on a socket may close late. */
static void socket_that_closes_late_ends_only_its_own_connection(void **state)
{
	const struct nt_queue *q = &kernel.queues[0];
	__u32 gen;

	connect_queue(0, 1, 5);
	io(0);
	gen = last_record()->gen;
	/*
	 * One connection takes its slot. Then another one takes its place in memory as well, with a
	 * socket of its own.
	 */
	connection_make(1, 0);
	connect_queue(1, 1, 6);
	io(1);
	assert_int_not_equal(last_record()->gen & 1, gen & 1);
	gen = last_record()->gen;
	close_connection(0);
	assert_int_not_equal(q->dead_gen, q->gen);
	assert_int_not_equal(q->dead_gen, 0);
	io(1);
	assert_int_equal(last_record()->gen, gen);
	assert_named(last_record(), 1, 6);

	m.sk[0].sk_user_data = &m.queue[1];
	memset(&m.queue[1], 0, sizeof(m.queue[1]));
	m.queue[1].cmds = m.cmd[1];
	m.queue[1].sock = &m.socket[0];
	connect_queue(1, 1, 7);
	assert_int_not_equal(last_record()->gen & 1, gen & 1);
	gen = last_record()->gen;
	close_connection(1);
	assert_int_not_equal(q->dead_gen, q->gen);
	io(1);
	assert_int_equal(last_record()->gen, gen);
	assert_named(last_record(), 1, 7);
	close_connection(0);
	assert_int_equal(q->dead_gen, q->gen);
	assert_int_equal(counted(NT_CNT_DIED), 0);
	assert_int_equal(counted(NT_CNT_NO_START), 0);
}

/*
 * The generation that counts is that of the latest closed connection, in whatever order they close.
 */
static void sockets_that_close_in_another_order_end_all_that_have_closed(void **state)
{
	struct nt_queue *q = &kernel.queues[0];
	__u32 gen[CONNECTIONS];
	struct nt_cmd *c;

	for (int i = 0; i < CONNECTIONS; i++) {
		connection_make(i, 0);
		connect_queue(i, 1, (__u16)(5 + i));
		io(i);
		gen[i] = last_record()->gen;
	}
	m.sqe[0][0] = (struct nvme_command){.common = {.opcode = NVME_CMD_FLUSH, .nsid = 1}};
	receive(&m.queue[1], m.cmd[1]);
	c = cmd_by_tag(q, 0);
	close_connection(1);
	assert_int_equal(q->dead_gen, gen[1]);
	close_connection(0);
	assert_int_equal(q->dead_gen, gen[1]);
	/* A connection closes only once: after that its socket may be another queue's. */
	q->dead_gen = 0;
	close_connection(0);
	close_connection(1);
	assert_int_equal(q->dead_gen, 0);
	q->dead_gen = gen[1];
	assert_true(in_flight(c));
	sweep();
	assert_false(in_flight(c));
	assert_int_equal(counted(NT_CNT_DIED), 1);
}

/*
 * Its Connect was not seen. The connection that had its slot, or its place in memory, has closed.
 */
static void connection_whose_connect_was_not_seen_is_another_one(void **state)
{
	__u32 gen;

	for (int other = 0; other < CONNECTIONS; other++) {
		gen = another_comes(other);
		m.ctrl[other].cntlid = 9;
		m.queue[other].nvme_sq =
			(struct nvmet_sq){.ctrl = &m.ctrl[other], .qid = 3, .size = 128};
		io(other);
		assert_int_equal(last_record()->gen, gen + 1);
		assert_named(last_record(), 3, 9);
		io(other);
		assert_int_equal(last_record()->gen, gen + 1);
	}
}

static void connect_sent_again_is_another_generation(void **state)
{
	__u32 gen;

	connect_queue(0, 0, 0);
	gen = last_record()->gen;
	connect_queue(0, 0, 5);
	assert_int_not_equal(last_record()->gen, gen);
	assert_int_equal(last_record()->gen & 1, gen & 1);
}

static void connection_from_before_is_known_by_its_first_command(void **state)
{
	m.ctrl[0].cntlid = 9;
	m.queue[0].nvme_sq = (struct nvmet_sq){.ctrl = &m.ctrl[0], .qid = 2, .size = 128};
	io(0);
	assert_int_equal(kernel.queues[0].sqsize, 127);
	assert_named(last_record(), 2, 9);
}

/* User space gets names at once: when it looks by itself, another connection may have the slot. */
static void names_are_told_when_they_are_known(void **state)
{
	static const char *const names[] = {"nqn.host", "nqn.other", "nqn.third"};
	const struct nt_identity *told = kernel.identities;

	for (unsigned int i = 0; i < 3; i++) {
		strcpy(m.ctrl[0].hostnqn, names[i]);
		connect_queue(0, 1, (__u16)(i + 5));
		io(0);
		close_connection(0);
		connection_make(0, 0);
		assert_int_equal(kernel.nr_identities, i + 1);
		assert_int_equal(told[i].slot, 0);
		assert_int_equal(told[i].who, last_record()->gen);
		assert_int_equal(told[i].cntlid, i + 5);
		assert_int_equal(told[i].qid, 1);
		assert_string_equal(told[i].names.hostnqn, names[i]);
		assert_string_equal(told[i].names.subsysnqn, "nqn.subsystem");
		/*
		 * Connect has one histogram and the other command has another. Neither is one of
		 * the connection before.
		 */
		assert_int_equal(nt_pools[NT_POOL_HISTS].taken, 2 * (i + 1));
	}
	/* A Connect that is refused, or names for which there is no room. */
	connect_queue(0, 1, 0);
	assert_int_equal(kernel.nr_identities, 3);
	for (unsigned int i = 0; i < IDENTITIES_MAX; i++) {
		close_connection(0);
		connection_make(0, 0);
		connect_queue(0, 1, 9);
	}
	assert_int_equal(kernel.nr_identities, IDENTITIES_MAX);
	assert_int_equal(kernel.queues[0].identified, kernel.queues[0].gen);
}

/*
 * Code that an attacker brings into user space writes what user space can. It learns nothing that
 * lies at an address of its choice: the names are those of the queue that programs have seen.
 */
static void names_are_not_read_where_user_space_says(void **state)
{
	struct nvmet_ctrl secret = {.subsys = &m.subsys, .hostnqn = "secret", .cntlid = 9};
	struct nvmet_tcp_queue lies = {
		.sock = &m.socket[0],
		.nvme_sq = {.ctrl = &secret, .qid = 1, .size = 128},
	};
	__u64 args[] = {(__u64)&m.cmd[0]->req};
	struct nt_queue *q = &kernel.queues[0];

	nt_knobs.ends = 1;
	connect_queue(0, 1, 5);
	m.sqe[0][0] = (struct nvme_command){.common = {.opcode = NVME_CMD_FLUSH, .nsid = 1}};
	receive(&m.queue[0], m.cmd[0]);
	q->object = (__u64)&lies;
	q->identified = 0;
	m.cqe.status = 0;
	if (stock)
		stock_done(args, &m.cmd[0]->req);
	else
		queue_response(NULL, &m.sqe[0][0], 1, &m.queue[0], m.cmd[0]);
	assert_int_equal(q->identified, q->gen);
	assert_named(last_record(), 1, 5);
	assert_string_equal(kernel.names[0].hostnqn, "nqn.host");
	/* A queue that is gone has given its socket back, and its memory may be another's. */
	receive(&m.queue[0], m.cmd[0]);
	m.sk[0].sk_user_data = NULL;
	strcpy(m.ctrl[0].hostnqn, "secret");
	q->identified = 0;
	if (stock)
		stock_done(args, &m.cmd[0]->req);
	else
		queue_response(NULL, &m.sqe[0][0], 1, &m.queue[0], m.cmd[0]);
	assert_string_equal(kernel.names[0].hostnqn, "nqn.host");
	nt_knobs.ends = 0;
}

static void errors_of_connections_are_apart(void **state)
{
	for (unsigned int i = 0; i < 3; i++) {
		connect_queue(0, 1, 0);
		close_connection(0);
		connection_make(0, 0);
	}
	assert_int_equal(kernel.nr_errors, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(kernel.errors[i].count, 1);
}

static void errors_are_counted_by_status_and_are_no_latencies(void **state)
{
	connect_queue(0, 1, 5);
	assert_int_equal(latencies(), 1);
	for (int i = 0; i < 3; i++) {
		m.sqe[0][0] =
			(struct nvme_command){.common = {.opcode = NVME_CMD_FLUSH, .nsid = 1}};
		receive(&m.queue[0], m.cmd[0]);
		respond_to(&m.queue[0], m.cmd[0], i < 2 ? 0x4006 : 0x286);
		assert_int_equal(last_record()->status, i < 2 ? 0x4006 : 0x286);
	}
	assert_int_equal(errors_of(NT_OP_FLUSH, 0x006), 2);
	assert_int_equal(errors_of(NT_OP_FLUSH, 0x286), 1);
	assert_int_equal(latencies(), 1);
	assert_int_equal(counted(NT_CNT_POINT_MISSING), 1); /* of Connect, which was not executed */
	io(0);
	assert_int_equal(last_record()->status, 0);
	assert_int_equal(latencies(), 2);
}

static void errors_outside_the_sample_are_counted(void **state)
{
	connect_queue(0, 1, 5);
	knobs_sample(1, true);
	nt_knobs.select = NT_SELECT_NONE;
	m.sqe[0][0] = (struct nvme_command){.common = {.opcode = NVME_CMD_FLUSH, .nsid = 1}};
	for (int i = 0; i < 2; i++) {
		receive(&m.queue[0], m.cmd[0]);
		respond_to(&m.queue[0], m.cmd[0], i ? 0 : 0x4006);
	}
	assert_int_equal(errors_of(NT_OP_FLUSH, 0x006), 1);
	assert_int_equal(latencies(), 1);
}

static void queues_are_selected_when_their_connect_is_answered(void **state)
{
	static const struct nt_selection by[] = {
		{.queues = {1, {{2, 2}}}},
		{.cntlids = {1, {{6, 6}}}},
		{.hostnqn = "nqn.other"},
		{.subsysnqn = "nqn.subsystem", .hostnqn = "nqn.other"},
	};

	for (unsigned int i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		setup(NULL);
		strcpy(m.ctrl[1].hostnqn, "nqn.other");
		knobs_select(&by[i]);
		connect_queue(0, 1, 5);
		connect_queue(1, 2, 6);
		for (int k = 0; k < 3; k++) {
			io(0);
			io(1);
		}
		assert_int_equal(kernel.nr_records, 4);
		for (unsigned int k = 0; k < kernel.nr_records; k++)
			assert_int_equal(kernel.records[k].slot, 1);
		assert_int_equal(latencies(), 4);
		assert_no_losses();
		untrack();
		assert_int_equal(nt_control.tracked, 0);
	}
}

/* An event request on an admin queue, and a Connect that is refused. */
static void what_is_left_out_is_no_loss(void **state)
{
	const struct nt_selection s = {.queues = {1, {{2, 2}}}};

	knobs_select(&s);
	connect_queue(0, 0, 5);
	m.sqe[0][0] = (struct nvme_command){.common = {.opcode = NVME_ADMIN_ASYNC_EVENT}};
	receive(&m.queue[0], m.cmd[0]);
	connect_queue(1, 2, 0);
	assert_int_equal(kernel.nr_records, 0);
	assert_int_equal(latencies(), 0);
	assert_int_equal(kernel.nr_errors, 0);
	assert_no_losses();
}

/* The loader reads this time. Before it, nothing is known about the I/O queues. */
static void io_is_seen_by_its_queues(void **state)
{
	connect_queue(0, 0, 5);
	io(0);
	assert_int_equal(nt_control.identified_ns, 0);
	connect_queue(1, 1, 5);
	assert_int_not_equal(nt_control.identified_ns, 0);
}

static __u64 ended(void)
{
	__u64 n = latencies();

	for (unsigned int h = 0; h < HISTS; h++)
		n += hist_at(h)->others;
	return n;
}

/*
 * nvmet answers an event request when something happens, here an hour later. @sampled: commands are
 * only counted
 */
static void event_request_after_an_unseen_end(bool sampled)
{
	__u64 before;

	setup(NULL);
	knobs_sample(sampled, sampled);
	connect_queue(0, 0, 5);
	kernel.nr_records = 0;
	before = ended();
	m.sqe[0][0] =
		(struct nvme_command){.common = {.opcode = 0x06, .command_id = cid += 0x1000}};
	receive(&m.queue[0], m.cmd[0]);
	/* The response was not seen, because the program was skipped. */
	m.sqe[0][0] = (struct nvme_command){
		.common = {.opcode = NVME_ADMIN_ASYNC_EVENT, .command_id = cid += 0x1000}};
	receive(&m.queue[0], m.cmd[0]);
	assert_int_equal(counted(NT_CNT_OVERWRITTEN), 1);
	assert_int_equal(counted(NT_CNT_ASYNC_EVENT), 1);
	kernel.now += 3600000000000;
	respond_to(&m.queue[0], m.cmd[0], 0);
	assert_int_equal(kernel.nr_records, 0);
	assert_int_equal(counted(NT_CNT_NO_START), 0);
	assert_int_equal(ended(), before);
}

static void event_request_is_not_taken_for_the_command_before(void **state)
{
	for (int sampled = 0; sampled < 2; sampled++)
		event_request_after_an_unseen_end(sampled);
}

static struct nt_cmd *begin(int i, __u8 opcode)
{
	bool elsewhere;
	struct nt_cmd *c;

	m.sqe[0][0] = (struct nvme_command){
		.common = {.opcode = opcode, .command_id = cid++, .nsid = 1},
	};
	m.sqe[0][0].common.dptr.sgl.length = 4096;
	receive(&m.queue[i], m.cmd[i]);
	m.cmd[i]->req.transfer_len = 4096;
	c = cmd_by_owner((__u64)m.cmd[i], 0, &elsewhere);
	assert_non_null(c);
	return c;
}

/* nvmet_tcp_queue_response() */
static void queue_answer(int i)
{
	__u64 args[] = {(__u64)&m.cmd[i]->req};

	if (stock)
		stock_done(args, &m.cmd[i]->req);
	else
		queue_response(NULL, &m.sqe[0][0], 1, &m.queue[i], m.cmd[i]);
}

/* Another thread of user space writes the state while a program ends its command. */
static struct nt_cmd *attacked;
static __u64 written;

static void owner_is_written(void)
{
	attacked->owner = written;
}

/* As above: the answer that an event tells of is that of a command of the queue. */
static void answers_are_not_read_where_user_space_says(void **state)
{
	struct nvme_completion secret = {.result.u64 = 0x5ec7e7, .sq_head = 77};
	struct nvmet_tcp_cmd lies[2] = {{.req.cqe = &secret}, {.req.cqe = &secret}};
	const __u64 addresses[] = {(__u64)&lies[0], (__u64)&lies[1], (__u64)m.cmd[1]};

	nt_knobs.events = 1;
	connect_queue(0, 1, 5);
	for (unsigned int i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		attacked = begin(0, NVME_CMD_FLUSH);
		written = addresses[i];
		m.cmd[1][0].req.cqe = &secret;
		memset(&kernel.ended, 0, sizeof(kernel.ended));
		m.cqe.status = 0;
		if (stock)
			queue_answer(0);
		kernel.on_clock = owner_is_written;
		if (stock)
			stock_send_response(NULL, m.cmd[0]);
		else
			respond_to(&m.queue[0], m.cmd[0], 0);
		kernel.on_clock = NULL;
		assert_int_equal(kernel.ended.r.cid, (__u16)(cid - 1));
		assert_int_not_equal(kernel.ended.answer.result, secret.result.u64);
		assert_int_not_equal(kernel.ended.answer.sq_head, secret.sq_head);
	}
	/* Nor where the queue is gone, whose memory may be another's. */
	attacked = begin(0, NVME_CMD_FLUSH);
	m.cqe.result.u64 = 0x5ec7e7;
	m.sk[0].sk_user_data = NULL;
	memset(&kernel.ended, 0, sizeof(kernel.ended));
	respond_to(&m.queue[0], m.cmd[0], 0);
	assert_int_equal(kernel.ended.answer.result, 0);
	assert_int_equal(kernel.ended.answer.known, 0);
	nt_knobs.events = 0;
	(void)state;
}

/* An R2T is queued as responses are, but before the execution. */
static void r2t_is_no_end_of_execution(void **state)
{
	__u64 args[] = {(__u64)&m.cmd[0][0].req}, done;
	struct nt_cmd *c;

	connect_queue(0, 1, 5);
	c = begin(0, NVME_CMD_WRITE);
	queue_answer(0);
	assert_int_equal(c->r.points[NT_T_DONE], 0);
	if (stock)
		stock_exec_nvmet_bdev_execute_rw(args, &m.cmd[0]->req);
	else
		exec_write_req(NULL, &m.sqe[0][0], 1, 4096, &m.queue[0], m.cmd[0]);
	queue_answer(0);
	done = c->r.points[NT_T_DONE];
	assert_int_not_equal(done, 0);
	queue_answer(0);
	assert_int_equal(c->r.points[NT_T_DONE], done);
}

/*
 * Where no program sees an execution begin, the last queued response is taken, as an R2T is queued
 * before it.
 */
static void last_answer_ends_what_is_not_seen_to_begin(void **state)
{
	struct nt_cmd *c;
	__u64 done;

	connect_queue(0, 1, 5);
	c = begin(0, NVME_CMD_WRITE);
	nt_knobs.missing = 1u << NT_T_EXEC;
	queue_answer(0);
	done = c->r.points[NT_T_DONE];
	queue_answer(0);
	nt_knobs.missing = 0;
	assert_int_not_equal(done, 0);
	assert_uint_in_range(c->r.points[NT_T_DONE], done + 1, kernel.now);
}

#define PAGE 0xffffea0000012340ULL /* address of a struct page */

/* The queue hands a PDU to its socket. If @cmd is NULL, it does not show of which command. */
static void pdu_is_sent(struct nvmet_tcp_cmd *cmd, enum nvmet_tcp_send_state state, int offset)
{
	__u64 args[] = {0, PAGE};

	if (cmd)
		cmd->state = state;
	m.queue[0].snd_cmd = cmd;
	stock_sendpage(args, &m.socket[0], NULL, offset, 24);
}

static void read_is_executed(void)
{
	__u64 args[] = {(__u64)&m.cmd[0]->req};

	begin(0, NVME_CMD_READ);
	m.cmd[0]->queue = &m.queue[0];
	stock_exec_nvmet_bdev_execute_rw(args, &m.cmd[0]->req);
	queue_answer(0);
}

/* Each command has memory of its own for each of its PDUs. */
static void pdu_is_known_by_its_place(void **state)
{
	const struct nt_record *r;
	unsigned int records;

	nt_control.data_ready = data_ready_of(&m.sk[0]);
	connect_queue(0, 1, 5);
	records = kernel.nr_records;
	for (int i = 0; i < 3; i++) {
		read_is_executed();
		pdu_is_sent(i ? NULL : m.cmd[0], NVMET_TCP_SEND_DATA_PDU, 64);
		assert_int_equal(kernel.nr_records, records + i);
		pdu_is_sent(i ? NULL : m.cmd[0], NVMET_TCP_SEND_RESPONSE, 96);
		assert_int_equal(kernel.nr_records, records + i + 1);
		r = last_record();
		assert_true(r->points[NT_T_DONE] < r->points[NT_T_SEND]);
		assert_true(r->points[NT_T_SEND] < r->points[NT_T_SENT]);
	}
	/* The socket had no room for it. The command has ended. */
	pdu_is_sent(m.cmd[0], NVMET_TCP_SEND_RESPONSE, 96);
	/* The run for the data is skipped: see the test of that name. */
	read_is_executed();
	pdu_is_sent(NULL, NVMET_TCP_SEND_RESPONSE, 96);
	assert_int_equal(kernel.nr_records, records + 3);
	assert_int_equal(counted(NT_CNT_NO_START), 0);
}

/* The memory of a PDU may be that of another PDU of the next connection. */
static void place_of_a_pdu_is_not_that_of_the_connection_before(void **state)
{
	unsigned int records;

	nt_control.data_ready = data_ready_of(&m.sk[0]);
	for (int i = 0; i < 2; i++) {
		sock_set_state(NULL, &m.sk[0], 1, TCP_CLOSE);
		connect_queue(0, 1, 5);
		records = kernel.nr_records;
		read_is_executed();
		pdu_is_sent(m.cmd[0], NVMET_TCP_SEND_DATA_PDU, i ? 96 : 64);
		assert_int_equal(kernel.nr_records, records);
		pdu_is_sent(m.cmd[0], NVMET_TCP_SEND_RESPONSE, i ? 64 : 96);
		assert_int_equal(kernel.nr_records, records + 1);
	}
}

/* A response has 8 + 16 bytes and its digest (NVMe/TCP 1.0, 3.6.2.3). */
static void response_with_its_digest_is_no_data(void **state)
{
	const size_t size = 8 + 16 + 4;

	nt_control.data_ready = data_ready_of(&m.sk[0]);
	connect_queue(0, 1, 5);
	for (unsigned int i = 0; i < 2; i++) {
		begin(0, NVME_CMD_FLUSH);
		m.queue[0].snd_cmd = m.cmd[0];
		m.cmd[0]->state = NVMET_TCP_SEND_RESPONSE;
		for (unsigned int less = 2; less-- > 0;) {
			struct msghdr msg = {.msg_iter.count = size + less};
			__u64 args[] = {0, PAGE};

			assert_int_equal(kernel.nr_records, 1 + i);
			if (i)
				stock_sendmsg(NULL, &m.socket[0], &msg);
			else
				stock_sendpage(args, &m.socket[0], NULL, 0, size + less);
		}
		assert_int_equal(kernel.nr_records, 2 + i);
	}
}

/*
 * Sockets show the PDUs that are sent, and the run for a read's data PDU was skipped. The response
 * is then taken for the data. So the end is not seen, which the next command at the same place
 * counts. No latency is wrong.
 */
static void read_whose_data_were_missed_has_an_end_that_was_missed(void **state)
{
	__u64 args[] = {(__u64)&m.cmd[0]->req};
	struct msghdr msg = {.msg_iter.count = 24};
	unsigned int records;

	nt_control.data_ready = data_ready_of(&m.sk[0]);
	connect_queue(0, 1, 5);
	records = kernel.nr_records;
	m.queue[0].snd_cmd = m.cmd[0];
	for (int skipped = 1; skipped >= 0; skipped--) {
		begin(0, NVME_CMD_READ);
		m.cmd[0]->queue = &m.queue[0];
		stock_exec_nvmet_bdev_execute_rw(args, &m.cmd[0]->req);
		queue_answer(0);
		for (int response = skipped; response < 2; response++) {
			m.cmd[0]->state =
				response ? NVMET_TCP_SEND_RESPONSE : NVMET_TCP_SEND_DATA_PDU;
			stock_sendmsg(NULL, &m.socket[0], &msg);
		}
		assert_int_equal(kernel.nr_records, records + !skipped);
		assert_int_equal(counted(NT_CNT_OVERWRITTEN), !skipped);
	}
	assert_int_equal(counted(NT_CNT_NO_START), 0);
}

/* The socket may accept the data in parts. */
static void read_without_cqe_ends_when_all_of_its_data_are_taken(void **state)
{
	nt_control.data_ready = data_ready_of(&m.sk[0]);
	nt_control.no_sqflow = nt_control.data_watched = 1;
	m.queue[0].nvme_sq.sqhd_disabled = true;
	connect_queue(0, 1, 5);
	begin(0, NVME_CMD_READ);
	m.queue[0].snd_cmd = m.cmd[0];
	m.cmd[0]->state = NVMET_TCP_SEND_DATA;
	m.cmd[0]->wbytes_done = 0;
	stock_sendpage_end(NULL, &m.socket[0], NULL, 0, 4096, 0, 2048);
	m.cmd[0]->wbytes_done = 2048;
	stock_sendmsg_end(NULL, &m.socket[0], NULL, 2047);
	assert_int_equal(kernel.nr_records, 1);
	stock_sendpage_end(NULL, &m.socket[0], NULL, 0, 2048, 0, 2048);
	assert_int_equal(kernel.nr_records, 2);
	assert_true(last_record()->flags & NT_F_NO_CQE);
}

#define CASES(X)                                                          \
	X(connect_is_of_the_controller_that_it_made)                      \
	X(refused_connect_is_of_no_controller)                            \
	X(connection_after_another_is_a_generation_with_other_histograms) \
	X(connect_sent_again_is_another_generation)                       \
	X(sockets_that_close_in_another_order_end_all_that_have_closed)   \
	X(connection_whose_connect_was_not_seen_is_another_one)           \
	X(socket_that_closes_late_ends_only_its_own_connection)           \
	X(connection_from_before_is_known_by_its_first_command)           \
	X(names_are_told_when_they_are_known)                             \
	X(names_are_not_read_where_user_space_says)                       \
	X(answers_are_not_read_where_user_space_says)                     \
	X(errors_of_connections_are_apart)                                \
	X(errors_are_counted_by_status_and_are_no_latencies)              \
	X(errors_outside_the_sample_are_counted)                          \
	X(queues_are_selected_when_their_connect_is_answered)             \
	X(what_is_left_out_is_no_loss)                                    \
	X(event_request_is_not_taken_for_the_command_before)              \
	X(r2t_is_no_end_of_execution)                                     \
	X(io_is_seen_by_its_queues)
#define TRACEPOINT_CASE(test) cmocka_unit_test_setup(test, setup),
#define STOCK_CASE(test) {"stock_" #test, test, setup_stock, teardown_stock, NULL},

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASES(TRACEPOINT_CASE) CASES(STOCK_CASE) STOCK_CASE(
			last_answer_ends_what_is_not_seen_to_begin)
			STOCK_CASE(pdu_is_known_by_its_place) STOCK_CASE(
				place_of_a_pdu_is_not_that_of_the_connection_before)
				STOCK_CASE(response_with_its_digest_is_no_data) STOCK_CASE(
					read_whose_data_were_missed_has_an_end_that_was_missed)
					STOCK_CASE(
						read_without_cqe_ends_when_all_of_its_data_are_taken)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
