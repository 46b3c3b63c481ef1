/* SPDX-License-Identifier: GPL-2.0-only */
/* A binary heap of what others own: the item of the lowest key is at hand, and each knows where it is. */
#ifndef NTPROF_MERGE_HEAP_H
#define NTPROF_MERGE_HEAP_H

#include <stdint.h>

/**
 * struct heap_item - part of what is ordered; all zero when it is in no heap
 * @key: changed by heap_set() only
 * @at: 1 + its place, 0: in no heap
 */
struct heap_item {
	uint64_t key;
	uint32_t at;
};

/* @item: of as many as there may ever be, the caller's; @nr: how many there are */
struct heap {
	struct heap_item **item;
	uint32_t nr;
};

/** heap_set() - put an item in, or move it to where it belongs with this key */
void heap_set(struct heap *h, struct heap_item *item, uint64_t key);

/** heap_remove() - take an item out that is in the heap */
void heap_remove(struct heap *h, struct heap_item *item);

/** heap_first() - that of the lowest key, NULL if there is none */
static inline struct heap_item *heap_first(const struct heap *h)
{
	return h->nr ? h->item[0] : (struct heap_item *)0;
}

#endif /* NTPROF_MERGE_HEAP_H */
