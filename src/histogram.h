/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bucket arithmetic of the log-linear latency histograms, one copy for BPF and for user space.
 * The layout is that of HDR histograms: each power of two is split into NT_SUB_BUCKETS equal parts.
 */
#ifndef NTPROF_HISTOGRAM_H
#define NTPROF_HISTOGRAM_H

#define NT_SUB_BITS 5
/* Parts of one power of two: a bucket is at most 1/32 of its lower bound wide. */
#define NT_SUB_BUCKETS (1u << NT_SUB_BITS)
/* 2^36 ns = 68.7 s: the first power of two past 60 s, the longest latency to be told apart. */
#define NT_MAX_BITS 36
#define NT_OVERFLOW_BUCKET ((NT_MAX_BITS - NT_SUB_BITS + 1) * NT_SUB_BUCKETS)
/* All of them: exact below 64 ns, then log-linear, then one for what is longer than 2^36 ns. */
#define NT_BUCKETS (NT_OVERFLOW_BUCKET + 1)
/* Array size: even, so that structures of 32-bit buckets stay a multiple of 8 bytes. */
#define NT_BUCKETS_ALLOC ((NT_BUCKETS + 1) & ~1u)

/**
 * nt_log2() - position of the highest set bit
 * @v: value, not 0
 *
 * BPF has no instruction for it (as of -mcpu=v3), and loops cost more than these six steps.
 * Return: floor(log2(@v)), 0 to 63.
 */
static inline __attribute__((always_inline)) unsigned int nt_log2(unsigned long long v)
{
#ifdef __bpf__
	unsigned int r = 0;

	if (v >> 32) {
		v >>= 32;
		r = 32;
	}
	if (v >> 16) {
		v >>= 16;
		r += 16;
	}
	if (v >> 8) {
		v >>= 8;
		r += 8;
	}
	if (v >> 4) {
		v >>= 4;
		r += 4;
	}
	if (v >> 2) {
		v >>= 2;
		r += 2;
	}
	return r + (unsigned int)(v >> 1);
#else
	return 63 - (unsigned int)__builtin_clzll(v);
#endif
}

/**
 * nt_bucket() - the bucket that counts a duration
 * @ns: duration in nanoseconds
 *
 * Return: index below NT_BUCKETS; durations of 2^36 ns and more share NT_OVERFLOW_BUCKET.
 */
static inline __attribute__((always_inline)) unsigned int nt_bucket(unsigned long long ns)
{
	unsigned int shift;

	if (ns < NT_SUB_BUCKETS)
		return (unsigned int)ns;
	if (ns >> NT_MAX_BITS)
		return NT_OVERFLOW_BUCKET;
	shift = nt_log2(ns) - NT_SUB_BITS;
	return (shift << NT_SUB_BITS) + (unsigned int)(ns >> shift);
}

/**
 * nt_bucket_low() - smallest duration that a bucket counts
 * @bucket: index, at most NT_OVERFLOW_BUCKET + 1
 *
 * Return: nanoseconds. nt_bucket_low(@bucket + 1) is the bucket's exclusive upper bound.
 */
static inline unsigned long long nt_bucket_low(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 2 * NT_SUB_BUCKETS)
		return bucket;
	shift = (bucket >> NT_SUB_BITS) - 1;
	return (unsigned long long)((bucket & (NT_SUB_BUCKETS - 1)) | NT_SUB_BUCKETS) << shift;
}

#endif /* NTPROF_HISTOGRAM_H */
