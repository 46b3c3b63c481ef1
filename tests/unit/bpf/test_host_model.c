// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands of all kinds, in any order, some of them sent again, missed or given up. Each record,
 * histogram and count has to be what the model calculates from the actions of the made-up driver.
 */
#include "bpf/host.h"

#include "bpf/host_model.h"

static struct nvme_tcp_queue *queue_of_work(int i)
{
	return &m.queues[0][w.work[i].qid];
}

static void pass(__u64 ns)
{
	kernel.now += 1 + (__u64)random() % ns;
}

/*
 * Whether another command that is in the driver has the tag. @too: or one that only the programs
 * still know
 */
static bool tag_is_taken(int i, int tag, bool too)
{
	for (int k = 0; k < REQUESTS; k++)
		if (k != i && w.work[k].qid == w.work[i].qid && m.requests[k].rq.tag == tag &&
		    (w.work[k].out || (too && w.work[k].known)))
			return true;
	return false;
}

static void entry_make(int i)
{
	static const __u8 io[] = {0, 1, 1, 1, 2, 2, 2, 5, 8, 9, 0x7f};
	static const __u8 admin[] = {ADMIN_WRITE, ADMIN_READ, KEEP_ALIVE, 0x7f, 0x7f};
	struct work *o = &w.work[i];
	__u8 opcode;

	opcode = o->qid ? io[random() % sizeof(io)] : admin[random() % sizeof(admin)];
	m.requests[i].sqe = (struct nvme_command){
		.common = {.opcode = opcode,
			   .flags = 0x40,
			   .nsid = 1 + random() % 3,
			   .cdw10 = (__u32)random(),
			   .cdw11 = random() % 3,
			   .cdw12 = (__u32)random(),
			   .cdw13 = (__u32)random(),
			   .cdw14 = (__u32)random(),
			   .cdw15 = (__u32)random()},
	};
	o->fabrics = 0;
	if (opcode == 0x7f) {
		o->fabrics = one_in(2) ? NVME_FABRICS_TYPE_CONNECT : PROPERTY_GET;
		/* The other bytes of that field say nothing of the type. */
		m.requests[i].sqe.common.nsid = 0x100 * (random() % 3) + o->fabrics;
	}
	m.requests[i].sqe.common.dptr.sgl.length =
		opcode == 0 || opcode == KEEP_ALIVE || opcode == 8 || o->fabrics == PROPERTY_GET
			? 0
			: 512 * (1 + random() % 16);
}

static void begin(int i)
{
	struct work *o = &w.work[i];
	struct request *rq = &m.requests[i].rq;
	struct nvme_tcp_request *req = &m.requests[i].req;
	struct nvme_tcp_cmd_pdu pdu;
	bool seen = o->known || !one_in(12), alone;
	__u8 retries = req->req.retries + 1;
	int tag;

	pass(3000);
	if (!o->out) {
		entry_make(i);
		rq->start_time_ns = w.how.iostats ? kernel.now : 0;
		req->req.flags = 0;
		retries = 0;
	}
	o->out = true;
	o->status = 0;
	o->answered = o->last = o->asked = o->sending = o->sent = false;
	do
		tag = one_in(2) ? 9 + 256 * (int)(random() % 12) : 0x40 + (int)(random() % 8);
	while (tag_is_taken(i, tag, !seen));
	rq->tag = tag;
	req->req.retries = retries;
	m.requests[i].sqe.common.command_id = (__u16)(o->generation | tag);
	request_make(rq, req, &m.requests[i].sqe);
	pdu.cmd = m.requests[i].sqe;
	if (!seen)
		return;
	know(i);
	kernel.cpu = (__u32)random() % CPUS;
	/* The nested program stands in where every command has a state. */
	alone = !one_in(4) || w.how.only || (w.how.below && !w.how.all);
	if (!w.how.stock && alone)
		queue_rq(NULL, rq, &pdu, o->qid, NULL, NULL, NULL, req->queue);
	else if (!w.how.stock)
		queue_rq_nested(NULL, rq, &pdu, o->qid, NULL, NULL, NULL, req->queue);
	else if (alone)
		stock_queue_rq(NULL, rq);
	else
		stock_queue_rq_nested(NULL, rq);
	if (o->known && o->measured)
		o->want.points[NT_H_QUEUE_RQ] = kernel.now;
	/* It cannot know that a command has begun if that is sent again and was not seen before. */
	if (!retries || o->want.flags & NT_F_REQUEUED) {
		if (w.how.stock)
			stock_queue_rq_nested(NULL, rq);
		else
			queue_rq_nested(NULL, rq, &pdu, o->qid, NULL, NULL, NULL, req->queue);
	}
	/*
	 * The program took the pointer to the socket's functions for TLS: both lie at the same
	 * place here.
	 */
	kernel.queues[INSTANCE * 8 + o->qid].opaque = w.queues[o->qid].opaque;
	assert_int_equal(kernel.queues[INSTANCE * 8 + o->qid].gen, w.queues[o->qid].gen);
	assert_begun(i);
	if (o->known)
		assert_state(i);
}

