/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The life of a command on the target, for all programs that see it: which connection it came by,
 * and what moves it from one state to the next (see state.bpf.h). The owner of a command is its
 * struct nvmet_tcp_cmd.
 */
#ifndef NTPROF_TARGET_COMMAND_BPF_H
#define NTPROF_TARGET_COMMAND_BPF_H

#include "arrival.bpf.h"
#include "controllers.bpf.h"
#include "cpus.bpf.h"
#include "histograms.bpf.h"
#include "joins.bpf.h"
#include "leave.bpf.h"
#include "out.bpf.h"
#include "queues.bpf.h"
#include "records.bpf.h"
#include "select.bpf.h"
#include "stages.bpf.h"
#include "state.bpf.h"
#include "worker.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_names);
} names SEC(".maps");

/*
 * Leads from the address of a struct sock to the connection that it serves, so that the end of the
 * connection is noticed. From Linux 6.8 on, a socket may close only when its queue is gone and
 * another connection already has its slot.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct nt_served);
} sockets SEC(".maps");

/*
 * The index of a command in its queue: cmds[i] has index i. A connection has one more command, for
 * Connect, before it knows its depth. This one shares the index of cmds[0], which is used only when
 * Connect has been answered. So a depth of 128, which means 256 commands (nvmet_tcp_alloc_cmds()),
 * needs two pieces of states, and not three. This is nvmet_tcp_cmd_tag() made safe for both kinds.
 * @queue, @cmd: typed
 */
static __always_inline __u32 tag_of(struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	__u64 connect = (__u64)queue + bpf_core_field_offset(struct nvmet_tcp_queue, connect);

	if ((__u64)cmd == connect)
		return 0;
	return ((__u64)cmd - (__u64)queue->cmds) / bpf_core_type_size(struct nvmet_tcp_cmd);
}

/* The same for plain addresses. */
static __always_inline __u32 tag_of_plain(struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	__u64 connect = (__u64)queue + bpf_core_field_offset(struct nvmet_tcp_queue, connect);
	__u64 cmds;

	if ((__u64)cmd == connect)
		return 0;
	cmds = (__u64)BPF_CORE_READ(queue, cmds);
	return ((__u64)cmd - cmds) / bpf_core_type_size(struct nvmet_tcp_cmd);
}

/* The command in flight at @cmd: see CMD_FIND(). @queue, @cmd: typed */
static __always_inline struct nt_cmd *cmd_of(struct nvmet_tcp_queue *queue,
					     struct nvmet_tcp_cmd *cmd)
{
	return CMD_FIND(cmd, queue_at(queue->idx), tag_of(queue, cmd));
}

/* The same where a command ends: it may be measured, or only counted. */
static __always_inline struct nt_cmd *cmd_any_of(struct nvmet_tcp_queue *queue,
						 struct nvmet_tcp_cmd *cmd)
{
	return CMD_FIND_ANY(cmd, queue_at(queue->idx), tag_of(queue, cmd));
}

/* The command in flight at @cmd, a plain address: as CMD_FIND(). */
static __always_inline struct nt_cmd *cmd_of_plain(struct nvmet_tcp_cmd *cmd)
{
	struct nvmet_tcp_queue *queue;
	bool elsewhere;
	struct nt_cmd *c = cmd_by_owner((__u64)cmd, 0, &elsewhere);

	if (c || !elsewhere)
		return c;
	queue = BPF_CORE_READ(cmd, queue);
	return cmd_by_tag_and_owner(queue_at(BPF_CORE_READ(queue, idx)), tag_of_plain(queue, cmd),
				    (__u64)cmd, 0);
}

/* CO-RE: struct nvmet_tcp_queue with its function as a plain pointer. */
struct nvmet_tcp_queue___plain {
	void *data_ready;
} __attribute__((preserve_access_index));

