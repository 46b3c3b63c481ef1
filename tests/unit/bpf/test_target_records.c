// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random commands, step by step as nvmet-tcp handles them. A model knows what each has to give: its
 * record, its state in flight that user space sees, its histograms, and losses. The clock stands
 * still within a step.
 */
#include "bpf/target.h"

#include <stdlib.h>

#define CONNECTIONS 4
#define COMMANDS 4

#include "bpf/target_machine.h"
#include "bpf/target_steps.h"
#include "bpf/target_model.h"

#define REAL_OFFSET 5000000000

static struct nvme_command connects[CONNECTIONS];

static void write_entry(int i, struct life *l)
{
	const struct kind *kind = l->kind;
	struct nvme_common_command *e = &l->sqe->common;

	*e = (struct nvme_common_command){
		.opcode = kind->opcode,
		.flags = random() % 256,
		.command_id = model.cid++,
		.nsid = kind == &connect_kind	    ? 1
			: kind->op == NT_OP_FABRICS ? 4 + 2 * !!kind->length
						    : 1 + random() % 3,
		.cdw10 = random() % 1000,
		.cdw11 = chance(3),
		.cdw12 = random(),
		.cdw13 = random(),
		.cdw14 = random(),
		.cdw15 = random(),
	};
	e->dptr.sgl.length = kind->length;
	e->dptr.sgl.type = kind->is & IN_CAPSULE ? 0x01 : 0x5a;
	l->cmd->queue = &m.queue[i];
	l->cmd->offset = 0;
	l->cmd->req = (struct nvmet_req){.cmd = l->sqe,
					 .cqe = &m.cqe,
					 .sq = &m.queue[i].nvme_sq,
					 .ops = &m.ops,
					 .transfer_len = kind->length};
	l->r = (struct nt_record){
		.op = kind->op,
		.opcode = kind->opcode,
		.cid = e->command_id,
		.slot = m.queue[i].idx,
		.length = kind->length,
		.nsid = nt_knobs.select == NT_SELECT_NONE ? 0 : e->nsid,
		.slba = kind->is & WITH_LBA && nt_knobs.select != NT_SELECT_NONE
				? (__u64)e->cdw11 << 32 | e->cdw10
				: 0,
		.flags = m.queue[i].nvme_sq.qid ? 0 : NT_F_ADMIN_QUEUE,
	};
}

/*
 * Decides which state a command has to have: none, one that is measured, or one that is only
 * counted.
 */
static void decide(int i, struct life *l)
{
	const struct nvme_common_command *e = &l->sqe->common;
	const bool asked_for = is_selected(l->kind, e);
	bool is_event;
	unsigned int mix;

	l->is_measured = asked_for;
	if (asked_for && nt_knobs.sample_below) {
		mix = nt_sample_mix(m.queue[i].nvme_sq.qid, e->command_id, l->kind->length,
				    (__u64)e->cdw11 << 32 | e->cdw10);
		l->is_measured = mix < nt_knobs.sample_below;
		model.alikes[mix % 256] += l->is_measured;
	}
	l->has_state = l->is_measured || (asked_for && nt_knobs.count_all);
	if (l->has_state || l->kind->op == NT_OP_FABRICS)
		model.of[i].is_known |= m.queue[i].nvme_sq.ctrl != NULL;
	if (model.of[i].is_known && !is_of_selected_queue(i))
		l->has_state = false;
	is_event = l->kind->opcode == NVME_ADMIN_ASYNC_EVENT && !m.queue[i].nvme_sq.qid;
	model.counts[NT_CNT_ASYNC_EVENT] += l->has_state && is_event;
	l->has_state = l->has_state && !is_event;
}

/*
 * The arrival time of a PDU whose packet has @stamp, or 0 if it is unknown. @r: gets a flag if it
 * may have come earlier
 */
static __u64 arrival_of(struct nt_record *r, __s64 stamp, bool knows_queue)
{
	if (!stamp || (knows_queue && run.is_tls))
		return 0;
	if (nt_knobs.joins_unseen && knows_queue) {
		model.counts[NT_CNT_ARRIVAL_JOINED] += !(r->flags & NT_F_ARRIVAL_JOINED);
		r->flags |= NT_F_ARRIVAL_JOINED;
	}
	return stamp - REAL_OFFSET;
}

