/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What both sides' BPF programs share: maps, the state of commands in flight, histograms, counters.
 * Nothing here allocates, locks or loops.
 *
 * Programs whose name ends in "nested": the kernel does not run a program that an interrupt finds
 * running on its CPU already (kernel/trace/bpf_trace.c, __bpf_trace_run()), and skips that event.
 * Where events of one tracepoint come both from processes and from interrupts, a second program on it
 * takes what the first one was skipped for, and finds nothing to do else. It stands before the first
 * one, because programs are attached, and so run, in the reverse of their order here. As that costs
 * every event a second run, the loader keeps it only where it is needed.
 */
#ifndef NTPROF_COMMON_BPF_H
#define NTPROF_COMMON_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "core/record.h"
#include "core/sample.h"

/* Set by the loader before the verifier runs, so that what is off costs nothing. */
const volatile __u32 nt_select = NT_SELECT_NONE;
const volatile __u64 nt_slower_ns = 0;
/* Bytes of records that wait, from which on the reader is woken. */
const volatile __u32 nt_wake_bytes = 0;
/* Commands are measured whose nt_sample_mix() is below; 0: all of them. */
const volatile __u32 nt_sample_below = 0;
const volatile __u8 nt_no_histograms = 0;
const volatile __u32 nt_missing = 0; /* bits of the points that no program here gives */
const volatile __u8 nt_into[NT_STAGES_MAX] = {0, 1, 2, 3, 4, 5}; /* see core/segments.h */
const volatile __u32 nt_hists = 1; /* entries of hists; the last one is shared by who comes late */

/* Kept current by the loader while tracing: CLOCK_REALTIME - CLOCK_MONOTONIC, at its upper bound. */
__s64 nt_real_offset = 0;
/* Counts display intervals; see struct nt_hist. */
__u32 nt_epoch = 0;

/*
 * CLOCK_MONOTONIC time from which every command's beginning is seen. 0 before, when ends tell nothing;
 * NT_BEGINNING while the program that sees beginnings is being attached.
 */
__u64 nt_began_ns = 0;

/*
 * A read that ends with its last data and no CQE, because its connection has no SQ flow control, has its
 * end seen by a program that runs for every read. The loader attaches it only where there are such
 * connections (nt_no_sqflow says so), and says so in nt_data_watched.
 */
__u32 nt_no_sqflow = 0;
__u32 nt_data_watched = 0;
/* Likewise: there are queues whose commands may end in an interrupt. See "nested" above. */
__u32 nt_redirected = 0;

__u64 nt_counters[NT_COUNTERS_NR] = {};
__u32 nt_chunks_used = 0;
__u32 nt_hists_used = 0;

/* The first chunk is nobody's: see nt_index. */
struct nt_cmd nt_cmds[NT_CMDS] = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_queue);
} queues SEC(".maps");

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

static __always_inline struct nt_cmd *cmd_at(__u32 place)
{
	return &nt_cmds[place & (NT_CMDS - 1)];
}

/* Where the state of command @tag of a queue is, NT_NOWHERE if it has no place yet. */
#define NT_NOWHERE 0

static __always_inline __u32 place_in(__u32 chunk, __u32 tag)
{
	return chunk << NT_CHUNK_BITS | (tag & (NT_CHUNK_CMDS - 1));
}

static __always_inline __u32 place_find(const struct nt_queue *q, __u32 tag)
{
	__u32 nr = tag >> NT_CHUNK_BITS;
	__u32 chunk;

	if (nr >= NT_CHUNKS_PER_QUEUE)
		return NT_NOWHERE;
	chunk = q->chunk[nr];
	return chunk ? place_in(chunk, tag) : NT_NOWHERE;
}

/*
 * The same; a queue that has no chunk for this tag yet takes one. Two CPUs that race for it agree on one,
 * and the other is never used.
 */
