/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The life of a command on the host, for all programs that see it: its queue, and what moves it
 * from one state to the next (see state.bpf.h). The owner of a command is its struct request.
 */
#ifndef NTPROF_HOST_COMMAND_BPF_H
#define NTPROF_HOST_COMMAND_BPF_H

#include "arrival.bpf.h"
#include "controllers.bpf.h"
#include "cpus.bpf.h"
#include "histograms.bpf.h"
#include "host_queue.bpf.h"
#include "joins.bpf.h"
#include "leave.bpf.h"
#include "origin.bpf.h"
#include "out.bpf.h"
#include "queues.bpf.h"
#include "records.bpf.h"
#include "request.bpf.h"
#include "select.bpf.h"
#include "stages.bpf.h"
#include "state.bpf.h"
#include "worker.bpf.h"

#define NVME_TCP_F_DATA_SUCCESS (1 << 3) /* NVMe/TCP 1.0, 3.6.2.10: C2HData PDU flags */

/* @queue: typed */
static __always_inline struct nt_queue *queue_of(struct nvme_tcp_queue *queue, int qid)
{
	return queue_at((__u32)queue->ctrl->ctrl.instance * nt_knobs.qid_stride + (__u32)qid);
}

/*
 * The queue of a request of any driver. @rq: typed
 * Return: NULL where it is no command of NVMe/TCP, or where no command of its controller was seen
 */
static __always_inline struct nt_queue *queue_of_request(struct request *rq)
{
	__u64 ops = (__u64)rq->q->mq_ops;
	struct nvme_tcp_request *req = driver_part(rq);
	const struct nt_learned *l = learned_now();
	__u32 slot;

	if (!l || (ops != l->mq_ops[0] && ops != l->mq_ops[1]))
		return NULL;
	slot = (__u32)BPF_CORE_READ(req, queue, ctrl, ctrl.instance) * nt_knobs.qid_stride;
	if (ops == l->mq_ops[0])
		slot += rq->mq_hctx->queue_num + 1;
	return queue_at(slot);
}

/* The command in flight of a request: see CMD_FIND(). @queue, @rq: typed */
static __always_inline struct nt_cmd *cmd_of(struct nvme_tcp_queue *queue, int qid,
					     struct request *rq)
{
	return CMD_FIND(rq, queue_of(queue, qid), rq->tag);
}

/*
 * The functions below that have @core are for commands of TCP, or with it for those of another
 * transport, whose programs are in host_core.bpf.h. It is a constant.
 */

/* The mark of owners, see unmarked(). */
#define OWNER_MARK(core) ((core) ? NT_CORE_OWNER : 0)

/* Whether a state in flight is that of a request's command. @rq: typed */
static __always_inline bool is_of_request(const struct nt_cmd *c, struct request *rq,
					  const bool core)
{
	return unmarked(owner_of(c), OWNER_MARK(core)) == (__u64)rq;
}

/*
 * The owner of a request's command, which takes the state @c. The verifier allows no arithmetic
 * with a typed pointer, but on what is read from memory: it is put in a place where that is not
 * published yet, and which no other program looks at.
 * @rq: typed; where its transport is TCP, no bit of the result may be changed
 */
static __always_inline __u64 owner_for(struct nt_cmd *c, struct request *rq, const bool core)
{
	volatile __u64 *place = &c->r.points[NT_H_COMPLETE];
	__u64 number;

	if (!core)
		return (__u64)rq;
	*place = (__u64)rq;
	number = *place;
	*place = 0;
	return number + NT_CORE_OWNER;
}

/* With an SQ head, in @seq of the record of a command of another transport than TCP. */
#define NT_CORE_SQ_HEAD (1u << 31)

/* See host_core.bpf.h. */
static __always_inline bool core_begins_again(struct request *rq, const struct nt_cmd *c);
static __always_inline struct nt_queue *core_queue_of_request(struct request *rq);
static __always_inline bool core_is_new(const struct nt_queue *q, const struct host_queue *h);
static __always_inline void core_identify(struct nt_queue *q, const struct host_queue *h,
					  struct request *rq);

