/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calculates which records, histograms, errors and losses the commands of a target have to give. It
 * shares no code with the programs in bpf/. Include it after "bpf/target_steps.h".
 */
#ifndef NTPROF_TESTS_BPF_TARGET_MODEL_H
#define NTPROF_TESTS_BPF_TARGET_MODEL_H

/* @steps: the steps, and END after the last */
static const struct kind {
	enum step steps[10];
	__u8 opcode, op, shape, is;
	__u32 length;
} kinds[] = {
#define WITH_LBA 1
#define ADMIN 2
#define IN_CAPSULE 4
#define FOR_HOST 8
#define KIND(opcode, op, shape, length, is, ...)                                \
	{                                                                       \
		{__VA_ARGS__}, opcode, NT_OP_##op, NT_SHAPE_##shape, is, length \
	}
	KIND(2, READ, READ, 4096, WITH_LBA | FOR_HOST, EXECUTE, DONE, DATA_PDU, DATA, RESPONSE),
	KIND(2, READ, READ, 512, WITH_LBA | FOR_HOST, EXECUTE, DONE, DATA_PDU, DATA, RESPONSE),
	KIND(1, WRITE, INLINE_WRITE, 4096, WITH_LBA | IN_CAPSULE, RECEIVE, EXECUTE, DONE, RESPONSE),
	KIND(1, WRITE, R2T_WRITE, 65536, WITH_LBA, DONE, R2T, H2C, RECEIVE, H2C, RECEIVE, EXECUTE,
	     DONE, RESPONSE),
	KIND(0, FLUSH, NO_DATA, 0, 0, EXECUTE, DONE, RESPONSE),
	KIND(9, DISCARD, INLINE_WRITE, 16, IN_CAPSULE, RECEIVE, EXECUTE, DONE, RESPONSE),
	KIND(8, WRITE_ZEROES, NO_DATA, 0, WITH_LBA, EXECUTE, DONE, RESPONSE),
	KIND(5, OTHER, R2T_WRITE, 8192, WITH_LBA, DONE, R2T, H2C, RECEIVE, EXECUTE, DONE, RESPONSE),
	/* Verify. On admin queues its opcode is another command's (Asynchronous Event Request). */
	KIND(0x0c, OTHER, NO_DATA, 0, 0, EXECUTE, DONE, RESPONSE),
	KIND(6, ADMIN, READ, 4096, ADMIN | FOR_HOST, EXECUTE, DONE, DATA_PDU, DATA, RESPONSE),
	KIND(9, ADMIN, INLINE_WRITE, 8, ADMIN | IN_CAPSULE, RECEIVE, EXECUTE, DONE, RESPONSE),
	KIND(9, ADMIN, NO_DATA, 0, ADMIN, EXECUTE, DONE, RESPONSE),
	KIND(0x0c, ADMIN, NO_DATA, 0, ADMIN, RESPONSE),
	/* Property Get, and Authentication Receive. */
	KIND(0x7f, FABRICS, NO_DATA, 0, ADMIN, EXECUTE, DONE, RESPONSE),
	KIND(0x7f, FABRICS, INLINE_WRITE, 512, ADMIN | FOR_HOST, EXECUTE, DONE, DATA_PDU, DATA,
	     RESPONSE),
};
/* The first command of a connection. */
static const struct kind connect_kind =
	KIND(0x7f, FABRICS, INLINE_WRITE, 1024, IN_CAPSULE, RECEIVE, EXECUTE, DONE, RESPONSE);

/* The state of a command. */
struct life {
	const struct kind *kind;
	const enum step *next;
	struct nvmet_tcp_cmd *cmd;
	struct nvme_command *sqe;
	__u64 last;   /* time of its last step */
	__u16 status; /* status of its response */
	bool has_state, is_measured;
	struct nt_record r;
};

static struct {
	struct {
		bool is_open, lingers, is_known;
		__u32 gen;
		struct life life[COMMANDS + 1]; /* the last one is Connect */
	} of[CONNECTIONS];
	struct nt_hist hists[HISTS];
	struct nt_stage_hists stages[STAGES];
	unsigned int nr_hists, nr_stages;
	__u64 counts[NT_COUNTERS_NR], alikes[NT_ALIKE], lost, pending;
	struct nt_error errors[ERRORS_MAX];
	__u64 error_counts[ERRORS_MAX];
	unsigned int nr_errors, ended, told;
	__u16 cid;
	bool misses;
} model;

