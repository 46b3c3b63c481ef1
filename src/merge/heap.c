// SPDX-License-Identifier: GPL-2.0-only
#include "merge/heap.h"

static void put(struct heap *h, uint32_t at, struct heap_item *item)
{
	h->item[at] = item;
	item->at = at + 1;
}

/* Puts an item into the free place @at, or further up where it belongs. */
static void rise(struct heap *h, uint32_t at, struct heap_item *item)
{
	while (at && h->item[(at - 1) / 2]->key > item->key) {
		put(h, at, h->item[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(h, at, item);
}

static void sink(struct heap *h, uint32_t at, struct heap_item *item)
{
	uint32_t child;

	while ((child = 2 * at + 1) < h->nr) {
		if (child + 1 < h->nr && h->item[child + 1]->key < h->item[child]->key)
			child++;
		if (h->item[child]->key >= item->key)
			break;
		put(h, at, h->item[child]);
		at = child;
	}
	put(h, at, item);
}

static void place(struct heap *h, uint32_t at, struct heap_item *item)
{
	if (at && h->item[(at - 1) / 2]->key > item->key)
		rise(h, at, item);
	else
		sink(h, at, item);
}

void heap_set(struct heap *h, struct heap_item *item, uint64_t key)
{
	item->key = key;
	place(h, item->at ? item->at - 1 : h->nr++, item);
}

void heap_remove(struct heap *h, struct heap_item *item)
{
	uint32_t at = item->at - 1;
	struct heap_item *last = h->item[--h->nr];

	item->at = 0;
	if (last != item)
		place(h, at, last);
}
