/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histograms of durations. A struct nt_hist belongs to one CPU and only ever grows; user space adds
 * up the histograms of all CPUs. A queue's operation takes a histogram for a CPU when one of its
 * commands ends there for the first time. User space gives back a histogram in which nothing is
 * counted for a while (src/trace/histograms.c).
 *
 * Context: the program in which a command ends, in a task or in a softirq. It stays on its CPU.
 * Additions are not atomic. The end of a command in a task may be interrupted by the end of another
 * one in a softirq, which its "nested" program counts (see control.bpf.h). If the interrupt comes
 * between load and store of an addition, one of two additions to the same counter is lost. The same
 * may happen where the kernel preempts a task here and runs another one. One CPU's queue has one
 * worker. So the other task ends commands of other queues, which share the stages' counters alone,
 * or it polls.
 */
#ifndef NTPROF_HISTOGRAMS_BPF_H
#define NTPROF_HISTOGRAMS_BPF_H

#include "control.bpf.h"
#include "pools.bpf.h"

struct hist_bank {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1 << NT_HISTS_BITS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct nt_hist));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, NT_HISTS_BANKS);
	__type(key, __u32);
	__array(values, struct hist_bank);
} hist_banks SEC(".maps");

struct nt_hist nt_first_hists[1 << NT_HISTS_BITS] = {};

/* Used where no other histogram is left: one for each CPU, though several CPUs may share one. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_hist);
} hists_shared SEC(".maps");

struct nt_hist_bucket nt_hist_index[1 << NT_HIST_INDEX_BITS] = {};

/* The first duration of a new interval resets the maximum to 0. */
static __always_inline void hist_turn(struct nt_hist_head *h, __u32 epoch)
{
	if (h->max_epoch[epoch & 1] == epoch)
		return;
	h->max[epoch & 1] = 0;
	/* A reader that sees the interval must not see the maximum of an earlier one. */
	in_order();
	h->max_epoch[epoch & 1] = epoch;
}

/*
 * Adds one to a bucket, between two barriers: see in_order(). Elsewhere than on x86 the addition
 * itself is both of them, as there is one for each stage of a command.
 */
static __always_inline void count_in_order(__u32 *bucket)
{
#ifdef __TARGET_ARCH_x86
	in_order();
	++*(volatile __u32 *)bucket;
#else
	__u32 was = __sync_fetch_and_add(bucket, 1);

	/* Use the result: the compiler makes an addition without one that is no barrier. */
	asm volatile("" ::"r"(was) : "memory");
#endif
}

/*
 * Counts a duration in a histogram.
 * @turned: the same histogram, by max_at(): its max[0] is the maximum of this interval
 * @bucket: that of the duration
 */
static __always_inline void hist_count(struct nt_hist_head *h, struct nt_hist_head *turned,
				       __u32 *bucket, __u64 ns)
{
	if (turned->max[0] < ns)
		turned->max[0] = ns;
	/*
	 * A reader that sees the count must see the maximum, and one that sees the sum must see the
	 * count.
	 */
	count_in_order(bucket);
	*(volatile __u64 *)&h->sum = h->sum + ns;
}

/*
 * Several histograms in a row, shifted so that max[0] of each is its max[@epoch & 1]. The compiler
 * is kept from calculating this again for every histogram.
 */
static __always_inline void *max_at(void *hists, __u32 epoch)
{
	void *turned = hists + (epoch & 1) * sizeof(__u64);

	asm("" : "+r"(turned));
	return turned;
}

/* Never NULL for a number that was taken, but the verifier does not know that. */
static __always_inline struct nt_hist *hist_at(__u32 nr)
{
	__u32 bank, at;
	void *hists;

	if (is_likely(nr < 1u << NT_HISTS_BITS))
		return &nt_first_hists[masked(nr, (1u << NT_HISTS_BITS) - 1)];
	bank = nr >> NT_HISTS_BITS;
	at = nr & ((1u << NT_HISTS_BITS) - 1);
	hists = bpf_map_lookup_elem(&hist_banks, &bank);
	return hists ? bpf_map_lookup_elem(hists, &at) : NULL;
}

__u32 nt_hist_find(__u64 key);

/*
 * The number of the histogram of @key. Takes a histogram if @key has none. The key contains the CPU
 * on which this runs. So only a program that interrupts this one can look for the same key
 * meanwhile. If both take a histogram, user space adds them up.
 * Return: 0 if no histogram is left
 */
