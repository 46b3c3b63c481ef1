/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The CPUs on which the points of a command are taken, with --points fine: see NT_HOST_CPUS. They
 * are kept beside the states, as these have no room for them, and no memory is taken for them where
 * they are not asked for.
 *
 * Context: each CPU of a command is written by the program that takes the point, one at a time.
 */
#ifndef NTPROF_CPUS_BPF_H
#define NTPROF_CPUS_BPF_H

#include "state.bpf.h"

/*
 * @owner: the command whose CPUs these are. Places that are a multiple of NT_TAKEN_MAX apart share
 * an entry, which belongs to the last command that has begun; those of the other one are not known.
 * Each has a cache line of its own, as a state has
 */
struct nt_taken {
	__u64 owner;
	__u16 cpu[NT_CPUS_MAX];
} __attribute__((aligned(64)));

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NT_TAKEN_MAX);
	__type(key, __u32);
	__type(value, struct nt_taken);
} taken SEC(".maps");

/* @owner: typed, or not. Return: the entry to which the index leads, which may be another's */
static __always_inline struct nt_taken *taken_at(__u64 owner)
{
	__u32 at = *index_of(owner) & (NT_TAKEN_MAX - 1);

	return bpf_map_lookup_elem(&taken, &at);
}

/* In place of the number of a point: its CPU is noted already. */
#define NT_CPU_NOTED NT_CPUS_MAX

/*
 * The current CPU takes a point of a command. Not static, so that it is verified once.
 * @owner: as in its state
 * @nr: enum nt_host_cpu or nt_target_cpu
 */
__noinline int cpu_note(__u64 owner, __u32 nr)
{
	struct nt_taken *t;

	if (!nt_knobs.fine)
		return 0;
	owner &= ~(NT_RELEASED | NT_UNMEASURED);
	t = taken_at(owner);
	if (t && t->owner == owner)
		t->cpu[nr & (NT_CPUS_MAX - 1)] = bpf_get_smp_processor_id() + 1;
	return 0;
}

/*
 * A command begins: the CPUs of the one before it in its place are forgotten, and its first point
 * is taken on the current CPU.
 * @owner: to which the index leads already; typed, or not
 * @queued: what a host's command has found queued, see NT_QUEUED_NR()
 */
static __always_inline void cpus_begin(__u64 owner, __u16 queued)
{
	struct nt_taken *t = taken_at(owner);

	if (!t)
		return;
	*(volatile __u64 *)&t->owner = owner;
	__builtin_memset(t->cpu, 0, sizeof(t->cpu));
	t->cpu[0] = bpf_get_smp_processor_id() + 1;
	t->cpu[NT_H_QUEUED] = queued;
}

/* Fills the CPUs of a record. @owner: as in its state, or 0: they are not known */
static __always_inline void cpus_fill(struct nt_record *to, __u64 owner)
{
	const struct nt_taken *t;

	owner &= ~(NT_RELEASED | NT_UNMEASURED);
	t = taken_at(owner);
	if (t && t->owner == owner)
		__builtin_memcpy(to->cpu, t->cpu, sizeof(to->cpu));
	else
		__builtin_memset(to->cpu, 0, sizeof(to->cpu));
}

#endif /* NTPROF_CPUS_BPF_H */