/*
 * Counts command @c, which is in flight when its request, or its tag, begins another command.
 * Either it is the same command, sent again, or its end was not seen.
 * @rq: typed; the request of the command that begins
 * @next: the state of the command that begins; may be @c. If the flags say that the command was
 *        sent again, @side of its record says how often, until it ends
 * Return: flags for the record of the command that begins
 */
static __always_inline __u32 count_unended(struct request *rq, const struct nt_cmd *c,
					   struct nt_cmd *next, const bool core)
{
	__u8 retries = is_of_request(c, rq, core) ? retries_of(rq) : 0;

	if (retries) {
		next->r.side = retries;
		count(NT_CNT_REQUEUED);
		return NT_F_REQUEUED;
	}
	if (core && core_begins_again(rq, c))
		return 0;
	count(NT_CNT_OVERWRITTEN);
	return 0;
}

/* CO-RE: requests that wait to be sent, and send_mutex. A mutex of PREEMPT_RT has no @owner. */
struct mutex___owner {
	struct {
		__s64 counter;
	} owner;
} __attribute__((preserve_access_index));
struct list_head___sends {
	struct list_head___sends *next;
} __attribute__((preserve_access_index));
struct llist_node___sends {
	struct llist_node___sends *next;
} __attribute__((preserve_access_index));
struct llist_head___sends {
	struct llist_node___sends *first;
} __attribute__((preserve_access_index));
struct nvme_tcp_queue___sends {
	struct list_head___sends send_list;
	struct llist_head___sends req_list;
	struct mutex___owner send_mutex;
	struct nvme_tcp_request *request;
} __attribute__((preserve_access_index));

/* Of the owner of a mutex: its flags (kernel/locking/mutex.c). */
#define NT_MUTEX_FLAGS 7

/*
 * How many elements a list has, of struct list_head or llist_node: in both, the first member leads
 * to the next one. Not static, so that it is verified once, and the verifier forgets the number.
 * @at: plain address of the first element
 * @end: that ends the list, besides 0
 */
__noinline int list_length(__u64 at, __u64 end)
{
	int nr = 0;

	/* Otherwise the verifier goes through it even where nothing calls it. */
	if (!nt_knobs.fine)
		return 0;
	for (; nr < NT_QUEUED_MOST && at && at != end; nr++)
		if (bpf_probe_read_kernel(&at, sizeof(at), (void *)at))
			at = 0;
	return nr;
}

/*
 * With finer points, counts the requests that are queued on a connection. It takes no lock, so
 * requests may come and go meanwhile. Not static, so that it is verified once.
 * @address: plain, of its struct nvme_tcp_queue; 0: not known
 *
 * Return: see NT_QUEUED_NR()
 */
__noinline int queued_look(__u64 address)
{
	struct nvme_tcp_queue___sends *queue = (void *)address;
	__u32 nr, lock = 0;
	__u64 list;

	if (!nt_knobs.fine || !address || !bpf_core_field_exists(queue->send_list) ||
	    !bpf_core_field_exists(queue->req_list))
		return 0;
	list = address + bpf_core_field_offset(struct nvme_tcp_queue___sends, send_list);
	nr = list_length((__u64)BPF_CORE_READ(queue, send_list.next), list);
	nr += list_length((__u64)BPF_CORE_READ(queue, req_list.first), 0);
	nr += !!BPF_CORE_READ(queue, request);
	if (nr > NT_QUEUED_MOST)
		nr = NT_QUEUED_MOST;
	if (bpf_core_field_exists(queue->send_mutex.owner))
		lock = BPF_CORE_READ(queue, send_mutex.owner.counter) & ~(__s64)NT_MUTEX_FLAGS
			       ? NT_QUEUED_LOCKED
			       : NT_QUEUED_FREE;
	return (int)((nr + 1) | lock);
}

