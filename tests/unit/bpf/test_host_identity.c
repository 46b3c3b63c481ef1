// SPDX-License-Identifier: GPL-2.0-only
#include "bpf/host.h"

#define CTRLS 2
#define QUEUES 3

/*
 * Controllers with their queues, with one request at a time for each queue, and the functions of
 * the driver.
 */
#define REQUESTS (CTRLS * QUEUES)

#include "bpf/host_machine.h"

/* All requests share this entry. It is that of the last request. */
static struct nvme_command sqe;

static int setup(void **state)
{
	host_make();
	m.sk.sk_user_data = &m.queues[0][QUEUES - 1];
	for (int i = 0; i < CTRLS; i++) {
		m.ctrl[i].ctrl.instance = i;
		m.ctrl[i].ctrl.sqsize = 127;
		m.opts[i].host = &m.host;
		m.opts[i].subsysnqn = i ? "nqn.b" : "nqn.a";
		for (int qid = 0; qid < QUEUES; qid++) {
			m.requests[i * QUEUES + qid].req.queue = &m.queues[i][qid];
			m.requests[i * QUEUES + qid].req.req.ctrl = &m.ctrl[i].ctrl;
			m.requests[i * QUEUES + qid].req.req.cmd = &sqe;
			m.requests[i * QUEUES + qid].rq = (struct request){
				.q = &m.rq_queue[qid == 0],
				.mq_hctx = &m.hctx[qid],
				.bio = (struct bio *)&m,
				.state = MQ_RQ_COMPLETE,
			};
		}
	}
	return 0;
}

/* Whether commands are seen by stock programs, or by those on tracepoints. */
static bool stock;

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

/* Submits the request of queue @of. @type: type of a Fabrics command, else 0 */
static void submit_with(int of, int i, int qid, __u8 opcode, __u8 type)
{
	struct request *rq = &m.requests[i * QUEUES + of].rq;
	struct nvme_tcp_cmd_pdu pdu;

	sqe = (struct nvme_command){
		.common = {.opcode = opcode, .command_id = m.cid += 0x1000, .nsid = type ?: 1},
	};
	sqe.common.dptr.sgl.length = opcode == NVME_FABRICS_COMMAND ? 1024 : 4096;
	rq->start_time_ns = kernel.now += 100;
	request_make(rq, &m.requests[i * QUEUES + of].req, &sqe);
	pdu.cmd = sqe;
	if (stock)
		stock_queue_rq(NULL, rq);
	else
		queue_rq(NULL, rq, &pdu, qid, NULL, NULL, NULL, &m.queues[i][qid]);
}

static void submit(int i, int qid, __u8 opcode, __u8 type)
{
	submit_with(qid, i, qid, opcode, type);
}

/*
 * Answers the request of queue @of. @status: of the CQE, without the phase tag; @result: dword 0 of
 * the CQE
 */
static void answer_to(int of, int i, int qid, __u16 status, __u16 result)
{
	struct request *rq = &m.requests[i * QUEUES + of].rq;
	struct nvme_request *req = &m.requests[i * QUEUES + of].req.req;
	struct nvme_tcp_rsp_pdu rsp = {
		.hdr.type = nvme_tcp_rsp,
		.cqe = {.result.u16 = result, .command_id = m.cid, .status = status << 1}};

	req->status = status;
	if (stock)
		pdu_received(&kernel.queues[i * nt_knobs.qid_stride + qid], &rsp, &m.skb, 0);
	else
		process_nvme_cqe(NULL, rq, &rsp, qid, 0, &m.queues[i][qid]);
	rq_complete(NULL, rq, 0);
}

static void answer(int i, int qid, __u16 status, __u16 result)
{
	answer_to(qid, i, qid, status, result);
}

/* The driver ends the request because of a reset or a timeout. */
static void cancel(int i, int qid)
{
	m.requests[i * QUEUES + qid].req.req.status = NVME_SC_HOST_PATH_ERROR;
	rq_complete(NULL, &m.requests[i * QUEUES + qid].rq, 0);
}

