/* SPDX-License-Identifier: GPL-2.0-only */
/* The life of a command on the target. */
#ifndef NTPROF_TARGET_COMMAND_BPF_H
#define NTPROF_TARGET_COMMAND_BPF_H

#include "arrival.bpf.h"
#include "queues.bpf.h"
#include "records.bpf.h"
#include "stages.bpf.h"
#include "state.bpf.h"
#include "submission.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_names);
} names SEC(".maps");

/* Which slot a socket serves, so that a connection's end is noticed. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u32);
} sockets SEC(".maps");

static __always_inline struct nt_queue *queue_find(struct nvmet_tcp_queue *queue)
{
	__u32 slot = queue->idx;

	return bpf_map_lookup_elem(&queues, &slot);
}

/*
 * A command's place in its queue: 0 is the one that a connection has before it is told its depth,
 * for the Connect command; cmds[i] is i + 1. This is nvmet_tcp_cmd_tag() made safe for both.
 */
static __always_inline __u32 tag_of(struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	__u64 connect = (__u64)queue + bpf_core_field_offset(struct nvmet_tcp_queue, connect);

	if ((__u64)cmd == connect)
		return 0;
	return ((__u64)cmd - (__u64)queue->cmds) / bpf_core_type_size(struct nvmet_tcp_cmd) + 1;
}

/* tag_of() for plain addresses. */
static __always_inline __u32 tag_at(struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	__u64 connect = (__u64)queue + bpf_core_field_offset(struct nvmet_tcp_queue, connect);
	__u64 cmds;

	if ((__u64)cmd == connect)
		return 0;
	cmds = (__u64)BPF_CORE_READ(queue, cmds);
	return ((__u64)cmd - cmds) / bpf_core_type_size(struct nvmet_tcp_cmd) + 1;
}

static __always_inline struct nt_cmd *cmd_in(struct nt_queue *q, struct nvmet_tcp_queue *queue,
					     struct nvmet_tcp_cmd *cmd)
{
	struct nt_cmd *c = q ? cmd_find(q, tag_of(queue, cmd)) : NULL;

	return c && c->owner == (__u64)cmd ? c : NULL;
}

/* The state of a command in flight, NULL where its beginning was not seen. */
static __always_inline struct nt_cmd *cmd_of(struct nvmet_tcp_queue *queue,
					     struct nvmet_tcp_cmd *cmd)
{
	bool elsewhere;
	struct nt_cmd *c = cmd_by_owner((__u64)cmd, &elsewhere);

	if (c || !elsewhere)
		return c;
	return cmd_in(queue_find(queue), queue, cmd);
}

/* A connection takes its slot. @queue may be a plain address: this is rare, and read by helper. */
static __always_inline void queue_begin(struct nt_queue *q, struct nvmet_tcp_queue *queue,
					__u32 slot)
{
	struct sock *sk = BPF_CORE_READ(queue, sock, sk);
	__u64 key = (__u64)sk;

	q->object = (__u64)queue;
	q->instance = slot;
	q->gen++;
	*slot_index((__u64)queue) = slot + 1;
	data_ready_learn(sk);
	bpf_map_update_elem(&sockets, &key, &slot, BPF_ANY);
}

/* Who is at the other end is known once Connect has been executed. @queue: see queue_begin(). */
static __always_inline void queue_identify(struct nt_queue *q, struct nvmet_tcp_queue *queue,
					   __u32 slot)
{
	struct nvmet_ctrl *ctrl = BPF_CORE_READ(queue, nvme_sq.ctrl);
	struct nt_names *n;

	if (!ctrl)
		return;
	q->cntlid = BPF_CORE_READ(ctrl, cntlid);
	q->qid = BPF_CORE_READ(queue, nvme_sq.qid);
	q->sqsize = BPF_CORE_READ(queue, nvme_sq.size);
	n = bpf_map_lookup_elem(&names, &slot);
	if (n) {
		bpf_probe_read_kernel_str(n->subsysnqn, sizeof(n->subsysnqn),
					  BPF_CORE_READ(ctrl, subsys, subsysnqn));
		bpf_probe_read_kernel_str(
			n->hostnqn, sizeof(n->hostnqn),
			(void *)((__u64)ctrl + bpf_core_field_offset(struct nvmet_ctrl, hostnqn)));
	}
	if (BPF_CORE_READ(queue, nvme_sq.sqhd_disabled))
		nt_control.no_sqflow = 1;
	q->identified = q->gen;
}