static __s64 stamp_since(__u64 earliest)
{
	__u64 most = run.now - earliest < 15000 ? run.now - earliest : 15000;

	return chance(8) ? 0 : run.now - random() % most + REAL_OFFSET;
}

static void life_begins(int i, unsigned int n, const struct kind *kind, bool is_seen)
{
	struct life *l = &model.of[i].life[n], *shares = &model.of[i].life[n ? n : COMMANDS];
	struct nt_queue *q = &kernel.queues[m.queue[i].idx];
	bool knows = run.source != TRACEPOINTS || q->object == (__u64)&m.queue[i];
	__s64 stamp = stamp_since(run.now - 15000);
	bool had_state = l->has_state;

	l->kind = kind;
	l->next = kind->steps;
	l->cmd = n < COMMANDS ? &m.cmd[i][n] : &m.queue[i].connect;
	l->sqe = n < COMMANDS ? &m.sqe[i][n] : &connects[i];
	l->last = run.now;
	l->status = !chance(6) ? 0 : chance(3) ? 0x2000 : chance(2) ? 0x4002 : 0x286;
	write_entry(i, l);
	if (!is_seen) {
		/* Otherwise the command that was at its address before would be taken for it. */
		sweep();
		return;
	}
	decide(i, l);
	/* The state of Connect is that of the first command, which follows it. */
	if (had_state || (l->has_state && shares != l && shares->has_state))
		model.counts[NT_CNT_OVERWRITTEN]++;
	if (l->has_state && shares != l)
		shares->has_state = false;
	capsule_comes(l->cmd, stamp);
	assert_known(i);
	if (kind == &connect_kind)
		model.of[i].gen = q->gen;
	l->r.gen = model.of[i].gen;
	if (!l->has_state)
		return;
	l->r.points[NT_T_RX] = arrival_of(&l->r, stamp, knows);
	/* For a command that is only counted, the clock is not read if there is a stamp. */
	l->r.points[NT_T_CMD] = l->is_measured || !stamp || run.source != TRACEPOINTS
					? run.now
					: (__u64)stamp - REAL_OFFSET;
	/* No stock program sees commands without data being executed, and none admin commands. */
	if (run.source != TRACEPOINTS && l->is_measured && kind->op != NT_OP_READ &&
	    kind->op != NT_OP_WRITE && (!kind->length || kind->is & FOR_HOST))
		l->r.points[NT_T_EXEC] = run.now;
	assert_in_flight(i, l, n % COMMANDS);
	assert_begun(i, l);
}

/* Connect comes, as the first command of the connection or not. */
static void connects_to(int i, bool is_first)
{
	const struct nt_queue *q = &kernel.queues[m.queue[i].idx];
	__u32 gen = q->gen;

	life_begins(i, COMMANDS, &connect_kind, true);
	assert_int_equal((q->gen - gen) % 2, is_first);
	assert_uint_in_range(q->gen - gen, 1, 3);
}

static void opens(int i)
{
	int idx;

	do {
		idx = random() % CONNECTIONS;
		for (int k = 0; k < CONNECTIONS; k++)
			if (model.of[k].is_open && m.queue[k].idx == idx)
				idx = -1;
	} while (idx < 0);
	connection_make(i, idx);
	if (!run.is_tls)
		m.sk[i].sk_receive_queue.next = NULL;
	memset(&model.of[i], 0, sizeof(model.of[i]));
	model.of[i].is_open = true;
	connects_to(i, true);
}

/* From Linux 6.8 on its socket may close when another connection has its slot. */
static void goes(int i, bool at_once)
{
	for (int n = 0; n <= COMMANDS; n++)
		model.counts[NT_CNT_DIED] += model.of[i].life[n].has_state;
	memset(&model.of[i], 0, sizeof(model.of[i]));
	model.of[i].lingers = true;
	sock_set_state(NULL, &m.sk[i], 1, 8);
	if (at_once) {
		sock_set_state(NULL, &m.sk[i], 8, TCP_CLOSE);
		model.of[i].lingers = false;
	}
}

static void reaches(struct life *l, enum nt_target_point point, bool again)
{
	if (l->has_state && l->is_measured && (again || !l->r.points[point]))
		l->r.points[point] = run.now;
}

