/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User space's part of a pool (core/pools.h): adding banks, filling the ring of free numbers, taking back. One thread.
 */
#ifndef NTPROF_TRACE_POOL_H
#define NTPROF_TRACE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/pools.h"

/* What user space knows of an item. */
enum pool_item {
	POOL_FREE, /* in @free */
	POOL_OUT,  /* in the ring, or taken */
	POOL_UNUSED, /* taken, and nothing leads to it: it was so the last time that somebody looked */
};

/* struct pool_grace - a map of maps, and the map that it has; no program knows them */
struct pool_grace {
	int outer_fd;
	int inner_fd;
};

/**
 * struct pool - all zeroes before pool_open()
 * @ring: shared with programs, as @numbers is
 * @numbers: [NT_FREE_MAX]
 * @outer_fd: of the map of banks
 * @grace: to wait with; see pool_wait()
 * @first: the first bank, which is there without being added; NULL: it is added like all others
 * @add: makes bank @nr, and returns where it is mapped, or NULL; a test has its own
 * @remove: makes programs forget bank @nr, waits until none has it any more, and releases it; returns whether it has; a
 *          test has its own
 * @entries: of a bank's map, of @value_size bytes each
 * @item_bytes: of an item, which may be several entries
 * @per_bank: items
 * @bank_bytes: memory of one of them, which whoever adds it may know of; 0: that of its items
 * @max_banks: that there can be
 * @nr_banks: one more than the highest that there is
 * @nr_there: how many there are
 * @bank: where each is mapped; NULL: it is not there (any more)
 * @bank_free, @bank_goes: scratch of pool_shrink(): how many items of each are in nobody's hands, and whether it can go
 * @items: enum pool_item of each
 * @free: numbers that are in nobody's hands; @nr_free of them. The last is given out first
 * @unsorted: lower ones are not all behind higher ones
 * @used_most: the most that were taken at one time, as far as was seen
 * @looked_taken: @taken of the ring when it was looked at last for unused ones
 * @look: look again all the same
 * @least: items that there are to be in any case, taken or not; whoever knows of more may set it
 * @spare_for: pool_shrink() has found a bank more than enough so often, one time after the other
 */
struct pool {
	struct nt_pool *ring;
	__u16 *numbers;
	int outer_fd;
	struct pool_grace grace;
	void *first;
	void *(*add)(struct pool *p, uint32_t nr);
	bool (*remove)(struct pool *p, uint32_t nr);
	uint32_t entries;
	uint32_t value_size;
	size_t item_bytes;
	size_t bank_bytes;
	uint32_t per_bank;
	uint32_t max_banks;
	uint32_t nr_banks;
	uint32_t nr_there;
	char **bank;
	uint32_t *bank_free;
	bool *bank_goes;
	uint8_t *items;
	uint32_t *free;
	uint32_t nr_free;
	uint32_t used_most;
	uint32_t looked_taken;
	bool look;
	bool unsorted;
	uint32_t least;
	unsigned int spare_for;
};

/**
 * pool_init() - what needs no kernel
 * @p: ring, numbers, add, remove, item_bytes, per_bank and max_banks are set
 *
 * Return: 0 or -ENOMEM; pool_close() it in either case.
 */
int pool_init(struct pool *p);

/**
 * pool_supply() - see to it that programs find something to take: as much as a part of what they have, and a bank's half
 * @expected: at least so many; 0 mostly
 *
 * Return: whether banks were added. Where there is no memory for them, programs do with what there is.
 */
bool pool_supply(struct pool *p, uint32_t expected);

/**
 * pool_shrink() - at each interval: banks that nobody has an item of go, when there has been more than enough for a while
 *
 * Bank 0 stays, and so does twice what pool_supply() keeps ready, and what makes up @least.
 *
 * Return: whether any went.
 */
bool pool_shrink(struct pool *p);

/** pool_at() - item @nr; NULL if it is in no bank */
static inline void *pool_at(const struct pool *p, uint32_t nr)
{
	uint32_t bank = nr / p->per_bank;

	return bank < p->nr_banks && p->bank[bank]
		       ? p->bank[bank] + nr % p->per_bank * p->item_bytes
		       : NULL;
}

/** pool_items() - one more than the highest number of an item */
uint32_t pool_items(const struct pool *p);

/** pool_taken() - how many programs have */
uint32_t pool_taken(const struct pool *p);

/**
 * pool_look() - find items that are taken, and that nothing leads to
 * @used: [pool_items()], not 0 where something leads to an item; those in the ring are marked as well
 *
 * They become POOL_UNUSED, and those that nothing led to the last time either are given to @fn, which says whether it
 * can go back; before the first of them, pool_wait() is called.
 */
void pool_look(struct pool *p, uint8_t *used, bool (*fn)(void *context, uint32_t nr),
	       void *context);

/** pool_wait() - until programs that run now have ended: what they found before, they do not use any more */
void pool_wait(const struct pool *p);

/** pool_give_back() - an item that no program can find any more goes back; its bytes become 0 */
void pool_give_back(struct pool *p, uint32_t nr);

/** pool_grace_open() - for all pools of an object. Return: 0 or a negative errno; pool_grace_close() it in either case */
int pool_grace_open(struct pool_grace *g);

/** pool_grace_close() - @g: as pool_grace_open() left it, or all zeroes */
void pool_grace_close(struct pool_grace *g);

/** pool_bytes() - of all banks that were added; the first one may be a part of another map */
size_t pool_bytes(const struct pool *p);

/** pool_close() - release what user space has; the maps are the kernel's, as long as programs are loaded */
void pool_close(struct pool *p);

#endif /* NTPROF_TRACE_POOL_H */