/* What begin() has to know of a command capsule that has been received. */
struct target_capsule {
	struct nvmet_tcp_queue *queue;
	__u64 cmd; /* address of its struct nvmet_tcp_cmd */
	__u32 slot;
	__u16 qid;
	bool has_ctrl;
	bool typed; /* @queue is; a constant */
	__u64 rx;   /* arrival, 0 if unknown */
	__u64 now;
};

/* Whether nobody is interested in a command: it is not sampled, and introduces no connection. */
static __always_inline bool is_skipped(struct nvme_command *sqe, __u32 qid)
{
	return !sqe_sampled(sqe, qid) && sqe->common.opcode != NVME_FABRICS_COMMAND;
}

/* Nor is it taken for one whose end was not seen. */
static __always_inline int forget(struct nt_cmd *c, __u64 cmd)
{
	if (c && c->owner == cmd) {
		count(NT_CNT_OVERWRITTEN);
		cmd_release(c);
	}
	return 0;
}

static __always_inline __u32 capsule_tag(const struct target_capsule *t)
{
	struct nvmet_tcp_cmd *cmd = (void *)t->cmd;

	return t->typed ? tag_of(t->queue, cmd) : tag_at(t->queue, cmd);
}

static __always_inline struct nt_cmd *cmd_of_slot(__u32 slot, __u32 tag)
{
	struct nt_queue *q = bpf_map_lookup_elem(&queues, &slot);

	return q ? cmd_find(q, tag) : NULL;
}

/* @tag is computed only if it is needed. */
#define BEGIN_SKIPPED(cmd, slot, tag)                                           \
	({                                                                      \
		bool elsewhere;                                                 \
		struct nt_cmd *before = cmd_by_owner((__u64)(cmd), &elsewhere); \
                                                                                \
		if (!before && elsewhere)                                       \
			before = cmd_of_slot((slot), (tag));                    \
		forget(before, (__u64)(cmd));                                   \
	})

/* Where the one before this was, whose address was the same: on the same connection that has the same tag. */
static __always_inline struct nt_cmd *cmd_again(const struct nt_queue *q, __u32 slot, __u64 owner)
{
	struct nt_cmd *c = cmd_at(*index_of(owner));

	return (c->owner & ~NT_RELEASED) == owner && c->r.slot == slot && c->r.gen == q->gen ? c
											     : NULL;
}

/* A command's first point. @sqe: BTF-typed. */
static __always_inline int begin(const struct target_capsule *t, struct nvme_command *sqe)
{
	__u8 opcode = sqe->common.opcode;
	__u32 slot = t->slot;
	struct nt_cmd *c, *left;
	struct nt_queue *q;

	if (slot >= nt_knobs.slots)
		goto no_slot;
	q = bpf_map_lookup_elem(&queues, &slot);
	if (!q)
		goto no_slot;
	if (q->object != (__u64)t->queue || q->gen == q->dead_gen ||
	    (opcode == NVME_FABRICS_COMMAND && !t->has_ctrl))
		queue_begin(q, t->queue, slot);
	if (t->qid == 0 && opcode == NVME_ADMIN_ASYNC_EVENT) {
		count(NT_CNT_ASYNC_EVENT);
		return 0;
	}
	if (!sqe_sampled(sqe, t->qid))
		return BEGIN_SKIPPED(t->cmd, slot, capsule_tag(t));
	c = cmd_again(q, slot, t->cmd);
	/* What is left of a connection that has closed, user space counts and frees. */
	if (!c)
		c = cmd_place(q, capsule_tag(t), t->cmd, &left);
	if (!c)
		goto no_slot;
	if (in_flight(c))
		count(c->r.gen == q->gen ? NT_CNT_OVERWRITTEN : NT_CNT_DIED);
	__builtin_memset(c->r.points, 0, sizeof(c->r.points));
	record_sqe(&c->r, sqe, t->qid == 0);
	c->r.slot = slot;
	c->r.gen = q->gen;
	c->r.points[NT_T_RX] = t->rx;
	c->r.points[NT_T_CMD] = t->now;
	cmd_take(c, t->cmd);
	return 0;
no_slot:
	count(NT_CNT_NO_SLOT);
	return 0;
}