static __always_inline __u32 place_claim(struct nt_queue *q, __u32 tag)
{
	__u32 nr = tag >> NT_CHUNK_BITS;
	__u32 chunk;

	if (nr >= NT_CHUNKS_PER_QUEUE)
		return NT_NOWHERE;
	chunk = q->chunk[nr];
	if (!chunk) {
		__u32 seen;

		if (nt_chunks_used >= NT_CHUNKS)
			return NT_NOWHERE;
		chunk = __sync_fetch_and_add(&nt_chunks_used, 1) + 1;
		if (chunk > NT_CHUNKS)
			return NT_NOWHERE;
		seen = __sync_val_compare_and_swap(&q->chunk[nr], 0, chunk);
		if (seen)
			chunk = seen;
	}
	return place_in(chunk, tag);
}

static __always_inline struct nt_cmd *cmd_find(struct nt_queue *q, __u32 tag)
{
	__u32 place = place_find(q, tag);

	return place == NT_NOWHERE ? NULL : cmd_at(place);
}

/*
 * The short way to a command's state: by the address of the kernel's structure for it. An entry belongs to the
 * command that came last, so who reads it sees whether it leads to the right one, and else goes by queue and
 * tag. NT_NOWHERE, which an empty entry says, is a place that is nobody's: chunks are numbered from 1.
 */
#define NT_INDEX_BITS 17
__u32 nt_index[1 << NT_INDEX_BITS] = {};

/* The verifier lets nobody calculate with a typed pointer, but does let its lower half be copied. */
static __always_inline __u32 low_half(__u64 address)
{
	__u32 low;

	asm("%0 = %1" : "=w"(low) : "w"((__u32)address));
	return low;
}

/* Argument @n of a function as a plain address: with those it does. */
static __always_inline __u64 plain_argument(void *ctx, __u32 n)
{
	__u64 value = 0;

	bpf_get_func_arg(ctx, n, &value);
	return value;
}

/*
 * Where a table of 2^@bits entries has that of an address. Structures lie at equal distances from each other,
 * and those of several queues likewise: multiplied by an odd constant of many bits (Fibonacci hashing), they
 * spread.
 */
static __always_inline __u32 hashed(__u64 address, __u32 bits)
{
	return (low_half(address) >> 6) * 0x9e3779b1u >> (32 - bits);
}

static __always_inline __u32 *index_of(__u64 owner)
{
	return &nt_index[hashed(owner, NT_INDEX_BITS)];
}

/*
 * Stock probes find a queue by its address: 1 + its slot, or 0. An entry belongs to who came last, so who
 * reads it has to see whether it leads to the right one.
 */
#define NT_SLOT_INDEX_BITS 12
__u32 nt_slot_index[1 << NT_SLOT_INDEX_BITS] = {};

static __always_inline __u32 *slot_index(__u64 queue)
{
	return &nt_slot_index[hashed(queue, NT_SLOT_INDEX_BITS)];
}

/*
 * The function that sockets of the driver call when data has come: so they are known among all others.
 * Learnt by the stock probes from the first such socket.
 */
__u64 nt_data_ready = 0;

/* CO-RE: struct sock with its function as a plain pointer. */
struct sock___plain {
	void *sk_data_ready;
} __attribute__((preserve_access_index));

/* @sk: BTF-typed */
static __always_inline __u64 data_ready_of(struct sock *sk)
{
	return (__u64)((struct sock___plain *)sk)->sk_data_ready;
}

/* The driver's queue that has this socket, 0 for sockets of others. @sk: BTF-typed */
static __always_inline __u64 queue_of_socket(struct sock *sk)
{
	return data_ready_of(sk) == nt_data_ready ? (__u64)sk->sk_user_data : 0;
}

/* @sk: an address; this is rare, and read by helper. */
static __always_inline void data_ready_learn(struct sock *sk)
{
	nt_data_ready = (__u64)BPF_CORE_READ((struct sock___plain *)sk, sk_data_ready);
}

/* A command that has ended leaves its owner's address, marked: addresses of structures are even. */
static __always_inline bool in_flight(const struct nt_cmd *c)
{
	return c->owner && !(c->owner & NT_RELEASED);
}

/*
 * Of a sample there is hardly ever one in flight: how many there are is kept, to leave all others at once.
 * They begin and end here only, so that this stays right.
 */
__u32 nt_tracked = 0;