/* A queue hands bytes to its socket, by one of the functions that kernels have for it. */
static void to_socket_of(int i, bool data)
{
	struct nvme_tcp_queue *queue = queue_of_work(i);
	unsigned long long ctx[] = {(__u64)&m.requests[i].req};
	struct msghdr msg = {.msg_iter.count = 76};

	queue->request = &m.requests[i].req;
	if (!w.how.stock && data)
		try_send_data_pdu(NULL, &m.requests[i].rq, NULL, w.work[i].qid, 0, queue);
	else if (!w.how.stock)
		try_send_cmd_pdu(NULL, &m.requests[i].rq, NULL, w.work[i].qid, 0, queue);
	else if (one_in(4))
		stock_sendpage(NULL, queue->sock, NULL, 0, 76);
	else if (one_in(3))
		stock_no_sendpage(NULL, queue->sock, NULL, 0, 24);
	else if (one_in(2))
		stock_sendmsg(NULL, queue->sock, &msg);
	else if (data)
		stock_send_data(ctx, &m.requests[i].req);
	else
		stock_send_cmd(ctx, &m.requests[i].req);
}

static void send(int i)
{
	struct work *o = &w.work[i];
	__u64 *points = points_of(i);

	pass(3000);
	w.sender[o->qid] = 1 + i;
	o->sending = true;
	if (w.how.missing & SENDS)
		return;
	to_socket_of(i, o->asked);
	if (points && !points[NT_H_SEND_CMD])
		points[NT_H_SEND_CMD] = kernel.now;
	else if (points && o->asked && !points[NT_H_SEND_DATA])
		points[NT_H_SEND_DATA] = kernel.now;
}

/* All of a command has been sent. The command may have ended long ago. */
static void send_ends(int qid, bool fails)
{
	struct nvme_tcp_queue *queue = &m.queues[0][qid];
	unsigned long long ctx[] = {(__u64)queue};
	int i = w.sender[qid] - 1;
	__u64 *points = points_of(i);

	pass(3000);
	if (w.how.stock) {
		/* First a part was sent, then the rest, then nothing is left. */
		stock_sent(ctx, queue, 1);
		queue->request = NULL;
		stock_sent(ctx, queue, fails ? -32 : 1);
	} else if (!fails) {
		done_send_req(NULL, &m.requests[i].rq, qid, queue);
	}
	if (points && points[NT_H_SEND_CMD] && !fails)
		points[points[NT_H_SENT_CMD] ? NT_H_SENT_DATA : NT_H_SENT_CMD] = kernel.now;
	if (w.how.stock) {
		stock_sent(ctx, queue, 0);
		stock_sent(ctx, queue, 1);
	}
	w.work[i].sent |= w.work[i].sending;
	w.work[i].sending = false;
	w.sender[qid] = 0;
}

static __u64 stamp(void)
{
	return one_in(10) || w.how.missing & ARRIVALS
		       ? 0
		       : kernel.now - (__u64)(random() % (one_in(4) ? 15000 : 100)) + OFFSET;
}

/* Copies a header to the queue of request @i. Other bytes of the packet are in front of it. */
static void copy(int i, const void *pdu, size_t size, __u64 stamped)
{
	const struct sk_buff skb = {.sk = &w.net[w.work[i].qid].sk, .tstamp = (ktime_t)stamped};
	int digest = one_in(2) ? HOST_PDU_DIGEST_BYTES : 0;
	char *to = queue_of_work(i)->pdu;

	memset(to, 0, HOST_PDU_BYTES);
	memcpy(to, pdu, size);
	stock_recv_pdu(NULL, &skb, (int)(random() % 1000), to, HOST_PDU_BYTES + digest, 0);
}

