/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data that the programs of bpf/stacks.bpf.c count: which kernel stacks give commands to nvme-tcp.
 * BPF programs and user space share this one copy.
 */
#ifndef NTPROF_SHARED_STACKS_H
#define NTPROF_SHARED_STACKS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "shared/buckets.h"

/* Frames of a stack that are recorded. Frames further out, towards the system call, are cut off. */
#define NT_STACK_DEPTH 64
/*
 * The number of different stacks. A machine has some tens, a program that submits from many places
 * some hundreds. Each takes 0.5 KiB, and NT_BUCKETS * 4 bytes for each CPU once it is seen.
 * Commands of further stacks are counted as NT_STACK_NO_ROOM.
 */
#define NT_STACKS 4096
/*
 * Commands in flight with a remembered stack: 256 queues of depth 256. Further commands are counted
 * as NT_STACK_UNTIMED.
 */
#define NT_STACK_COMMANDS 65536

/* Properties of a command besides its stack. */
#define NT_STACK_POLLED 1u /* on a queue that is polled for completions */
#define NT_STACK_PASSTHROUGH                                                                      \
	2u /* made by a driver or through its ioctl, not from a bio: admin, Fabrics, io_uring_cmd \
	    */
#define NT_STACK_SCHEDULED 4u /* it has a tag of an I/O scheduler */

/**
 * struct nt_stack - addresses, innermost first; the first ones belong to the tracer; 0 after the
 * last one
 */
struct nt_stack {
	__u64 frames[NT_STACK_DEPTH];
};

/**
 * struct nt_stack_key - key of commands that are counted together
 * @stack: key of its struct nt_stack: a hash of all frames
 * @flags: NT_STACK_*
 */
struct nt_stack_key {
	__u64 stack;
	__u32 flags;
	__u32 zero;
};

/**
 * struct nt_stack_count - figures of the commands of one key, on one CPU
 * @commands: commands given to the driver
 * @ended: how many of them were seen to complete
 * @latency_ns: sum of their latencies, from the time when the block layer began with them. Where
 *              the block layer did not read the clock: from the time when the driver got them
 * @latency_max_ns: the longest latency
 * @waited: number of commands for which the block layer recorded its begin time
 * @waited_ns: sum of the times that these took until the driver got them
 * @buckets: of latencies, by nt_bucket()
 */
struct nt_stack_count {
	__u64 commands;
	__u64 ended;
	__u64 latency_ns;
	__u64 latency_max_ns;
	__u64 waited;
	__u64 waited_ns;
	__u32 buckets[NT_BUCKETS_ALLOC];
};

/* Commands that could not be counted completely. */
enum nt_stack_loss {
	NT_STACK_NO_ROOM, /* commands of a stack for which there is no room any more */
	/* counted commands whose end is not seen, as there was no room for their state */
	NT_STACK_UNTIMED,
	NT_STACK_UNREAD, /* commands whose stack the kernel could not walk */
	NT_STACK_LOSSES,
};

#endif /* NTPROF_SHARED_STACKS_H */
