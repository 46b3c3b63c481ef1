/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calculates which records, histograms and counts a driver's actions have to give. The model shares
 * no code with the programs. Include it after "bpf/host.h".
 */
#ifndef NTPROF_TESTS_BPF_HOST_MODEL_H
#define NTPROF_TESTS_BPF_HOST_MODEL_H

#include <stdlib.h>

#define QUEUES 3
#define REQUESTS 8
#define CPUS 2
#define INSTANCE 2
#define CNTLID 7
#define WHO 5		 /* the fifth controller with that instance number */
#define OFFSET 5000000	 /* CLOCK_REALTIME - CLOCK_MONOTONIC */
#define ADMIN_WRITE 0x09 /* Set Features */
#define ADMIN_READ 0x06	 /* Identify */
#define KEEP_ALIVE 0x18
#define PROPERTY_GET 0x04
/* Points that some kernels do not have. */
#define ARRIVALS (1u << NT_H_RX | 1u << NT_H_R2T_RX)
#define SENDS (1u << NT_H_SEND_CMD | 1u << NT_H_SEND_DATA)

#include "bpf/host_machine.h"

/* The options of the user, and the abilities of the kernel. */
struct how {
	const struct nt_selection *only;
	__u64 slower_ns;
	__u32 below;
	__u32 missing; /* bits of the points that this kernel does not have */
	enum nt_select select;
	bool stock, iostats, all, events, failed, joins_unseen;
};

/* The state of a request in the driver. */
struct work {
	bool out;      /* it is in the driver */
	bool answered; /* the target has answered it */
	bool last;     /* its data came with the SUCCESS flag, so that no CQE follows */
	bool asked;
	bool sending, sent; /* whether it has sent all that it can send for now */
	__u16 status;
	__u16 sq_head; /* of its CQE */
	__u16 generation;
	__u8 qid; /* never changes */
	__u8 fabrics;
	/* The state that the programs are expected to keep of it. */
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
	int sender[QUEUES]; /* 1 + number of the request that it sends */
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
	struct durations stages[QUEUES][NT_OPS_NR][CPUS][NT_HOST_STAGES_NR];
} w;

static bool one_in(int n)
{
	return random() % n == 0;
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

/*
 * The programs know the command of request @i as in flight, and its request begins another one.
 *
 * Return: whether that is the same command, sent again
 */
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

/* A program sees the command begin. A Connect begins a connection even if it is not measured. */
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
	/* Programs look at a Fabrics command even if it is not measured. */
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
		/*
		 * The end of that command was missed. It counts once, however often the command was
		 * sent again.
		 */
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
	assert_memory_equal(b->sqe, e, sizeof(b->sqe));
}

/* What the driver keeps of the answer is told, and of the CQE where one was seen. */
static void assert_answer(int i, const struct nt_record *r)
{
	const struct nt_answer *a = &kernel.ended.answer;
	bool given_up = r->flags & NT_F_CANCELLED;
	bool seen = r->points[NT_H_CQE] && !(r->flags & NT_F_NO_CQE);

	assert_int_equal(a->retries, m.requests[i].req.req.retries);
	assert_int_equal(a->known, NT_A_RETRIES | (given_up ? 0 : NT_A_RESULT) |
					   (!given_up && seen ? NT_A_SQ_HEAD : 0));
	assert_int_equal(a->result, given_up ? 0 : m.requests[i].req.req.result.u64);
	if (a->known & NT_A_SQ_HEAD)
		assert_int_equal(a->sq_head, w.work[i].sq_head);
}

/* Checks the state in flight of a request, which user space reads. */
static void assert_state(int i)
{
	const struct work *o = &w.work[i];
	const struct nt_queue *q = &kernel.queues[o->want.slot];
	const struct nt_cmd *c = cmd_by_tag(q, (__u32)m.requests[i].rq.tag);

	assert_int_equal(q->begun, nt_control.epoch);
	assert_true(in_flight(c));
	assert_int_equal(measured(c), o->measured);
	assert_int_equal(c->r.op, o->want.op);
	assert_int_equal(c->r.cid, o->want.cid);
	assert_int_equal(c->r.slot, o->want.slot);
	assert_int_equal(c->r.gen, o->want.gen);
	assert_int_equal(c->r.length, o->want.length);
	assert_int_equal(c->r.flags & NT_F_ADMIN_QUEUE, o->want.flags & NT_F_ADMIN_QUEUE);
	assert_int_equal(c->r.points[NT_H_SUBMIT], o->want.points[NT_H_SUBMIT]);
	if (!w.how.iostats)
		assert_int_not_equal(c->r.points[NT_H_QUEUE_RQ], 0);
}