static void execution_is_seen(struct life *l)
{
	const bool with_data = l->kind->length && !(l->kind->is & FOR_HOST);

	m.ops.type = NVMF_TRTYPE_TCP + 1;
	execute(&l->cmd->req, 0);
	m.ops.type = NVMF_TRTYPE_TCP;
	for (int left = chance(4) ? 2 : 1; left; left--) {
		run.now++;
		execution_begins(l->cmd, with_data, (int)random());
		if (with_data || run.source == TRACEPOINTS)
			reaches(l, NT_T_EXEC, run.source == TRACEPOINTS);
	}
	run.now++;
	if (run.source != TRACEPOINTS && l->kind->op == NT_OP_READ) {
		execute(&l->cmd->req, 0);
		reaches(l, NT_T_EXEC, false);
	}
}

/* An R2T is queued as responses are, but does not end the execution. */
static void answer_is_seen(struct life *l, bool is_last)
{
	__u64 *p = l->r.points;
	const bool is_write =
		l->kind->op == NT_OP_FABRICS ? l->sqe->common.nsid & 1 : l->kind->opcode & 1;

	m.cqe.status = is_last ? (__u16)(l->status << 1) : 0;
	answer_is_queued(l->cmd, chance(2));
	/* Perhaps no program watches the function that executes a write other than a plain one. */
	if (run.source != TRACEPOINTS && l->has_state && l->is_measured && !p[NT_T_EXEC] &&
	    is_write && l->kind->op != NT_OP_WRITE && !m.cqe.status &&
	    (p[NT_T_SEND_R2T] || l->kind->is & IN_CAPSULE))
		p[NT_T_EXEC] = p[NT_T_DATA] ?: p[NT_T_CMD];
	if (p[NT_T_EXEC])
		reaches(l, NT_T_DONE, false);
	run.now++;
	answer_is_queued(l->cmd, chance(2));
}

static void h2c_data_are_seen(struct life *l)
{
	__s64 stamp = stamp_since(l->last);

	h2c_data_come(l->cmd, stamp);
	if (!l->has_state || !l->is_measured || l->r.points[NT_T_DATA] ||
	    (run.source != TRACEPOINTS && !l->r.points[NT_T_SEND_R2T]))
		return;
	l->r.points[NT_T_DATA] = run.now;
	l->r.points[NT_T_DATA_RX] = arrival_of(&l->r, stamp, true);
}

static void ends_without_cqe(int i, struct life *l, __u32 flags)
{
	l->r.flags |= flags;
	reaches(l, NT_T_SENT, true);
	life_ends(i, l);
}

static void last_data_are_seen(int i, struct life *l)
{
	const int half = (int)l->kind->length / 2;

	/* Programs that are just being attached may see it. */
	if (!nt_control.data_watched && (l->has_state || run.source == TRACEPOINTS))
		return;
	if (run.source != TRACEPOINTS)
		data_are_taken(l->cmd, 0, -11);
	data_are_taken(l->cmd, 0, half);
	run.now++;
	data_are_taken(l->cmd, (u32)half, half);
	if (!m.queue[i].nvme_sq.sqhd_disabled)
		return;
	if (l->has_state)
		ends_without_cqe(i, l, NT_F_NO_CQE);
	else if (nt_control.data_watched && all_are_seen())
		model.counts[NT_CNT_NO_START]++;
}

static void response_is_seen(int i, struct life *l)
{
	const bool is_event =
		l->kind->op == NT_OP_ADMIN && l->kind->opcode == NVME_ADMIN_ASYNC_EVENT;
	const bool had_state = l->has_state;

	m.cqe = (struct nvme_completion){.result.u64 = (__u64)random() << 9,
					 .sq_head = (__u16)random(),
					 .status = (__u16)(l->status << 1)};
	/* The rest of a response; a part was handed over before. */
	l->cmd->offset = !had_state && chance(2) ? 8 : 0;
	response_is_sent(l->cmd);
	l->r.status = l->status;
	reaches(l, NT_T_SEND, false);
	reaches(l, NT_T_SENT, true);
	life_ends(i, l);
	if (!had_state && !l->cmd->offset && all_are_seen() && !is_event)
		model.counts[NT_CNT_NO_START]++;
	/* The socket had no room for it, so it is sent again. */
	run.now++;
	if (had_state)
		response_is_sent(l->cmd);
}

