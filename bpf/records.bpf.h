/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of whole commands, handed to user space through one ring buffer, whose reader they may
 * reach in another order than the commands ended in. Reserving is locked by the kernel, interrupts
 * included.
 */
#ifndef NTPROF_RECORDS_BPF_H
#define NTPROF_RECORDS_BPF_H

#include "control.bpf.h"

/* The smallest that there is; the loader makes it larger where records are asked for. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} records SEC(".maps");

/* The command cannot be split into stages: that is counted, and said in its record. */
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
 * Hands the record of a command that has ended to its reader, if it asks for such. @latency:
 * nanoseconds
 */
static __always_inline void record_submit(struct nt_record *r, enum nt_side side,
					  const struct nt_queue *q, __u64 latency)
{
	bool wake;

	if (nt_knobs.select == NT_SELECT_NONE)
		return;
	if (nt_knobs.select == NT_SELECT_SLOWER && latency < nt_knobs.slower_ns)
		return;
	if (nt_knobs.failed && !(r->status & NT_STATUS_MASK) && !(r->flags & NT_F_CANCELLED))
		return;
	r->side = side;
	if (r->gen == q->identified) {
		__builtin_memcpy(&r->qid, &q->qid, sizeof(r->qid) + sizeof(r->cntlid));
	} else {
		/* A host's slot is of one queue id. */
		r->qid = side == NT_HOST ? q->qid : 0;
		r->cntlid = NT_CNTLID_NONE;
	}
	/*
	 * The reader drains every TRACER_DRAIN_NS by itself: to be woken for each record costs more
	 * than all else.
	 */
	wake = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) >= nt_knobs.wake_bytes;
	if (bpf_ringbuf_output(&records, r, sizeof(*r),
			       wake ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP))
		count(NT_CNT_RING_FULL);
}

#endif /* NTPROF_RECORDS_BPF_H */