static __always_inline int exec(struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	struct nt_cmd *c = cmd_of(queue, cmd);

	if (c)
		c->r.points[NT_T_EXEC] = bpf_ktime_get_ns();
	return 0;
}

/* Fires for an R2T as well, before exec: that one is not the end of the execution. */
static __always_inline int done(struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	struct nt_cmd *c = cmd_of(queue, cmd);

	if (c && c->r.points[NT_T_EXEC] && !c->r.points[NT_T_DONE])
		c->r.points[NT_T_DONE] = bpf_ktime_get_ns();
	return 0;
}

/* What is sampled, and so not looked for, cannot be told from what is not known. */
static __always_inline void count_no_start(void)
{
	if (nt_control.began_ns && !nt_knobs.sample_below)
		count(NT_CNT_NO_START);
}

static __always_inline __u8 shape_of(const struct nt_record *r)
{
	if (r->points[NT_T_SEND_R2T])
		return NT_SHAPE_R2T_WRITE;
	if (!r->length)
		return NT_SHAPE_NO_DATA;
	/* NVMe Base 2.0, 3.3.3.1: bit 0 of an opcode says host to controller data transfer. */
	if (r->op == NT_OP_FABRICS || (r->opcode & 1))
		return NT_SHAPE_INLINE_WRITE;
	return NT_SHAPE_READ;
}

/* The answer's last PDU is on its way. What follows on this command is not its business. */
static __always_inline void cmd_end(struct nt_queue *q, struct nvmet_tcp_queue *queue,
				    struct nt_cmd *c, __u64 now)
{
	struct nt_record *r = &c->r;
	__u32 shape;
	__u64 begin;

	r->points[NT_T_SENT] = now;
	if (q->identified != q->gen)
		queue_identify(q, queue, r->slot);
	cmd_release(c);

	shape = shape_of(r);
	r->shape = shape;
	begin = r->points[NT_T_RX] ?: r->points[NT_T_CMD];
	latency_count(q, r, now - begin);
	if (r->flags & NT_F_UNSPLIT || !stages_count(NT_TARGET, r, shape, 0))
		cmd_unsplit(r);
	record_submit(r, NT_TARGET, q, now - begin);
}

/* The data of a read go to the socket. Return: for the first time. */
static __always_inline bool send_begins(struct nt_cmd *c)
{
	if (!c || c->r.points[NT_T_SEND])
		return false;
	c->r.points[NT_T_SEND] = bpf_ktime_get_ns();
	return true;
}

/* They are the end of this read, but nobody watches for their last, yet: no more will be seen of it. */
static __always_inline void end_unwatched(struct nvmet_tcp_queue *queue, struct nt_cmd *c)
{
	struct nt_queue *q = bpf_map_lookup_elem(&queues, &c->r.slot);

	nt_control.no_sqflow = 1;
	if (!q)
		return;
	c->r.flags |= NT_F_NO_CQE | NT_F_UNSPLIT;
	cmd_end(q, queue, c, c->r.points[NT_T_SEND]);
}

/* The socket is about to get, or has taken, the last of a read that ends without CQE. */
static __always_inline void data_sent(struct nvmet_tcp_queue *queue, struct nt_cmd *c)
{
	struct nt_queue *q = c ? bpf_map_lookup_elem(&queues, &c->r.slot) : NULL;

	if (!q) {
		/* Before, it may have ended by end_unwatched(). */
		if (nt_control.data_watched)
			count_no_start();
		return;
	}
	c->r.flags |= NT_F_NO_CQE;
	cmd_end(q, queue, c, bpf_ktime_get_ns());
}

#endif /* NTPROF_TARGET_COMMAND_BPF_H */