/* A connection takes its slot. This is rare, and reads by helper. @queue: may be a plain address */
static __always_inline void queue_begin(struct nt_queue *q, struct nvmet_tcp_queue *queue,
					__u32 slot)
{
	struct sock *sk = BPF_CORE_READ(queue, sock, sk);
	__u64 key = (__u64)sk;
	struct nt_served serves = {.slot = slot};

	/*
	 * A Connect that is sent again over the same TCP connection, which a target may refuse,
	 * does not change bit 0.
	 */
	q->gen += q->object == (__u64)queue && q->queue == key && q->gen != q->dead_gen ? 2 : 1;
	slot_seen(slot);
	q->object = (__u64)queue;
	q->queue = key;
	serves.gen = q->gen;
	q->instance = slot;
	if (nt_knobs.selects & NT_BY_QUEUE)
		queue_select(q, NT_TARGET, NT_CNTLID_NONE, 0, NULL);
	slot_index_set((__u64)queue, slot);
	kernel_queue_set(slot, (__u64)queue, sk);
	joins_begin(q, sk, !BPF_CORE_READ(queue, nvme_sq.ctrl));
	ends_learn(q, sk);
	data_ready_learn(sk, (__u64)queue,
			 (__u64)BPF_CORE_READ((struct nvmet_tcp_queue___plain *)queue, data_ready));
	bpf_map_update_elem(&sockets, &key, &serves, BPF_ANY);
}

/*
 * Fills in the host at the other end, which is known once Connect has been executed.
 * @queue: see queue_begin()
 */
static __always_inline void queue_identify(struct nt_queue *q, struct nvmet_tcp_queue *queue,
					   __u32 slot)
{
	struct nvmet_ctrl *ctrl = BPF_CORE_READ(queue, nvme_sq.ctrl);
	struct nt_names *n;

	if (!ctrl)
		return;
	/* User space that has read names of the one before here sees another generation now. */
	in_order();
	q->cntlid = BPF_CORE_READ(ctrl, cntlid);
	q->qid = BPF_CORE_READ(queue, nvme_sq.qid);
	/* 0's based, as in Connect: nvmet_install_queue() adds 1. */
	q->sqsize = BPF_CORE_READ(queue, nvme_sq.size) - 1;
	n = bpf_map_lookup_elem(&names, &slot);
	if (n) {
		bpf_probe_read_kernel_str(n->subsysnqn, sizeof(n->subsysnqn),
					  BPF_CORE_READ(ctrl, subsys, subsysnqn));
		bpf_probe_read_kernel_str(
			n->hostnqn, sizeof(n->hostnqn),
			(void *)((__u64)ctrl + bpf_core_field_offset(struct nvmet_ctrl, hostnqn)));
	}
	if (nt_knobs.selects & NT_BY_QUEUE)
		queue_select(q, NT_TARGET, q->cntlid, q->qid, n);
	q->no_sqflow = BPF_CORE_READ(queue, nvme_sq.sqhd_disabled);
	if (q->no_sqflow)
		nt_control.no_sqflow = 1;
	if (q->qid)
		nt_control.identified_ns = bpf_ktime_get_ns();
	queue_identified(q);
	identity_tell(slot, q->gen, slot, q->qid, q->cntlid, n);
}

/*
 * The same where a command ends, for the queue in its slot. Not static, so that it is verified
 * once.
 */
__noinline int queue_identify_late(__u32 slot)
{
	struct nvmet_tcp_queue *queue = (void *)kernel_queue_at(slot);
	struct nt_queue *q = queue_at(slot);

	if (q && queue)
		queue_identify(q, queue, slot);
	return 0;
}

/* As cmd_sends() of a host. */
static __always_inline void cmd_sends(struct nt_cmd *c, struct sock *sk, __u32 point, __u64 now)
{
	c->r.points[point] = now;
	if (!nt_knobs.fine)
		return;
	cpu_note(owner_of(c), point == NT_T_SEND ? NT_TC_SEND : NT_TC_SEND_R2T);
	if (point == NT_T_SEND) {
		cmd_waited_to_send(c, c->r.points[NT_T_DONE], false);
		c->out = 0;
	}
	if (!out_expect(c, sk, point, point == NT_T_SEND ? NT_TF_OUT : NT_TF_R2T_OUT) &&
	    point == NT_T_SEND)
		c->out = NT_OUT_NO_NOTE;
}

/*
 * The address of the command at the address @owner, which user space may have written: it is one of
 * the queue that was last seen in @slot. Return: NULL if there is none
 */