static void connect_is_executed(int i, struct life *l)
{
	struct nvmet_sq *sq = &m.queue[i].nvme_sq;

	l->status = chance(8) ? 0x182 : 0;
	if (l->status)
		return;
	sq->ctrl = &m.ctrl[i];
	sq->qid = i;
	sq->size = 128;
	sq->sqhd_disabled = chance(3);
}

/*
 * A program that is already running on a CPU is skipped there. Where only sockets show the
 * PDUs that are sent, the first bytes that a successful read sends are taken for its data.
 */
static bool is_missed(const struct life *l, enum step step)
{
	return model.misses && l->kind != &connect_kind && chance(12) &&
	       !(step == DONE && l->status && !l->is_measured) &&
	       !(step == DATA_PDU && run.source >= PAGES);
}

static void steps(int i, struct life *l)
{
	const enum step step = *l->next++;
	const bool no_cqe =
		m.queue[i].nvme_sq.sqhd_disabled && l->kind->is & FOR_HOST && !l->status;

	if ((l->status && (step == DATA_PDU || step == DATA)) || (no_cqe && step == RESPONSE) ||
	    is_missed(l, step)) {
		l->next = step == RESPONSE ? NULL : l->next;
		return;
	}
	if (step == EXECUTE && l->kind == &connect_kind)
		connect_is_executed(i, l);
	if (step == EXECUTE)
		execution_is_seen(l);
	else if (step == DONE)
		answer_is_seen(l, l->next[0] == RESPONSE || l->next[0] == DATA_PDU);
	else if (step == H2C)
		h2c_data_are_seen(l);
	for (int again = 0; again < 1 + chance(3) && step == R2T; again++, run.now++) {
		r2t_is_sent(l->cmd);
		reaches(l, NT_T_SEND_R2T, false);
	}
	if (step == RECEIVE && (run.source == TRACEPOINTS || l->kind->is & IN_CAPSULE)) {
		data_are_received(l->cmd);
		if (run.source == TRACEPOINTS)
			reaches(l, NT_T_DATA_DONE, true);
	}
	for (int again = 0; again < 1 + chance(3) && step == DATA_PDU; again++) {
		run.now += again;
		data_pdu_is_sent(l->cmd);
		reaches(l, NT_T_SEND, false);
		if (no_cqe && !nt_control.data_watched && l->has_state)
			ends_without_cqe(i, l, NT_F_NO_CQE | NT_F_UNSPLIT);
	}
	if (step == DATA)
		last_data_are_seen(i, l);
	l->last = run.now;
	if (step != RESPONSE)
		return;
	response_is_seen(i, l);
	l->next = NULL;
}

/* One of the connections makes a step. */
static void something_happens(void)
{
	int i = random() % CONNECTIONS, n = random() % COMMANDS;
	struct life *connect = &model.of[i].life[COMMANDS], *l = &model.of[i].life[n];
	const struct kind *kind = &kinds[random() % (sizeof(kinds) / sizeof(kinds[0]))];
	const __u32 *shared = index_of((__u64)&m.cmd[random() % CONNECTIONS][random() % COMMANDS]);

	/*
	 * With both options the programs examine neither commands that are only counted nor those
	 * that are left out. A state that a closed connection leaves would be taken for another
	 * command's.
	 */
	const bool lacks_tracking = nt_knobs.count_all && nt_knobs.selects;

	run.now += 1 + random() % (chance(5) ? 4000 : 100);
	nt_control.epoch += chance(200);
	kernel.cpu = random() % 3;
	kernel.ring_is_full = chance(10);
	if (model.of[i].is_open && chance(20))
		sock_set_state(NULL, &m.sk[i], 1, 8);
	/* Several owners share an entry of the index. */
	if (chance(10) && *shared && !is_last_of(cmd_at(*shared), (__u64)&m.cmd[i][n]))
		*index_of((__u64)&m.cmd[i][n]) = *shared;
	if (model.of[i].lingers && chance(20)) {
		sock_set_state(NULL, &m.sk[i], 8, TCP_CLOSE);
		model.of[i].lingers = false;
	} else if (model.of[i].lingers) {
		return;
	} else if (!model.of[i].is_open) {
		opens(i);
	} else if (chance(150)) {
		goes(i, lacks_tracking || chance(2));
		if (lacks_tracking)
			sweep();
	} else if (chance(100)) {
		sweep();
	} else if (connect->next && *connect->next) {
		steps(i, connect);
	} else if (!m.queue[i].nvme_sq.ctrl) {
		connects_to(i, false);
	} else if (l->next && *l->next) {
		steps(i, l);
	} else if (!(kind->is & ADMIN) == !!i || (kind->op == NT_OP_FABRICS && chance(4))) {
		/* The command in flight there would be taken for one that is not seen to begin. */
		life_begins(i, n, kind, l->has_state || !model.misses || !chance(12));
	}
}

