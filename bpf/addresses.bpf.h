/* SPDX-License-Identifier: GPL-2.0-only */
/* Addresses of kernel structures as numbers. */
#ifndef NTPROF_ADDRESSES_BPF_H
#define NTPROF_ADDRESSES_BPF_H

#include "control.bpf.h"

/* The verifier lets nobody calculate with a typed pointer, but does let its lower half be copied. */
static __always_inline __u32 low_half(__u64 address)
{
	__u32 low;

	asm("%0 = %1" : "=w"(low) : "w"((__u32)address));
	return low;
}

/* Argument @n of a function as a plain address: with those it does. */
static __always_inline __u64 plain_argument(void *ctx, __u32 n)
{
	__u64 value = 0;

	bpf_get_func_arg(ctx, n, &value);
	return value;
}

/*
 * Where a table of 2^@bits entries has that of an address. Structures lie at equal distances from each other,
 * and those of several queues likewise: multiplied by an odd constant of many bits (Fibonacci hashing), they
 * spread.
 */
static __always_inline __u32 hashed(__u64 address, __u32 bits)
{
	return (low_half(address) >> 6) * 0x9e3779b1u >> (32 - bits);
}

#endif /* NTPROF_ADDRESSES_BPF_H */