static __always_inline void cmd_take(struct nt_cmd *c, __u64 owner)
{
	if (nt_sample_below && !in_flight(c))
		__sync_fetch_and_add(&nt_tracked, 1);
	c->owner = owner;
}

static __always_inline void cmd_release(struct nt_cmd *c)
{
	c->owner |= NT_RELEASED;
	if (nt_sample_below)
		__sync_fetch_and_add(&nt_tracked, -1);
}

/* @elsewhere: set when it is not found here, but may be by queue and tag. */
static __always_inline struct nt_cmd *cmd_by_owner(__u64 owner, bool *elsewhere)
{
	struct nt_cmd *c;

	*elsewhere = false;
	if (nt_sample_below && !nt_tracked)
		return NULL;
	c = cmd_at(*index_of(owner));
	if (c->owner == owner)
		return c;
	*elsewhere = true;
	return NULL;
}

/*
 * The place of command @tag of a queue, where its owner will be found from now on. @left: where the owner still
 * is in flight, under another tag, NULL mostly.
 */
static __always_inline struct nt_cmd *cmd_place(struct nt_queue *q, __u32 tag, __u64 owner,
						struct nt_cmd **left)
{
	__u32 place = place_claim(q, tag), *entry;
	struct nt_cmd *before;

	*left = NULL;
	if (place == NT_NOWHERE)
		return NULL;
	entry = index_of(owner);
	if (*entry != place) {
		before = cmd_at(*entry);
		if (before->owner == owner)
			*left = before;
		*entry = place;
	}
	return cmd_at(place);
}

/* The maximum of a new interval begins at 0. */
static __always_inline void hist_turn(struct nt_hist *h, __u32 epoch)
{
	if (h->max_epoch[epoch & 1] == epoch)
		return;
	h->max[epoch & 1] = 0;
	h->max_epoch[epoch & 1] = epoch;
}

/*
 * Counts a duration in a histogram. @turned: the same histogram, but as many bytes further as the maximum of
 * this interval is behind the other one; see max_at().
 */
static __always_inline void hist_count(struct nt_hist *h, struct nt_hist *turned, __u64 ns)
{
	__u32 bucket = nt_bucket(ns);

	if (bucket < NT_BUCKETS)
		h->buckets[bucket]++;
	h->sum += ns;
	if (turned->max[0] < ns)
		turned->max[0] = ns;
}

