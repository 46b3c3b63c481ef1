/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Selects commands by facts that are known when they begin. The BPF programs of both sides and
 * user space share this one copy, so that the kernel and a report leave out the same commands.
 */
#ifndef NTPROF_SHARED_SELECTION_H
#define NTPROF_SHARED_SELECTION_H

#include <stdbool.h>

#ifndef __bpf__

#endif

#include "shared/record.h"

/* Room for numbers and ranges of numbers of one option. */
#define NT_RANGES_MAX 8u

/* struct nt_ranges - numbers; both ends of a range are included; @nr 0: all numbers */
struct nt_ranges {
	__u64 nr;
	struct {
		__u64 from, to;
	} range[NT_RANGES_MAX];
};

/**
 * struct nt_selection - a command has to meet all conditions; all zeroes: every command is selected
 * @instances: N of nvmeN (host)
 * @cntlids: controller ids; if @instances or @cntlids are given, one of them has to match
 * @queues: queue ids
 * @subsysnqn, @hostnqn: exact names; "" is any
 * @nsids: namespace ids; Fabrics commands have no namespace and never match
 * @sizes: bytes of data
 * @lbas: starting LBAs; only for commands that have one
 * @ops: bits of enum nt_op; 0: all
 * @cgroup: id of a cgroup: commands of bios of this cgroup, or of one below it (host); 0: all
 * @cgroup_level: how many levels that cgroup is below the root
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

/*
 * Opcode of an I/O command that has a starting LBA and is NT_OP_OTHER (NVM Command Set 1.0, 3.2.1).
 */
#define NT_OPCODE_COMPARE 0x05

#define NT_INLINE static inline __attribute__((always_inline))

NT_INLINE bool nt_in_range(const volatile struct nt_ranges *l, unsigned int i, __u64 n)
{
	return i < l->nr && n >= l->range[i].from && n <= l->range[i].to;
}

/*
 * Whether @n is in one of the ranges. The NT_RANGES_MAX comparisons are written out, because the
 * verifier knows @l as constants and so removes the ones that are not used.
 */
NT_INLINE bool nt_in_ranges(const volatile struct nt_ranges *l, __u64 n)
{
	return nt_in_range(l, 0, n) || nt_in_range(l, 1, n) || nt_in_range(l, 2, n) ||
	       nt_in_range(l, 3, n) || nt_in_range(l, 4, n) || nt_in_range(l, 5, n) ||
	       nt_in_range(l, 6, n) || nt_in_range(l, 7, n);
}

/* Whether a command of this operation and opcode has a starting LBA. */
NT_INLINE bool nt_has_lba(__u8 op, __u8 opcode)
{
	return op == NT_OP_READ || op == NT_OP_WRITE || op == NT_OP_WRITE_ZEROES ||
	       (op == NT_OP_OTHER && opcode == NT_OPCODE_COMPARE);
}

/**
 * nt_selects_command() - whether a command is selected by its own fields
 * @s: selects its queue
 * @op: enum nt_op
 * @opcode, @length, @nsid, @slba: see struct nt_record; @slba counts only if nt_has_lba()
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
 * @host: the host sees the queue, so @instance is N of its nvmeN
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

/* Kinds of conditions of a selection. */
#define NT_BY_QUEUE 1u
#define NT_BY_COMMAND 2u
#define NT_BY_CGROUP 4u

/** nt_selects_by() - bits of the kinds of conditions that @s has; 0: every command is selected */
NT_INLINE __u8 nt_selects_by(const struct nt_selection *s)
{
	bool queue = s->instances.nr || s->cntlids.nr || s->queues.nr || s->subsysnqn[0] ||
		     s->hostnqn[0];
	bool command = s->ops || s->sizes.nr || s->nsids.nr || s->lbas.nr;

	return (__u8)((queue ? NT_BY_QUEUE : 0) | (command ? NT_BY_COMMAND : 0) |
		      (s->cgroup ? NT_BY_CGROUP : 0));
}

/*
 * Which commands are measured if not all of them are. The BPF programs of both sides and user space
 * share this one copy.
 */

/**
 * nt_sample_threshold() - the bound below which nt_sample_mix() has to be
 * @n: about one command in @n is measured; 0 and 1: every command
 *
 * Return: 2^32 / @n, or 0 for all commands. A sample with a larger @n is a part of a sample with a
 * smaller @n.
 */
static inline __attribute__((always_inline)) unsigned int nt_sample_threshold(unsigned int n)
{
	return n > 1 ? (unsigned int)((1ULL << 32) / n) : 0;
}

/**
 * nt_sample_mix() - a number that looks random, made from fields of a command that both sides see
 * @qid: queue id
 * @cid: command id
 * @length: bytes of data
 * @slba: dwords 10 and 11 of the submission queue entry: the starting LBA if the command has one
 *
 * Two rounds of the usual mixing of 64 bits, as in MurmurHash3: multiply by an odd constant of many
 * bits, fold the upper half onto the lower half. After these rounds no tag, address or length is
 * favoured.
 * Return: 32 bits.
 */
static inline __attribute__((always_inline)) unsigned int
nt_sample_mix(unsigned int qid, unsigned int cid, unsigned int length, unsigned long long slba)
{
	unsigned long long mix = (unsigned long long)length << 32 | qid << 16 | cid;

	mix = (mix * 0x9e3779b97f4a7c15ULL) ^ slba;
	mix = (mix ^ mix >> 32) * 0xd6e8feb86659fd93ULL;
	mix = (mix ^ mix >> 32) * 0xd6e8feb86659fd93ULL;
	return (unsigned int)(mix >> 32);
}

/*
 * Counters of measured commands, indexed by the lowest bits of nt_sample_mix(). They show whether
 * the sample has many different commands, or a few that are repeated. The highest bits cannot be
 * the index, because they are alike in all commands of a sample.
 */
#define NT_ALIKE 256

static inline __attribute__((always_inline)) unsigned int nt_alike(unsigned int mix)
{
	return mix & (NT_ALIKE - 1);
}

#endif /* NTPROF_SHARED_SELECTION_H */