/*
 * Does what nvmf_connect_admin_queue() and nvmf_connect_io_queue() do. The driver knows the
 * controller id afterwards.
 */
static void connect_queue(int i, int qid, __u16 cntlid)
{
	submit(i, qid, NVME_FABRICS_COMMAND, NVME_FABRICS_TYPE_CONNECT);
	answer(i, qid, 0, cntlid);
	m.ctrl[i].ctrl.cntlid = cntlid;
	/* Identify gives it the subsystem before its I/O queues are connected. */
	m.ctrl[i].ctrl.subsys = (void *)&m;
}

static void connect_ctrl(int i, __u16 cntlid)
{
	for (int qid = 0; qid < QUEUES; qid++)
		connect_queue(i, qid, cntlid);
}

static void io(int i, int qid)
{
	submit(i, qid, qid ? NVME_CMD_READ : 0x06, 0);
	answer(i, qid, 0, 0);
}

#define assert_named(record, of_qid, of_cntlid)                \
	do {                                                   \
		assert_int_equal((record)->qid, of_qid);       \
		assert_int_equal((record)->cntlid, of_cntlid); \
	} while (0)

static void connect_is_of_the_controller_that_answers_it(void **state)
{
	for (int qid = 0; qid < QUEUES; qid++) {
		connect_queue(0, qid, 5);
		assert_named(last_record(), qid, 5);
		io(0, qid);
		assert_named(last_record(), qid, 5);
	}
}

static void reset_with_another_id_is_another_connection(void **state)
{
	__u32 gen[QUEUES];

	connect_ctrl(0, 5);
	for (int qid = 0; qid < QUEUES; qid++) {
		io(0, qid);
		gen[qid] = last_record()->gen;
	}
	for (int qid = 0; qid < QUEUES; qid++) {
		connect_queue(0, qid, 6);
		assert_named(last_record(), qid, 6);
		assert_int_not_equal(last_record()->gen, gen[qid]);
		gen[qid] = last_record()->gen;
		io(0, qid);
		assert_named(last_record(), qid, 6);
		assert_int_equal(last_record()->gen, gen[qid]);
	}
}

static void reset_with_the_same_id_is_another_connection(void **state)
{
	__u32 gen;

	connect_ctrl(0, 5);
	io(0, 1);
	gen = last_record()->gen;
	connect_ctrl(0, 5);
	io(0, 1);
	assert_int_not_equal(last_record()->gen, gen);
}

static void reset_keeps_the_histograms_of_the_queue(void **state)
{
	connect_ctrl(0, 5);
	io(0, 1);
	for (__u16 cntlid = 6; cntlid < 20; cntlid++) {
		connect_ctrl(0, cntlid);
		io(0, 1);
	}
	/* One histogram for the Fabrics commands of each queue, and one for the reads. */
	assert_int_equal(nt_pools[NT_POOL_HISTS].taken, QUEUES + 1);
}

static void refused_connect_is_of_no_controller(void **state)
{
	connect_ctrl(0, 5);
	submit(0, 0, NVME_FABRICS_COMMAND, NVME_FABRICS_TYPE_CONNECT);
	answer(0, 0, 0x182, 0);
	assert_named(last_record(), 0, NT_CNTLID_NONE);
	connect_queue(0, 0, 7);
	assert_named(last_record(), 0, 7);
}

static void what_a_reset_cancels_is_of_the_connection_before(void **state)
{
	__u32 gen;

	connect_ctrl(0, 5);
	io(0, 1);
	gen = last_record()->gen;
	submit(0, 1, NVME_CMD_READ, 0);
	connect_queue(0, 0, 6);
	/* The Connect of the queue has a request of its own, which is not answered either. */
	m.requests[0 * QUEUES + 2].rq.tag = 1;
	m.requests[0 * QUEUES + 2].req.queue = &m.queues[0][1];
	submit_with(2, 0, 1, NVME_FABRICS_COMMAND, NVME_FABRICS_TYPE_CONNECT);
	cancel(0, 2);
	assert_named(last_record(), 1, NT_CNTLID_NONE);
	assert_int_not_equal(last_record()->gen, gen);
	cancel(0, 1);
	assert_int_equal(last_record()->gen, gen);
	assert_named(last_record(), 1, 5);
	assert_true(last_record()->flags & NT_F_CANCELLED);
}

