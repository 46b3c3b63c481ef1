/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every file here needs this: the kernel's types, and the variables by which the loader and the
 * programs talk to each other.
 *
 * Programs run on all CPUs at once, in tasks and in interrupts. While a program runs on a CPU, the
 * kernel does not run it there again. It skips that run and counts it as missed (__bpf_trace_run()
 * in kernel/trace/bpf_trace.c, __bpf_prog_enter() in kernel/bpf/trampoline.c). It does run other
 * programs.
 *
 * "Nested" programs: some events come both from tasks and from interrupts. An interrupt may then
 * find the program of the event running on its CPU, and the kernel skips the run for its own event.
 * Linux 7.3 also preempts a task within a program on a tracepoint; until that task goes on, the
 * events of all other tasks on its CPU are skipped. For skipped events there is a second program on
 * the same function or tracepoint, whose name ends in "_nested". It finds nothing to do for all
 * other events. On a tracepoint it runs after the first one, because it is attached later:
 * src/trace/probes.c lists it before, and programs are attached from last to first. So the
 * first program, which counts the ends that it cannot explain, does not meet commands that the
 * second one has just released. The second program costs every event a second run. The loader
 * therefore keeps it attached only where there are such interrupts (struct nt_control,
 * @redirected), or where a run of the first one was skipped. The second programs for beginnings,
 * which happen in tasks, and for a target's executions, which end where its device says, are
 * attached only in the latter case.
 */
#ifndef NTPROF_CONTROL_BPF_H
#define NTPROF_CONTROL_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "shared/control.h"
#include "shared/pools.h"
#include "shared/record.h"
#include "shared/selection.h"

const volatile struct nt_knobs nt_knobs = {
	.shared_mask = 0,
	.qid_stride = 1,
	.slots = 1,
	.into = {0, 1, 2, 3, 4, 5, 6},
	.transports = NT_OF_TCP,
};

struct nt_control nt_control;

/*
 * A barrier. Other CPUs see what this CPU loads and stores before it, and then what comes after it.
 * Data that is published without a lock needs two: the writer has one before the store by which
 * others find the data, and the reader has one after the load that finds it.
 *
 * x86 keeps the order of loads, and that of stores. There only the compiler has to be held. arm64
 * needs an instruction. Before Linux 6.15, BPF has none but the atomic operations that return what
 * was there before, which are full barriers (Documentation/atomic_t.txt, ORDERING). The one here is
 * on the stack of the program, whose cache line no other CPU uses.
 *
 * x86 may do a load before an earlier store. Only enum nt_tracked depends on that order, and there
 * the loader waits for an interval.
 *
 * One event of a command needs no barrier against the next one. The driver hands the command on by
 * a lock, a queue of works or an interrupt of another CPU, and these are barriers.
 */
static __always_inline void in_order(void)
{
#ifdef __TARGET_ARCH_x86
	asm volatile("" ::: "memory");
#else
	__u64 own = 0;

	/* The result is not used. An exchange is a full barrier all the same. */
	__sync_lock_test_and_set(&own, 1);
	asm volatile("" ::"r"(&own) : "memory");
#endif
}

/* The counters of each CPU have cache lines of their own. */
struct nt_counters nt_counters[NT_CPUS] = {};

/* Atomic, because a program may interrupt another one that increments the same counter. */
static __always_inline void count(enum nt_counter which)
{
	__u32 cpu = bpf_get_smp_processor_id() & (NT_CPUS - 1);

	__sync_fetch_and_add(&nt_counters[cpu].n[which], 1);
}

#endif /* NTPROF_CONTROL_BPF_H */