/* The compiler is kept from calculating this for every histogram again. */
static __always_inline void *max_at(void *hists, __u32 epoch)
{
	void *turned = hists + (epoch & 1) * sizeof(__u64);

	asm("" : "+r"(turned));
	return turned;
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

/* Of a point that is asked for by itself. */
#define NT_IS_MISSING(point) (nt_missing & 1u << (point))

/*
 * One row of a side's table of segments, where @r, @shape, @missing, @stage, @broken and @last, the end of
 * the segment before, are at hand: each segment begins where the one before ends. A point that nothing
 * gives is taken to be there; the two stages that it parts are added up in the end, so this is seen by
 * nobody.
 */
#define NT_SUM_SEGMENT(st, shapes, from, to)                              \
	if (1u << shape & (shapes)) {                                     \
		__u64 ends = missing & 1u << (to) ? last : r->points[to]; \
                                                                          \
		if (ends < last)                                          \
			broken = true;                                    \
		stage[st] += ends - last;                                 \
		last = ends;                                              \
	}
#define NT_SEGMENT(st, shapes, from, to) NT_SUM_SEGMENT(NT_##st, shapes, NT_##from, NT_##to)
#define NT_PASSED(st, shapes, from, to) | (1u << shape & (shapes) ? 1u << NT_##st : 0)

/*
 * Defines two functions of a side, for constants or variables @shape and @missing (points that nothing
 * gives):
 * NAME_split(r, shape, missing, stage) fills the stages, which are 0 before; true if a point that this
 * shape needs is not there, or out of order. @first: where the side's segments begin; @optional: may be 0.
 * NAME_passed(shape): bits of the stages that it passes.
 */
#define NT_DEFINE_STAGES(name, segments, first, optional)                                           \
	static __always_inline bool name##_split(const struct nt_record *r, const __u32 shape,      \
						 const __u32 missing, __u64 *stage)                 \
	{                                                                                           \
		__u64 last = missing & 1u << (first) ? 0 : r->points[first];                        \
		bool broken = !last && !(optional) && !(missing & 1u << (first));                   \
                                                                                                    \
		segments(NT_SEGMENT) return broken;                                                 \
	}                                                                                           \
	static __always_inline __u32 name##_passed(const __u32 shape)                               \
	{                                                                                           \
		return 0 segments(NT_PASSED);                                                       \
	}                                                                                           \
	static __always_inline bool name##_count(struct nt_record *r, const __u32 shape,            \
						 struct nt_stage_hists *s, __u32 epoch)             \
	{                                                                                           \
		struct nt_stage_hists *turned;                                                      \
		__u64 stage[NT_STAGES_MAX] = {};                                                    \
                                                                                                    \
		if (name##_split(r, shape, 0, stage))                                               \
			return false;                                                               \
		if (nt_no_histograms)                                                               \
			return true;                                                                \
		turned = max_at(s, epoch);                                                          \
		_Pragma("unroll") for (int i = 0; i < NT_STAGES_MAX;                                \
				       i++) if (name##_passed(shape) & 1u << i)                     \
			hist_count(&s->h[i], &turned->h[i], stage[i]);                              \
		return true;                                                                        \
	}                                                                                           \
	static __always_inline bool name##_count_some(struct nt_record *r, __u32 shape,             \
						      struct nt_stage_hists *s, __u32 epoch,        \
						      __u32 unknown)                                \
	{                                                                                           \
		__u64 stage[NT_STAGES_MAX] = {};                                                    \
                                                                                                    \
		if (name##_split(r, shape, nt_missing, stage))                                      \
			return false;                                                               \
		if (nt_no_histograms)                                                               \
			return true;                                                                \
		stages_count(s, stage, name##_passed(shape) & ~unknown, epoch);                     \
		return true;                                                                        \
	}                                                                                           \
	/* Counts the stages of a command; false if it cannot be split. @unknown: bits of stages */ \
	static __always_inline bool name##_stages(struct nt_record *r, __u32 shape, __u32 unknown)  \
	{                                                                                           \
		__u32 op = r->op, epoch = nt_epoch;                                                 \
		struct nt_stage_hists *s = NULL;                                                    \
                                                                                                    \
		if (!nt_no_histograms) {                                                            \
			s = bpf_map_lookup_elem(&stages, &op);                                      \
			if (!s)                                                                     \
				return false;                                                       \
			stages_turn(s, epoch);                                                      \
		}                                                                                   \
		if (nt_missing || unknown)                                                          \
			return name##_count_some(r, shape, s, epoch, unknown);                      \
		switch (shape) {                                                                    \
		case NT_SHAPE_READ:                                                                 \
			return name##_count(r, NT_SHAPE_READ, s, epoch);                            \
		case NT_SHAPE_INLINE_WRITE:                                                         \
			return name##_count(r, NT_SHAPE_INLINE_WRITE, s, epoch);                    \
		case NT_SHAPE_R2T_WRITE:                                                            \
			return name##_count(r, NT_SHAPE_R2T_WRITE, s, epoch);                       \
		default:                                                                            \
			return name##_count(r, NT_SHAPE_NO_DATA, s, epoch);                         \
		}                                                                                   \
	}

/* They turn together; the first one, which says so, comes last. */
static __always_inline void stages_turn(struct nt_stage_hists *s, __u32 epoch)
{
	if (s->h[0].max_epoch[epoch & 1] == epoch)
		return;
	for (int i = NT_STAGES_MAX - 1; i >= 0; i--)
		hist_turn(&s->h[i], epoch);
}

/* Where points are missing: a stage that cannot be parted from another is added to that one. */
static __always_inline void stages_count(struct nt_stage_hists *s, __u64 *stage, __u32 passed,
					 __u32 epoch)
{
	for (int i = NT_STAGES_MAX - 1; i > 0; i--) {
		for (int k = 0; k < i; k++) {
			if (nt_into[i] != k)
				continue;
			stage[k] += stage[i];
			if (passed & 1u << i)
				passed |= 1u << k;
			passed &= ~(1u << i);
		}
	}
	for (int i = 0; i < NT_STAGES_MAX; i++)
		if (passed & 1u << i)
			hist_count(&s->h[i], max_at(&s->h[i], epoch), stage[i]);
}

/* The latency of a command goes to the histogram of its queue and operation. */
static __always_inline void latency_count(struct nt_queue *q, const struct nt_record *r,
					  __u64 latency)
{
	__u32 epoch = nt_epoch;
	struct nt_hist *h;

	if (nt_no_histograms)
		return;
	h = hist_find(q, r->op);
	if (!h)
		return;
	hist_turn(h, epoch);
	hist_count(h, max_at(h, epoch), latency);
	h->bytes += r->length;
}

static __always_inline void cmd_unsplit(struct nt_record *r)
{
	r->flags |= NT_F_UNSPLIT;
	count(NT_CNT_POINT_MISSING);
}

/* Hands the command to the reader of records, if it asks for such. */
static __always_inline void record_submit(struct nt_record *r, enum nt_side side,
					  const struct nt_queue *q, __u64 latency)
{
	bool wake;

	if (nt_select == NT_SELECT_NONE)
		return;
	if (nt_select == NT_SELECT_SLOWER && latency < nt_slower_ns)
		return;
	r->side = side;
	r->cntlid = q->cntlid;
	r->qid = q->qid;
	/* The reader looks by itself every now and then: waking it for each record costs more than all else. */
	wake = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) >= nt_wake_bytes;
	if (bpf_ringbuf_output(&records, r, sizeof(*r),
			       wake ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP))
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

/* What sets the operation of an opcode on an I/O queue apart from NT_OP_OTHER. */
#define OP(id) NT_OP_##id ^ NT_OP_OTHER
static const __u8 nt_io_op[256] = {
	[NVME_CMD_FLUSH] = OP(FLUSH), [NVME_CMD_WRITE] = OP(WRITE),
	[NVME_CMD_READ] = OP(READ),   [NVME_CMD_WRITE_ZEROES] = OP(WRITE_ZEROES),
	[NVME_CMD_DSM] = OP(DISCARD), [NVME_FABRICS_COMMAND] = OP(FABRICS),
};
#undef OP

static __always_inline __u8 op_of(__u8 opcode, bool admin)
{
	if (admin)
		return opcode == NVME_FABRICS_COMMAND ? NT_OP_FABRICS : NT_OP_ADMIN;
	return nt_io_op[opcode] ^ NT_OP_OTHER;
}

/*
 * What a submission queue entry asks for. @e is BTF-typed: plain loads, no helper calls. The SLBA is
 * read as its two dwords because the verifier knows a command by the first member of its union.
 */
static __always_inline __u64 slba_of(struct nvme_command *e)
{
	return (__u64)e->common.cdw11 << 32 | e->common.cdw10;
}

static __always_inline bool sqe_sampled(struct nvme_command *e, __u32 qid)
{
	return !nt_sample_below ||
	       nt_sample_mix(qid, e->common.command_id, e->common.dptr.sgl.length, slba_of(e)) <
		       nt_sample_below;
}

static __always_inline void record_sqe(struct nt_record *r, struct nvme_command *e, bool admin)
{
	__u8 opcode = e->common.opcode;

	r->opcode = opcode;
	r->op = op_of(opcode, admin);
	r->cid = e->common.command_id;
	r->length = e->common.dptr.sgl.length;
	r->flags = admin ? NT_F_ADMIN_QUEUE : 0;
	/* Nobody but a record's reader asks for what follows. */
	if (nt_select == NT_SELECT_NONE)
		return;
	r->nsid = e->common.nsid;
	r->slba = 0;
	if (!admin && (opcode == NVME_CMD_READ || opcode == NVME_CMD_WRITE ||
		       opcode == NVME_CMD_WRITE_ZEROES || opcode == NVME_CMD_COMPARE))
		r->slba = slba_of(e);
	r->status = 0;
}

char LICENSE[] SEC("license") = "GPL";

#endif /* NTPROF_COMMON_BPF_H */