static void connection_from_before_is_known_by_its_first_command(void **state)
{
	m.ctrl[0].ctrl.cntlid = 9;
	io(0, 1);
	assert_named(last_record(), 1, 9);
	io(0, 0);
	assert_named(last_record(), 0, 9);
}

static void connect_that_is_not_answered_is_known_by_the_next_command(void **state)
{
	connect_ctrl(0, 5);
	submit(0, 0, NVME_FABRICS_COMMAND, NVME_FABRICS_TYPE_CONNECT);
	cancel(0, 0);
	assert_named(last_record(), 0, NT_CNTLID_NONE);
	m.ctrl[0].ctrl.cntlid = 6;
	io(0, 0);
	assert_named(last_record(), 0, 6);
}

static void other_fabrics_commands_begin_nothing(void **state)
{
	__u32 gen;

	connect_ctrl(0, 5);
	gen = queue_at(0)->gen;
	/* Property Get */
	submit(0, 0, NVME_FABRICS_COMMAND, 0x04);
	answer(0, 0, 0, 0x1234);
	assert_named(last_record(), 0, 5);
	assert_int_equal(last_record()->gen, gen);
}

static void connect_outside_the_sample_begins_a_connection(void **state)
{
	__u32 gen;

	connect_ctrl(0, 5);
	io(0, 1);
	gen = last_record()->gen;
	knobs_sample(1, false);
	for (int qid = 0; qid < QUEUES; qid++) {
		submit(0, qid, NVME_FABRICS_COMMAND, NVME_FABRICS_TYPE_CONNECT);
		rq_complete(NULL, &m.requests[0 * QUEUES + qid].rq, 0);
	}
	m.ctrl[0].ctrl.cntlid = 6;
	knobs_sample(0, false);
	io(0, 1);
	assert_named(last_record(), 1, 6);
	assert_int_not_equal(last_record()->gen, gen);
}

static void another_controller_in_the_slot_has_the_other_histograms(void **state)
{
	__u32 gen;

	connect_ctrl(0, 5);
	io(0, 1);
	gen = last_record()->gen;
	m.ctrl[1].ctrl.instance = 0;
	connect_ctrl(1, 6);
	io(1, 1);
	assert_named(last_record(), 1, 6);
	assert_int_not_equal(last_record()->gen & 1, gen & 1);
	assert_int_equal(last_record()->slot, 1);
}

/* A new controller gets the memory of a deleted one. Its queues have the same slots. */
static void another_controller_at_the_same_address_is_another(void **state)
{
	static const char *const nqns[] = {"nqn.a", "nqn.b"};
	__u32 gen[QUEUES] = {0};

	strcpy(m.host.nqn, "nqn.host");
	for (int round = 0; round < 30; round++) {
		const struct nt_names *names;

		m.ctrl[0].ctrl.subsys = NULL;
		m.opts[0].subsysnqn = (char *)nqns[round % 2];
		connect_ctrl(0, (__u16)(round + 1));
		/* A reset does not change the identity of a controller. */
		if (round % 5 == 0)
			connect_ctrl(0, (__u16)(100 + round));
		for (int qid = 0; qid < QUEUES; qid++) {
			io(0, qid);
			names = &kernel.controllers[0].names[last_record()->gen & 1];
			assert_string_equal(names->subsysnqn, nqns[round % 2]);
			assert_string_equal(names->hostnqn, "nqn.host");
			if (round)
				assert_int_not_equal(last_record()->gen & 1, gen[qid] & 1);
			gen[qid] = last_record()->gen;
			assert_int_equal(kernel.queues[qid].controller, round + 1);
		}
		/* User space gets each identity once, as long as there is room. */
		if (round >= IDENTITIES_MAX)
			continue;
		assert_int_equal(kernel.nr_identities, round + 1);
		assert_int_equal(kernel.identities[round].slot, 0);
		assert_int_equal(kernel.identities[round].who, round + 1);
		assert_string_equal(kernel.identities[round].names.subsysnqn, nqns[round % 2]);
		assert_int_equal(kernel.controllers[0].named[(round + 1) & 1], round + 2);
	}
}

