/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the loader and the programs say to each other: knobs, signals, counters.
 *
 * Programs whose name ends in "nested": the kernel does not run a program that an interrupt finds
 * running on its CPU already (kernel/trace/bpf_trace.c, __bpf_trace_run()), and skips that event.
 * Where events of one tracepoint come both from processes and from interrupts, a second program on it
 * takes what the first one was skipped for, and finds nothing to do else. It stands before the first
 * one, because programs are attached, and so run, in the reverse of their order here. As that costs
 * every event a second run, the loader keeps it only where it is needed.
 */
#ifndef NTPROF_CONTROL_BPF_H
#define NTPROF_CONTROL_BPF_H

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

static __always_inline void count(enum nt_counter which)
{
	__sync_fetch_and_add(&nt_counters[which], 1);
}

#endif /* NTPROF_CONTROL_BPF_H */