static __always_inline struct nvmet_tcp_cmd *cmd_in(__u32 slot, __u64 owner)
{
	struct nvmet_tcp_queue *queue = (void *)kernel_queue_at(slot);
	__u64 connect = (__u64)queue + bpf_core_field_offset(struct nvmet_tcp_queue, connect);
	__u32 tag;

	if (!queue || owner == connect)
		return queue ? (void *)connect : NULL;
	tag = tag_of_plain(queue, (void *)owner);
	if (tag >= BPF_CORE_READ(queue, nr_cmds))
		return NULL;
	return (void *)((__u64)BPF_CORE_READ(queue, cmds) +
			(__u64)tag * bpf_core_type_size(struct nvmet_tcp_cmd));
}

/*
 * What an event tells of the answer, which the driver still has: it is about to be sent, or has
 * just been. One without a CQE has a result all the same.
 * @a: all zeroes
 * @c: has just been released
 */
static __always_inline void answer_fill(struct nt_answer *a, const struct nt_cmd *c)
{
	struct nvmet_tcp_cmd *cmd = cmd_in(c->r.slot, c->owner & ~(NT_RELEASED | NT_UNMEASURED));
	struct nvme_completion *cqe;

	if (!cmd)
		return;
	cqe = BPF_CORE_READ(cmd, req.cqe);
	a->result = BPF_CORE_READ(cqe, result.u64);
	a->sq_head = BPF_CORE_READ(cqe, sq_head);
	a->known = NT_A_RESULT | (c->r.flags & NT_F_NO_CQE ? 0 : NT_A_SQ_HEAD);
}

/*
 * Hands over the record of a command that has ended, or the event of its end.
 * @now: it has just been released. Otherwise it has waited, and its answer is the driver's no more
 * @fine: nt_knobs.fine, which the caller has read
 */
static __always_inline void target_hand_over(struct nt_cmd *c, bool now, bool fine)
{
	struct nt_ended *e;

	if (!nt_knobs.events) {
		record_hand_over(&c->r, NULL, c->owner, fine);
		return;
	}
	e = event_end(&c->r);
	if (!e)
		return;
	if (fine)
		cpus_fill(&e->r, c->owner);
	if (now)
		answer_fill(&e->answer, c);
	event_submit(e);
}

/* See out.bpf.h. A record that waits is still in its state: a tag is used again after the answer.
 */
__noinline int out_reach(__u64 owner, __u32 since, __u64 now)
{
	struct nt_cmd *c = cmd_at(*index_of(owner));
	struct nt_record *r;

	/* Otherwise the verifier goes through it even where nothing calls it. */
	if (!nt_knobs.fine || !is_last_of(c, owner))
		return 0;
	r = &c->r;
	NT_TARGET_FINE(NT_FINE_REACH)
	if ((__u32)r->points[NT_T_SEND] == since &&
	    __sync_fetch_and_add(&c->out, NT_OUT_LEFT) == NT_OUT_ENDED)
		target_hand_over(c, false, true);
	return 0;
}

/*
 * A command that has ended, with finer points. Return: whether its record waits for the answer to
 * leave TCP
 */
static __always_inline bool out_waits(struct nt_cmd *c)
{
	cpu_note(c->owner, NT_TC_SENT);
	return !__sync_fetch_and_add(&c->out, NT_OUT_ENDED);
}

/* A command begins in the place of @c. Its note may have been lost, where a run was skipped. */
static __always_inline void out_begin(struct nt_cmd *c)
{
	/* A packet that was not seen has left its note: that may be taken just now. */
	if (!in_flight(c) &&
	    __sync_val_compare_and_swap(&c->out, NT_OUT_ENDED, NT_OUT_NO_NOTE) == NT_OUT_ENDED)
		target_hand_over(c, false, true);
	c->out = NT_OUT_NO_NOTE;
	__builtin_memset(c->r.fine, 0, sizeof(c->r.fine));
	__builtin_memset(c->r.seq, 0, sizeof(c->r.seq));
}

/* A command capsule that has been received. */
struct target_capsule {
	struct nvmet_tcp_queue *queue;
	__u64 cmd;	    /* address of its struct nvmet_tcp_cmd */
	struct nt_queue *q; /* at @slot; NULL if the map has no such slot */
	__u32 slot;
	__u16 qid;
	__u16 burst;   /* of all points, 0 if only the ends have one: see burst_now() */
	bool has_ctrl; /* its queue belongs to a controller: Connect has been executed */
	bool typed;    /* @queue is typed; a constant */
	bool joined;   /* @rx may be that of a later packet */
	__u64 rx;      /* CLOCK_MONOTONIC arrival, 0 if unknown */
	__u32 seq;     /* place of its first byte in the stream: see cmd_waited() */
	__u64 now;
};