/*
 * To begun: the driver has got a request.
 * @rq: typed
 * @q: at the slot of @h; NULL if there is none
 * @sqe: typed, or on the stack
 * @noted: see task_take()
 * @wanted: the command is measured; otherwise it is only counted
 */
static __always_inline int request_begin(struct request *rq, const struct host_queue *h,
					 struct nt_queue *q, struct nvme_command *sqe,
					 const struct nt_task *noted, bool wanted, const bool core)
{
	__u64 submit = start_time(rq, sqe->common.opcode == NVME_CMD_FLUSH);
	struct nvme_tcp_queue *queue = (void *)h->queue;
	__u16 burst = burst_now();
	struct nt_cmd *c, *left;
	struct nt_begun *begun;
	__u32 flags = 0;

	if (!q)
		goto no_slot;
	if (queue_left_out(q) && q->object == h->ctrl && q->queue == h->queue &&
	    sqe->common.opcode != NVME_FABRICS_COMMAND)
		return 0;
	/* With an I/O scheduler, a request gets another tag each time. */
	c = cmd_claim(q, rq->tag, (__u64)rq, OWNER_MARK(core), &left);
	if (!c)
		goto no_slot;
	if (left) {
		flags = count_unended(rq, left, c, core);
		if (nt_knobs.origins & NT_ORIGIN_TASK && wanted)
			__builtin_memcpy(&c->task, &left->task, sizeof(c->task));
		cmd_release(left);
	}
	if (in_flight(c))
		flags |= count_unended(rq, c, c, core);
	if (wanted) {
		/* A worker sends a command again: who submitted it has not changed. */
		if (nt_knobs.origins & NT_ORIGIN_TASK)
			task_begin(&c->task, noted, flags & NT_F_REQUEUED && c->task.pid);
		/* No other points are set where there are only the ends. */
		if (nt_knobs.ends && !burst)
			c->r.points[NT_H_QUEUE_RQ] = c->r.points[NT_H_COMPLETE] = 0;
		else
			__builtin_memset(c->r.points, 0, sizeof(c->r.points));
		if (nt_knobs.fine) {
			cpus_begin((__u64)rq, queued_look(kernel_queue_at(h->slot)));
			__builtin_memset(c->r.fine, 0, sizeof(c->r.fine));
			__builtin_memset(c->r.seq, 0, sizeof(c->r.seq));
		}
		waits_begin(c);
		record_sqe(&c->r, sqe, h->qid == 0);
		if (core) {
			c->r.shape = NT_SHAPE_CORE;
			if (nt_knobs.events)
				c->r.seq[0] = 0;
		}
		if (nt_knobs.stages)
			c->r.cntlid = burst;
		if (burst && !core)
			JOINS_BURST(q, burst, BPF_CORE_READ(queue, sock, sk));
	} else {
		/* If it is sent again, it may be in the sample then. */
		if (nt_knobs.origins & NT_ORIGIN_TASK)
			c->task.pid = 0;
		record_counted(&c->r, sqe, h->qid == 0);
		/* The command's age where submit has none, for user space: set before it looks. */
		c->r.points[NT_H_QUEUE_RQ] = submit ? 0 : bpf_ktime_get_ns();
	}
	/* Connect is the first command of a queue, also when the queue is connected again. */
	if (core && core_is_new(q, h))
		core_identify(q, h, rq);
	if (!core && (q->object != h->ctrl || q->identified != q->gen || c->r.op == NT_OP_FABRICS ||
		      q->queue != h->queue))
		flags |= queue_identify(q, h, rq) ? NT_F_CONNECT : 0;
	if (queue_left_out(q)) {
		if (in_flight(c))
			cmd_release(c);
		return 0;
	}
	c->r.flags |= flags;
	c->r.slot = h->slot;
	c->r.gen = q->gen;
	c->r.points[NT_H_SUBMIT] = submit;
	queue_begins(q);
	cmd_begin(c, owner_for(c, rq, core), wanted);
	if (wanted) {
		c->r.points[NT_H_QUEUE_RQ] = bpf_ktime_get_ns();
		begun = event_begin(&c->r, NT_HOST, q, sqe);
		if (begun) {
			if (nt_knobs.origins)
				origin_fill(&begun->from, rq, &c->task);
			event_submit(begun);
		}
	}
	return 0;
no_slot:
	count_past(NT_PAST_SLOTS, h->slot);
	return 0;
}

