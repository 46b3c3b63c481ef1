/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hash tables are those of uthash (uthash.h), set up alike for all who use one: memory that runs out
 * is an error of the one element, see hash_added(), and keys are numbers, mixed here. User space only.
 */
#ifndef NTPROF_CORE_HASH_H
#define NTPROF_CORE_HASH_H

#include <stdbool.h>
#include <stdint.h>

/* Has to be the same in every file: without it uthash ends the program when memory runs out. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/** hash_added() - whether the element that HASH_ADD...() was given is in the table now; else -ENOMEM */
#define hash_added(element) ((element)->hh.tbl != NULL)

/**
 * hash_mix() - spread a number over 64 bits
 *
 * The finalizer of MurmurHash3: every bit of the input reaches every bit of the result.
 */
static inline uint64_t hash_mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ (x >> 33);
}

/** hash_two() - spread two numbers over 64 bits: the halves of a product, which has each bit of both, added up */
static inline uint64_t hash_two(uint64_t a, uint64_t b)
{
	unsigned __int128 product =
		(unsigned __int128)(a ^ 0x9e3779b97f4a7c15ULL) * (b ^ 0xff51afd7ed558ccdULL);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/** hash_pair() - a hash value, as HASH_..._BYHASHVALUE() take it, of two numbers; cheaper than hash_mix() */
static inline unsigned int hash_pair(uint64_t a, uint64_t b)
{
	/* 2^64 / golden ratio; the upper bits are the well mixed ones. */
	a = (a ^ b * 0x9e3779b97f4a7c15ULL) * 0x9e3779b97f4a7c15ULL;
	return (unsigned int)(a >> 32);
}

#endif /* NTPROF_CORE_HASH_H */