static __always_inline __u32 capsule_tag(const struct target_capsule *t)
{
	struct nvmet_tcp_cmd *cmd = (void *)t->cmd;

	return t->typed ? tag_of(t->queue, cmd) : tag_of_plain(t->queue, cmd);
}

/* nvme_is_write() */
static __always_inline bool is_write(struct nvme_command *sqe)
{
	__u8 opcode = sqe->common.opcode;

	/* A fabrics command has its type where others have the first byte of the NSID. */
	return opcode == NVME_FABRICS_COMMAND ? sqe->common.nsid & 1 : opcode & 1;
}

/*
 * Whether a command counts as executed from the time its capsule was received, because no stock
 * program sees that it is: a command without data, or an admin command whose data go to the host.
 * @r: has the operation and the length
 */
static __always_inline bool executes_at_once(const struct nt_record *r, struct nvme_command *sqe)
{
	return r->op != NT_OP_READ && r->op != NT_OP_WRITE && (!r->length || !is_write(sqe));
}

/* Notes when @t arrived, and whether all its points will be seen. @rx: 0 if it is not known */
static __always_inline void capsule_arrived(struct target_capsule *t, __u64 rx)
{
	t->rx = rx;
	t->burst = burst_now();
	/* Its header was received before its burst began. */
	if (!rx && t->q && !t->q->opaque && !NT_IS_MISSING(NT_T_RX))
		t->burst = 0;
}

/* Whether a capsule may be skipped at once: it is left out, and introduces no connection. */
static __always_inline bool is_skipped(struct nvme_command *sqe, enum nt_fate fate)
{
	return fate == NT_LEAVE && sqe->common.opcode != NVME_FABRICS_COMMAND;
}

/*
 * Counts command @c, which is in flight where another one begins. Either its end was not seen, or
 * its connection has closed.
 * @q: the queue of the command that begins; NULL where that has another slot
 */
static __always_inline void count_unended(const struct nt_queue *q, const struct nt_cmd *c)
{
	/* Only its stages were not. */
	if (nt_knobs.stages && c->r.flags & NT_F_COUNTED)
		return;
	count(q && c->r.gen == q->gen ? NT_CNT_OVERWRITTEN : NT_CNT_DIED);
}

/*
 * A capsule that is left out, or not measured. If a command at its address is still in flight, it
 * is released, so that the end of the new command is not taken for the end of that one.
 * @t: queue, cmd, slot and typed are needed
 */
static __always_inline int capsule_skip(const struct target_capsule *t)
{
	struct nt_cmd *c = CMD_FIND_ANY(t->cmd, queue_at(t->slot), capsule_tag(t));

	if (c) {
		count_unended(c->r.slot == t->slot ? queue_at(t->slot) : NULL, c);
		cmd_release(c);
	}
	return 0;
}

/* To begun, unless the capsule is left out. @sqe: typed */
static __always_inline int capsule_begin(const struct target_capsule *t, struct nvme_command *sqe,
					 enum nt_fate fate)
{
	bool wanted = fate == NT_MEASURE;
	__u8 opcode = sqe->common.opcode;
	__u32 slot = t->slot;
	struct nvmet_tcp_queue *queue = t->queue;
	struct nt_cmd *c, *left;
	struct nt_queue *q = t->q;
	struct nt_begun *begun;

