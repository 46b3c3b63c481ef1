// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands of all kinds, in any order, sent again, missed, given up: each record, histogram and count is what a driver did that
 * is made up here, by what that knows itself.
 */
#include "bpf/host.h"

#include <stdlib.h>

#define QUEUES 3
#define REQUESTS 8
#define CPUS 2
#define INSTANCE 2
#define CNTLID 7
#define WHO 1		 /* the first controller of its name */
#define OFFSET 5000000	 /* of the wall clock */
#define ADMIN_WRITE 0x09 /* Set Features */
#define ADMIN_READ 0x06	 /* Identify */
#define KEEP_ALIVE 0x18
#define PROPERTY_GET 0x04

#include "bpf/host_machine.h"

/* Who asks for what. */
struct how {
	const struct nt_selection *only;
	__u64 slower_ns;
	__u32 below;
	enum nt_select select;
	bool stock, iostats, all, events, failed, joins_unseen;
};

/* What the driver does with a request. */
struct work {
	bool out;      /* it has been given to the driver */
	bool answered; /* the target is done with it */
	bool last;     /* its data came with the SUCCESS flag */
	bool asked;
	bool sending, sent; /* all that it has to send for now */
	__u16 status;
	__u16 generation;
	__u8 qid; /* always the same */
	__u8 fabrics;
	/* What programs are to know of it. */
	bool known, measured;
	struct nt_record want;
};

struct durations {
	__u64 sum, bytes, others, other_bytes, max[2];
	__u32 max_epoch[2];
	__u32 buckets[NT_BUCKETS];
};

static struct {
	struct how how;
	struct {
		struct sock sk;
		__u32 rcv_nxt;
		struct socket socket;
	} net[QUEUES];
	struct work work[REQUESTS];
	int sender[QUEUES]; /* 1 + its request */
	struct {
		__u32 gen, identified;
		__u32 cpu;
		bool opaque;
	} queues[QUEUES];
	bool redirected;
	__u64 counters[NT_COUNTERS_NR];
	struct {
		struct nt_error error;
		__u64 count;
	} errors[ERRORS_MAX];
	unsigned int nr_errors;
	struct durations latencies[QUEUES][NT_OPS_NR][CPUS];
	struct durations stages[NT_OPS_NR][CPUS][NT_HOST_STAGES_NR];
} w;

static bool one_in(int n)
{
	return random() % n == 0;
}

static void pass(__u64 ns)
{
	kernel.now += 1 + (__u64)random() % ns;
}

static struct nvme_tcp_queue *queue_of_work(int i)
{
	return &m.queues[0][w.work[i].qid];
}

static void duration(struct durations *d, __u64 ns)
{
	__u32 at = nt_control.epoch & 1;

	if (d->max_epoch[at] != nt_control.epoch)
		d->max[at] = 0;
	d->max_epoch[at] = nt_control.epoch;
	d->max[at] = ns > d->max[at] ? ns : d->max[at];
	d->sum += ns;
	d->buckets[nt_bucket(ns)]++;
}

/* It was in flight as far as programs know, and is not any more, but for its request. */
static bool work_unended(int i)
{
	bool again = m.requests[i].req.req.retries;

	w.counters[again ? NT_CNT_REQUEUED : NT_CNT_OVERWRITTEN]++;
	w.work[i].known = false;
	return again;
}

static bool is_selected(const struct nvme_command *e, const struct nt_record *r)
{
	return !w.how.only || nt_selects_command(w.how.only, r->op, r->opcode, r->length, r->nsid,
						 (__u64)e->common.cdw11 << 32 | e->common.cdw10);
}

static __u8 operation(__u8 opcode, bool admin)
{
	if (opcode == 0x7f)
		return NT_OP_FABRICS;
	if (admin)
		return NT_OP_ADMIN;
	switch (opcode) {
	case 0:
		return NT_OP_FLUSH;
	case 1:
		return NT_OP_WRITE;
	case 2:
		return NT_OP_READ;
	case 8:
		return NT_OP_WRITE_ZEROES;
	case 9:
		return NT_OP_DISCARD;
	}
	return NT_OP_OTHER;
}