static void ask(int i)
{
	struct work *o = &w.work[i];
	/*
	 * The structures of tests have few members: the type of the PDU lies where the command id
	 * is.
	 */
	struct nvme_tcp_r2t_pdu pdu = {.command_id = m.requests[i].sqe.common.command_id};
	__u64 *points, stamped;

	pass(20000);
	stamped = stamp();
	points = points_of(i);
	o->asked = true;
	o->sent = false;
	if (w.how.stock)
		copy(i, &pdu, sizeof(pdu), stamped);
	else
		handle_r2t(NULL, &m.requests[i].rq, &pdu, o->qid, stamped, queue_of_work(i));
	if (!points || points[NT_H_R2T])
		return;
	points[NT_H_R2T] = kernel.now;
	arrives(i, NT_H_R2T_RX, stamped);
}

/* @last: no CQE follows */
static void receive(int i, bool last)
{
	struct request *rq = &m.requests[i].rq;
	struct nvme_tcp_queue *queue = queue_of_work(i);
	struct work *o = &w.work[i];
	__u64 *points = points_of(i), stamped;
	struct nvme_tcp_data_pdu pdu = {
		.hdr = {.type = nvme_tcp_c2h_data,
			.flags = last ? NVME_TCP_F_DATA_SUCCESS : 0xff & ~NVME_TCP_F_DATA_SUCCESS},
		.command_id = m.requests[i].sqe.common.command_id,
	};

	pass(20000);
	stamped = stamp();
	if (w.how.stock)
		copy(i, &pdu, sizeof(pdu), stamped);
	else
		handle_c2h_data(NULL, rq, o->qid, 512, stamped, &pdu, queue);
	o->answered = o->last = last;
	if (points && last)
		o->want.flags |= NT_F_NO_CQE;
	if (points && !points[NT_H_C2H]) {
		points[NT_H_C2H] = kernel.now;
		arrives(i, NT_H_RX, stamped);
	}
	pass(2000);
	if (!w.how.stock) {
		recv_data(NULL, rq, o->qid, 256, stamped, &pdu, queue);
		if (one_in(2))
			recv_data(NULL, rq, o->qid, 256, stamped, &pdu, queue);
	} else if (one_in(2)) {
		stock_in_short(NULL, queue, rq);
	} else {
		m.requests[i].req.req.status = 0;
		stock_end(NULL, rq);
	}
	if (points && last)
		points[NT_H_CQE] = kernel.now;
}

static void answer(int i)
{
	struct work *o = &w.work[i];
	bool seen = !one_in(16);
	__u64 *points = points_of(i), stamped;
	struct nvme_tcp_rsp_pdu pdu = {.hdr.type = nvme_tcp_rsp};

	pass(20000);
	stamped = stamp();
	o->status = one_in(4) ? 1 + random() % 0x2ff : 0;
	/* The bits above the status say how to try again. */
	o->status |= o->status && one_in(2) ? 0x4000 : 0;
	o->answered = true;
	pdu.cqe.command_id = m.requests[i].sqe.common.command_id;
	pdu.cqe.status = (__u16)(o->status << 1 | 1);
	pdu.cqe.result.u16 = o->qid ? 0x1234 : CNTLID;
	pdu.cqe.sq_head = o->sq_head = (__u16)random();
	m.requests[i].req.req.result.u64 = (__u64)random() << 20;
	if (!seen)
		return;
	kernel.cpu = (__u32)random() % CPUS;
	if (w.how.stock)
		copy(i, &pdu, sizeof(pdu), stamped);
	else
		process_nvme_cqe(NULL, &m.requests[i].rq, &pdu, o->qid, stamped, queue_of_work(i));
	if (!points)
		return;
	points[NT_H_CQE] = kernel.now;
	o->want.status = o->status;
	if (!points[NT_H_C2H])
		arrives(i, NT_H_RX, stamped);
	if (!w.redirected)
		w.queues[o->qid].cpu = kernel.cpu;
	if (o->fabrics == NVME_FABRICS_TYPE_CONNECT && !o->status &&
	    o->want.gen == w.queues[o->qid].gen)
		w.queues[o->qid].identified = o->want.gen;
}

