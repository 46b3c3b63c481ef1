/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses of kernel structures as numbers.
 *
 * A typed pointer is one whose structure the verifier knows from BTF. It is read by plain loads,
 * but the verifier forbids most arithmetic with it. A plain address is a number. Arithmetic with it
 * is allowed, and memory is read through it by bpf_probe_read_kernel() (BPF_CORE_READ()), which
 * tolerates a stale address.
 */
#ifndef NTPROF_ADDRESSES_BPF_H
#define NTPROF_ADDRESSES_BPF_H

#include "control.bpf.h"

/*
 * The lower half of an address as a number. The verifier allows this copy even of a typed pointer.
 */
static __always_inline __u32 low_half(__u64 address)
{
	__u32 low;

	asm("%0 = %1" : "=w"(low) : "w"((__u32)address));
	return low;
}

/*
 * Turns an address into a number to calculate with, whatever type the verifier has given it. From
 * Linux 6.18 on, the value of a void pointer of the kernel stays a pointer through a subtraction.
 * Not for hot paths.
 */
static __always_inline __u64 plain_number(__u64 address)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), &address);
	return value;
}

/* CO-RE: the one entry of the kernel's list of helpers that is looked for. */
enum bpf_func_id___named { BPF_FUNC_get_func_arg___named = 183 };

/*
 * Argument @n, a constant, of a function as a plain address. bpf_get_func_arg() is compiled to a
 * load, and exists since Linux 5.17. On older kernels a call replaces it.
 * @ctx: of a program on a function's entry or return
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
 * The entry of an address, typed or plain, in a table of 2^@bits entries. Structures of one kind
 * lie at equal distances from each other, so their addresses differ in few bits. Multiplying by an
 * odd constant of many bits spreads them (Fibonacci hashing). The lowest 6 bits are left out,
 * because they are equal for structures that are aligned to cache lines.
 */
static __always_inline __u32 hashed(__u64 address, __u32 bits)
{
	return (low_half(address) >> 6) * NT_SPREAD >> (32 - bits);
}

#endif /* NTPROF_ADDRESSES_BPF_H */