/*
 * Whether the command of @sqe has begun already, because the other program was run for it. A
 * command that a reset has cancelled is sent again with the same command id: since Linux 6.1, the
 * generation in the id grows only when the command is answered (nvme_try_complete_req()). So the
 * number of retries has to be the same as well. With the ends alone, most ids have no generation:
 * another command has another start time, if it has one. @rq: typed
 */
static __always_inline bool has_begun(struct request *rq, const struct nt_queue *q,
				      const struct nvme_command *sqe, const bool core)
{
	const struct nt_cmd *c = CMD_FIND_BY(cmd_any, rq, OWNER_MARK(core), q, rq->tag);
	__u8 retries;

	if (!c || (!nt_knobs.ends && c->r.cid != sqe->common.command_id))
		return false;
	if (nt_knobs.ends &&
	    c->r.points[NT_H_SUBMIT] != start_time(rq, sqe->common.opcode == NVME_CMD_FLUSH))
		return false;
	retries = retries_of(rq);
	return !retries || (c->r.flags & NT_F_REQUEUED && c->r.side == retries);
}

/*
 * Whether the program that stands in for a skipped beginning has nothing to do. It mostly finds
 * that the other one has begun the command. Where it cannot know that, it returns as well: for
 * Fabrics commands where not all commands have states. Nor does it begin commands without a place,
 * which must be counted only once. @rq: typed. @q: may be NULL
 */
static __always_inline bool stand_in_returns(struct request *rq, const struct nt_queue *q,
					     const struct nvme_command *sqe)
{
	return !q || has_begun(rq, q, sqe, false) ||
	       (!all_have_states() && sqe->common.opcode == NVME_FABRICS_COMMAND);
}

/*
 * The driver has got a request that is left out. If a command of this request is still in flight,
 * it is released, so that the end of the new command is not taken for the end of that one. A
 * Connect begins another connection even so.
 */
static __always_inline int request_skip(struct request *rq, const struct host_queue *h,
					struct nt_queue *q, struct nvme_command *sqe)
{
	struct nt_cmd *c = CMD_FIND_ANY(rq, q, rq->tag);

	if (sqe->common.opcode == NVME_FABRICS_COMMAND && q)
		queue_identify(q, h, rq);
	if (c) {
		count_unended(rq, c, c, false);
		cmd_release(c);
	}
	return 0;
}

/*
 * To sent: first the capsule, then data. The driver may find that it has sent a command only after
 * the answer has come, and after the tag is in use again. A command that has not been sent is then
 * a new one, because a queue sends one at a time. It is left alone. @c: in flight
 */
static __always_inline void cmd_sent(struct nt_cmd *c)
{
	/* Its owner was read before: a new command's points were cleared before it had that. */
	in_order();
	if (!c->r.points[NT_H_SEND_CMD])
		return;
	if (!c->r.points[NT_H_SENT_CMD])
		c->r.points[NT_H_SENT_CMD] = bpf_ktime_get_ns();
	else
		c->r.points[NT_H_SENT_DATA] = bpf_ktime_get_ns();
}

/* To sending: @point of @c, which may be NULL, is set if it is not yet. @sk: see OUT_SOCKET() */
static __always_inline void cmd_sends(struct nt_cmd *c, struct sock *sk, __u32 point)
{
	if (!c || c->r.points[point])
		return;
	c->r.points[point] = bpf_ktime_get_ns();
	if (!nt_knobs.fine)
		return;
	cpu_note(owner_of(c), point == NT_H_SEND_CMD ? NT_HC_SEND_CMD : NT_HC_SEND_DATA);
	out_expect(c, sk, point, point == NT_H_SEND_CMD ? NT_HF_OUT : NT_HF_DATA_OUT);
	cmd_waited_to_send(c, c->r.points[point == NT_H_SEND_CMD ? NT_H_QUEUE_RQ : NT_H_R2T],
			   point == NT_H_SEND_DATA);
}