/* Any queue may be the first to have a command. */
static void controller_from_before_has_one_name(void **state)
{
	m.ctrl[0].ctrl.subsys = (void *)&m;
	for (int qid = QUEUES - 1; qid >= 0; qid--) {
		io(0, qid);
		assert_string_equal(kernel.controllers[0].names[last_record()->gen & 1].subsysnqn,
				    "nqn.a");
	}
	assert_int_equal(kernel.controllers[0].last >> NT_CONTROLLER_SHIFT, 1);
}

/*
 * Checks that all records are of one queue, that the histograms have counted as many commands, and
 * that nothing was lost.
 */
static void assert_only_of(int ctrl, int qid)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < kernel.nr_records; i++) {
		nr += kernel.records[i].slot == ctrl * nt_knobs.qid_stride + qid;
		if (kernel.records[i].slot != ctrl * nt_knobs.qid_stride + qid)
			fail_msg("a record of slot %u", kernel.records[i].slot);
	}
	assert_int_equal(latencies(), nr);
	assert_int_not_equal(nr, 0);
	assert_no_losses();
	untrack();
	assert_int_equal(nt_control.tracked, 0);
}

static void queues_are_selected_when_they_are_connected(void **state)
{
	static const struct nt_selection by[] = {
		{.instances = {1, {{1, 1}}}, .queues = {1, {{2, 2}}}},
		{.cntlids = {1, {{6, 6}}}, .queues = {1, {{2, 2}}}},
		{.subsysnqn = "nqn.b", .hostnqn = "nqn.host", .queues = {1, {{2, 7}}}},
	};

	for (unsigned int i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		setup(NULL);
		strcpy((char *)m.host.nqn, "nqn.host");
		knobs_select(&by[i]);
		for (int round = 0; round < 2; round++) {
			connect_ctrl(0, 5);
			connect_ctrl(1, 6);
			for (int qid = 0; qid < QUEUES; qid++) {
				io(0, qid);
				io(1, qid);
			}
			assert_only_of(1, 2);
			/* One of them is its Connect. */
			assert_int_equal(kernel.records[0].op, NT_OP_FABRICS);
			assert_int_equal(kernel.nr_records, 2 * (round + 1));
		}
		/* It connects again as another controller. */
		connect_ctrl(1, 7);
		io(1, 2);
		assert_int_equal(kernel.nr_records, i == 1 ? 4 : 6);
	}
}

static void queues_that_were_left_out_are_selected_when_they_are_another_controllers(void **state)
{
	const struct nt_selection s = {.cntlids = {1, {{6, 6}}}};

	knobs_select(&s);
	connect_ctrl(0, 5);
	io(0, 1);
	assert_int_equal(kernel.nr_records, 0);
	connect_ctrl(0, 6);
	io(0, 1);
	assert_int_equal(kernel.nr_records, QUEUES + 1);
	assert_named(last_record(), 1, 6);
	assert_no_losses();
}

/*
 * The index is a hash table. Where another request has the place of this one, the command is found
 * by its queue and tag.
 */
