/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What both sides' BPF programs share: maps, the state of commands in flight, histograms, counters.
 * Nothing here allocates, locks or loops; a probe costs one or two array look-ups.
 *
 * Programs whose name ends in "nested": the kernel does not run a program that an interrupt finds
 * running on its CPU already (kernel/trace/bpf_trace.c, __bpf_trace_run()), and skips that event.
 * Where events of one tracepoint come both from processes and from interrupts, a second program on it
 * takes what the first one was skipped for, and finds nothing to do else. It stands before the first
 * one, because programs are attached, and so run, in the reverse of their order here.
 */
#ifndef NTPROF_COMMON_BPF_H
#define NTPROF_COMMON_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "record.h"

/* Set by the loader before the verifier runs, so that what is off costs nothing. */
const volatile __u32 nt_select = NT_SELECT_NONE;
const volatile __u64 nt_slower_ns = 0;
const volatile __u32 nt_wake_bytes = 0; /* of records that wait, from which on the reader is woken */
const volatile __u32 nt_chunks = 0; /* entries of cmds, in chunks */
const volatile __u32 nt_missing = 0; /* bits of the points that no program here gives */
const volatile __u8 nt_into[NT_STAGES_MAX] = {0, 1, 2, 3, 4, 5}; /* see join.h */
const volatile __u32 nt_hists = 1;  /* entries of hists; the last one is shared by who comes late */

/* Kept current by the loader while tracing: CLOCK_REALTIME - CLOCK_MONOTONIC, at its upper bound. */
__s64 nt_real_offset = 0;
/* Counts display intervals; see struct nt_hist. */
__u32 nt_epoch = 0;

/*
 * CLOCK_MONOTONIC time from which every command's beginning is seen. 0 before, when ends tell nothing;
 * NT_BEGINNING while the program that sees beginnings is being attached.
 */
__u64 nt_began_ns = 0;

__u64 nt_counters[NT_COUNTERS_NR] = {};
__u32 nt_chunks_used = 0;
__u32 nt_hists_used = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_queue);
} queues SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_cmd);
} cmds SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_hist);
} hists SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NT_OPS_NR);
	__type(key, __u32);
	__type(value, struct nt_stage_hists);
} stages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} records SEC(".maps");

static __always_inline void count(enum nt_counter which)
{
	__sync_fetch_and_add(&nt_counters[which], 1);
}

/*
 * The state of command @tag of queue @q. With @claim, a queue that has no chunk for this tag yet
 * takes one; two CPUs that race for it agree on one and the other is never used.
 */
static __always_inline struct nt_cmd *cmd_find(struct nt_queue *q, __u32 tag, bool claim)
{
	__u32 nr = tag >> NT_CHUNK_BITS;
	__u32 chunk, at;

	if (nr >= NT_CHUNKS_PER_QUEUE)
		return NULL;
	chunk = q->chunk[nr];
	if (!chunk) {
		__u32 seen;

		if (!claim || nt_chunks_used >= nt_chunks)
			return NULL;
		chunk = __sync_fetch_and_add(&nt_chunks_used, 1) + 1;
		if (chunk > nt_chunks)
			return NULL;
		seen = __sync_val_compare_and_swap(&q->chunk[nr], 0, chunk);
		if (seen)
			chunk = seen;
	}
	at = ((chunk - 1) << NT_CHUNK_BITS) | (tag & (NT_CHUNK_CMDS - 1));
	return bpf_map_lookup_elem(&cmds, &at);
}

static __always_inline void hist_add(struct nt_hist *h, __u64 ns)
{
	__u32 bucket = nt_bucket(ns);
	__u32 epoch = nt_epoch;

	if (bucket < NT_BUCKETS)
		h->buckets[bucket]++;
	h->sum += ns;
	if (h->max_epoch[epoch & 1] != epoch) {
		h->max_epoch[epoch & 1] = epoch;
		h->max[epoch & 1] = ns;
	} else if (h->max[epoch & 1] < ns) {
		h->max[epoch & 1] = ns;
	}
}

/* The latency histogram of operation @op of queue @q; the last one of all when none is left. */
static __always_inline struct nt_hist *hist_find(struct nt_queue *q, __u32 op)
{
	__u32 *slot, at;

	slot = &q->hist[q->gen & 1][op & (NT_OPS_NR - 1)];
	at = *slot;
	if (!at) {
		__u32 seen;

		at = nt_hists;
		if (nt_hists_used < nt_hists - 1)
			at = __sync_fetch_and_add(&nt_hists_used, 1) + 1;
		if (at >= nt_hists) {
			at = nt_hists;
			count(NT_CNT_HIST_FULL);
		} else {
			seen = __sync_val_compare_and_swap(slot, 0, at);
			if (seen)
				at = seen;
		}
	}
	at--;
	return bpf_map_lookup_elem(&hists, &at);
}
_Static_assert((NT_OPS_NR & (NT_OPS_NR - 1)) == 0, "operations are masked, not compared");

#define NT_IS_MISSING(point) (nt_missing & 1u << (point))

/*
 * One row of a side's table of segments, where @r, @shape, @stage, @broken and @last, the end of the
 * segment before, are at hand. A point that nothing gives is taken to be where the segment before
 * ends; the two stages that it parts are added up in the end, so this is seen by nobody.
 * @optional: the point that may be missing: the host's submit, which depends on a setting.
 */