/* A program sees the beginning. @connect: it is one, and begins a connection whether it is measured or not */
static void know(int i)
{
	const struct nvme_command *e = &m.requests[i].sqe;
	__u64 slba = (__u64)e->common.cdw11 << 32 | e->common.cdw10;
	struct work *o = &w.work[i];
	bool connect = o->fabrics == NVME_FABRICS_TYPE_CONNECT, again = false, counted_only;
	__u8 op = operation(e->common.opcode, !o->qid);
	__u32 *gen = &w.queues[o->qid].gen;

	o->want = (struct nt_record){.op = op,
				     .opcode = e->common.opcode,
				     .cid = e->common.command_id,
				     .qid = o->qid,
				     .slot = INSTANCE * 8 + o->qid,
				     .nsid = e->common.nsid,
				     .length = e->common.dptr.sgl.length,
				     .flags = o->qid ? 0 : NT_F_ADMIN_QUEUE};
	if (o->qid && (op == NT_OP_READ || op == NT_OP_WRITE || op == NT_OP_WRITE_ZEROES ||
		       e->common.opcode == 5))
		o->want.slba = slba;
	o->measured = is_selected(e, &o->want);
	counted_only = o->measured && w.how.all;
	if (w.how.below &&
	    nt_sample_mix(o->qid, e->common.command_id, o->want.length, slba) >= w.how.below)
		o->measured = false;
	counted_only = counted_only && !o->measured;
	if (o->known)
		again = work_unended(i);
	/* A Fabrics command is looked at, whether it is measured or not. */
	if (o->fabrics || o->measured || counted_only) {
		if (connect || !*gen)
			*gen += *gen ? 2 : 1;
		if (!connect)
			w.queues[o->qid].identified = *gen;
	}
	if (!o->measured && !counted_only)
		return;
	for (int k = 0; k < REQUESTS; k++) {
		if (k == i || !w.work[k].known || w.work[k].qid != o->qid ||
		    m.requests[k].rq.tag != m.requests[i].rq.tag)
			continue;
		/* Its end was missed, however often it was sent again. */
		w.counters[NT_CNT_OVERWRITTEN]++;
		w.work[k].known = false;
	}
	o->known = true;
	o->want.gen = *gen;
	o->want.flags |= again ? NT_F_REQUEUED : 0;
	o->want.points[NT_H_SUBMIT] = m.requests[i].rq.start_time_ns;
}

static void identify(int i, struct nt_record *r)
{
	r->cntlid = r->gen == w.queues[w.work[i].qid].identified ? CNTLID : NT_CNTLID_NONE;
}

#define assert_same(member) assert_int_equal(got->member, want->member)
static void assert_record(const struct nt_record *got, const struct nt_record *want)
{
	assert_same(side);
	assert_same(op);
	assert_same(opcode);
	assert_same(cid);
	assert_same(status);
	assert_same(qid);
	assert_same(cntlid);
	assert_same(slot);
	assert_same(gen);
	assert_same(nsid);
	assert_same(length);
	assert_same(flags);
	assert_same(slba);
	for (int i = 0; i < NT_POINTS_MAX; i++)
		assert_same(points[i]);
}

static void assert_begun(int i)
{
	const struct nvme_common_command *e = &m.requests[i].sqe.common;
	struct nt_record want = w.work[i].want;
	const struct nt_begun *b = kernel.begun;

	assert_int_equal(kernel.nr_begun, w.how.events && w.work[i].known && w.work[i].measured);
	if (!kernel.nr_begun)
		return;
	kernel.nr_begun = 0;
	want.flags |= NT_F_BEGUN;
	identify(i, &want);
	assert_record(&b->r, &want);
	assert_int_equal(b->cdw[0], e->cdw10);
	assert_int_equal(b->cdw[1], e->cdw11);
	assert_int_equal(b->cdw[2], e->cdw12);
	assert_int_equal(b->cdw[3], e->cdw13);
	assert_int_equal(b->cdw[4], e->cdw14);
	assert_int_equal(b->cdw[5], e->cdw15);
	assert_int_equal(b->sqe_flags, e->flags);
}

/* Of those that are out, and of those that programs have for such. */
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
		/* The other bytes say nothing of it. */
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
	bool seen = o->known || !one_in(12);
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
	if (!w.how.stock)
		queue_rq(NULL, rq, &pdu, o->qid, NULL, NULL, NULL, req->queue);
	else if (!one_in(4) || w.how.only || (w.how.below && !w.how.all))
		stock_queue_rq(NULL, rq);
	else /* It stands in, where all have states. */
		stock_queue_rq_nested(NULL, rq);
	if (o->known && o->measured)
		o->want.points[NT_H_QUEUE_RQ] = kernel.now;
	/* Of one that is sent again, and was not seen before, it cannot know that it has begun. */
	if (w.how.stock && (!retries || o->want.flags & NT_F_REQUEUED))
		stock_queue_rq_nested(NULL, rq);
	/* What is there is the function of its socket, not TLS. */
	kernel.queues[INSTANCE * 8 + o->qid].opaque = w.queues[o->qid].opaque;
	assert_int_equal(kernel.queues[INSTANCE * 8 + o->qid].gen, w.queues[o->qid].gen);
	assert_begun(i);
}

