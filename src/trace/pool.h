/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User space's part of a pool (shared/pools.h): adds banks, fills the ring of free numbers, and
 * takes items back. One thread.
 */
#ifndef NTPROF_TRACE_POOL_H
#define NTPROF_TRACE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/pools.h"

/* What user space knows of an item. */
enum pool_item {
	POOL_FREE,   /* in @free */
	POOL_OUT,    /* in the ring, or taken */
	POOL_UNUSED, /* taken, and nothing led to it the last time that pool_look() searched */
};

/* struct pool_grace - a map of maps, and the map in it; no program uses them */
struct pool_grace {
	int outer_fd;
	int inner_fd;
};

/**
 * struct pool - all zeroes before pool_init()
 * @ring: shared with programs, as @numbers is
 * @numbers: [NT_FREE_MAX]
 * @outer_fd: of the map of banks
 * @grace: to wait with; see pool_wait()
 * @first: the first bank, which is there without being added; NULL: it is added like all others
 * @add: makes bank @nr, and returns where it is mapped, or NULL; a test has its own
 * @remove: hides bank @nr from programs, waits until none uses it any more, and releases it;
 *          returns whether it has; a test has its own
 * @entries: of a bank's map, of @value_size bytes each
 * @item_bytes: of an item, which may be several entries
 * @per_bank: items of a bank
 * @bank_bytes: memory of a bank, if @add knows it; 0: that of its items
 * @max_banks: the most banks that there can be
 * @nr_banks: one more than the number of the highest bank that there is
 * @nr_there: number of banks that there are
 * @bank: where each is mapped; NULL: it is not there (any more)
 * @bank_free, @bank_goes: scratch of pool_shrink(): how many items of each bank are not taken, and
 *                         whether it can go
 * @items: enum pool_item of each
 * @free: the @nr_free numbers that are neither taken nor in the ring. The last is given out first
 * @unsorted: lower ones are not all behind higher ones
 * @used_most: the most that were seen taken at one time
 * @looked_taken: @taken of the ring at the last pool_look()
 * @look: a pool_look() is due even if @taken has not changed
 * @least: items that there must be in any case, taken or not; set from outside
 * @kept: items that are ready besides, because programs leave so many to those that must not lack
 *        any; set from outside
 * @spare_for: number of times in a row that pool_shrink() has found a bank more than enough
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
	uint32_t kept;
	unsigned int spare_for;
};

/**
 * pool_init() - set up what needs no kernel
 * @p: ring, numbers, add, remove, item_bytes, per_bank and max_banks are set
 *
 * Return: 0 or -ENOMEM; pool_close() it in either case.
 */
int pool_init(struct pool *p);

/**
 * pool_supply() - make sure that programs find items to take: half a bank, or a part of the
 * items taken if that is more
 * @expected: keep at least this many ready; mostly 0
 *
 * Return: whether banks were added. If there is no memory for them, programs use what there is.
 */
bool pool_supply(struct pool *p, uint32_t expected);

/**
 * pool_shrink() - at each interval: remove banks without a taken item, if there has been more
 * than enough for a while
 *
 * Bank 0 stays, and so do twice the reserve of pool_supply() and the items that @least needs.
 *
 * Return: whether any bank went.
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

/** pool_taken() - number of items that programs have taken */
uint32_t pool_taken(const struct pool *p);

/**
 * pool_look() - find items that are taken, and that nothing leads to
 * @used: [pool_items()], not 0 where something leads to an item; those in the ring are marked as
 *        well
 *
 * They become POOL_UNUSED. Items that nothing led to the last time either are passed to @fn, which
 * says whether they can go back; before the first of them, pool_wait() is called.
 */
void pool_look(struct pool *p, uint8_t *used, bool (*fn)(void *context, uint32_t nr),
	       void *context);

/**
 * pool_wait() - wait until the programs that run now have ended, and no longer use what they found
 */
void pool_wait(const struct pool *p);

/** pool_give_back() - take back an item that no program can find any more; its bytes become 0 */
void pool_give_back(struct pool *p, uint32_t nr);

/**
 * pool_grace_open() - set up what pool_wait() needs; for all pools of an object
 *
 * Return: 0 or a negative errno; pool_grace_close() it in either case.
 */
int pool_grace_open(struct pool_grace *g);

/** pool_grace_close() - @g: as pool_grace_open() left it, or all zeroes */
void pool_grace_close(struct pool_grace *g);

/**
 * pool_bytes() - memory of all banks that were added; the first one may be a part of another map
 */
size_t pool_bytes(const struct pool *p);

/**
 * pool_close() - release what user space has; the kernel keeps the maps as long as programs are
 * loaded
 */
void pool_close(struct pool *p);

#endif /* NTPROF_TRACE_POOL_H */
