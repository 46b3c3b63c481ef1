/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hash tables are those of uthash (uthash.h), with the same settings for all users. If memory runs
 * out, only the one element is not added, see hash_added(). The functions here make hash values.
 * User space only.
 */
#ifndef NTPROF_CORE_HASH_H
#define NTPROF_CORE_HASH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/array.h"

/*
 * Must be the same in every file that uses uthash. Without it uthash ends the program when memory
 * runs out.
 */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/**
 * hash_added() - after HASH_ADD...(): whether the element is in the table; if not, memory ran out
 * (-ENOMEM)
 */
#define hash_added(element) ((element)->hh.tbl != NULL)

/** hash_kept() - the same for an element from malloc(), which is released if it is not there */
#define hash_kept(element) (hash_added(element) || (free(element), false))

/**
 * hash_drop() - release an element, which is from malloc(). The first one of a table, to which its
 * pointer points, is the one that was added first
 */
#define hash_drop(table, element)                       \
	do {                                            \
		__typeof__(table) dropped_ = (element); \
                                                        \
		HASH_DEL(table, dropped_);              \
		free(dropped_);                         \
	} while (0)

/** hash_free() - release all elements of a table */
#define hash_free(table)                         \
	do {                                     \
		while (table)                    \
			hash_drop(table, table); \
	} while (0)

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

/**
 * hash_two() - spread two numbers over 64 bits: the upper half of their product XOR the lower half
 */
static inline uint64_t hash_two(uint64_t a, uint64_t b)
{
	unsigned __int128 product =
		(unsigned __int128)(a ^ 0x9e3779b97f4a7c15ULL) * (b ^ 0xff51afd7ed558ccdULL);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/** hash_text() - FNV-1a hash of a text that continues from @h; 0 begins a new hash */
static inline uint64_t hash_text(uint64_t h, const char *text)
{
	if (!h)
		h = 0xcbf29ce484222325ULL;
	while (*text)
		h = (h ^ (unsigned char)*text++) * 0x100000001b3ULL;
	return h;
}

/** hash_pair() - a hash value of two numbers for HASH_..._BYHASHVALUE(); cheaper than hash_mix() */
static inline unsigned int hash_pair(uint64_t a, uint64_t b)
{
	/* 2^64 / golden ratio. The upper bits of the product are mixed best. */
	a = (a ^ b * 0x9e3779b97f4a7c15ULL) * 0x9e3779b97f4a7c15ULL;
	return (unsigned int)(a >> 32);
}

#endif /* NTPROF_CORE_HASH_H */
