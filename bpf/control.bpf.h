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

#include "core/control.h"
#include "core/record.h"
#include "core/sample.h"

const volatile struct nt_knobs nt_knobs = {
	.hists = 1,
	.qid_stride = 1,
	.slots = 1,
	.into = {0, 1, 2, 3, 4, 5},
};

struct nt_control nt_control = {};

static __always_inline void count(enum nt_counter which)
{
	__sync_fetch_and_add(&nt_control.counters[which], 1);
}

#endif /* NTPROF_CONTROL_BPF_H */