/* See out.bpf.h. The command has not ended: its answer comes later. */
__noinline int out_reach(__u64 owner, __u32 since, __u64 now)
{
	struct nt_cmd *c = cmd_at(*index_of(owner));
	struct nt_record *r;

	if (!is_last_of(c, owner))
		return 0;
	r = &c->r;
	NT_HOST_FINE(NT_FINE_REACH)
	return 0;
}

/*
 * When a PDU of @c arrived. The last byte of its header is byte @seq of the stream, in packet @p.
 * @q: the queue of @c; may be NULL
 * Return: 0 if it is unknown
 */
static __always_inline __u64 cmd_arrival(struct nt_cmd *c, struct nt_queue *q,
					 const struct nt_join *p, __u32 seq, __u64 now)
{
	__s64 tstamp;

	if (!q || q->opaque)
		return 0;
	if (!joins_resolve(q, seq, p, &tstamp))
		record_joined(&c->r);
	return arrival(tstamp, now);
}

/* To asked, by the first R2T. @seq: see cmd_waited(); @rx: see cmd_arrival() */
static __always_inline void cmd_asked(struct nt_cmd *c, __u32 seq, __u64 rx, __u64 now)
{
	cmd_waited(c, NT_HC_R2T, seq, rx, now, false);
	c->r.points[NT_H_R2T_RX] = rx;
	c->r.points[NT_H_R2T] = now;
}

/*
 * The answer begins to come: data, or the CQE. @cpu, @seq: see cmd_waited(); @rx: see cmd_arrival()
 */
static __always_inline void cmd_answer_comes(struct nt_cmd *c, __u32 cpu, __u32 seq, __u64 rx,
					     __u64 now)
{
	cmd_waited(c, cpu, seq, rx, now, c->r.points[NT_H_R2T]);
	c->r.points[NT_H_RX] = rx;
}

/* To answering, by the first data PDU. @seq, @rx: see cmd_answer_comes() */
static __always_inline void cmd_answering(struct nt_cmd *c, __u32 seq, __u64 rx, __u64 now)
{
	cmd_answer_comes(c, NT_HC_C2H, seq, rx, now);
	c->r.points[NT_H_C2H] = now;
}

/* A data PDU says that no CQE follows. The loader then attaches the programs that see such ends. */
static __always_inline void cmd_without_cqe(struct nt_cmd *c)
{
	c->r.flags |= NT_F_NO_CQE;
	if (!nt_control.no_sqflow)
		nt_control.no_sqflow = 1;
}

/*
 * A Connect has succeeded. The low 16 bits of the result of the admin queue's Connect are the id of
 * the controller (NVMe over Fabrics 1.1, 3.3). This runs before the driver knows that id.
 */
static __always_inline void queue_connected(const struct nt_cmd *c, __u16 result)
{
	struct nvme_tcp_queue *queue = (void *)kernel_queue_at(c->r.slot);
	struct nt_queue *q = queue_of_cmd(c);
	struct nvme_ctrl *ctrl;

	if (!q || !queue || c->r.gen != q->gen)
		return;
	ctrl = (void *)ctrl_of(queue);
	q->cntlid = q->qid ? BPF_CORE_READ(ctrl, cntlid) : result;
	q->sqsize = sqsize_of(q, ctrl);
	queue_identified(q);
	host_queue_select(q, q->cntlid);
}

/*
 * Notes the CPU on which the CQE of a command was seen. The end of the command follows on the same
 * CPU, unless the block layer has another CPU do that in an interrupt: see "nested" in
 * control.bpf.h. Once this is known to happen, nothing is noted any more.
 */
