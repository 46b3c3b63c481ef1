/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pools of memory. BPF programs take an item when a queue, a CPU or an operation needs it for the
 * first time, and user space gives it back when it is no longer used. Items are pieces of command
 * states, histograms, and notes of joined packets.
 *
 * The items of a pool are numbered, and lie in banks of one size. If every command uses a pool, its
 * first bank is a variable of the programs, which reach an item by index. All other banks are maps,
 * which user space adds while programs run (src/trace/pool.h). Programs then need two look-ups to
 * reach an item. User space puts the numbers of free items into a ring, from which programs take
 * them. Number 0 is never an item.
 */
#ifndef NTPROF_SHARED_POOLS_H
#define NTPROF_SHARED_POOLS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

enum nt_pool_id {
	NT_POOL_CMDS,	/* pieces of NT_CHUNK_CMDS states each */
	NT_POOL_HISTS,	/* latency histograms, by queue, operation and CPU */
	NT_POOL_STAGES, /* a histogram for each stage, by queue, operation and CPU */
	NT_POOL_JOINS,	/* notes of packets that TCP has joined, by queue */
	NT_POOLS_NR
};

/*
 * Items of a bank, as powers of two, and the largest number of banks. All first banks and the other
 * variables of the programs are one map. Linux 5.15 accepts no such map of more than 4 MiB.
 */
#define NT_CMDS_BITS 6	 /* 1.5 MiB */
#define NT_HISTS_BITS 7	 /* 0.5 MiB */
#define NT_STAGES_BITS 6 /* 0.4 MiB */
#define NT_JOINS_BITS 6	 /* 0.3 MiB */
#define NT_CMDS_BANKS 512
#define NT_HISTS_BANKS 256
#define NT_STAGES_BANKS 256
#define NT_JOINS_BANKS 128

/* The number of items that a ring holds: programs can take so many before user space runs again. */
#define NT_FREE_BITS 13
#define NT_FREE_MAX (1u << NT_FREE_BITS)

/**
 * struct nt_pool - the ring of free numbers
 * @taken: how many numbers were ever taken; programs write it by compare and swap; modulo 2^32
 * @given: how many numbers user space has ever put into the ring
 * @low: programs wake user space when only this many are left
 */
struct nt_pool {
	__u32 taken;
	__u32 given;
	__u32 low;
} __attribute__((aligned(64)));

/*
 * Index of histograms, by queue, operation and CPU. The hash of these selects a bucket. An entry of
 * the bucket has the number of a histogram in its lowest 16 bits, and 16 bits of the hash above. An
 * empty entry is 0. An entry that was given back is NT_HIST_GONE, and may be used again.
 */
#define NT_HIST_WAYS 16
#define NT_HIST_INDEX_BITS 12
#define NT_HIST_NR_MASK 0xffffu
#define NT_HIST_GONE 0x10000u
struct nt_hist_bucket {
	__u32 at[NT_HIST_WAYS];
} __attribute__((aligned(64)));

/*
 * The numbers of the histograms of stages that a CPU's commands share, by operation; 0: none yet.
 * Two CPUs share a cache line, which they normally only read.
 */
struct nt_stages_of {
	__u32 at[8];
};

/*
 * The owner of a histogram; never 0. @who says which of the connections of the slot it is, see
 * struct nt_identity; there are fewer than 2^28 of them. Linux has at most 8,192 CPUs.
 */
#define NT_HIST_CPU_SHIFT (NT_SLOT_BITS + 3)
#define NT_HIST_WHO_SHIFT 36
#define NT_HIST_KEY(slot, who, op, cpu)                                                \
	((__u64)(who) << NT_HIST_WHO_SHIFT | ((__u64)(cpu) + 1) << NT_HIST_CPU_SHIFT | \
	 (__u64)(op) << NT_SLOT_BITS | (slot))
#define NT_HIST_KEY_SLOT(key) ((__u32)(key)&NT_SLOT_MASK)
#define NT_HIST_KEY_OP(key) ((__u32)(key) >> NT_SLOT_BITS & 7)
#define NT_HIST_KEY_WHO(key) ((__u32)((key) >> NT_HIST_WHO_SHIFT))
/* The key without the CPU: all histograms of a connection's operation have the same one. */
#define NT_HIST_KEY_ROW(key) ((key) & ~((1ULL << NT_HIST_WHO_SHIFT) - (1ULL << NT_HIST_CPU_SHIFT)))

/* Multiplying by this number spreads numbers that differ in few bits (Fibonacci hashing). */
#define NT_SPREAD 0x9e3779b1u

/**
 * nt_hist_hash() - hash of a key: the highest NT_HIST_INDEX_BITS select the bucket, the lowest 16
 * are in the entry
 */
static inline __attribute__((always_inline)) __u32 nt_hist_hash(__u64 key)
{
	__u32 mix = ((__u32)key ^ (__u32)(key >> 32) * 0x85ebca6bu) * NT_SPREAD;

	mix ^= mix >> 15;
	return mix * 0xc2b2ae35u;
}

/*
 * CPUs with counters of their own. CPU n uses the counters of CPU n modulo this number. Sharing is
 * safe because additions are atomic.
 */
#define NT_CPUS 1024

/*
 * Index of slots, by the address of the driver's structure for a queue. The hash of the address
 * selects a bucket. An entry of the bucket has 1 + the slot in its lowest NT_SLOT_BITS bits, and a
 * part of the hash above. Two addresses may have the same entry, so the reader must check that the
 * slot has the right queue.
 */
#define NT_SLOT_INDEX_BITS 11
#define NT_SLOT_WAYS 8
#define NT_SLOT_BITS 18
#define NT_SLOT_MASK ((1u << NT_SLOT_BITS) - 1)
struct nt_slot_bucket {
	__u32 at[NT_SLOT_WAYS];
};

/*
 * Index of a target's owners, by the place in memory of their PDUs: see bpf/target_stock.bpf.h.
 *
 * @check: the place XORed with @owner, so that an entry that two CPUs write at once leads nowhere
 * @slot: of the queue, and NT_PDU_ENDS for a PDU that ends its command
 * @gen: of the queue
 */
#define NT_PDUS_BITS 13
#define NT_PDU_ENDS (1u << 31)
struct nt_pdu {
	__u64 check;
	__u64 owner;
	__u32 slot;
	__u32 gen;
};

/*
 * The most slots: an entry has NT_SLOT_BITS bits for 1 + the slot. More queues have no slot, and
 * their commands are counted as NT_CNT_NO_SLOT.
 */
#define NT_SLOTS_MAX NT_SLOT_MASK

/**
 * nt_host_slots() - number of slots for @controllers with @qid_stride queues each. If that is too
 * many, fewer controllers have slots, but each of these has slots for all of its queues
 */
static inline __u32 nt_host_slots(__u32 controllers, __u32 qid_stride)
{
	__u32 most = NT_SLOTS_MAX / qid_stride;

	return (controllers < most ? controllers : most) * qid_stride;
}

/*
 * Past a limit, commands of several queues are counted together, and ntprof shows how many queues
 * these are. For that, each queue sets a bit, by its slot or by the slot that it would have. Slots
 * at a distance of NT_PAST_QUEUES share a bit.
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

/* From the hash of an address (NT_SPREAD): the part that an entry has above the slot. */
#define NT_SLOT_TAG(hash) ((hash) << NT_SLOT_INDEX_BITS >> NT_SLOT_BITS << NT_SLOT_BITS)

#endif /* NTPROF_SHARED_POOLS_H */
