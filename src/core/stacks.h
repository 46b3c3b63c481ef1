/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the programs of bpf/stacks.bpf.c count, one copy for them and for user space: which kernel stacks
 * give commands to nvme-tcp.
 */
#ifndef NTPROF_CORE_STACKS_H
#define NTPROF_CORE_STACKS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "core/buckets.h"

/* Frames of a stack that are told apart. What is further out, towards the system call, is cut off. */
#define NT_STACK_DEPTH 64
/*
 * Different stacks: a machine has some tens, a program that submits from many places some hundreds. Each takes
 * 0.5 KiB, and NT_BUCKETS * 4 bytes for each CPU once it is seen. Commands of what comes past them are counted
 * as NT_STACK_NO_ROOM.
 */
#define NT_STACKS 4096
/* Commands in flight whose stack is remembered: 256 queues of depth 256. Past them: NT_STACK_UNTIMED. */
#define NT_STACK_COMMANDS 65536

/* What is known of a command besides its stack. */
#define NT_STACK_POLLED 1u /* on a queue that is polled for completions */
#define NT_STACK_PASSTHROUGH \
	2u /* made by a driver or through its ioctl, not out of a bio: admin, fabrics, io_uring_cmd */
#define NT_STACK_SCHEDULED 4u /* it has a tag of an I/O scheduler */

/** struct nt_stack - addresses, innermost first; the first ones are the tracer's own; 0 behind the last */
struct nt_stack {
	__u64 frames[NT_STACK_DEPTH];
};

/**
 * struct nt_stack_key - commands that are counted together
 * @stack: key of its struct nt_stack: a hash of all frames
 * @flags: NT_STACK_*
 */
struct nt_stack_key {
	__u64 stack;
	__u32 flags;
	__u32 zero;
};

/**
 * struct nt_stack_count - of one CPU: what became of the commands of one key
 * @commands: given to the driver
 * @ended: of these, seen to complete
 * @latency_ns: sum of what they took, from when the block layer began with them, or where it did not look at the
 *              clock from when the driver got them
 * @latency_max_ns: the longest
 * @waited: those of which the block layer knows when it began
 * @waited_ns: sum of what these took until the driver got them
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

/* What could not be counted. */
enum nt_stack_loss {
	NT_STACK_NO_ROOM, /* commands of a stack for which there is no room any more */
	NT_STACK_UNTIMED, /* counted commands for whose end there was no room to wait */
	NT_STACK_UNREAD,  /* commands whose stack the kernel could not walk */
	NT_STACK_LOSSES,
};

#endif /* NTPROF_CORE_STACKS_H */
