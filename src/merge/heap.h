/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A binary heap of items that belong to the caller. The item with the lowest key is on top, and
 * each item knows its place.
 */
#ifndef NTPROF_MERGE_HEAP_H
#define NTPROF_MERGE_HEAP_H

#include <stdint.h>

/**
 * struct heap_item - member of the caller's struct; all zero when it is in no heap
 * @key: changed by heap_set() only
 * @at: 1 + its place, 0: in no heap
 */
struct heap_item {
	uint64_t key;
	uint32_t at;
};

/* @item: the caller's array, with room for all items that there may be; @nr: number of items */
struct heap {
	struct heap_item **item;
	uint32_t nr;
};

/** heap_set() - put an item in, or move it to the place of its new key */
void heap_set(struct heap *h, struct heap_item *item, uint64_t key);

/** heap_remove() - take out an item that is in the heap */
void heap_remove(struct heap *h, struct heap_item *item);

/** heap_first() - the item with the lowest key, NULL if the heap is empty */
static inline struct heap_item *heap_first(const struct heap *h)
{
	return h->nr ? h->item[0] : (struct heap_item *)0;
}

#endif /* NTPROF_MERGE_HEAP_H */