static struct end end_of(int i)
{
	struct work *o = &w.work[i];
	bool seen = o->want.points[NT_H_CQE];
	bool rejected = o->answered && !o->status && one_in(6);
	struct end e = {.status = o->status};

	if (!o->answered || rejected) {
		/* The driver first waits for work that is running on its queues. */
		pass(1000);
		kernel.now += rejected ? 60000 : 0;
		e.cancelled = true;
		e.elsewhere = one_in(2) && (!rejected || o->want.length);
		e.status = e.elsewhere ? 0 : one_in(2) ? 0x370 : 0x4371;
		if (e.status != 0x370)
			m.requests[i].req.req.flags = NVME_REQ_CANCELLED;
		e.error = e.elsewhere ? 0 : 10;
		return e;
	}
	pass(one_in(3) ? 100000 : 2000);
	if (!o->status && one_in(8))
		e.status = 0x4; /* its data do not match their digest */
	e.elsewhere = o->status && o->want.length && seen && one_in(2);
	e.error = e.status && !e.elsewhere ? 10 : 0;
	/* Since Linux 6.6 */
	if (e.elsewhere && one_in(2))
		e.status = 0;
	return e;
}

static void end(int i)
{
	struct work *o = &w.work[i];
	struct request *rq = &m.requests[i].rq;
	struct end e = end_of(i);
	bool moves = is_read_or_write(rq), nested = one_in(8), gone = e.elsewhere && rq->__data_len;

	m.requests[i].req.req.status = e.status;
	rq->bio = gone ? NULL : (struct bio *)&m;
	rq->__data_len = gone ? 0 : rq->__data_len;
	kernel.cpu = e.cancelled || one_in(100) ? (__u32)random() % CPUS : w.queues[o->qid].cpu;
	if (nested)
		rq_complete_nested(NULL, rq, e.error);
	else
		rq_complete(NULL, rq, e.error);
	if (o->known && o->measured)
		end_measured(i, &e);
	else if (o->known)
		end_counted(i, &e);
	else if (!nested && all_are_known() && kernel.learned.mq_ops[!o->qid])
		w.counters[(e.status & 0x7ff) == 0x370 || (moves && gone && !e.status)
				   ? NT_CNT_NEVER_SENT
				   : NT_CNT_NO_START]++;
	rq_complete_nested(NULL, rq, e.error);
	rq->bio = (struct bio *)&m;
	if (o->known && moves) {
		/* Once more, when all of a flush sequence is done. */
		rq->__data_len = 0;
		rq_complete(NULL, rq, 0);
	}
	o->known = o->out = false;
	o->generation += o->answered ? 0x1000 : 0;
}

/* One of the driver's requests makes a step. */
static void step(void)
{
	int i = (int)(random() % REQUESTS);
	struct work *o = &w.work[i];
	__u8 opcode = m.requests[i].sqe.common.opcode;
	bool asks = opcode == 1 && (!w.how.stock || (m.requests[i].rq.tag & 0xff) == nvme_tcp_r2t);

	if (one_in(300))
		nt_control.epoch++;
	if (!o->out || (!o->fabrics && one_in(40))) {
		if (o->out && o->sending)
			send_ends(o->qid, true);
		o->generation += o->out && o->answered ? 0x1000 : 0;
		begin(i);
	} else if (one_in(40)) {
		timed_out(NULL, &m.requests[i].rq);
		w.counters[NT_CNT_TIMEOUTS] += !w.how.only || o->known;
	} else if (o->answered && one_in(20)) {
		/* The end of the command is missed. */
		o->out = false;
		o->generation += 0x1000;
	} else if (o->answered || one_in(40)) {
		end(i);
	} else if (w.sender[o->qid] && one_in(2)) {
		send_ends(o->qid, one_in(20));
	} else if (!o->sent && !w.sender[o->qid]) {
		send(i);
	} else if (asks && o->sent && !one_in(3)) {
		ask(i);
	} else if (opcode == 2 && o->qid && !one_in(3)) {
		receive(i, one_in(3));
	} else if (o->sent || o->sending) {
		answer(i);
	}
	assert_counts();
}

