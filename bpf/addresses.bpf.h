/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses of kernel structures as numbers.
 *
 * A typed pointer is one whose structure the verifier knows, by BTF: it is read by plain loads, but
 * the verifier forbids most arithmetic with it. A plain address is a number: one may calculate with
 * it, and reads through it by bpf_probe_read_kernel() (BPF_CORE_READ()), which tolerates an address
 * that is stale.
 */
#ifndef NTPROF_ADDRESSES_BPF_H
#define NTPROF_ADDRESSES_BPF_H

#include "control.bpf.h"

/* Of a typed pointer, too: the verifier allows the copy of its lower half, as a number. */
static __always_inline __u32 low_half(__u64 address)
{
	__u32 low;

	asm("%0 = %1" : "=w"(low) : "w"((__u32)address));
	return low;
}

/*
 * An address as a number to calculate with, whatever the verifier takes it for: from 6.18 on what a
 * void pointer of the kernel says stays a pointer through a subtraction. Not for hot paths.
 */
static __always_inline __u64 plain_number(__u64 address)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), &address);
	return value;
}

/* Of the kernel's own list of helpers, what is looked for there. */
enum bpf_func_id___named { BPF_FUNC_get_func_arg___named = 183 };

/*
 * Argument @n, a constant, of a function as a plain address. The helper is a load, and came with
 * Linux 5.17; what stands in for it is a call. @ctx: of a program on a function's entry or return
 */
static __always_inline __u64 plain_argument(void *ctx, __u32 n)
{
	__u64 value = 0;

	if (bpf_core_enum_value_exists(enum bpf_func_id___named, BPF_FUNC_get_func_arg___named))
		bpf_get_func_arg(ctx, n, &value);
	else
		value = plain_number(((__u64 *)ctx)[n]);
	return value;
}

/*
 * The entry of an address, typed or plain, in a table of 2^@bits. Structures of one kind lie at
 * equal distances from each other, so that their addresses differ in few bits: multiplied by an odd
 * constant of many bits (Fibonacci hashing), they spread. The lowest 6 bits are equal for
 * structures aligned to cache lines.
 */
static __always_inline __u32 hashed(__u64 address, __u32 bits)
{
	return (low_half(address) >> 6) * NT_SPREAD >> (32 - bits);
}

#endif /* NTPROF_ADDRESSES_BPF_H */