static void command_that_the_index_does_not_lead_to_is_found(void **state)
{
	for (int i = 0; i < CTRLS; i++) {
		for (int qid = 0; qid < QUEUES; qid++) {
			struct request *rq = &m.requests[i * QUEUES + qid].rq;

			m.cid &= 0xf000;
			submit(!i, 1, NVME_CMD_READ, 0);
			rq->tag = 200 + qid;
			m.cid |= 200 + qid;
			submit(i, qid, qid ? NVME_CMD_READ : 0x06, 0);
			*index_of((__u64)rq) = *index_of((__u64)&m.requests[!i * QUEUES + 1].rq);
			timed_out(NULL, rq);
			answer(i, qid, 0, 0);
			assert_int_equal(last_record()->slot, i * nt_knobs.qid_stride + qid);
			assert_int_not_equal(last_record()->points[NT_H_CQE], 0);
			assert_false(in_flight(
				cmd_by_tag(queue_at(i * nt_knobs.qid_stride + qid), 200 + qid)));
			rq_complete(NULL, &m.requests[!i * QUEUES + 1].rq, 0);
		}
	}
	assert_int_equal(counted(NT_CNT_NO_START), 0);
	assert_int_equal(kernel.nr_records, 2 * CTRLS * QUEUES);
}

/* Its completions may be redirected into an interrupt. The few of an admin queue do not matter. */
static void queue_that_cpus_share_is_told(void **state)
{
	m.hctx[0].nr_ctx = 8;
	m.hctx[1].nr_ctx = 1;
	m.hctx[2].nr_ctx = 2;
	for (int qid = 0; qid < QUEUES; qid++) {
		assert_int_equal(nt_control.redirected, 0);
		io(0, qid);
	}
	assert_int_equal(nt_control.redirected, 1);
}

/*
 * The programs learn the operations of each queue: block_rq_complete knows its commands by these.
 */
static void queue_without_sq_flow_control_is_told(void **state)
{
	for (int i = 0; i < CTRLS; i++) {
		m.opts[i].disable_sqflow = i;
		io(i, 1);
		assert_int_equal(nt_control.no_sqflow, i);
		assert_int_equal(kernel.learned.mq_ops[0], (__u64)m.rq_queue[0].mq_ops);
		assert_int_equal(kernel.learned.mq_ops[1], i ? (__u64)m.rq_queue[1].mq_ops : 0);
		io(i, 0);
		assert_int_equal(kernel.learned.mq_ops[1], (__u64)m.rq_queue[1].mq_ops);
	}
}

/*
 * Code that an attacker brings into user space writes what user space can. It learns nothing that
 * lies at an address of its choice.
 */
static void names_are_not_read_where_user_space_says(void **state)
{
	struct nvmf_ctrl_options opts = {.subsysnqn = "secret", .host = &m.host};
	struct nvme_ctrl lies = {.opts = &opts, .cntlid = 9, .subsys = (void *)&m};
	struct nt_queue *q = &kernel.queues[1];

	connect_ctrl(0, 5);
	q->object = (__u64)&lies;
	q->identified = 0;
	io(0, 1);
	assert_named(last_record(), 1, 5);
	for (unsigned int i = 0; i < kernel.nr_identities; i++)
		assert_string_not_equal(kernel.identities[i].names.subsysnqn, "secret");
	for (unsigned int i = 0; i < 2; i++)
		assert_string_not_equal(kernel.controllers[0].names[i].subsysnqn, "secret");
}

static void queues_from_before_are_selected_by_their_first_command(void **state)
{
	const struct nt_selection s = {.cntlids = {1, {{6, 6}}}};

	knobs_select(&s);
	m.ctrl[0].ctrl.cntlid = 5;
	m.ctrl[1].ctrl.cntlid = 6;
	for (int i = 0; i < 3; i++) {
		io(0, 1);
		io(1, 1);
	}
	assert_only_of(1, 1);
	assert_int_equal(kernel.nr_records, 3);
}

