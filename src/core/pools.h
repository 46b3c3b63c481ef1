/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What BPF programs take when a queue, a CPU or an operation needs it for the first time, and user space gives
 * back when nobody does any more: pieces of command states, histograms, notes of joined packets. The items of a
 * pool are numbered, and lie in banks of one size. The first bank of what every command needs is a variable of the
 * programs, which reach it by index; all others are maps, which user space adds while programs run (src/trace/pool.h), and
 * which take programs two look-ups. Programs take the next number of a ring, which user space fills. Number 0 is
 * nobody's.
 */
#ifndef NTPROF_CORE_POOLS_H
#define NTPROF_CORE_POOLS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

enum nt_pool_id {
	NT_POOL_CMDS,	/* pieces of NT_CHUNK_CMDS states each */
	NT_POOL_HISTS,	/* latency histograms, by queue, operation and CPU */
	NT_POOL_STAGES, /* a histogram for each stage, by operation and CPU */
	NT_POOL_JOINS,	/* notes of packets that TCP has joined, by queue */
	NT_POOLS_NR
};

/*
 * Items of a bank, as powers of two, and the most banks that there can be. All first banks and what else programs have in
 * variables is one map, of which Linux 5.15 takes none of more than 4 MiB.
 */
#define NT_CMDS_BITS 6	 /* 1.2 MiB */
#define NT_HISTS_BITS 7	 /* 0.5 MiB */
#define NT_STAGES_BITS 4 /* 0.4 MiB */
#define NT_JOINS_BITS 6	 /* 0.3 MiB */
#define NT_CMDS_BANKS 512
#define NT_HISTS_BANKS 256
#define NT_STAGES_BANKS 512
#define NT_JOINS_BANKS 128

/* Numbers that a ring holds: what programs can take before user space runs again. */
#define NT_FREE_BITS 13
#define NT_FREE_MAX (1u << NT_FREE_BITS)

/**
 * struct nt_pool - the ring of the numbers that are free
 * @taken: how many were ever taken; programs, by compare and swap; modulo 2^32
 * @given: how many user space has ever put there
 * @low: user space is called when so many are left
 */
struct nt_pool {
	__u32 taken;
	__u32 given;
	__u32 low;
} __attribute__((aligned(64)));

/*
 * Where the histogram of a queue, operation and CPU is: one of the entries of a bucket, a part of the hash
 * above the histogram's number. Empty ones are 0; one that was given back is NT_HIST_GONE, and may be used again.
 */
#define NT_HIST_WAYS 16
#define NT_HIST_INDEX_BITS 12
#define NT_HIST_NR_MASK 0xffffu
#define NT_HIST_GONE 0x10000u
struct nt_hist_bucket {
	__u32 at[NT_HIST_WAYS];
} __attribute__((aligned(64)));

/* Numbers of a CPU's histograms of stages, by operation; 0: none yet. Two CPUs share a cache line, which is read only. */
struct nt_stages_of {
	__u32 at[8];
};

/*
 * Whose a histogram is; never 0. @who: which of the connections that had the slot, see struct nt_identity; they are fewer
 * than 2^28. Linux has at most 8,192 CPUs.
 */
#define NT_HIST_CPU_SHIFT (NT_SLOT_BITS + 3)
#define NT_HIST_WHO_SHIFT 36
#define NT_HIST_KEY(slot, who, op, cpu)                                                \
	((__u64)(who) << NT_HIST_WHO_SHIFT | ((__u64)(cpu) + 1) << NT_HIST_CPU_SHIFT | \
	 (__u64)(op) << NT_SLOT_BITS | (slot))
#define NT_HIST_KEY_SLOT(key) ((__u32)(key)&NT_SLOT_MASK)
#define NT_HIST_KEY_OP(key) ((__u32)(key) >> NT_SLOT_BITS & 7)
#define NT_HIST_KEY_WHO(key) ((__u32)((key) >> NT_HIST_WHO_SHIFT))
/* All but the CPU: one for all histograms of a connection's operation. */
#define NT_HIST_KEY_ROW(key) ((key) & ~((1ULL << NT_HIST_WHO_SHIFT) - (1ULL << NT_HIST_CPU_SHIFT)))

/* Multiplying by it spreads numbers that differ in few bits (Fibonacci hashing). */
#define NT_SPREAD 0x9e3779b1u

/** nt_hist_hash() - its highest NT_HIST_INDEX_BITS name the bucket, its lowest 16 are in the entry */
static inline __attribute__((always_inline)) __u32 nt_hist_hash(__u64 key)
{
	__u32 mix = ((__u32)key ^ (__u32)(key >> 32) * 0x85ebca6bu) * NT_SPREAD;

	mix ^= mix >> 15;
	return mix * 0xc2b2ae35u;
}

/* CPUs that have counters of their own; CPU n shares those of CPU n modulo this, which atomic additions allow. */
#define NT_CPUS 1024

/*
 * By the address of the driver's structure for it, the slot of a queue: one of the entries of a bucket, 1 + the slot
 * below a part of the hash. Who reads it verifies the queue.
 */
#define NT_SLOT_INDEX_BITS 11
#define NT_SLOT_WAYS 8
#define NT_SLOT_BITS 18
#define NT_SLOT_MASK ((1u << NT_SLOT_BITS) - 1)
struct nt_slot_bucket {
	__u32 at[NT_SLOT_WAYS];
};

/* Slots that an entry has numbers for, one less than 2^18. Queues beyond have none: NT_CNT_NO_SLOT. */
#define NT_SLOTS_MAX NT_SLOT_MASK

/** nt_host_slots() - of so many controllers, or of as many as there are slots for: all queues of each have one */
static inline __u32 nt_host_slots(__u32 controllers, __u32 qid_stride)
{
	__u32 most = NT_SLOTS_MAX / qid_stride;

	return (controllers < most ? controllers : most) * qid_stride;
}

/*
 * Past a limit commands are counted together, and of how many queues they are is told: each queue has a bit, by its slot,
 * or by the one that it would have. Slots that are so many apart share one.
 */
enum nt_past_id {
	NT_PAST_SLOTS, /* NT_CNT_NO_SLOT */
	NT_PAST_HISTS, /* NT_CNT_HIST_FULL */
	NT_PASTS_NR
};
#define NT_PAST_QUEUES 65536
struct nt_past {
	__u64 queues[NT_PAST_QUEUES / 64];
};

/* Of the hash of an address (NT_SPREAD): what its entry has above the slot. */
#define NT_SLOT_TAG(hash) ((hash) << NT_SLOT_INDEX_BITS >> NT_SLOT_BITS << NT_SLOT_BITS)

#endif /* NTPROF_CORE_POOLS_H */