static const struct nt_selection selections[] = {
	{.cntlids = {1, {{5, 6}}}},
	/* The target ignores instances: only a host has them. */
	{.cntlids = {1, {{7, 7}}}, .instances = {1, {{0, 9}}}},
	{.queues = {2, {{1, 1}, {3, 3}}}},
	{.ops = 1u << NT_OP_READ | 1u << NT_OP_DISCARD},
	{.nsids = {1, {{2, 2}}}},
	{.sizes = {1, {{0, 4096}}}, .queues = {1, {{1, 9}}}},
	{.lbas = {1, {{100, 600}}}},
	{.hostnqn = "nqn.host"},
	{.subsysnqn = "nqn.subsystems"},
};
#define SELECTIONS (sizeof(selections) / sizeof(selections[0]))
static const struct nt_selection none_selected, *selected;

static bool chance(int n)
{
	return random() % n == 0;
}

static bool has(const struct nt_ranges *l, __u64 n)
{
	for (unsigned int i = 0; i < l->nr; i++)
		if (n >= l->range[i].from && n <= l->range[i].to)
			return true;
	return !l->nr;
}

static bool is_of_selected_queue(int i)
{
	const struct nvmet_sq *sq = &m.queue[i].nvme_sq;

	if (selected->subsysnqn[0] || (selected->hostnqn[0] && !sq->ctrl))
		return false;
	return has(&selected->queues, sq->qid) &&
	       has(&selected->cntlids, sq->ctrl ? sq->ctrl->cntlid : NT_CNTLID_NONE);
}

static bool is_selected(const struct kind *kind, const struct nvme_common_command *e)
{
	__u64 slba = (__u64)e->cdw11 << 32 | e->cdw10;

	return (!selected->ops || selected->ops >> kind->op & 1) &&
	       has(&selected->sizes, kind->length) &&
	       (!selected->nsids.nr ||
		(kind->op != NT_OP_FABRICS && has(&selected->nsids, e->nsid))) &&
	       (!selected->lbas.nr || (kind->is & WITH_LBA && has(&selected->lbas, slba)));
}

static void hist_add(struct nt_hist_head *h, __u32 *bucket, __u64 ns)
{
	const int at = nt_control.epoch % 2;

	++*bucket;
	h->sum += ns;
	if (ns > h->max[at])
		h->max[at] = ns;
}

static void hist_begin_interval(struct nt_hist_head *h)
{
	const int at = nt_control.epoch % 2;

	if (h->max_epoch[at] != nt_control.epoch)
		h->max[at] = 0;
	h->max_epoch[at] = nt_control.epoch;
}

static struct nt_hist *hist_of(const struct nt_record *r)
{
	const __u64 key = NT_HIST_KEY(r->slot, r->gen, r->op, kernel.cpu);

	for (unsigned int i = 0; i < model.nr_hists; i++)
		if (model.hists[i].key == key)
			return &model.hists[i];
	model.hists[model.nr_hists].key = key;
	return &model.hists[model.nr_hists++];
}

/*
 * Each queue has stages of its own, but those of admin and Fabrics commands. The program that has
 * counted the latency has taken them.
 */
static void stages_take_of(const struct nt_record *r)
{
	const __u64 key = NT_HIST_KEY(r->slot, r->gen, r->op, kernel.cpu);
	const __s32 nr = (__s32)(stages_with(key) - nt_first_stages);

	hist_of(r)->stages = nr ?: NT_STAGES_SHARED;
	assert_int_equal(nr != 0, r->op < NT_OP_ADMIN);
	if (nr)
		model.stages[nr].h[0].key = key;
}

static struct nt_stage_hists *stages_of(const struct nt_record *r)
{
	__s32 nr = hist_of(r)->stages;

	if (nr > 0)
		return &model.stages[nr];
	nr = (__s32)nt_stages_of[kernel.cpu].at[r->op];
	assert_int_not_equal(nr, 0);
	model.stages[nr].h[0].key = r->op + 1;
	return &model.stages[nr];
}