	if (!q || slot >= nt_knobs.slots)
		goto no_slot;
	if (q->object != (__u64)t->queue || q->gen == q->dead_gen ||
	    (opcode == NVME_FABRICS_COMMAND && !t->has_ctrl))
		queue_begin(q, t->queue, slot);
	/*
	 * Tracing began after Connect. Identified now, as the first commands may take long to end.
	 */
	if (t->has_ctrl && q->identified != q->gen)
		queue_identify(q, t->queue, slot);
	if (fate == NT_LEAVE || queue_left_out(q))
		return capsule_skip(t);
	if (t->qid == 0 && opcode == NVME_ADMIN_ASYNC_EVENT) {
		count(NT_CNT_ASYNC_EVENT);
		return capsule_skip(t);
	}
	c = cmd_by_last_owner(q, slot, t->cmd);
	/* @left belongs to a connection that has closed. User space releases its commands. */
	if (!c)
		c = cmd_claim(q, capsule_tag(t), t->cmd, 0, &left);
	if (!c)
		goto no_slot;
	if (in_flight(c))
		count_unended(q, c);
	if (nt_knobs.fine) {
		out_begin(c);
		cpus_begin(t->cmd, 0);
	}
	if (wanted) {
		/* No other points are set where there are only the ends. */
		if (nt_knobs.ends && !t->burst)
			c->r.points[NT_T_DONE] = 0;
		else
			__builtin_memset(c->r.points, 0, sizeof(c->r.points));
		waits_begin(c);
		record_sqe(&c->r, sqe, t->qid == 0);
		if (nt_knobs.stages)
			c->r.cntlid = t->burst;
		if (t->burst)
			JOINS_BURST(q, t->burst, BPF_CORE_READ(queue, sock, sk));
	} else {
		record_counted(&c->r, sqe, t->qid == 0);
	}
	c->r.slot = slot;
	c->r.gen = q->gen;
	if (t->joined)
		record_joined(&c->r);
	c->r.points[NT_T_RX] = t->rx;
	c->r.points[NT_T_CMD] = t->now;
	cmd_waited(c, NT_CPU_NOTED, t->seq, t->rx, t->now, false);
	if (wanted && !t->typed && !NT_IS_MISSING(NT_T_EXEC) && executes_at_once(&c->r, sqe))
		c->r.points[NT_T_EXEC] = t->now;
	queue_begins(q);
	cmd_begin(c, t->cmd, wanted);
	begun = wanted ? event_begin(&c->r, NT_TARGET, q, sqe) : NULL;
	if (begun)
		event_submit(begun);
	return 0;
no_slot:
	count_past(NT_PAST_SLOTS, slot);
	return 0;
}

/* To executing, by a tracepoint. @c: NULL where its beginning was not seen */
static __always_inline void cmd_executing(struct nt_cmd *c)
{
	if (c)
		c->r.points[NT_T_EXEC] = bpf_ktime_get_ns();
}

/*
 * To receiving, by the first data PDU after an R2T.
 * @seq: place of its first byte in the stream: see cmd_waited()
 * @rx: CLOCK_MONOTONIC arrival, 0 if unknown
 * @joined: it may be that of a later packet
 */
static __always_inline void cmd_receiving(struct nt_cmd *c, __u32 seq, __u64 rx, bool joined,
					  __u64 now)
{
	cmd_waited(c, NT_TC_DATA, seq, rx, now, true);
	if (joined)
		record_joined(&c->r);
	c->r.points[NT_T_DATA_RX] = rx;
	c->r.points[NT_T_DATA] = now;
}

/*
 * Whether the response of @cmd was handed to its socket before, which had no room for it. It is
 * then handed over again after its command was released. This is rare.
 * @queue, @cmd: see queue_begin()
 */
static __always_inline bool was_answered(struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	__u64 owner = plain_number((__u64)cmd);
	struct nt_cmd *c = cmd_at(*index_of(owner));
	struct nt_queue *q;

	if (!is_last_of(c, owner)) {
		q = queue_at(BPF_CORE_READ(queue, idx));
		c = q ? cmd_by_tag(q,
				   tag_of_plain((void *)plain_number((__u64)queue), (void *)owner))
		      : NULL;
	}
	return is_last_of(c, owner) && !in_flight(c) &&
	       c->r.cid == BPF_CORE_READ(cmd, req.cmd, common.command_id);
}

/*
 * Counts an end whose beginning was not seen. Nothing is counted where only a sample has states: a
 * command outside the sample looks the same.
 */
static __always_inline void count_unbegun(void)
{
	if (nt_control.began_ns && all_have_states())
		count(NT_CNT_NO_START);
}

/*
 * To released: a command whose latency is counted has its last point, and its stages are counted,
 * if its burst of all points is still on.
 */
static __always_inline void stages_end(struct nt_queue *q, struct nt_cmd *c, __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id(), shape;
	struct nt_record *r = &c->r;
	struct nt_hist *h;

	r->points[NT_T_SENT] = now;
	cmd_release(c);
	/* See cmd_end_unwatched(): the loader attaches what sees the last data. */
	if (only_ends(r) || r->flags & NT_F_UNSPLIT)
		return;
	shape = nt_target_shape(r);
	h = hist_find(q, r->slot, r->gen, r->op, cpu);
	if (!stages_count(NT_TARGET, r, shape, 0, cpu,
			  h ? h->stages ?: stages_take(h) : NT_STAGES_SHARED))
		record_unsplit(r);
}

