/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Taking items out of pools: see shared/pools.h.
 *
 * Context: any program, interrupts included. There is no lock: an item belongs to the program whose
 * compare and swap takes its number. The program may then find that another CPU, or the program
 * that it interrupts, has taken one for the same purpose. It leaves its own item as it is. User
 * space finds it, because nothing leads to it, and gives it back.
 */
#ifndef NTPROF_POOLS_BPF_H
#define NTPROF_POOLS_BPF_H

#include "control.bpf.h"
#include "shared/pools.h"

struct nt_pool nt_pools[NT_POOLS_NR] = {};
__u16 nt_free[NT_POOLS_NR][NT_FREE_MAX] = {};

/*
 * Wakes user space when something is written to it: a pool is about to run out, or a connection is
 * known (controllers.bpf.h).
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, NT_CALLS_BYTES);
} calls SEC(".maps");

/* Has the loader call tracer_adapt() soon. */
static __always_inline void loader_call(void)
{
	__u32 call = 0;

	bpf_ringbuf_output(&calls, &call, sizeof(call), BPF_RB_FORCE_WAKEUP);
}

#define is_likely(condition) __builtin_expect(!!(condition), 1)

/*
 * @nr, which is at most @mask, a power of two less one, as an index whose bound the verifier sees.
 *
 * A comparison is not enough. The compiler may compare one copy of a number and calculate the
 * address from another: clang 19 compares the number before a shift, and uses a copy that was
 * shifted earlier. The verifier then knows no bound of the copy that is used. Here the bound is
 * part of the calculation. The compiler does not see where @nr comes from, so it cannot leave the
 * mask out. This costs one instruction.
 */
static __always_inline __u32 masked(__u32 nr, const __u32 mask)
{
	asm("" : "+r"(nr));
	return nr & mask;
}

/*
 * As many programs as there are CPUs may take at the same time, and each failed attempt means that
 * another one has succeeded.
 */
#define NT_TAKE_TRIES 64

__u32 nt_take_but(__u32 pool, __u32 kept);

/*
 * Takes an item, if more than @kept are left. Global, so that the verifier checks it once.
 * Return: the number of the item, 0 if there is none to take. All of its bytes are 0, except for
 * states, which are released
 */
__noinline __u32 nt_take_but(__u32 pool, __u32 kept)
{
	__u32 taken, left;
	struct nt_pool *p;
	__u16 *numbers;

	if (pool >= NT_POOLS_NR)
		return 0;
	pool = masked(pool, NT_POOLS_NR - 1);
	p = &nt_pools[pool];
	numbers = nt_free[pool];
	/* If the compiler keeps @pool on the stack, the verifier forgets its bound. */
	asm("" : "+r"(p), "+r"(numbers));
	for (int i = 0; i < NT_TAKE_TRIES; i++) {
		__u32 nr;

		taken = *(volatile __u32 *)&p->taken;
		/* Read @given after @taken, so that it is not older. */
		in_order();
		left = *(volatile __u32 *)&p->given - taken;
		if (left <= kept)
			return 0;
		/* User space writes a number before @given (release). */
		in_order();
		nr = numbers[taken & (NT_FREE_MAX - 1)];
		if (__sync_val_compare_and_swap(&p->taken, taken, taken + 1) != taken)
			continue;
		left--;
		if (left == p->low || !left)
			loader_call();
		return nr;
	}
	return 0;
}

static __always_inline __u32 nt_take(__u32 pool)
{
	return nt_take_but(pool, 0);
}

_Static_assert((NT_POOLS_NR & (NT_POOLS_NR - 1)) == 0, "pools are masked");

struct nt_past nt_past[NT_PASTS_NR] = {};

/*
 * Counts a command that is past a limit. This is rare.
 * @slot: the slot of its queue, or the one that the queue would have
 */
static __always_inline void count_past(enum nt_past_id past, __u32 slot)
{
	__u64 *queues = &nt_past[past].queues[slot / 64 % (NT_PAST_QUEUES / 64)];
	__u64 bit = 1ULL << slot % 64;

	if (!(*queues & bit))
		__sync_fetch_and_or(queues, bit);
	count(past == NT_PAST_SLOTS ? NT_CNT_NO_SLOT : NT_CNT_HIST_FULL);
}

#endif /* NTPROF_POOLS_BPF_H */