/* The points of the command of request @i, or NULL if programs do not note them. */
static __u64 *points_of(int i)
{
	struct work *o = &w.work[i];

	return o->known && o->measured ? o->want.points : NULL;
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

/* The chain of each shape: its points in order, each with the stage that begins there. */
static void stages(const struct nt_record *r, struct nt_record *want)
{
	static const struct {
		__u8 point, stage;
	} chains[NT_SHAPES_NR][10] = {
		[NT_SHAPE_READ] = {{0, 0}, {1, 1}, {2, 2}, {8, 3}, {9, 4}, {10, 6}, {11, 0xff}},
		[NT_SHAPE_INLINE_WRITE] = {{0, 0}, {1, 1}, {2, 2}, {8, 3}, {10, 6}, {11, 0xff}},
		[NT_SHAPE_NO_DATA] = {{0, 0}, {1, 1}, {2, 2}, {8, 3}, {10, 6}, {11, 0xff}},
		[NT_SHAPE_R2T_WRITE] = {{0, 0},
					{1, 1},
					{2, 2},
					{4, 3},
					{5, 1},
					{6, 2},
					{8, 3},
					{10, 6},
					{11, 0xff}},
	};
	__u64 at[NT_POINTS_MAX], ns[NT_HOST_STAGES_NR] = {0};
	bool passed[NT_HOST_STAGES_NR] = {false}, lacks = false, sends = !(w.how.missing & SENDS);

	memcpy(at, r->points, sizeof(at));
	if (!at[NT_H_RX])
		lacks = true, at[NT_H_RX] = at[NT_H_C2H] ? at[NT_H_C2H] : at[NT_H_CQE];
	if (r->shape == NT_SHAPE_R2T_WRITE && !at[NT_H_R2T_RX])
		lacks = true, at[NT_H_R2T_RX] = at[NT_H_R2T];
	if (!sends) {
		at[NT_H_SEND_CMD] = at[NT_H_QUEUE_RQ];
		at[NT_H_SEND_DATA] = at[NT_H_R2T];
	}
	for (int k = 0; chains[r->shape][k].stage != 0xff; k++) {
		__u64 begin = at[chains[r->shape][k].point];
		__u64 end = at[chains[r->shape][k + 1].point];
		__u8 stage = chains[r->shape][k].stage;

		if (end < begin) {
			want->flags |= NT_F_UNSPLIT;
			w.counters[NT_CNT_POINT_MISSING]++;
			return;
		}
		/* Without the points of sending, both stages are in the first one. */
		if (!sends && stage == NT_HS_NETWORK_AND_TARGET)
			stage = NT_HS_NVME_TCP_SUBMISSION;
		ns[stage] += end - begin;
		passed[stage] =
			(stage || at[NT_H_SUBMIT]) && !(lacks && stage == NT_HS_NSTACK_COMPLETION);
	}
	w.counters[NT_CNT_ARRIVAL_MISSING] += lacks && !(w.how.missing & ARRIVALS);
	for (int k = 0; k < NT_HOST_STAGES_NR; k++)
		if (passed[k])
			duration(&w.stages[r->qid][r->op][kernel.cpu][k], ns[k]);
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
			assert_int_equal(nt_control.failed, nt_control.epoch);
			return;
		}
	}
	w.counters[NT_CNT_ERRORS_FULL]++;
}

/* How the host ends a request. @cancelled: it gave the command up */
struct end {
	__u16 status;
	bool cancelled, elsewhere;
	int error;
};