/*
 * Counts the latency of a command in a burst of all points. It stays in flight until the socket
 * gets its answer, for its stages.
 */
static __always_inline void cmd_count(struct nt_queue *q, struct nt_cmd *c, __u64 now)
{
	struct nt_record *r = &c->r;

	r->points[NT_T_DONE] = now;
	if (q->identified != q->gen)
		queue_identify_late(r->slot);
	if (queue_drops(q, r)) {
		cmd_release(c);
		return;
	}
	r->flags |= NT_F_COUNTED;
	latency_count(q, r, r->gen, bpf_get_smp_processor_id(), now - r->points[NT_T_CMD]);
}

/*
 * To released: the last PDU of the answer is handed to the socket. Programs that run for this
 * command later find it released, and ignore it. The record already has the status.
 */
static __always_inline void cmd_end(struct nt_queue *q, struct nt_cmd *c, __u64 now)
{
	struct nt_record *r = &c->r;
	__u32 shape, cpu;
	__u64 begin;
	__s32 stages;
	bool fine;

	if (nt_knobs.stages && r->flags & NT_F_COUNTED) {
		stages_end(q, c, now);
		return;
	}
	r->points[nt_knobs.ends ? NT_T_DONE : NT_T_SENT] = now;
	if (q->identified != q->gen)
		queue_identify_late(r->slot);
	cmd_release(c);
	if (queue_drops(q, r))
		return;
	if (is_error(r))
		error_count(r, r->gen);
	if (only_counted(c)) {
		if (!is_error(r))
			others_count(q, r, r->gen);
		return;
	}

	if (!nt_knobs.ends)
		r->shape = nt_target_shape(r);
	/* Read again: otherwise the verifier goes through the rest once for each shape. */
	shape = *(volatile __u8 *)&r->shape;
	begin = nt_knobs.ends ? r->points[NT_T_CMD] : r->points[NT_T_RX] ?: r->points[NT_T_CMD];
	if (!is_error(r)) {
		cpu = bpf_get_smp_processor_id();
		stages = latency_count(q, r, r->gen, cpu, now - begin);
		if (!nt_knobs.stages &&
		    (r->flags & NT_F_UNSPLIT || !stages_count(NT_TARGET, r, shape, 0, cpu, stages)))
			record_unsplit(r);
	}
	if (!record_asked_for(r, now - begin))
		return;
	/* Now: a record that waits may be handed over when another connection has its slot. */
	record_identify(r, NT_TARGET, q);
	fine = nt_knobs.fine;
	if (!fine || !out_waits(c))
		target_hand_over(c, true, fine);
}

/*
 * Counts an end whose beginning was not seen, unless the command was answered before.
 * @queue, @cmd: see queue_begin()
 */
static __always_inline void count_unbegun_of(struct nvmet_tcp_queue *queue,
					     struct nvmet_tcp_cmd *cmd)
{
	if ((BPF_CORE_READ(queue, nvme_sq.qid) ||
	     BPF_CORE_READ(cmd, req.cmd, common.opcode) != NVME_ADMIN_ASYNC_EVENT) &&
	    !was_answered(queue, cmd))
		count_unbegun();
}

/*
 * Whether an R2T is queued, and not a response: nvmet_tcp_need_data_in(). Most commands are known
 * without the driver's state. @req: typed. @cmd: see queue_begin()
 */
static __always_inline bool asks_for_data(struct nvmet_req *req, struct nvmet_tcp_cmd *cmd)
{
	struct nvme_command *sqe = req->cmd;

	return is_write(sqe) && !req->cqe->status &&
	       sqe->common.dptr.sgl.type != NVME_SGL_IN_CAPSULE &&
	       BPF_CORE_READ(cmd, rbytes_done) < req->transfer_len;
}

/*
 * To released, where only the ends of commands have programs: the response is queued, or the data
 * and the response of a read. Two programs may run for it, in any order: one stands in for the
 * other one. Also, nvmet_tcp_queue_response() runs again for a command whose data in the capsule
 * come after its failure. So a command that is released and has the same id has ended before.
 * @req: typed. @cmd: see queue_begin()
 * @find: evaluates to the command in flight at @cmd, NULL where its beginning was not seen. Called
 *        only if the index does not lead to it, which is rare
 */
