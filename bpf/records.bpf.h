/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of whole commands, handed to user space through one ring buffer. They may reach its
 * reader in another order than the commands ended in. Reserving is locked by the kernel, interrupts
 * included.
 */
#ifndef NTPROF_RECORDS_BPF_H
#define NTPROF_RECORDS_BPF_H

#include "control.bpf.h"
#include "cpus.bpf.h"

/*
 * The smallest size that there is; the loader makes the buffer larger where records are asked for.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} records SEC(".maps");

/* The command cannot be split into stages: this is counted, and marked in its record. */
static __always_inline void record_unsplit(struct nt_record *r)
{
	r->flags |= NT_F_UNSPLIT;
	count(NT_CNT_POINT_MISSING);
}

/* An arrival of the command may be that of a later packet. */
static __always_inline void record_joined(struct nt_record *r)
{
	if (r->flags & NT_F_ARRIVAL_JOINED)
		return;
	r->flags |= NT_F_ARRIVAL_JOINED;
	count(NT_CNT_ARRIVAL_JOINED);
}

_Static_assert(__builtin_offsetof(struct nt_record, cntlid) ==
			       __builtin_offsetof(struct nt_record, qid) + sizeof(__u16) &&
		       __builtin_offsetof(struct nt_queue, cntlid) ==
			       __builtin_offsetof(struct nt_queue, qid) + sizeof(__u16),
	       "queue id and controller id are copied together");

/*
 * Puts the number of lost records and events in front of the next one, if the reader wants to know.
 * So the reader knows between which ones they were lost.
 */