static __always_inline void redirect_look(struct nt_queue *q)
{
	__u16 cpu;

	if (nt_control.redirected)
		return;
	cpu = bpf_get_smp_processor_id();
	if (q && q->cpu != cpu)
		q->cpu = cpu;
}

/*
 * A command whose CQE was seen ends on CPU @cpu, the current one. If the CQE was seen on another
 * CPU, ends are redirected. It looks the same if another CPU has received for the queue since then.
 */
static __always_inline void redirect_learn(const struct nt_queue *q, __u32 cpu)
{
	if (!nt_control.redirected && q->cpu != (__u16)cpu)
		nt_control.redirected = 1;
}

/* Whether the answer of a command arrives with its CQE, because no data came before. */
static __always_inline bool answer_is_cqe(const struct nt_cmd *c)
{
	return !c->r.points[NT_H_C2H];
}

/*
 * To answered, by the CQE. Where answer_is_cqe(), the arrival has been set before. The rare part
 * reads again what all commands have read, so that the common part need not keep it.
 * @rsp: typed, or on the stack
 */
static __always_inline void cmd_answered(struct nt_cmd *c, struct nt_queue *q, __u64 now,
					 const struct nvme_tcp_rsp_pdu *rsp)
{
	c->r.points[NT_H_CQE] = now;
	redirect_look(q);
	c->r.status = rsp->cqe.status >> 1; /* without the phase tag */
	if (nt_knobs.notes_cqe) {
		if (nt_knobs.events)
			c->r.seq[0] = rsp->cqe.sq_head;
		if (nt_knobs.fine)
			cpu_note(owner_of(c), NT_HC_CQE);
	}
	if (!(c->r.flags & (NT_F_NO_CQE | NT_F_CONNECT)))
		return;
	asm volatile("" ::: "memory");
	if ((c->r.flags & NT_F_CONNECT) && !c->r.status)
		queue_connected(c, rsp->cqe.result.u16);
	c->r.flags &= ~(NT_F_NO_CQE | NT_F_CONNECT);
}

/*
 * What an event tells of the answer. The driver keeps its result with the request, also where it
 * came without a CQE; that of a command that was given up is an earlier one's. @a: all zeroes
 * @rq: typed
 */
static __always_inline void answer_fill(struct nt_answer *a, const struct nt_record *r,
					struct request *rq)
{
	a->retries = retries_of(rq);
	a->known = NT_A_RETRIES;
	if (r->flags & NT_F_CANCELLED)
		return;
	a->result = BPF_CORE_READ(nvme_part(rq), result.u64);
	a->known |= NT_A_RESULT;
	if (only_ends(r) || r->flags & NT_F_NO_CQE || !r->points[NT_H_CQE])
		return;
	/* Of other transports than TCP, the driver of PCIe alone says it. */
	if (r->shape == NT_SHAPE_CORE && !(r->seq[0] & NT_CORE_SQ_HEAD))
		return;
	a->sq_head = (__u16)r->seq[0];
	a->known |= NT_A_SQ_HEAD;
}

/* As record_submit(), where events are asked for. @c, @rq: see host_record_submit() */
static __always_inline void host_event_submit(struct nt_cmd *c, const struct nt_queue *q,
					      struct request *rq, __u64 latency)
{
	struct nt_ended *e;

	if (!record_asked_for(&c->r, latency))
		return;
	record_identify(&c->r, NT_HOST, q);
	e = event_end(&c->r);
	if (!e)
		return;
	if (nt_knobs.origins) {
		origin_fill(&e->from, rq, &c->task);
		if (nt_knobs.origins & NT_ORIGIN_POINTS) {
			cpu_note(c->owner, NT_HC_COMPLETE);
			cpus_fill(&e->r, c->owner);
		}
	}
	answer_fill(&e->answer, &c->r, rq);
	event_submit(e);
}

/*
 * As record_submit(), with the origin of the command if the reader asks for it.
 * @c: has just been released, and its request is not in use again
 * @rq: typed
 */
static __always_inline void host_record_submit(struct nt_cmd *c, const struct nt_queue *q,
					       struct request *rq, __u64 latency)
{
	struct nt_from from;