/* Calculates the stages of a command. Return: false if a point that they need is missing */
static bool split(const struct nt_record *r, __u64 *stage, bool *lacks)
{
	const __u64 *p = r->points;
	const bool r2t = r->shape == NT_SHAPE_R2T_WRITE;
	const __u64 rx = p[NT_T_RX] ?: p[NT_T_CMD], data_rx = p[NT_T_DATA_RX] ?: p[NT_T_DATA];

	*lacks = !p[NT_T_RX] || (r2t && !p[NT_T_DATA_RX]);
	if (!p[NT_T_EXEC] || !p[NT_T_DONE] || !p[NT_T_SEND] || (r2t && !p[NT_T_DATA]))
		return false;
	stage[NT_TS_NSTACK_SUBMISSION] = p[NT_T_CMD] - rx + (r2t ? p[NT_T_DATA] - data_rx : 0);
	stage[NT_TS_NVMET_TCP_SUBMISSION] =
		p[NT_T_EXEC] - p[NT_T_CMD] - (r2t ? p[NT_T_DATA] - p[NT_T_SEND_R2T] : 0);
	stage[NT_TS_NETWORK_AND_HOST] = r2t ? data_rx - p[NT_T_SEND_R2T] : 0;
	stage[NT_TS_TARGET_SUBSYSTEM] = p[NT_T_DONE] - p[NT_T_EXEC];
	stage[NT_TS_NVMET_TCP_COMPLETION] = p[NT_T_SEND] - p[NT_T_DONE];
	stage[NT_TS_SEND_RESPONSE] = p[NT_T_SENT] - p[NT_T_SEND];
	return true;
}

static void count_stages(struct nt_record *r)
{
	__u64 stage[NT_STAGES_MAX] = {};
	struct nt_stage_hists *s;
	bool lacks, is_split = !(r->flags & NT_F_UNSPLIT) && split(r, stage, &lacks);

	if (!is_split)
		model.counts[NT_CNT_POINT_MISSING]++;
	if (r->flags & NT_F_UNSPLIT)
		return;
	if (!is_split)
		r->flags |= NT_F_UNSPLIT;
	if (nt_knobs.no_histograms) {
		model.counts[NT_CNT_ARRIVAL_MISSING] += is_split && lacks;
		return;
	}
	s = stages_of(r);
	if (s->h[0].max_epoch[nt_control.epoch % 2] != nt_control.epoch)
		for (int i = 0; i < NT_STAGES_MAX; i++)
			hist_begin_interval(&s->h[i].head);
	if (!is_split)
		return;
	model.counts[NT_CNT_ARRIVAL_MISSING] += lacks;
	for (int i = 0; i < NT_TARGET_STAGES_NR; i++) {
		if ((i == NT_TS_NETWORK_AND_HOST && r->shape != NT_SHAPE_R2T_WRITE) ||
		    (i == NT_TS_NSTACK_SUBMISSION && lacks))
			continue;
		hist_add(&s->h[i].head, &s->h[i].buckets[nt_bucket(stage[i]) / 4], stage[i]);
	}
}

static void count_error(const struct nt_record *r)
{
	const struct nt_error e = {
		.slot = r->slot, .who = r->gen, .status = r->status & 0x7ff, .op = r->op};
	unsigned int i;

	for (i = 0; i < model.nr_errors; i++)
		if (!memcmp(&model.errors[i], &e, sizeof(e)))
			break;
	if (i == ERRORS_MAX) {
		model.counts[NT_CNT_ERRORS_FULL]++;
		return;
	}
	model.errors[i] = e;
	model.error_counts[i]++;
	model.nr_errors += i == model.nr_errors;
}

/* Fills in the queue and controller, as they are known now. */
static void identify(struct nt_record *r, int i)
{
	r->side = NT_TARGET;
	r->qid = model.of[i].is_known ? m.queue[i].nvme_sq.qid : 0;
	r->cntlid = model.of[i].is_known ? m.ctrl[i].cntlid : NT_CNTLID_NONE;
}

/* Sends an event to the ring buffer, which may have no room. Return: whether it had */
static bool finds_room(void)
{
	if (!kernel.ring_is_full) {
		model.lost += model.pending;
		model.pending = 0;
		return true;
	}
	model.counts[NT_CNT_RING_FULL]++;
	model.pending += nt_knobs.tells_lost;
	return false;
}

static void assert_known(int i)
{
	const struct nt_queue *q = &kernel.queues[m.queue[i].idx];

	if (!model.of[i].is_known)
		return;
	assert_int_equal(q->identified, q->gen);
	assert_int_equal(q->sqsize, 127);
	assert_int_equal(q->instance, m.queue[i].idx);
	assert_int_equal(q->no_sqflow, m.queue[i].nvme_sq.sqhd_disabled);
	assert_true(nt_control.no_sqflow || !q->no_sqflow);
}