static __always_inline void events_lost_tell(void)
{
	struct nt_lost lost = {.nr = 0};

	if (!nt_knobs.tells_lost || !nt_control.events_lost)
		return;
	lost.nr = __sync_lock_test_and_set(&nt_control.events_lost, 0);
	lost.ns = bpf_ktime_get_ns();
	/* Another CPU may have handed them over meanwhile. */
	if (lost.nr && bpf_ringbuf_output(&records, &lost, sizeof(lost), BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&nt_control.events_lost, lost.nr);
}

static __always_inline void event_lose(void)
{
	count(NT_CNT_RING_FULL);
	if (nt_knobs.tells_lost)
		__sync_fetch_and_add(&nt_control.events_lost, 1);
}

/* Fills in the queue and the controller of a record, as far as they are known. */
static __always_inline void record_identify(struct nt_record *r, enum nt_side side,
					    const struct nt_queue *q)
{
	r->side = side;
	if (r->gen == q->identified) {
		__builtin_memcpy(&r->qid, &q->qid, sizeof(r->qid) + sizeof(r->cntlid));
	} else {
		/* A host's slot always belongs to the same queue id. */
		r->qid = side == NT_HOST ? q->qid : 0;
		r->cntlid = NT_CNTLID_NONE;
	}
}

/* Room for an event, of constant size; NULL, and counted, if there is none. */
static __always_inline void *event_reserve(__u64 size)
{
	void *event;

	events_lost_tell();
	event = bpf_ringbuf_reserve(&records, size, 0);
	if (!event)
		event_lose();
	return event;
}

/*
 * Flags for what is handed over. The reader drains the buffer every TRACER_DRAIN_NS by itself.
 * Waking it for each record would cost more than all else.
 */
static __always_inline __u64 wake_flags(void)
{
	return bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) >= nt_knobs.wake_bytes
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

static __always_inline void event_submit(void *event)
{
	bpf_ringbuf_submit(event, wake_flags());
}

static __always_inline void from_none(struct nt_from *from)
{
	__builtin_memset(from, 0, sizeof(*from));
	from->cpu = NT_CPU_NONE;
}

/*
 * A command begins.
 * @r: in flight, with its first points
 * @sqe: typed, or on the stack
 * Return: the event, without an origin, for event_submit(); NULL if nobody asks for events, or if
 * there is no room for it
 */
static __always_inline struct nt_begun *event_begin(const struct nt_record *r, enum nt_side side,
						    const struct nt_queue *q,
						    struct nvme_command *sqe)
{
	struct nt_begun *b = nt_knobs.events ? event_reserve(sizeof(*b)) : NULL;

	if (!b)
		return NULL;
	__builtin_memcpy(&b->r, r, NT_RECORD_STATE);
	record_identify(&b->r, side, q);
	b->r.flags = (r->flags & ~NT_F_CONNECT) | NT_F_BEGUN;
	from_none(&b->from);
	bpf_probe_read_kernel(b->sqe, sizeof(b->sqe), sqe);
	return b;
}

/*
 * The same for a command that has ended. @r: asked for, with its queue and controller
 * Return: the event, without an origin and an answer; NULL if there is no room for it
 */
static __always_inline struct nt_ended *event_end(const struct nt_record *r)
{
	struct nt_ended *e = event_reserve(sizeof(*e));

	if (!e)
		return NULL;
	__builtin_memcpy(&e->r, r, NT_RECORD_STATE);
	from_none(&e->from);
	__builtin_memset(&e->answer, 0, sizeof(e->answer));
	return e;
}

/*
 * Hands over a record. It is copied in place, because the compiler knows its size.
 * bpf_ringbuf_output() would copy it byte by byte where the processor claims to be fast at that.
 * @owner: of the command; 0: without the CPUs of its points
 * Return: whether there was room for it
 */
static __always_inline bool record_put(const struct nt_record *r, __u64 owner, bool fine,
				       __u64 flags)
{
	struct nt_record *to;

	if (fine)
		to = bpf_ringbuf_reserve(&records, sizeof(*to), 0);
	else
		to = bpf_ringbuf_reserve(&records, NT_RECORD_STATE, 0);
	if (!to)
		return false;
	__builtin_memcpy(to, r, NT_RECORD_STATE);
	if (fine)
		cpus_fill(to, owner);
	bpf_ringbuf_submit(to, flags);
	return true;
}

/*
 * Hands over a record with the origin of its command. @owner: see record_put(). Return: whether
 * there was room for it
 */
static __always_inline bool record_put_from(const struct nt_record *r, const struct nt_from *from,
					    __u64 owner, __u64 flags)
{
	struct nt_originated *o = bpf_ringbuf_reserve(&records, sizeof(*o), 0);

	if (!o)
		return false;
	__builtin_memcpy(&o->r, r, NT_RECORD_STATE);
	if (nt_knobs.fine)
		cpus_fill(&o->r, owner);
	__builtin_memcpy(&o->from, from, sizeof(o->from));
	bpf_ringbuf_submit(o, flags);
	return true;
}

/* Whether the reader asks for the record of a command that has ended. @latency: nanoseconds */
static __always_inline bool record_asked_for(const struct nt_record *r, __u64 latency)
{
	if (nt_knobs.select == NT_SELECT_NONE)
		return false;
	if (nt_knobs.select == NT_SELECT_SLOWER && latency < nt_knobs.slower_ns)
		return false;
	return !nt_knobs.failed || r->status & NT_STATUS_MASK || r->flags & NT_F_CANCELLED;
}

/*
 * Hands a record to the reader, where events are not asked for.
 * @r: asked for, with its queue and controller
 * @from: the origin of the command, or NULL
 * @owner: see record_put()
 * @fine: without @from: nt_knobs.fine, or false. It is read by the caller, which has it anyway
 */
static __always_inline void record_hand_over(const struct nt_record *r, const struct nt_from *from,
					     __u64 owner, bool fine)
{
	__u64 flags;

	events_lost_tell();
	flags = wake_flags();
	if (!(from ? record_put_from(r, from, owner, flags) : record_put(r, owner, fine, flags)))
		event_lose();
}

/* The same for the record of a command that has ended, if the reader asks for it. */
static __always_inline void record_submit_from(struct nt_record *r, enum nt_side side,
					       const struct nt_queue *q, __u64 latency,
					       const struct nt_from *from, __u64 owner)
{
	if (!record_asked_for(r, latency))
		return;
	record_identify(r, side, q);
	record_hand_over(r, from, owner, false);
}

static __always_inline void record_submit(struct nt_record *r, enum nt_side side,
					  const struct nt_queue *q, __u64 latency)
{
	record_submit_from(r, side, q, latency, NULL, 0);
}

#endif /* NTPROF_RECORDS_BPF_H */
