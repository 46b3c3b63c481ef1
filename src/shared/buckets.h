/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bucket arithmetic of the log-linear latency histograms. BPF programs and user space share this
 * one copy. The layout is that of HDR histograms: each power of two is split into NT_SUB_BUCKETS
 * equal parts.
 */
#ifndef NTPROF_SHARED_BUCKETS_H
#define NTPROF_SHARED_BUCKETS_H

#define NT_SUB_BITS 5
/* Parts of one power of two: a bucket is at most 1/32 of its lower bound wide. */
#define NT_SUB_BUCKETS (1u << NT_SUB_BITS)
/* 2^36 ns = 68.7 s: the first power of two above 60 s. Longer latencies share one bucket. */
#define NT_MAX_BITS 36
#define NT_OVERFLOW_BUCKET ((NT_MAX_BITS - NT_SUB_BITS + 1) * NT_SUB_BUCKETS)
/* All buckets: exact below 64 ns, then log-linear, and one for durations of 2^36 ns and more. */
#define NT_BUCKETS (NT_OVERFLOW_BUCKET + 1)
/* Array size. It is even, so that structures of 32-bit buckets stay a multiple of 8 bytes. */
#define NT_BUCKETS_ALLOC ((NT_BUCKETS + 1) & ~1u)

/*
 * Histograms of stages are coarser: a bucket is at most 1/8 of its lower bound wide, and 4 ns below
 * 32 ns.
 */
#define NT_STAGE_SHIFT 2
#define NT_STAGE_BUCKET(bucket) ((bucket) >> NT_STAGE_SHIFT)
#define NT_STAGE_BUCKETS (NT_STAGE_BUCKET(NT_OVERFLOW_BUCKET) + 1)
#define NT_STAGE_BUCKETS_ALLOC ((NT_STAGE_BUCKETS + 1) & ~1u)

#ifdef __bpf__
/*
 * The table has the bucket of every duration below 2^NT_TABLE_BITS. A duration that is
 * 2^NT_STEP_BITS times longer has its bucket as many powers of two further up.
 */
#define NT_TABLE_BITS 11
#define NT_STEP_BITS (NT_TABLE_BITS - NT_SUB_BITS)
#define NT_SHIFT(n) ((n) < NT_SUB_BUCKETS ? 0 : 63 - NT_SUB_BITS - __builtin_clzll((n) | 1ULL))
#define NT_1(n) (NT_SHIFT(n) << NT_SUB_BITS) + ((n) >> NT_SHIFT(n))
#define NT_8(n)                                                                             \
	NT_1(n), NT_1((n) + 1), NT_1((n) + 2), NT_1((n) + 3), NT_1((n) + 4), NT_1((n) + 5), \
		NT_1((n) + 6), NT_1((n) + 7)
#define NT_64(n)                                                                                \
	NT_8(n), NT_8((n) + 8), NT_8((n) + 16), NT_8((n) + 24), NT_8((n) + 32), NT_8((n) + 40), \
		NT_8((n) + 48), NT_8((n) + 56)
#define NT_512(n)                                                                        \
	NT_64(n), NT_64((n) + 64), NT_64((n) + 128), NT_64((n) + 192), NT_64((n) + 256), \
		NT_64((n) + 320), NT_64((n) + 384), NT_64((n) + 448)
static const unsigned short nt_table[1 << NT_TABLE_BITS] = {NT_512(0), NT_512(512), NT_512(1024),
							    NT_512(1536)};
#define NT_BELOW_STEP(ns, n) (!((ns) >> (NT_TABLE_BITS + ((n)-1) * NT_STEP_BITS)))
/*
 * The shift is constant in each use. The asm keeps the compiler from merging several constant
 * shifts into one variable shift.
 */
#define NT_STEPS(at, add, n)                               \
	do {                                               \
		(at) >>= (n)*NT_STEP_BITS;                 \
		asm("" : "+r"(at));                        \
		(add) = ((n)*NT_STEP_BITS) << NT_SUB_BITS; \
	} while (0)
_Static_assert(NT_TABLE_BITS == 11 && NT_MAX_BITS <= NT_TABLE_BITS + 5 * NT_STEP_BITS,
	       "the table and the steps are made for these");
#endif

#ifndef __bpf__
/** nt_bucket_of_known() - nt_bucket() of a duration that is known to be below 2^NT_MAX_BITS ns */
static inline __attribute__((always_inline)) unsigned int nt_bucket_of_known(unsigned long long ns)
{
	union {
		double value;
		unsigned long long bits;
	} of = {.value = (double)(long long)ns};

	if (ns < NT_SUB_BUCKETS)
		return (unsigned int)ns;
	/*
	 * A double (IEEE 754) has floor(log2(ns)) in its exponent, directly above the 52 bits that
	 * follow the highest bit of the number. Reading them is faster than a shift, because the
	 * width of the shift would have to be found first.
	 */
	return (unsigned int)(of.bits >> (52 - NT_SUB_BITS)) -
	       ((1023 + NT_SUB_BITS - 1) << NT_SUB_BITS);
}
#endif

/**
 * nt_bucket() - the bucket that counts a duration
 * @ns: duration in nanoseconds
 *
 * A bucket ignores the floor(log2(@ns)) - NT_SUB_BITS lowest bits. BPF has no instruction that
 * finds the highest set bit (as of -mcpu=v3), so BPF programs look up the highest bits in a table.
 * Return: index below NT_BUCKETS; durations of 2^36 ns and more share NT_OVERFLOW_BUCKET.
 */
static inline __attribute__((always_inline)) unsigned int nt_bucket(unsigned long long ns)
{
#ifdef __bpf__
	unsigned long long at = ns;
	unsigned int add = 0;

	if (NT_BELOW_STEP(ns, 1))
		;
	else if (NT_BELOW_STEP(ns, 2))
		NT_STEPS(at, add, 1);
	else if (NT_BELOW_STEP(ns, 3))
		NT_STEPS(at, add, 2);
	else if (NT_BELOW_STEP(ns, 4))
		NT_STEPS(at, add, 3);
	else if (NT_BELOW_STEP(ns, 5))
		NT_STEPS(at, add, 4);
	else if (!(ns >> NT_MAX_BITS))
		NT_STEPS(at, add, 5);
	else
		return NT_OVERFLOW_BUCKET;
	/* The verifier may have lost the bounds that the compiler knows. */
	asm("" : "+r"(at));
	at = nt_table[at & ((1 << NT_TABLE_BITS) - 1)] + add;
	/*
	 * The verifier does not know what the table contains, so the code compares with the bound.
	 * A comparison alone is not enough: the compiler may compare one copy of the number and use
	 * another copy as the index. Between the two asm statements there is only one copy, and
	 * after them only the bounded one is left. The compiler does not know the bound of that
	 * copy, so __builtin_unreachable() states it.
	 */
	asm("" : "+r"(at));
	if (at > NT_OVERFLOW_BUCKET)
		at = NT_OVERFLOW_BUCKET;
	asm("" : "+r"(at));
	if (at > NT_OVERFLOW_BUCKET)
		__builtin_unreachable();
	return at;
#else
	return ns >> NT_MAX_BITS ? NT_OVERFLOW_BUCKET : nt_bucket_of_known(ns);
#endif
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

#endif /* NTPROF_SHARED_BUCKETS_H */