#define NT_SUM_SEGMENT(st, shapes, from, to, optional)                                \
	if ((shapes) == NT_SHAPES_ALL || (1u << shape) & (shapes)) {                  \
		__u64 begins = NT_IS_MISSING(from) ? last : r->points[from];          \
		__u64 ends = NT_IS_MISSING(to) ? begins : r->points[to];              \
		if ((!begins && (int)(from) != (optional) && !NT_IS_MISSING(from)) || \
		    ends < begins)                                                    \
			broken = true;                                                \
		stage[st] += ends - begins;                                           \
		last = ends;                                                          \
	}

/* A stage whose first point this kernel was told not to take. */
#define NT_STAGE_UNKNOWN (~0ULL)

/*
 * The end of a measured command: its latency goes to its queue's histogram, its stages to its
 * operation's, and, where it is selected, the whole of it to the ring buffer.
 * @stage: nanoseconds, indexed by the side's stages; ignored when NT_F_UNSPLIT is set.
 */
static __always_inline void cmd_measured(struct nt_queue *q, struct nt_record *r, __u64 latency,
					 __u64 *stage, int nr_stages)
{
	struct nt_stage_hists *s;
	struct nt_hist *h;
	__u32 op = r->op;

	h = hist_find(q, op);
	if (h) {
		hist_add(h, latency);
		h->bytes += r->length;
	}
	if (r->flags & NT_F_UNSPLIT) {
		count(NT_CNT_POINT_MISSING);
	} else {
		for (int i = nr_stages - 1; nt_missing && i >= 0; i--) {
			if (nt_into[i] == i)
				continue;
			for (int k = 0; k < i; k++)
				if (nt_into[i] == k)
					stage[k] += stage[i];
			stage[i] = NT_STAGE_UNKNOWN;
		}
		s = bpf_map_lookup_elem(&stages, &op);
		if (s) {
			for (int i = 0; i < nr_stages; i++)
				if (stage[i] != NT_STAGE_UNKNOWN)
					hist_add(&s->h[i], stage[i]);
		}
	}
}

static __always_inline void record_submit(struct nt_record *r, __u64 latency)
{
	bool wake;

	if (nt_select == NT_SELECT_NONE)
		return;
	if (nt_select == NT_SELECT_SLOWER && latency < nt_slower_ns)
		return;
	/* The reader looks by itself every now and then: waking it for each record costs more than all else. */
	wake = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) >= nt_wake_bytes;
	if (bpf_ringbuf_output(&records, r, sizeof(*r), wake ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP))
		count(NT_CNT_RING_FULL);
}

/*
 * CLOCK_REALTIME arrival time of a packet as CLOCK_MONOTONIC, 0 where it is unknown or absurd: a
 * packet cannot arrive after it is read, nor wait for long.
 */
#define NT_ARRIVAL_MAX_AGE_NS (10ULL * 1000 * 1000 * 1000)

static __always_inline __u64 arrival(__u64 recv_time, __u64 now)
{
	__u64 at;

	if (!recv_time)
		return 0;
	at = recv_time - nt_real_offset;
	if (at > now || now - at > NT_ARRIVAL_MAX_AGE_NS)
		return 0;
	return at;
}

/* NVM and fabrics opcodes that have an operation of their own (NVM Command Set 1.0, figure 13). */
enum {
	NVME_CMD_FLUSH = 0x00,
	NVME_CMD_WRITE = 0x01,
	NVME_CMD_READ = 0x02,
	NVME_CMD_COMPARE = 0x05,
	NVME_CMD_WRITE_ZEROES = 0x08,
	NVME_CMD_DSM = 0x09,
	NVME_ADMIN_ASYNC_EVENT = 0x0c,
	NVME_FABRICS_COMMAND = 0x7f,
};

static __always_inline __u8 op_of(__u8 opcode, bool admin)
{
	if (opcode == NVME_FABRICS_COMMAND)
		return NT_OP_FABRICS;
	if (admin)
		return NT_OP_ADMIN;
	switch (opcode) {
	case NVME_CMD_READ:
		return NT_OP_READ;
	case NVME_CMD_WRITE:
		return NT_OP_WRITE;
	case NVME_CMD_FLUSH:
		return NT_OP_FLUSH;
	case NVME_CMD_DSM:
		return NT_OP_DISCARD;
	case NVME_CMD_WRITE_ZEROES:
		return NT_OP_WRITE_ZEROES;
	default:
		return NT_OP_OTHER;
	}
}

/*
 * What a submission queue entry asks for. @e is BTF-typed: plain loads, no helper calls. The SLBA is
 * read as its two dwords because the verifier knows a command by the first member of its union.
 */
static __always_inline void record_sqe(struct nt_record *r, struct nvme_command *e, bool admin)
{
	__u8 opcode = e->common.opcode;

	r->opcode = opcode;
	r->op = op_of(opcode, admin);
	r->cid = e->common.command_id;
	r->nsid = e->common.nsid;
	r->length = e->common.dptr.sgl.length;
	r->slba = 0;
	if (!admin && (opcode == NVME_CMD_READ || opcode == NVME_CMD_WRITE ||
		       opcode == NVME_CMD_WRITE_ZEROES || opcode == NVME_CMD_COMPARE))
		r->slba = (__u64)e->common.cdw11 << 32 | e->common.cdw10;
	r->status = 0;
	r->flags = admin ? NT_F_ADMIN_QUEUE : 0;
}

char LICENSE[] SEC("license") = "GPL";

#endif /* NTPROF_COMMON_BPF_H */