static void begins(const struct how *how)
{
	host_make();
	memset(&w, 0, sizeof(w));
	w.how = *how;
	nt_knobs.select = how->select;
	nt_knobs.slower_ns = how->slower_ns;
	nt_knobs.failed = how->failed;
	nt_knobs.events = nt_knobs.notes_cqe = how->events;
	nt_knobs.joins_unseen = how->joins_unseen;
	nt_knobs.missing = how->missing;
	nt_knobs.into[NT_HS_NSTACK_COMPLETION] =
		how->missing & ARRIVALS ? NT_HS_NETWORK_AND_TARGET : NT_HS_NSTACK_COMPLETION;
	nt_knobs.into[NT_HS_NETWORK_AND_TARGET] =
		how->missing & SENDS ? NT_HS_NVME_TCP_SUBMISSION : NT_HS_NETWORK_AND_TARGET;
	knobs_select(how->only);
	knobs_sample(how->below, how->all);
	nt_control.real_offset = OFFSET;
	nt_control.began_ns = nt_control.epoch = 1;
	m.ctrl[0].ctrl.instance = INSTANCE;
	m.ctrl[0].ctrl.cntlid = CNTLID;
	m.ctrl[0].ctrl.subsys = (void *)&m;
	kernel.controllers[INSTANCE].last = (WHO - 1ULL) << NT_CONTROLLER_SHIFT;
	m.opts[0].host = &m.host;
	m.opts[0].subsysnqn = "nqn";
	for (int qid = 0; qid < QUEUES; qid++) {
		w.net[qid].socket.sk = &w.net[qid].sk;
		/*
		 * This sets sk_data_ready as well: the structures of tests have few members, so
		 * both lie at the same place.
		 */
		w.net[qid].sk.sk_receive_queue.next = (void *)&w;
		w.net[qid].sk.sk_user_data = &m.queues[0][qid];
		m.queues[0][qid].sock = &w.net[qid].socket;
		w.queues[qid].opaque = qid == 2 && one_in(2);
	}
	for (int i = 0; i < REQUESTS; i++) {
		w.work[i].qid = (__u8)(i % QUEUES);
		m.requests[i].rq.q = &m.rq_queue[!w.work[i].qid];
		m.requests[i].rq.mq_hctx = &m.hctx[w.work[i].qid];
		m.requests[i].req.queue = queue_of_work(i);
	}
}

static void all_is_told_as_it_was(void **state)
{
	static const struct nt_selection some = {
		.ops = 1u << NT_OP_READ | 1u << NT_OP_WRITE | 1u << NT_OP_ADMIN,
		.sizes = {2, {{512, 2048}, {4096, 6144}}},
		.nsids = {1, {{2, 3}}},
	};
	static const struct how hows[] = {
		{.select = NT_SELECT_ALL, .iostats = true},
		{.select = NT_SELECT_ALL, .iostats = true, .events = true},
		{.select = NT_SELECT_ALL, .joins_unseen = true},
		{.select = NT_SELECT_ALL, .missing = ARRIVALS, .iostats = true},
		{.select = NT_SELECT_ALL, .missing = SENDS},
		{.select = NT_SELECT_SLOWER, .slower_ns = 30000},
		{.select = NT_SELECT_SLOWER, .slower_ns = 30000, .iostats = true},
		{.select = NT_SELECT_ALL, .failed = true},
		{.select = NT_SELECT_NONE, .iostats = true},
		{.select = NT_SELECT_ALL, .below = 1u << 31, .all = true},
		{.select = NT_SELECT_ALL, .below = 1u << 31, .iostats = true},
		{.select = NT_SELECT_NONE, .below = 1u << 31, .all = true, .iostats = true},
		{.select = NT_SELECT_ALL, .only = &some, .iostats = true},
		{.select = NT_SELECT_ALL, .only = &some, .below = 1u << 31, .events = true},
	};

	srandom(1);
	for (unsigned int round = 0; round < 2 * sizeof(hows) / sizeof(hows[0]); round++) {
		struct how how = hows[round / 2];

		how.stock = round % 2;
		begins(&how);
		for (int n = 0; n < 4000; n++)
			step();
		assert_histograms();
		assert_int_not_equal(counted(NT_CNT_REQUEUED), 0);
		assert_int_not_equal(counted(NT_CNT_CANCELLED), 0);
	}
	nt_knobs.failed = nt_knobs.events = nt_knobs.joins_unseen = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_told_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
