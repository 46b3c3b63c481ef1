/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histograms of durations. A struct nt_hist is per CPU and only ever grows; user space adds up what
 * all CPUs have.
 *
 * Context: the program in which a command ends, in a task or in a softirq, which stays on its CPU.
 * Additions are not atomic: where the end of a command in a task is interrupted by that of another
 * in a softirq, which its "nested" program counts (see control.bpf.h), one of the two additions to
 * the same counter can be lost, if the interrupt comes between its load and its store.
 */
#ifndef NTPROF_HISTOGRAMS_BPF_H
#define NTPROF_HISTOGRAMS_BPF_H

#include "control.bpf.h"

/* By struct nt_queue, @hist; the last one is shared by queues for which no other is left. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_hist);
} hists SEC(".maps");

/* The first duration of a new interval: its maximum begins at 0. */
static __always_inline void hist_turn(struct nt_hist *h, __u32 epoch)
{
	if (h->max_epoch[epoch & 1] == epoch)
		return;
	h->max[epoch & 1] = 0;
	h->max_epoch[epoch & 1] = epoch;
}

/*
 * Counts a duration in a histogram.
 * @turned: the same histogram, by max_at(): its max[0] is the maximum of this interval
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

/*
 * Several histograms in a row, shifted so that max[0] of each is max[@epoch & 1]. The compiler is
 * kept from calculating this for every histogram again.
 */
static __always_inline void *max_at(void *hists, __u32 epoch)
{
	void *turned = hists + (epoch & 1) * sizeof(__u64);

	asm("" : "+r"(turned));
	return turned;
}

/*
 * The latency histogram of operation @op of queue @q, which takes one if it has none; the last one
 * of all when none is left. Two CPUs that both take one agree on one of the two, and the other is
 * not used by anybody.
 */
static __always_inline struct nt_hist *hist_find(struct nt_queue *q, __u32 op)
{
	__u32 *slot, at;

	slot = &q->hist[q->gen & 1][op & (NT_OPS_NR - 1)];
	at = *slot;
	if (!at) {
		__u32 seen;

		at = nt_knobs.hists;
		if (nt_control.hists_used < nt_knobs.hists - 1)
			at = __sync_fetch_and_add(&nt_control.hists_used, 1) + 1;
		if (at >= nt_knobs.hists) {
			at = nt_knobs.hists;
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

/* The latency of a command goes to the histogram of its queue and operation. */
static __always_inline void latency_count(struct nt_queue *q, const struct nt_record *r,
					  __u64 latency)
{
	__u32 epoch = nt_control.epoch;
	struct nt_hist *h;

	if (nt_knobs.no_histograms)
		return;
	h = hist_find(q, r->op);
	if (!h)
		return;
	hist_turn(h, epoch);
	hist_count(h, max_at(h, epoch), latency);
	h->bytes += r->length;
}

/* A command that is not in the sample has ended. */
static __always_inline void others_count(struct nt_queue *q, const struct nt_record *r)
{
	struct nt_hist *h = hist_find(q, r->op);

	if (!h)
		return;
	h->others++;
	h->other_bytes += r->length;
}

#endif /* NTPROF_HISTOGRAMS_BPF_H */