#define CMD_END_QUEUED(req, cmd, find)                                  \
	({                                                              \
		struct nt_cmd *last_ = cmd_at(*index_of((__u64)(cmd))); \
                                                                        \
		if (!is_last_of(last_, (__u64)(cmd)))                   \
			last_ = (find);                                 \
		cmd_end_queued(req, cmd, last_);                        \
	})

/* @c: the last command of @cmd, in flight or released; NULL if it is not known */
static __always_inline int cmd_end_queued(struct nvmet_req *req, struct nvmet_tcp_cmd *cmd,
					  struct nt_cmd *c)
{
	struct nt_queue *q = NULL;
	__u64 now;

	/*
	 * Keeps the compiler from holding the answer to "is it NULL" apart from the pointer, which
	 * the verifier cannot follow.
	 */
	asm volatile("" : "+r"(c));
	if (c && !in_flight(c)) {
		if (c->r.cid == req->cmd->common.command_id)
			return 0;
		c = NULL;
	}
	if (asks_for_data(req, cmd))
		return 0;
	if (c)
		q = queue_of_cmd(c);
	if (!q) {
		if (all_have_states())
			count_unbegun_of(BPF_CORE_READ(cmd, queue), cmd);
		return 0;
	}
	/* The other program has counted it. */
	if (nt_knobs.stages && c->r.flags & NT_F_COUNTED)
		return 0;
	c->r.status = req->cqe->status >> 1;
	now = only_counted(c) ? 0 : bpf_ktime_get_ns();
	if (nt_knobs.stages && now && !is_error(&c->r) && !only_ends(&c->r))
		cmd_count(q, c, now);
	else
		cmd_end(q, c, now);
	return 0;
}

/*
 * To answering: the first data of a read go to the socket.
 * @c: NULL where its beginning was not seen
 * @sk: see OUT_SOCKET()
 * Return: false if data have gone before
 */
static __always_inline bool cmd_answering(struct nt_cmd *c, struct sock *sk)
{
	if (!c || c->r.points[NT_T_SEND])
		return false;
	cmd_sends(c, sk, NT_T_SEND, bpf_ktime_get_ns());
	return true;
}

/* To asking: the first R2T goes to the socket. @c: may be NULL */
static __always_inline void cmd_asking(struct nt_cmd *c, struct sock *sk)
{
	if (c && !c->r.points[NT_T_SEND_R2T])
		cmd_sends(c, sk, NT_T_SEND_R2T, bpf_ktime_get_ns());
}

/*
 * The same for a command that may be only counted. For such a one it is not noted whether data have
 * gone before, and the result is true.
 */
static __always_inline bool cmd_answers(struct nt_cmd *c, struct sock *sk)
{
	return c && only_counted(c) ? true : cmd_answering(c, sk);
}

/*
 * To released, on a connection without SQ flow control: nothing is seen of a read after its first
 * data, because the programs that see the last data are not attached. @no_sqflow has the loader
 * attach them.
 */
static __always_inline void cmd_end_unwatched(struct nt_cmd *c)
{
	struct nt_queue *q = queue_of_cmd(c);

	nt_control.no_sqflow = 1;
	if (!q)
		return;
	c->r.flags |= NT_F_NO_CQE | NT_F_UNSPLIT;
	cmd_end(q, c, c->r.points[NT_T_SEND]);
}

/*
 * To released, on a connection without SQ flow control: the socket is about to get, or has taken,
 * the last data of a read.
 * @c: NULL where its beginning was not seen
 */
static __always_inline void cmd_end_by_data(struct nt_cmd *c)
{
	struct nt_queue *q = c ? queue_of_cmd(c) : NULL;

	if (!q) {
		/*
		 * As long as the loader does not say that these programs are attached,
		 * cmd_end_unwatched() may have ended the command.
		 */
		if (nt_control.data_watched && !nt_knobs.stages)
			count_unbegun();
		return;
	}
	c->r.flags |= NT_F_NO_CQE;
	cmd_end(q, c, bpf_ktime_get_ns());
}

#endif /* NTPROF_TARGET_COMMAND_BPF_H */