	if (nt_knobs.events) {
		host_event_submit(c, q, rq, latency);
		return;
	}
	if (!nt_knobs.origins) {
		record_submit(&c->r, NT_HOST, q, latency);
		return;
	}
	origin_fill(&from, rq, &c->task);
	if (nt_knobs.origins & NT_ORIGIN_POINTS)
		cpu_note(c->owner, NT_HC_COMPLETE);
	record_submit_from(&c->r, NT_HOST, q, latency, &from, c->owner);
}

static __always_inline __u8 shape_of(const struct nt_record *r)
{
	if (r->points[NT_H_R2T])
		return NT_SHAPE_R2T_WRITE;
	if (r->points[NT_H_C2H])
		return NT_SHAPE_READ;
	/* NVMe Base 2.0, 3.3.3.1: bit 0 of an opcode says host to controller data transfer. */
	if (r->length && (r->opcode & 1) && r->op != NT_OP_FABRICS)
		return NT_SHAPE_INLINE_WRITE;
	return NT_SHAPE_NO_DATA;
}

/*
 * Counts a completion whose beginning was not seen. Not counted are flushes that the block layer
 * ends by itself, which never were a command, and writes with a flush, which it ends once more
 * after the command has ended. While a controller resets, the host also ends commands that it has
 * not begun; if such a command was made before beginnings were seen, it may have been in flight
 * then. All others were in flight, or the program that sees beginnings was skipped.
 * @rq: typed
 */
static __always_inline void count_unbegun(struct request *rq)
{
	__u64 made = start_time(rq, false);

	if (!nt_control.began_ns || rq->state != MQ_RQ_COMPLETE || has_ended(rq))
		return;
	if (never_sent(rq) && (!made || made >= nt_control.began_ns))
		count(NT_CNT_NEVER_SENT);
	else
		count(NT_CNT_NO_START);
}

/*
 * A command has ended with an error. Some errors of the host's own come although there was a CQE:
 * data that do not match their digest.
 * @rq: typed
 */
static __always_inline void failed(struct request *rq, const struct nt_queue *q,
				   const struct nt_record *r)
{
	error_count(r, q->controller);
	if (failed_over(rq, r))
		count(NT_CNT_FAILOVERS);
}

/*
 * A command that is only counted has ended. It is known how only if the block layer got an error,
 * or if the data of the request are gone.
 */
static __always_inline void counted_end(struct request *rq, struct nt_queue *q, struct nt_record *r,
					int error)
{
	bool elsewhere = failed_over(rq, r);

	if (elsewhere)
		count(NT_CNT_FAILOVERS);
	if (error || elsewhere) {
		if (given_up(rq, r)) {
			count(NT_CNT_CANCELLED);
			return;
		}
		r->status = status_of_request(rq);
		if (is_error(r)) {
			error_count(r, q->controller);
			return;
		}
	}
	others_count(q, r, q->controller);
}

/*
 * If a command ends later than this after its CQE, is_rejected() checks whether the CQE was
 * accepted. This saves most commands a read of the request. The host gives a command up only after
 * it has quiesced its queues, which takes longer (synchronize_rcu()).
 */
#define HOST_ACCEPT_NS 50000

/*
 * Whether the host has seen a CQE of success but not accepted it, for example because its digest
 * was wrong. The host then resets the controller, and ends the command in another way.
 * @r: of a command that ends now
 * @rq, @error: see request_end()
 */
static __always_inline bool is_rejected(struct request *rq, const struct nt_record *r, int error)
{
	return r->points[NT_H_COMPLETE] - r->points[NT_H_CQE] > HOST_ACCEPT_NS && !is_error(r) &&
	       (error || failed_over(rq, r));
}

/*
 * To released: the block layer completes a request, of any driver.
 * @rq: typed
 * @error: what the block layer gets as the result: a blk_status_t, or before Linux 5.16 an errno
 * @core: see OWNER_MARK()
 * @nested: this program stands in for an interrupted one. It mostly finds that the other one has
 *          ended the command before, so it counts no unknown ends
 */