/* The target hands over the response of the command. */
static void life_ends(int i, struct life *l)
{
	struct nt_record *r = &l->r;
	__u64 latency;
	bool failed = r->status & 0x7ff;

	if (!l->has_state)
		return;
	l->has_state = false;
	model.ended++;
	model.of[i].is_known |= m.queue[i].nvme_sq.ctrl != NULL;
	assert_known(i);
	if (!is_of_selected_queue(i))
		return;
	if (failed)
		count_error(r);
	if (!l->is_measured) {
		if (failed)
			return;
		hist_of(r)->others++;
		hist_of(r)->other_bytes += r->length;
		return;
	}
	r->shape = l->kind->shape == NT_SHAPE_R2T_WRITE && !r->points[NT_T_SEND_R2T]
			   ? NT_SHAPE_INLINE_WRITE
			   : l->kind->shape;
	latency = run.now - (r->points[NT_T_RX] ?: r->points[NT_T_CMD]);
	if (!failed) {
		if (!nt_knobs.no_histograms) {
			hist_begin_interval(&hist_of(r)->head);
			hist_add(&hist_of(r)->head, &hist_of(r)->buckets[nt_bucket(latency)],
				 latency);
			hist_of(r)->bytes += r->length;
			stages_take_of(r);
		}
		count_stages(r);
	}
	if (nt_knobs.select == NT_SELECT_NONE || (nt_knobs.failed && !failed) ||
	    (nt_knobs.select == NT_SELECT_SLOWER && latency < nt_knobs.slower_ns) || !finds_room())
		return;
	identify(r, i);
	assert_int_equal(kernel.nr_records, 1);
	assert_memory_equal(r, &kernel.records[0], sizeof(*r));
	if (nt_knobs.events) {
		assert_int_equal(kernel.ended.answer.result, m.cqe.result.u64);
		assert_int_equal(kernel.ended.answer.known,
				 NT_A_RESULT | (r->flags & NT_F_NO_CQE ? 0 : NT_A_SQ_HEAD));
		assert_int_equal(kernel.ended.answer.sq_head, m.cqe.sq_head);
	}
	model.told++;
	kernel.nr_records = 0;
}

static void assert_begun(int i, struct life *l)
{
	const struct nvme_common_command *e = &l->sqe->common;
	const struct nt_begun *b = kernel.begun;
	struct nt_record r = l->r;

	if (!nt_knobs.events || !l->is_measured || !finds_room())
		return;
	identify(&r, i);
	r.shape = b->r.shape;
	r.flags |= NT_F_BEGUN;
	assert_int_equal(kernel.nr_begun, 1);
	assert_memory_equal(&r, &b->r, sizeof(r));
	assert_memory_equal(e, b->sqe, sizeof(b->sqe));
	assert_int_equal(b->from.cpu, NT_CPU_NONE);
	kernel.nr_begun = 0;
}

/* Checks that user space finds the command in flight, with its age. */
static void assert_in_flight(int i, const struct life *l, unsigned int tag)
{
	const struct nt_queue *q = &kernel.queues[m.queue[i].idx];
	const struct nt_cmd *c = cmd_by_tag(q, tag);
	struct nt_record r = l->r;

	assert_non_null(c);
	assert_int_equal(c->owner, (__u64)l->cmd | (l->is_measured ? 0 : NT_UNMEASURED));
	assert_int_equal(q->begun, nt_control.epoch);
	r.side = c->r.side;
	r.shape = c->r.shape;
	r.qid = c->r.qid;
	r.cntlid = c->r.cntlid;
	if (!l->is_measured || nt_knobs.select == NT_SELECT_NONE) {
		r.opcode = c->r.opcode;
		r.nsid = c->r.nsid;
		r.slba = c->r.slba;
	}
	if (!l->is_measured)
		memcpy(&r.points[NT_T_CMD + 1], &c->r.points[NT_T_CMD + 1],
		       sizeof(r.points) - sizeof(r.points[0]) * (NT_T_CMD + 1));
	assert_memory_equal(&r, &c->r, sizeof(r));
}

/* Return: whether an end without a beginning means that the beginning was missed */
static bool all_are_seen(void)
{
	return nt_control.began_ns && selected == &none_selected &&
	       (!nt_knobs.sample_below || nt_knobs.count_all);
}

#endif /* NTPROF_TESTS_BPF_TARGET_MODEL_H */
