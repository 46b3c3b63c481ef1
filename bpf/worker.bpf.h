/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a PDU waits for, with --points fine: that TCP tells the driver of it, that the queue's
 * worker begins to run (io_work), and that the worker gets to it.
 *
 * When TCP tells the driver of new data (data_ready), it is noted up to which byte of the stream
 * there are data. The first note that reaches beyond a byte of a PDU is that of the PDU.
 *
 * A worker is awake from the begin of io_work until an io_work ends that is not queued again. So
 * one that has used up its time, or was queued while it ran, stays awake.
 *
 * Context: notes are made under the lock of the socket, in any context. They are looked up by what
 * receives for the queue: one at a time, in the order of the stream. A host has the lock then, a
 * target has not. io_work of a queue never runs twice at a time.
 */
#ifndef NTPROF_WORKER_BPF_H
#define NTPROF_WORKER_BPF_H

#include "cpus.bpf.h"
#include "joins.bpf.h"
#include "queues.bpf.h"
#include "state.bpf.h"

/* Notes of a queue. Of a PDU whose note has given way to another one the waits are not known. */
#define NT_READY 256

/* @end: after the last byte that was ready at @at, the low half of CLOCK_MONOTONIC */
struct nt_ready {
	__u32 end;
	__u32 at;
};

/*
 * @awake: since when the queue's worker runs, 0 while it does not
 * @thread: that has run it last
 * @gen: generation of the queue that the notes are of
 * @head: number of notes that were ever made of it
 * @read: number of those that were looked up
 * @seq: place in the stream of the PDU that is being received (target, stock)
 *
 * Those of two queues share no cache line.
 */
struct nt_worker {
	__u64 awake;
	__u32 thread;
	__u32 gen;
	__u32 head;
	__u32 read;
	__u32 seq;
	struct nt_ready ready[NT_READY];
} __attribute__((aligned(64)));

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_worker);
} workers SEC(".maps");

/* How many queues have taken an entry. A queue keeps it, and so does the next one in its slot. */
__u32 nt_workers_taken = 0;

/* @nr: as in struct nt_queue. Return: NULL where there is none, or where waits are not asked for */
static __always_inline struct nt_worker *worker_numbered(__u32 nr)
{
	return nt_knobs.workers && nr ? bpf_map_lookup_elem(&workers, &nr) : NULL;
}

/* @q: may be NULL. Return: NULL where nothing is known of its worker */
static __always_inline struct nt_worker *worker_of(const struct nt_queue *q)
{
	return q ? worker_numbered(q->worker) : NULL;
}

/*
 * The same for a queue that takes an entry now if it has none. If two CPUs both take one, they
 * agree on one of the two.
 */
static __always_inline struct nt_worker *worker_claim(struct nt_queue *q)
{
	if (nt_knobs.workers && !q->worker)
		__sync_val_compare_and_swap(&q->worker, 0,
					    __sync_fetch_and_add(&nt_workers_taken, 1) + 1);
	return worker_of(q);
}

/* TCP tells the driver that there are data. @sk: typed, of @q */
static __always_inline void worker_told(struct nt_queue *q, struct sock *sk)
{
	__u32 end = BPF_CORE_READ((struct tcp_sock___stream *)sk, rcv_nxt), head;
	struct nt_worker *w = worker_claim(q);
	struct nt_ready *at;

	if (!w)
		return;
	if (w->gen != q->gen) {
		w->gen = q->gen;
		w->head = w->read = 0;
	}
	head = w->head;
	if (head && w->ready[(head - 1) & (NT_READY - 1)].end == end)
		return;
	at = &w->ready[head & (NT_READY - 1)];
	at->at = bpf_ktime_get_ns();
	at->end = end;
	/* A full barrier, as in joins_advance(). */
	__sync_val_compare_and_swap(&w->head, head, head + 1);
}

#define NT_READY_FOUND (1ULL << 32)

/*
 * When TCP told the driver that byte @seq of a queue is there. Not static, so that it is verified
 * once.
 * @nr: of the queue's worker
 * Return: NT_READY_FOUND and the low half of the time; 0 if it is not known
 */