static __always_inline int request_end(struct request *rq, int error, bool nested, const bool core)
{
	const __u64 mark = OWNER_MARK(core);
	struct nt_queue *q = NULL;
	struct nt_record *r;
	struct nt_cmd *c;
	bool elsewhere, ends, gave_up = false;
	__u32 shape, cpu, unknown = 0;
	__u64 now, begin;
	__s32 stages;

	c = cmd_any_by_owner((__u64)rq, mark, &elsewhere);
	if (c) {
		q = queue_of_cmd(c);
	} else {
		if (!elsewhere)
			return 0;
		q = core ? core_queue_of_request(rq) : queue_of_request(rq);
		c = cmd_any_by_tag_and_owner(q, rq->tag, (__u64)rq, mark);
		/* Otherwise one outside the sample looks like one whose beginning was not seen. */
		if (!c && q && !nested && all_have_states())
			count_unbegun(rq);
	}
	if (!c || !q)
		return 0;
	if (queue_drops(q, &c->r)) {
		cmd_release(c);
		return 0;
	}
	if (only_counted(c)) {
		cmd_release(c);
		counted_end(rq, q, &c->r, error);
		return 0;
	}
	now = bpf_ktime_get_ns();
	r = &c->r;
	r->points[NT_H_COMPLETE] = now;
	cpu = bpf_get_smp_processor_id();
	cmd_release(c);

	/* In a burst, the loader may not have attached yet what sees the last data of such a read.
	 */
	ends = only_ends(r) || (nt_knobs.stages && r->flags & NT_F_NO_CQE && !r->points[NT_H_CQE]);
	if (!ends && !core)
		r->shape = shape_of(r);
	/* Read again: otherwise the verifier goes through the rest once for each shape. */
	shape = *(volatile __u8 *)&r->shape;
	begin = r->points[NT_H_SUBMIT];
	/* The last data of a read without CQE may have come only in part. */
	if (ends) {
		r->flags &= ~NT_F_CONNECT;
		gave_up = (error || failed_over(rq, r)) && given_up(rq, r);
	} else if (!r->points[NT_H_CQE] || r->flags & NT_F_NO_CQE || is_rejected(rq, r, error)) {
		r->flags &= ~NT_F_CONNECT;
		gave_up = given_up(rq, r);
		/* Its headers may go elsewhere by now: the next command identifies the queue. */
		if (!gave_up && !r->points[NT_H_CQE])
			q->queue = 0;
	} else if (!core && !(r->flags & NT_F_ADMIN_QUEUE)) {
		redirect_learn(q, cpu);
	}
	if (gave_up) {
		count(NT_CNT_CANCELLED);
		if (failed_over(rq, r))
			count(NT_CNT_FAILOVERS);
		r->flags |= NT_F_CANCELLED;
		host_record_submit(c, q, rq, now - (begin ?: r->points[NT_H_QUEUE_RQ]));
		return 0;
	}
	/* The CQE does not say so, or was not seen. */
	if (error && !is_error(r))
		r->status = status_of_request(rq);
	if (is_error(r)) {
		failed(rq, q, r);
		host_record_submit(c, q, rq, now - (begin ?: r->points[NT_H_QUEUE_RQ]));
		return 0;
	}
	if (!begin) {
		count(NT_CNT_SUBMIT_MISSING);
		begin = r->points[NT_H_QUEUE_RQ];
		unknown = 1u << NT_HS_BLK_SUBMISSION;
	}
	stages = latency_count(q, r, q->controller, cpu, now - begin);
	if (!(nt_knobs.stages && ends) &&
	    !stages_count(core ? NT_OF_CORE : NT_HOST, r, shape, unknown, cpu, stages))
		record_unsplit(r);
	host_record_submit(c, q, rq, now - begin);
	return 0;
}

#endif /* NTPROF_HOST_COMMAND_BPF_H */
