/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hash tables are those of uthash (uthash.h), with the same settings for all users. If memory runs
 * out, only the one element is not added, see hash_added(). The functions here make hash values.
 * User space only.
 */
#ifndef NTPROF_CORE_HASH_H
#define NTPROF_CORE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/array.h"

/*
 * Must be the same in every file that uses uthash. Without HASH_NONFATAL_OOM uthash ends the
 * program when memory runs out.
 */
#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, length, value) ((value) = hash_bytes(key, length))
#include <uthash.h>

/*
 * Hosts, targets and the authors of recordings choose names and numbers. They must not choose which
 * of these share a bucket, so the places in tables depend on secret numbers. Until hash_seed() is
 * called these are constants, so that tests give the same results in every run.
 */
extern uint64_t hash_secret[2];

/** hash_seed() - take other secret numbers, at random; there must be no table yet */
void hash_seed(void);

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

/* The upper half of the product XOR the lower half. */
static inline uint64_t hash_multiply(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/**
 * hash_two() - spread two numbers over 64 bits
 *
 * The same in every run, for what results depend on.
 */
static inline uint64_t hash_two(uint64_t a, uint64_t b)
{
	/* Where one factor is 0, the other one still counts. */
	return hash_multiply(a ^ 0x9e3779b97f4a7c15ULL, b ^ 0xff51afd7ed558ccdULL) ^ a ^ b;
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

/** hash_pair() - a place for two numbers, as for HASH_..._BYHASHVALUE() */
static inline unsigned int hash_pair(uint64_t a, uint64_t b)
{
	return (unsigned int)hash_multiply(a ^ hash_secret[0], b ^ hash_secret[1]);
}

/** hash_bytes() - a place for @length bytes */
static inline unsigned int hash_bytes(const void *bytes, size_t length)
{
	uint64_t h = hash_secret[0] ^ length;

	for (const char *p = bytes; length;) {
		size_t n = length < sizeof(h) ? length : sizeof(h);
		uint64_t part = 0;

		memcpy(&part, p, n);
		h = hash_multiply(h ^ part, hash_secret[1]);
		p += n;
		length -= n;
	}
	return (unsigned int)h;
}

#endif /* NTPROF_CORE_HASH_H */
