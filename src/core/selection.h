/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which commands somebody asks for, by what is known of them when they begin: one copy for both sides' BPF
 * programs and for user space, so that what is left out in the kernel is what a report leaves out.
 */
#ifndef NTPROF_CORE_SELECTION_H
#define NTPROF_CORE_SELECTION_H

#ifndef __bpf__
#include <stdbool.h>
#endif

#include "core/record.h"

/* Numbers and ranges of numbers that one option takes. */
#define NT_RANGES_MAX 8u

/* struct nt_ranges - numbers, ends included; @nr 0: all of them */
struct nt_ranges {
	__u64 nr;
	struct {
		__u64 from, to;
	} range[NT_RANGES_MAX];
};

/**
 * struct nt_selection - all of what is given has to be so; all zeroes: every command
 * @instances: N of nvmeN (host)...
 * @cntlids: ...and controller ids: a command is of one of either
 * @queues: queue ids
 * @subsysnqn, @hostnqn: the very same; "" is any
 * @nsids: of commands that have a namespace, which fabrics commands do not
 * @sizes: bytes of data
 * @lbas: where a command begins that says so
 * @ops: bits of enum nt_op; 0: all
 * @cgroup: id of a cgroup: commands of bios that are of it, or of one below it (host); 0: all
 * @cgroup_level: how far that is below the root
 */
struct nt_selection {
	struct nt_ranges instances;
	struct nt_ranges cntlids;
	struct nt_ranges queues;
	struct nt_ranges nsids;
	struct nt_ranges sizes;
	struct nt_ranges lbas;
	__u32 ops;
	__u32 cgroup_level;
	__u64 cgroup;
	char subsysnqn[NT_NQN_LEN];
	char hostnqn[NT_NQN_LEN];
};

/* Opcode of an I/O command that has a starting LBA, and no operation of its own (NVM Command Set 1.0, 3.2.1). */
#define NT_OPCODE_COMPARE 0x05

#define NT_INLINE static inline __attribute__((always_inline))

NT_INLINE bool nt_in_range(const volatile struct nt_ranges *l, unsigned int i, __u64 n)
{
	return i < l->nr && n >= l->range[i].from && n <= l->range[i].to;
}

/*
 * Written out, so that the verifier, which knows @l, removes what is not given. NT_RANGES_MAX
 * Return: whether @n is in one of them.
 */
NT_INLINE bool nt_in_ranges(const volatile struct nt_ranges *l, __u64 n)
{
	return nt_in_range(l, 0, n) || nt_in_range(l, 1, n) || nt_in_range(l, 2, n) ||
	       nt_in_range(l, 3, n) || nt_in_range(l, 4, n) || nt_in_range(l, 5, n) ||
	       nt_in_range(l, 6, n) || nt_in_range(l, 7, n);
}

/* Whether a command of this operation and opcode says at which LBA it begins. */
NT_INLINE bool nt_has_lba(__u8 op, __u8 opcode)
{
	return op == NT_OP_READ || op == NT_OP_WRITE || op == NT_OP_WRITE_ZEROES ||
	       (op == NT_OP_OTHER && opcode == NT_OPCODE_COMPARE);
}

/**
 * nt_selects_command() - whether a command is selected by what it asks for
 * @s: its queue is selected
 * @op: enum nt_op
 * @opcode, @length, @nsid, @slba: see struct nt_record; @slba counts only where nt_has_lba()
 */
NT_INLINE bool nt_selects_command(const volatile struct nt_selection *s, __u8 op, __u8 opcode,
				  __u32 length, __u32 nsid, __u64 slba)
{
	if (s->ops && !(s->ops >> op & 1))
		return false;
	if (s->sizes.nr && !nt_in_ranges(&s->sizes, length))
		return false;
	if (s->nsids.nr && (op == NT_OP_FABRICS || !nt_in_ranges(&s->nsids, nsid)))
		return false;
	return !s->lbas.nr || (nt_has_lba(op, opcode) && nt_in_ranges(&s->lbas, slba));
}

/**
 * nt_selects_ids() - whether a queue is selected by its numbers
 * @host: it is seen from the host, which is when @instance is that of its nvmeN
 */
NT_INLINE bool nt_selects_ids(const volatile struct nt_selection *s, bool host, __u32 instance,
			      __u16 cntlid, __u16 qid)
{
	if (s->queues.nr && !nt_in_ranges(&s->queues, qid))
		return false;
	if (!s->instances.nr && !s->cntlids.nr)
		return true;
	return (host && nt_in_ranges(&s->instances, instance)) || nt_in_ranges(&s->cntlids, cntlid);
}

/* What a selection is by. */
#define NT_BY_QUEUE 1u
#define NT_BY_COMMAND 2u
#define NT_BY_CGROUP 4u

/** nt_selects_by() - bits of what it is by; 0: every command is selected */
NT_INLINE __u8 nt_selects_by(const struct nt_selection *s)
{
	bool queue = s->instances.nr || s->cntlids.nr || s->queues.nr || s->subsysnqn[0] ||
		     s->hostnqn[0];
	bool command = s->ops || s->sizes.nr || s->nsids.nr || s->lbas.nr;

	return (__u8)((queue ? NT_BY_QUEUE : 0) | (command ? NT_BY_COMMAND : 0) |
		      (s->cgroup ? NT_BY_CGROUP : 0));
}

#endif /* NTPROF_CORE_SELECTION_H */