__noinline __u32 nt_hist_find(__u64 key)
{
	__u32 hash = nt_hist_hash(key), part = hash << 16, at, nr;
	struct nt_hist_bucket *b = &nt_hist_index[hash >> (32 - NT_HIST_INDEX_BITS)];
	struct nt_hist *h;

	for (__u32 i = 0; i < NT_HIST_WAYS; i++) {
		at = *(volatile __u32 *)&b->at[i];
		if (!at)
			break;
		if ((at & ~NT_HIST_NR_MASK) != part)
			continue;
		h = hist_at(at & NT_HIST_NR_MASK);
		if (h && h->key == key)
			return at & NT_HIST_NR_MASK;
	}
	nr = nt_take(NT_POOL_HISTS);
	h = hist_at(nr);
	if (!nr || !h)
		return 0;
	h->key = key;
	for (__u32 i = 0; i < NT_HIST_WAYS; i++) {
		at = *(volatile __u32 *)&b->at[i];
		if (at & NT_HIST_NR_MASK)
			continue;
		if (__sync_val_compare_and_swap(&b->at[i], at, part | nr) == at)
			return nr;
	}
	return 0;
}

/*
 * The histogram of operation @op of queue @q on CPU @cpu, the current one.
 * @slot: of the queue
 * @who: its connection, see struct nt_identity
 * Return: NULL if no histogram is left
 */
static __always_inline struct nt_hist *hist_find(struct nt_queue *q, __u32 slot, __u32 who,
						 __u32 op, __u32 cpu)
{
	__u64 key, found = 0;
	struct nt_hist *h;
	__u16 *first;
	__u32 nr;

	op &= NT_OPS_NR - 1;
	first = &q->hist[op];
	key = NT_HIST_KEY(slot, who, op, cpu);
	h = hist_at(*first);
	if (h)
		found = h->key;
	if (found == key)
		return h;
	nr = nt_hist_find(key);
	if (!nr)
		return NULL;
	/* A number of another CPU stays; one of an earlier connection in the slot is replaced. */
	if (NT_HIST_KEY_ROW(found ^ key))
		*first = nr;
	return hist_at(nr);
}
_Static_assert((NT_OPS_NR & (NT_OPS_NR - 1)) == 0, "operations are masked, not compared");

__u32 nt_shared_count(__u64 ns, __u64 bytes, __u32 slot, __u32 measured);

/*
 * Counts a command where no other histogram is left, by atomic additions.
 * @slot: of the queue
 * @measured: otherwise it is one of the commands outside the sample
 * Return: the bucket's count before, because a global function must have a result
 */
__noinline __u32 nt_shared_count(__u64 ns, __u64 bytes, __u32 slot, __u32 measured)
{
	__u32 at = bpf_get_smp_processor_id() & nt_knobs.shared_mask;
	struct nt_hist *h = bpf_map_lookup_elem(&hists_shared, &at);
	__u32 epoch = nt_control.epoch;

	count_past(NT_PAST_HISTS, slot);
	if (!h)
		return 0;
	if (!measured) {
		__sync_fetch_and_add(&h->others, 1);
		__sync_fetch_and_add(&h->other_bytes, bytes);
		return 0;
	}
	hist_turn(&h->head, epoch);
	__sync_fetch_and_add(&h->sum, ns);
	__sync_fetch_and_add(&h->bytes, bytes);
	if (h->max[epoch & 1] < ns)
		h->max[epoch & 1] = ns;
	return __sync_fetch_and_add(&h->buckets[nt_bucket(ns)], 1);
}

struct stage_bank {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1 << NT_STAGES_BITS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct nt_stage_hists));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, NT_STAGES_BANKS);
	__type(key, __u32);
	__array(values, struct stage_bank);
} stage_banks SEC(".maps");

struct nt_stage_hists nt_first_stages[1 << NT_STAGES_BITS] = {};

/* Never NULL for a number that was taken, but the verifier does not know that. */
static __always_inline struct nt_stage_hists *stages_at(__u32 nr)
{
	__u32 bank, at;
	void *stages;

	if (is_likely(nr < 1u << NT_STAGES_BITS))
		return &nt_first_stages[masked(nr, (1u << NT_STAGES_BITS) - 1)];
	bank = nr >> NT_STAGES_BITS;
	at = nr & ((1u << NT_STAGES_BITS) - 1);
	stages = bpf_map_lookup_elem(&stage_banks, &bank);
	return stages ? bpf_map_lookup_elem(stages, &at) : NULL;
}