static void all_is_told(void)
{
	__u64 in_flight_now = 0, measured_now = 0;

	for (int i = 0; i < CONNECTIONS; i++)
		for (int n = 0; n <= COMMANDS; n++) {
			in_flight_now += model.of[i].life[n].has_state;
			measured_now +=
				model.of[i].life[n].has_state && model.of[i].life[n].is_measured;
		}
	for (unsigned int c = 0; c < PIECES * NT_CHUNK_CMDS; c++)
		in_flight_now -= in_flight(cmd_at(c));
	assert_int_equal(in_flight_now, 0);
	assert_tracked(measured_now);
	for (unsigned int i = 0; i < NT_COUNTERS_NR; i++)
		assert_int_equal(counted(i), model.counts[i]);
	assert_int_equal(nt_pools[NT_POOL_HISTS].taken, model.nr_hists);
	for (unsigned int i = 0, k; i < model.nr_hists; i++) {
		for (k = 1; k < HISTS && hist_at(k)->key != model.hists[i].key; k++)
			;
		assert_int_not_equal(k, HISTS);
		assert_memory_equal(&model.hists[i], hist_at(k), sizeof(model.hists[i]));
	}
	for (unsigned int nr = 0; nr < STAGES; nr++)
		assert_memory_equal(&model.stages[nr], stages_at(nr), sizeof(model.stages[nr]));
	for (unsigned int i = 0; i < NT_ALIKE; i++)
		assert_int_equal(nt_alikes[i], model.alikes[i]);
	assert_int_equal(kernel.nr_errors, model.nr_errors);
	for (unsigned int i = 0; i < model.nr_errors; i++)
		assert_int_equal(*error_find(&model.errors[i]), model.error_counts[i]);
	assert_int_equal(kernel.lost, model.lost);
	assert_int_equal(nt_control.events_lost, model.pending);
	assert_int_equal(kernel.nr_records + kernel.nr_begun, 0);
}

static void run_of(enum source source)
{
	static const enum nt_select selects[] = {NT_SELECT_ALL, NT_SELECT_SLOWER, NT_SELECT_NONE};

	target_make();
	memset(&model, 0, sizeof(model));
	memset(nt_alikes, 0, sizeof(nt_alikes));
	for (int i = 0; i < CONNECTIONS; i++)
		m.ctrl[i].cntlid = 5 + i;
	run.source = source;
	run.is_tls = chance(4);
	run.now = 1000000;
	kernel.on_clock = clock_stands_still;
	nt_control.real_offset = REAL_OFFSET;
	nt_control.began_ns = !chance(6);
	nt_control.data_watched = chance(2);
	knobs_sample(chance(2) ? 0 : 1u << (29 + random() % 3), chance(2));
	selected = chance(2) ? &selections[random() % SELECTIONS] : &none_selected;
	knobs_select(selected);
	nt_knobs.select = selects[random() % 3];
	nt_knobs.slower_ns = 5000 + random() % 30000;
	nt_knobs.failed = chance(6);
	nt_knobs.events = chance(2);
	nt_knobs.tells_lost = chance(2);
	nt_knobs.no_histograms = !nt_knobs.sample_below && chance(6);
	nt_knobs.joins_unseen = chance(4);
	model.misses = chance(2) && !(nt_knobs.count_all && nt_knobs.selects);
	for (int i = 0; i < 800; i++)
		something_happens();
	for (int i = 0; i < CONNECTIONS; i++)
		if (model.of[i].lingers)
			sock_set_state(NULL, &m.sk[i], 8, TCP_CLOSE);
	sweep();
	all_is_told();
}

static void all_of_each_command_is_told(void **state)
{
	srandom(1);
	for (int round = 0; round < 40; round++)
		for (enum source source = 0; source < SOURCES; source++)
			run_of(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_each_command_is_told),
	};

	return cmocka_run_group_tests_name("target_records", tests, NULL, NULL);
}