/* The command of @i, if its points are of interest. */
static __u64 *points_of(int i)
{
	struct work *o = &w.work[i];

	return o->known && o->measured ? o->want.points : NULL;
}

/* What a queue hands to its socket, by whichever function this kernel has. */
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
	to_socket_of(i, o->asked);
	if (points && !points[NT_H_SEND_CMD])
		points[NT_H_SEND_CMD] = kernel.now;
	else if (points && o->asked && !points[NT_H_SEND_DATA])
		points[NT_H_SEND_DATA] = kernel.now;
}

/* All of it has been sent, though what was sent may have ended long since. */
static void send_ends(int qid, bool fails)
{
	struct nvme_tcp_queue *queue = &m.queues[0][qid];
	unsigned long long ctx[] = {(__u64)queue};
	int i = w.sender[qid] - 1;
	__u64 *points = points_of(i);

	pass(3000);
	if (w.how.stock) {
		/* A part of it; then the rest; then there is nothing to send. */
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
	return one_in(10) ? 0 : kernel.now - (__u64)(random() % (one_in(4) ? 15000 : 100)) + OFFSET;
}

static void arrives(int i, enum nt_host_point point, __u64 stamped)
{
	struct work *o = &w.work[i];

	if (w.queues[o->qid].opaque)
		return;
	if (w.how.joins_unseen && !(o->want.flags & NT_F_ARRIVAL_JOINED)) {
		o->want.flags |= NT_F_ARRIVAL_JOINED;
		w.counters[NT_CNT_ARRIVAL_JOINED]++;
	}
	o->want.points[point] = stamped ? stamped - OFFSET : 0;
}

/* A header is copied to where the queue of @i has it, from behind other bytes of a packet. */
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
	/* Its type is where vmlinux.h has the command id. */
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
	/* How to try again is said above that. */
	o->status |= o->status && one_in(2) ? 0x4000 : 0;
	o->answered = true;
	pdu.cqe.command_id = m.requests[i].sqe.common.command_id;
	pdu.cqe.status = (__u16)(o->status << 1 | 1);
	pdu.cqe.result.u16 = o->qid ? 0x1234 : CNTLID;
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

/* The stages between the points that a shape passes, in their order; each point begins the stage that it stands with. */
static void stages(const struct nt_record *r, struct nt_record *want)
{
	static const struct {
		__u8 point, stage;
	} chains[NT_SHAPES_NR][10] = {
		[NT_SHAPE_READ] = {{0, 0}, {1, 1}, {2, 2}, {8, 3}, {9, 4}, {10, 5}, {11, 0xff}},
		[NT_SHAPE_INLINE_WRITE] = {{0, 0}, {1, 1}, {2, 2}, {8, 3}, {10, 5}, {11, 0xff}},
		[NT_SHAPE_NO_DATA] = {{0, 0}, {1, 1}, {2, 2}, {8, 3}, {10, 5}, {11, 0xff}},
		[NT_SHAPE_R2T_WRITE] = {{0, 0},
					{1, 1},
					{2, 2},
					{4, 3},
					{5, 1},
					{6, 2},
					{8, 3},
					{10, 5},
					{11, 0xff}},
	};
	__u64 at[NT_POINTS_MAX], ns[NT_HOST_STAGES_NR] = {0}, begin, end;
	bool passed[NT_HOST_STAGES_NR] = {false}, lacks = false;

	memcpy(at, r->points, sizeof(at));
	if (!at[NT_H_RX])
		lacks = true, at[NT_H_RX] = at[NT_H_C2H] ? at[NT_H_C2H] : at[NT_H_CQE];
	if (r->shape == NT_SHAPE_R2T_WRITE && !at[NT_H_R2T_RX])
		lacks = true, at[NT_H_R2T_RX] = at[NT_H_R2T];
	for (int k = 0; chains[r->shape][k].stage != 0xff; k++) {
		__u8 stage = chains[r->shape][k].stage;

		begin = at[chains[r->shape][k].point];
		end = at[chains[r->shape][k + 1].point];
		if (end < begin) {
			want->flags |= NT_F_UNSPLIT;
			w.counters[NT_CNT_POINT_MISSING]++;
			return;
		}
		ns[stage] += end - begin;
		passed[stage] =
			(stage || at[NT_H_SUBMIT]) && !(lacks && stage == NT_HS_NSTACK_COMPLETION);
	}
	w.counters[NT_CNT_ARRIVAL_MISSING] += lacks;
	for (int k = 0; k < NT_HOST_STAGES_NR; k++)
		if (passed[k])
			duration(&w.stages[r->op][kernel.cpu][k], ns[k]);
}

static void fails_with(const struct work *o, __u16 status)
{
	const struct nt_error key = {
		.slot = o->want.slot, .who = WHO, .status = status & 0x7ff, .op = o->want.op};

	for (unsigned int k = 0; k < ERRORS_MAX; k++) {
		if (k == w.nr_errors)
			w.errors[w.nr_errors++].error = key;
		if (!memcmp(&w.errors[k].error, &key, sizeof(key))) {
			w.errors[k].count++;
			return;
		}
	}
	w.counters[NT_CNT_ERRORS_FULL]++;
}

/* How the host ends a request, and whether it has given its command up. */
struct end {
	__u16 status;
	bool cancelled, elsewhere;
	int error;
};

static struct end end_of(int i)
{
	struct work *o = &w.work[i];
	bool seen = o->want.points[NT_H_CQE];
	bool rejected = o->answered && !o->status && one_in(6);
	struct end e = {.status = o->status};

	if (!o->answered || rejected) {
		/* It waits for what its queues are doing. */
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
		e.status = 0x4; /* its data are not what their digest says */
	e.elsewhere = o->status && o->want.length && seen && one_in(2);
	e.error = e.status && !e.elsewhere ? 10 : 0;
	/* Since Linux 6.6 */
	if (e.elsewhere && one_in(2))
		e.status = 0;
	return e;
}

/* It is measured. */
static void end_measured(int i, const struct end *e)
{
	struct work *o = &w.work[i];
	struct nt_record *r = &o->want;
	bool lost = e->elsewhere && r->length, error = r->status || e->status, wanted;
	__u64 latency;

	r->points[NT_H_COMPLETE] = kernel.now;
	latency = kernel.now - r->points[r->points[NT_H_SUBMIT] ? NT_H_SUBMIT : NT_H_QUEUE_RQ];
	r->shape = r->points[NT_H_R2T]					  ? NT_SHAPE_R2T_WRITE
		   : r->points[NT_H_C2H]				  ? NT_SHAPE_READ
		   : r->length && r->opcode % 2 && r->op != NT_OP_FABRICS ? NT_SHAPE_INLINE_WRITE
									  : NT_SHAPE_NO_DATA;
	w.counters[NT_CNT_FAILOVERS] += lost;
	if (!e->cancelled && r->points[NT_H_CQE] && !(r->flags & NT_F_NO_CQE) && o->qid &&
	    w.queues[o->qid].cpu != kernel.cpu)
		w.redirected = true;
	if (e->cancelled) {
		w.counters[NT_CNT_CANCELLED]++;
		r->flags |= NT_F_CANCELLED;
	} else if (error) {
		r->status = r->status ?: e->status;
		fails_with(o, r->status);
	} else {
		struct durations *d = &w.latencies[o->qid][r->op][kernel.cpu];

		w.counters[NT_CNT_SUBMIT_MISSING] += !r->points[NT_H_SUBMIT];
		duration(d, latency);
		d->bytes += r->length;
		stages(r, r);
	}
	r->flags |= w.how.events ? (__u32)m.requests[i].req.req.retries << NT_F_RETRIES_SHIFT : 0;
	wanted = w.how.select == NT_SELECT_ALL ||
		 (w.how.select == NT_SELECT_SLOWER && latency >= w.how.slower_ns);
	wanted = wanted && (!w.how.failed || e->cancelled || error);
	assert_int_equal(kernel.nr_records, wanted);
	if (!wanted)
		return;
	kernel.nr_records = 0;
	identify(i, r);
	assert_record(kernel.records, r);
	assert_int_equal(kernel.records->shape, r->shape);
}

/* It is only counted: what its CQE has said was not seen. */
static void end_counted(int i, const struct end *e)
{
	const struct work *o = &w.work[i];
	struct durations *d = &w.latencies[o->qid][o->want.op][kernel.cpu];

	if (e->elsewhere && o->want.length) {
		w.counters[NT_CNT_FAILOVERS]++;
		w.counters[NT_CNT_CANCELLED]++;
	} else if (e->error && e->cancelled) {
		w.counters[NT_CNT_CANCELLED]++;
	} else if (e->error) {
		fails_with(o, e->status);
	} else {
		d->others++;
		d->other_bytes += o->want.length;
	}
}

static bool all_are_known(void)
{
	return !w.how.only && (!w.how.below || w.how.all);
}

static void end(int i)
{
	struct work *o = &w.work[i];
	struct request *rq = &m.requests[i].rq;
	struct end e = end_of(i);
	bool moves = is_read_or_write(rq), nested = one_in(8), gone = e.elsewhere && rq->__data_len;

	m.requests[i].req.req.status = e.status;
	rq->bio = gone ? NULL : (struct bio *)&m;
	kernel.cpu = e.cancelled || one_in(100) ? (__u32)random() % CPUS : w.queues[o->qid].cpu;
	if (nested)
		rq_complete_nested(NULL, rq, e.error);
	else
		rq_complete(NULL, rq, e.error);
	if (o->known && o->measured)
		end_measured(i, &e);
	else if (o->known)
		end_counted(i, &e);
	else if (!nested && all_are_known() && nt_control.mq_ops[!o->qid])
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

static void assert_counts(void)
{
	unsigned int tracked = 0;

	for (unsigned int n = 0; n < NT_COUNTERS_NR; n++) {
		__u64 got = 0;

		for (int cpu = 0; cpu < CPUS; cpu++)
			got += nt_counters[cpu].n[n];
		if (got != w.counters[n])
			fail_msg("counter %u: %llu, not %llu", n, got, w.counters[n]);
	}
	for (int i = 0; i < REQUESTS; i++)
		tracked += w.work[i].known && w.work[i].measured;
	assert_int_equal(nt_control.tracked, nt_knobs.tracks ? tracked : 0);
	assert_int_equal(nt_control.redirected, w.redirected);
	assert_int_equal(kernel.nr_records, 0);
}

static void assert_durations(const struct nt_hist *h, const struct durations *d)
{
	assert_int_equal(h->sum, d->sum);
	assert_int_equal(h->bytes, d->bytes);
	assert_int_equal(h->others, d->others);
	assert_int_equal(h->other_bytes, d->other_bytes);
	assert_memory_equal(h->buckets, d->buckets, sizeof(d->buckets));
	for (int at = 0; at < 2; at++)
		if (h->max_epoch[at] == d->max_epoch[at])
			assert_int_equal(h->max[at], d->max[at]);
}

static void assert_histograms(void)
{
	static const struct nt_hist none;

	for (int qid = 0; qid < QUEUES; qid++) {
		for (int op = 0; op < NT_OPS_NR; op++) {
			for (int cpu = 0; cpu < CPUS; cpu++) {
				__u64 key = NT_HIST_KEY(INSTANCE * 8 + qid, WHO, op, cpu);
				const struct nt_hist *h = &none;

				for (unsigned int nr = 1; nr < HISTS; nr++)
					if (hist_at(nr)->key == key)
						h = hist_at(nr);
				assert_durations(h, &w.latencies[qid][op][cpu]);
			}
		}
	}
	for (int op = 0; op < NT_OPS_NR; op++)
		for (int cpu = 0; cpu < CPUS; cpu++)
			for (int k = 0; k < NT_HOST_STAGES_NR; k++)
				assert_durations(&stages_at(nt_stages_of[cpu].at[op])->h[k],
						 &w.stages[op][cpu][k]);
	assert_int_equal(kernel.nr_errors, w.nr_errors);
	assert_memory_equal(kernel.errors, w.errors, sizeof(w.errors));
}

/* Something that a driver does next with one of its requests. */
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
		/* Its end is missed. */
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
	nt_knobs.events = how->events;
	nt_knobs.joins_unseen = how->joins_unseen;
	knobs_select(how->only);
	knobs_sample(how->below, how->all);
	nt_control.real_offset = OFFSET;
	nt_control.began_ns = nt_control.epoch = 1;
	m.ctrl[0].ctrl.instance = INSTANCE;
	m.ctrl[0].ctrl.cntlid = CNTLID;
	m.ctrl[0].ctrl.subsys = (void *)&m;
	m.opts[0].host = &m.host;
	m.opts[0].subsysnqn = "nqn";
	for (int qid = 0; qid < QUEUES; qid++) {
		w.net[qid].socket.sk = &w.net[qid].sk;
		/* Its sk_data_ready, too, of which vmlinux.h has no more. */
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

	(void)state;
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