/*
 * Takes stage histograms for the commands that @h counts. Admin and Fabrics commands share those of
 * their CPU: each queue has a Connect, and no other. So do queues past the limit. User space has
 * these try again at each interval. A program that interrupts this one may do the same. This is
 * rare.
 * Return: their number, or NT_STAGES_SHARED
 */
static __noinline __s32 stages_take(struct nt_hist *h)
{
	const __u64 key = h->key;
	struct nt_stage_hists *s;
	__s32 nr = 0, seen;

	if (NT_HIST_KEY_OP(key) < NT_OP_ADMIN)
		nr = nt_take_but(NT_POOL_STAGES, nt_knobs.stages_kept);
	s = stages_at(nr);
	if (nr && s)
		s->h[0].key = key;
	else
		nr = NT_STAGES_SHARED;
	seen = __sync_val_compare_and_swap(&h->stages, 0, nr);
	if (!seen)
		return nr;
	if (nr != NT_STAGES_SHARED && s)
		s->h[0].key = NT_STAGES_UNUSED;
	return seen;
}

/*
 * Counts the latency of a command in the histogram of its queue and operation.
 * @who: see struct nt_identity
 * @cpu: the current one
 * Return: the number of the stage histograms of these commands, or NT_STAGES_SHARED
 */
static __always_inline __s32 latency_count(struct nt_queue *q, const struct nt_record *r, __u32 who,
					   __u32 cpu, __u64 latency)
{
	__u32 epoch = nt_control.epoch;
	struct nt_hist_head *turned;
	struct nt_hist *h;

	if (nt_knobs.no_histograms)
		return NT_STAGES_SHARED;
	h = hist_find(q, r->slot, who, r->op, cpu);
	if (!h) {
		nt_shared_count(latency, r->length, r->slot, true);
		return NT_STAGES_SHARED;
	}
	hist_turn(&h->head, epoch);
	turned = max_at(h, epoch);
	hist_count(&h->head, turned, &h->buckets[nt_bucket(latency)], latency);
	h->bytes += r->length;
	return h->stages ?: stages_take(h);
}

/* Counts a command outside the sample that has ended. @who: see latency_count() */
static __always_inline void others_count(struct nt_queue *q, const struct nt_record *r, __u32 who)
{
	struct nt_hist *h = hist_find(q, r->slot, who, r->op, bpf_get_smp_processor_id());

	if (!h) {
		nt_shared_count(0, r->length, r->slot, false);
		return;
	}
	h->others++;
	h->other_bytes += r->length;
}

/*
 * Commands that ended with a status other than success, counted by queue, operation and status.
 * They are rare, so their cost does not matter. Their duration is not a latency, so they are in no
 * histogram.
 *
 * Context: where a command ends, interrupts included. Additions are atomic. User space reads
 * differences. When a connection is gone, and its entry has not changed for an interval, user space
 * removes the entry.
 */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NT_ERRORS);
	__type(key, struct nt_error);
	__type(value, __u64);
} errors SEC(".maps");

static __always_inline bool is_error(const struct nt_record *r)
{
	return r->status & NT_STATUS_MASK;
}

/*
 * Counts a command that failed. @r: its record, with the status. @who: see struct nt_identity.
 * Not inline: a jump of a program reaches 32,767 instructions, and a target's stock_sendpage has
 * almost as many.
 */
static __noinline void error_count(const struct nt_record *r, __u32 who)
{
	struct nt_error key = {
		.slot = r->slot,
		.who = who,
		.status = r->status & NT_STATUS_MASK,
		.op = r->op,
	};
	__u64 none = 0, *n = bpf_map_lookup_elem(&errors, &key);
	const bool connecting = r->op >= NT_OP_ADMIN;

	nt_control.failed = nt_control.epoch;
	if (!n && !(connecting && nt_control.errors_connecting >= NT_ERRORS_CONNECTING)) {
		/*
		 * Another CPU may add it at the same time. Then the entry of the first one stays.
		 */
		if (!bpf_map_update_elem(&errors, &key, &none, BPF_NOEXIST) && connecting)
			__sync_fetch_and_add(&nt_control.errors_connecting, 1);
		n = bpf_map_lookup_elem(&errors, &key);
	}
	if (n) {
		__sync_fetch_and_add(n, 1);
		return;
	}
	count(NT_CNT_ERRORS_FULL);
	__sync_fetch_and_add(&nt_control.errors_past[r->op & (NT_OPS_NR - 1)], 1);
}

#endif /* NTPROF_HISTOGRAMS_BPF_H */