static void what_the_host_gives_up_of_others_is_no_loss(void **state)
{
	const struct nt_selection s = {.queues = {1, {{2, 2}}}};

	knobs_select(&s);
	connect_ctrl(0, 5);
	kernel.nr_records = 0;
	submit(0, 1, NVME_CMD_READ, 0);
	timed_out(NULL, &m.requests[0 * QUEUES + 1].rq);
	cancel(0, 1);
	/* A Connect that fails is not counted either. */
	submit(0, 1, NVME_FABRICS_COMMAND, NVME_FABRICS_TYPE_CONNECT);
	timed_out(NULL, &m.requests[0 * QUEUES + 1].rq);
	cancel(0, 1);
	assert_int_equal(counted(NT_CNT_TIMEOUTS), 0);
	assert_int_equal(counted(NT_CNT_CANCELLED), 0);
	assert_int_equal(kernel.nr_records, 0);
	submit(0, 2, NVME_CMD_READ, 0);
	timed_out(NULL, &m.requests[0 * QUEUES + 2].rq);
	cancel(0, 2);
	assert_int_equal(counted(NT_CNT_TIMEOUTS), 1);
	assert_int_equal(counted(NT_CNT_CANCELLED), 1);
	assert_int_equal(kernel.nr_records, 1);
}

static void only_what_failed_has_a_record(void **state)
{
	connect_ctrl(0, 5);
	kernel.nr_records = 0;
	nt_knobs.failed = 1;
	io(0, 1);
	assert_int_equal(kernel.nr_records, 0);
	submit(0, 1, NVME_CMD_READ, 0);
	answer(0, 1, 0x281, 0);
	assert_int_equal(last_record()->status, 0x281);
	submit(0, 1, NVME_CMD_READ, 0);
	cancel(0, 1);
	assert_int_equal(kernel.nr_records, 2);
	/* Histograms count all commands. */
	assert_int_equal(latencies(), QUEUES + 1);
	nt_knobs.failed = 0;
}

/* The loader reads this time. Before it, nothing is known about the I/O queues. */
/*
 * All admin queues have the same size. It makes no difference whether Connect's answer was seen or
 * only the next command.
 */
static void a_queue_has_the_size_that_connect_says(void **state)
{
	const struct nt_queue *queues = &kernel.queues[0];

	for (int seen = 0; seen < 2; seen++) {
		for (int qid = 0; qid < 2 && seen; qid++)
			connect_queue(0, qid, 5);
		for (int qid = 0; qid < 2 && !seen; qid++)
			io(0, qid);
		assert_int_equal(queues[0].sqsize, 31);
		assert_int_equal(queues[1].sqsize, 127);
		kernel.queues[0].sqsize = kernel.queues[1].sqsize = 0;
	}
}

static void io_is_seen_by_its_queues(void **state)
{
	connect_queue(0, 0, 5);
	io(0, 0);
	assert_int_equal(nt_control.identified_ns, 0);
	connect_queue(0, 1, 5);
	assert_int_not_equal(nt_control.identified_ns, 0);
}

/*
 * The end of a command was not seen. The next command with its tag is another controller's, and is
 * left out.
 */
static void what_was_in_flight_is_released_by_one_that_is_left_out(void **state)
{
	const struct nt_selection s = {.cntlids = {1, {{6, 6}}}};

	knobs_select(&s);
	m.ctrl[0].ctrl.cntlid = 6;
	submit(0, 1, NVME_CMD_READ, 0);
	assert_int_equal(nt_control.tracked, 1);
	/* The other controller is made in the memory of the first. */
	m.ctrl[1].ctrl.instance = 0;
	m.ctrl[1].ctrl.cntlid = 7;
	submit(1, 1, NVME_CMD_READ, 0);
	untrack();
	assert_int_equal(nt_control.tracked, 0);
	answer(1, 1, 0, 0);
	assert_int_equal(kernel.nr_records, 0);
}

/* A Connect of queue @qid of the first controller, with a tag that no other command has. */
static void connect_beside(int of, int qid)
{
	m.requests[of].rq.tag = 1;
	m.requests[of].rq.q = &m.rq_queue[qid == 0];
	m.requests[of].rq.mq_hctx = &m.hctx[qid];
	m.requests[of].req.queue = &m.queues[0][qid];
	m.cid |= 1;
	submit_with(of, 0, qid, NVME_FABRICS_COMMAND, NVME_FABRICS_TYPE_CONNECT);
}

