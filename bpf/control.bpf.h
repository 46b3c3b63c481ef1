/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every file here needs: the kernel's types, and what the loader and the programs say to each
 * other.
 *
 * Programs run on all CPUs at once, in tasks and in interrupts. A program is not run again on a CPU
 * on which it has not ended: the kernel skips that run, and counts it as missed (__bpf_trace_run()
 * in kernel/trace/bpf_trace.c, __bpf_prog_enter() in kernel/bpf/trampoline.c). Another program is
 * run.
 *
 * "Nested" programs: where events of one place come from tasks and from interrupts, an interrupt
 * may find the place's program running, and its event be skipped. Linux 7.3 preempts a task within a
 * program on a tracepoint, too, and until it goes on those of all other tasks on its CPU are. A second program, whose name ends
 * in "_nested", is on the same place for those events, and finds nothing to do for all others. On a
 * tracepoint it runs after the first one, because it is attached after it: src/trace/probes_table.c
 * has it before, and programs are attached from last to first. So the first one, which counts the
 * ends that it cannot explain, does not meet commands that the second one has just released. It
 * costs every event a second run, and the loader keeps it attached only where there are such
 * interrupts (struct nt_control, @redirected), or where a run of the first one has been skipped; that of
 * beginnings, which are in tasks, only in the latter case.
 */
#ifndef NTPROF_CONTROL_BPF_H
#define NTPROF_CONTROL_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "core/control.h"
#include "core/pools.h"
#include "core/record.h"
#include "core/sample.h"

const volatile struct nt_knobs nt_knobs = {
	.shared_mask = 0,
	.qid_stride = 1,
	.slots = 1,
	.into = {0, 1, 2, 3, 4, 5},
};

struct nt_control nt_control;

/* Each CPU's lie in cache lines of their own. */
struct nt_counters nt_counters[NT_CPUS] = {};

/* Atomic, because a program may interrupt another one that counts the same. */
static __always_inline void count(enum nt_counter which)
{
	__u32 cpu = bpf_get_smp_processor_id() & (NT_CPUS - 1);

	__sync_fetch_and_add(&nt_counters[cpu].n[which], 1);
}

#endif /* NTPROF_CONTROL_BPF_H */