__noinline __u64 worker_ready(__u32 nr, __u32 seq)
{
	struct nt_worker *w = worker_numbered(nr);
	__u32 head, read, first;
	__u64 found = 0;

	if (!w)
		return 0;
	head = __sync_fetch_and_add(&w->head, 0);
	/* Of the bytes that the first note has, some may have been there before. */
	first = head > NT_READY ? head - NT_READY : 0;
	read = w->read;
	if (head - read > NT_READY)
		read = first;
	for (int i = 0; i < NT_READY && read != head; i++) {
		struct nt_ready *at = &w->ready[read & (NT_READY - 1)];

		if (is_before(seq, at->end)) {
			found = NT_READY_FOUND | at->at;
			break;
		}
		read++;
	}
	w->read = read;
	if (read == first || __sync_fetch_and_add(&w->head, 0) - read >= NT_READY)
		return 0;
	return found;
}

/* Since when the worker is awake that handles or sends something now; 0 if it is a task */
static __always_inline __u64 worker_awake(const struct nt_worker *w)
{
	return w->thread == (__u32)bpf_get_current_pid_tgid() ? w->awake : 0;
}

/*
 * Sets a wait. @again: the command has waited there before, for its first R2T or H2C data. If that
 * is not known, neither is the sum.
 */
static __always_inline void wait_add(struct nt_record *r, __u32 wait, __u64 ns, bool again)
{
	if (again && !r->wait[wait])
		return;
	if (again)
		ns += r->wait[wait] - 1;
	r->wait[wait] = ns < ~0u ? ns + 1 : 0;
}

/*
 * A PDU of @c is handled.
 * @cpu: the number of its point among those whose CPUs are noted, or NT_CPU_NOTED
 * @seq: a byte of it, by which its arrival @rx is known; 0: it is not known
 * @now: when it is handled
 * @again: see wait_add()
 */
static __always_inline void cmd_waited(struct nt_cmd *c, __u32 cpu, __u32 seq, __u64 rx, __u64 now,
				       bool again)
{
	const struct nt_worker *w;
	const struct nt_queue *q;
	__u64 ready, awake;

	if (!nt_knobs.fine)
		return;
	if (cpu != NT_CPU_NOTED)
		cpu_note(owner_of(c), cpu);
	if (!nt_knobs.workers)
		return;
	q = queue_of_cmd(c);
	w = worker_of(q);
	ready = w && seq && rx && rx <= now ? worker_ready(q->worker, seq) : 0;
	if (!ready) {
		c->r.wait[NT_W_STACK] = c->r.wait[NT_W_WAKEUP] = 0;
		return;
	}
	/* The clock of arrivals is another one, which may be ahead by a little. */
	ready = rx + ((__u32)ready - (__u32)rx);
	if (ready > now)
		ready = rx;
	awake = worker_awake(w);
	wait_add(&c->r, NT_W_STACK, ready - rx, again);
	wait_add(&c->r, NT_W_WAKEUP, awake > ready ? awake - ready : 0, again);
}

/* A PDU of @c, which was queued at @from, is about to be sent. @again: see wait_add() */
static __always_inline void cmd_waited_to_send(struct nt_cmd *c, __u64 from, bool again)
{
	const struct nt_worker *w;
	__u64 awake;

	if (!nt_knobs.workers)
		return;
	w = worker_of(queue_of_cmd(c));
	if (!w || !from) {
		c->r.wait[NT_W_SEND_WAKEUP] = 0;
		return;
	}
	awake = worker_awake(w);
	wait_add(&c->r, NT_W_SEND_WAKEUP, awake > from ? awake - from : 0, again);
}

/* A command begins in the state of @c. */
static __always_inline void waits_begin(struct nt_cmd *c)
{
	if (nt_knobs.workers)
		__builtin_memset(c->r.wait, 0, sizeof(c->r.wait));
}

/* io_work of a queue begins. */
static __always_inline void worker_begins(struct nt_queue *q)
{
	struct nt_worker *w = worker_claim(q);

	if (!w)
		return;
	w->thread = bpf_get_current_pid_tgid();
	if (!w->awake)
		w->awake = bpf_ktime_get_ns();
}

/* CO-RE: what says whether a work is queued: WORK_STRUCT_PENDING_BIT, bit 0. */
struct work_struct___data {
	struct {
		__s64 counter;
	} data;
} __attribute__((preserve_access_index));

/* It ends. @work: typed */
static __always_inline void worker_ends(const struct nt_queue *q, struct work_struct___data *work)
{
	struct nt_worker *w = worker_of(q);

	if (w && !(work->data.counter & 1))
		w->awake = 0;
}

#endif /* NTPROF_WORKER_BPF_H */