/*
 * Commands that were in flight at that Connect belong to the connection before, which had another
 * id.
 */
static void connection_that_is_left_out_drops_its_own_commands_only(void **state)
{
	const struct nt_selection s = {.cntlids = {1, {{6, 6}}}};

	knobs_select(&s);
	connect_ctrl(0, 6);
	submit(0, 1, NVME_CMD_READ, 0);
	connect_beside(2, 1);
	m.ctrl[0].ctrl.cntlid = 7;
	answer_to(2, 0, 1, 0, 7);
	assert_true(queue_left_out(&kernel.queues[1]));
	cancel(0, 1);
	assert_int_equal(counted(NT_CNT_CANCELLED), 1);
	assert_int_equal(last_record()->op, NT_OP_READ);
}

/* That Connect was given up, and another Connect of its queue is in flight. */
static void late_answer_to_connect_identifies_nothing(void **state)
{
	const struct nt_queue *q = &kernel.queues[0];
	__u16 late, next;

	submit(0, 0, NVME_FABRICS_COMMAND, NVME_FABRICS_TYPE_CONNECT);
	late = m.cid;
	connect_beside(1, 0);
	next = m.cid;
	m.cid = late;
	answer(0, 0, 0, 5);
	assert_int_not_equal(q->identified, q->gen);
	m.cid = next;
	answer_to(1, 0, 0, 0, 6);
	assert_int_equal(q->identified, q->gen);
	assert_named(last_record(), 0, 6);
}

#define ON_STOCK(test) cmocka_unit_test_setup_teardown(test, setup_stock, teardown_stock)
#define CASES(X)                                                                    \
	X(connect_is_of_the_controller_that_answers_it)                             \
	X(a_queue_has_the_size_that_connect_says)                                   \
	X(reset_with_another_id_is_another_connection)                              \
	X(reset_with_the_same_id_is_another_connection)                             \
	X(reset_keeps_the_histograms_of_the_queue)                                  \
	X(refused_connect_is_of_no_controller)                                      \
	X(what_a_reset_cancels_is_of_the_connection_before)                         \
	X(connection_from_before_is_known_by_its_first_command)                     \
	X(connect_that_is_not_answered_is_known_by_the_next_command)                \
	X(other_fabrics_commands_begin_nothing)                                     \
	X(connect_outside_the_sample_begins_a_connection)                           \
	X(another_controller_in_the_slot_has_the_other_histograms)                  \
	X(another_controller_at_the_same_address_is_another)                        \
	X(controller_from_before_has_one_name)                                      \
	X(queues_are_selected_when_they_are_connected)                              \
	X(queues_that_were_left_out_are_selected_when_they_are_another_controllers) \
	X(command_that_the_index_does_not_lead_to_is_found)                         \
	X(queue_that_cpus_share_is_told)                                            \
	X(queue_without_sq_flow_control_is_told)                                    \
	X(names_are_not_read_where_user_space_says)                                 \
	X(queues_from_before_are_selected_by_their_first_command)                   \
	X(what_the_host_gives_up_of_others_is_no_loss)                              \
	X(what_was_in_flight_is_released_by_one_that_is_left_out)                   \
	X(connection_that_is_left_out_drops_its_own_commands_only)                  \
	X(late_answer_to_connect_identifies_nothing)                                \
	X(only_what_failed_has_a_record)                                            \
	X(io_is_seen_by_its_queues)
#define TRACEPOINT_CASE(test) cmocka_unit_test_setup(test, setup),
#define STOCK_CASE(test) {"stock_" #test, test, setup_stock, teardown_stock, NULL},

int main(void)
{
	const struct CMUnitTest tests[] = {CASES(TRACEPOINT_CASE) CASES(STOCK_CASE)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