/* Ends a measured command. */
static void end_measured(int i, const struct end *e)
{
	struct work *o = &w.work[i];
	struct nt_record *r = &o->want;
	bool lost = e->elsewhere && r->length, error = r->status || e->status, wanted, late;
	__u64 latency;

	r->points[NT_H_COMPLETE] = kernel.now;
	latency = kernel.now - r->points[r->points[NT_H_SUBMIT] ? NT_H_SUBMIT : NT_H_QUEUE_RQ];
	r->shape = r->points[NT_H_R2T]					  ? NT_SHAPE_R2T_WRITE
		   : r->points[NT_H_C2H]				  ? NT_SHAPE_READ
		   : r->length && r->opcode % 2 && r->op != NT_OP_FABRICS ? NT_SHAPE_INLINE_WRITE
									  : NT_SHAPE_NO_DATA;
	w.counters[NT_CNT_FAILOVERS] += lost;
	/*
	 * The host reports an error that is not in the CQE, long after the CQE. It may have given
	 * the command up, so the programs draw no conclusion from its CPU.
	 */
	late = e->error && !r->status && kernel.now - r->points[NT_H_CQE] > 50000;
	if (!e->cancelled && r->points[NT_H_CQE] && !(r->flags & NT_F_NO_CQE) && o->qid && !late &&
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
	if (w.how.events)
		assert_answer(i, r);
}

/* Ends a command that is only counted. Programs have not seen its CQE. */
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
	assert_tracked(tracked);
	assert_int_equal(nt_control.redirected, w.redirected);
	assert_int_equal(kernel.nr_records, 0);
}

static void assert_head(const struct nt_hist_head *h, const struct durations *d)
{
	assert_int_equal(h->sum, d->sum);
	for (int at = 0; at < 2; at++)
		if (h->max_epoch[at] == d->max_epoch[at])
			assert_int_equal(h->max[at], d->max[at]);
}

static void assert_durations(const struct nt_hist *h, const struct durations *d)
{
	assert_head(&h->head, d);
	assert_int_equal(h->bytes, d->bytes);
	assert_int_equal(h->others, d->others);
	assert_int_equal(h->other_bytes, d->other_bytes);
	assert_memory_equal(h->buckets, d->buckets, sizeof(d->buckets));
}

static void add_durations(struct durations *to, const struct durations *d)
{
	to->sum += d->sum;
	for (unsigned int b = 0; b < NT_BUCKETS; b++)
		to->buckets[b] += d->buckets[b];
	for (int at = 0; at < 2; at++) {
		if (to->max_epoch[at] < d->max_epoch[at])
			to->max[at] = 0;
		if (to->max_epoch[at] <= d->max_epoch[at]) {
			to->max_epoch[at] = d->max_epoch[at];
			to->max[at] = d->max[at] > to->max[at] ? d->max[at] : to->max[at];
		}
	}
}

/* A bucket of stages is several of the others. */
static void assert_stage(const struct nt_stage_hist *h, const struct durations *d)
{
	__u32 buckets[NT_STAGE_BUCKETS] = {};

	assert_head(&h->head, d);
	for (unsigned int b = 0; b < NT_BUCKETS; b++)
		buckets[NT_STAGE_BUCKET(b)] += d->buckets[b];
	assert_memory_equal(h->buckets, buckets, sizeof(buckets));
}

/* Each queue has stages of its own, but all of a CPU share those of admin and Fabrics commands. */
static void assert_stages(int op, int cpu)
{
	static struct durations shared[NT_HOST_STAGES_NR];

	memset(shared, 0, sizeof(shared));
	for (int qid = 0; qid < QUEUES; qid++) {
		for (int k = 0; k < NT_HOST_STAGES_NR; k++) {
			const struct durations *d = &w.stages[qid][op][cpu][k];
			__u64 key = NT_HIST_KEY(INSTANCE * 8 + qid, WHO, op, cpu);

			if (op < NT_OP_ADMIN)
				assert_stage(&stages_with(key)->h[k], d);
			else
				add_durations(&shared[k], d);
		}
	}
	for (int k = 0; k < NT_HOST_STAGES_NR; k++)
		assert_stage(&stages_at(nt_stages_of[cpu].at[op])->h[k], &shared[k]);
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
			assert_stages(op, cpu);
	assert_int_equal(kernel.nr_errors, w.nr_errors);
	assert_memory_equal(kernel.errors, w.errors, sizeof(w.errors));
}

#endif /* NTPROF_TESTS_BPF_HOST_MODEL_H */
