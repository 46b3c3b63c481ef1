// SPDX-License-Identifier: GPL-2.0-only
#include "serve/ring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWEEP_MIN 256

static unsigned int blocks_of(uint64_t bytes)
{
	return (unsigned int)(bytes / sizeof(struct ring_block));
}

int ring_init(struct ring *r, uint64_t keep_ns, uint64_t bytes)
{
	*r = (struct ring){.sweep_at = SWEEP_MIN};
	ring_resize(r, keep_ns, bytes);
	r->gatherer = gatherer_new();
	return r->gatherer ? 0 : -ENOMEM;
}

void ring_resize(struct ring *r, uint64_t keep_ns, uint64_t bytes)
{
	r->keep_ns = keep_ns;
	r->max = blocks_of(bytes);
}

static uint64_t oldest_number(const struct ring *r)
{
	return r->oldest ? r->oldest->number : r->numbers + !r->open;
}

/*
 * Removes connections without records. To keep that cheap, it waits until there are twice as many
 * connections as were left last time, or as many as there may be, and until a block was dropped.
 */
static void sweep(struct ring *r)
{
	struct ring_queue *q = NULL, *next = NULL;
	unsigned int left;

	if (HASH_COUNT(r->queues) < r->sweep_at || oldest_number(r) == r->swept)
		return;
	HASH_ITER(hh, r->queues, q, next)
	{
		if (q->last_block >= oldest_number(r))
			continue;
		hash_drop(r->queues, q);
	}
	left = HASH_COUNT(r->queues);
	r->sweep_at = left > SWEEP_MIN / 2 ? 2 * left : SWEEP_MIN;
	if (r->sweep_at > RING_QUEUES_MAX)
		r->sweep_at = RING_QUEUES_MAX;
	r->swept = oldest_number(r);
}

static struct ring_queue *find(const struct ring *r, uint32_t slot, uint32_t gen, uint32_t cntlid)
{
	struct ring_queue key = {.key = {.slot = slot, .gen = gen, .cntlid = cntlid}}, *found;

	HASH_FIND(hh, r->queues, &key.key, sizeof(key.key), found);
	return found;
}

int ring_tell(struct ring *r, const struct queue_info *q)
{
	struct ring_queue *found = find(r, q->slot, q->gen, q->cntlid);

	if (!found) {
		sweep(r);
		if (HASH_COUNT(r->queues) >= RING_QUEUES_MAX) {
			r->unnamed++;
			return 0;
		}
		found = calloc(1, sizeof(*found));
		if (!found)
			return -ENOMEM;
		found->key.slot = q->slot;
		found->key.gen = q->gen;
		found->key.cntlid = q->cntlid;
		found->last_block = r->numbers;
		HASH_ADD(hh, r->queues, key, sizeof(found->key), found);
		if (!hash_kept(found))
			return -ENOMEM;
	}
	found->q = *q;
	found->told = 0;
	r->untold = true;
	return 0;
}

int ring_tell_device(struct ring *r, const struct device_name *d)
{
	struct ring_device key = {.key = {.instance = d->instance, .nsid = d->nsid}}, *found;

	snprintf(key.key.subsysnqn, sizeof(key.key.subsysnqn), "%s", d->subsysnqn);
	HASH_FIND(hh, r->devices, &key.key, sizeof(key.key), found);
	if (!found) {
		if (HASH_COUNT(r->devices) >= RING_DEVICES_MAX) {
			hash_drop(r->devices, r->devices);
			r->unnamed++;
		}
		found = malloc(sizeof(*found));
		if (!found)
			return -ENOMEM;
		*found = key;
		HASH_ADD(hh, r->devices, key, sizeof(found->key), found);
		if (!hash_kept(found))
			return -ENOMEM;
	}
	found->d = *d;
	found->told = 0;
	r->untold = true;
	return 0;
}

static void drop_oldest(struct ring *r)
{
	struct ring_block *b = r->oldest;

	r->oldest = b->next;
	if (!r->oldest)
		r->newest = NULL;
	if (r->at == b)
		r->at = NULL;
	r->kept -= b->records.records;
	if (r->reader && b->number >= r->reader)
		r->missed += b->records.records;
	r->nr--;
	free(b);
}

static struct ring_block *open_block(struct ring *r, uint64_t now_ns)
{
	struct ring_block *b;

	while (r->nr >= r->max && r->oldest) {
		r->left_out += r->oldest->records.records;
		drop_oldest(r);
	}
	b = malloc(sizeof(*b));
	if (!b)
		return NULL;
	b->next = NULL;
	b->number = ++r->numbers;
	b->began_ns = now_ns;
	memcpy(b->losses, r->losses, sizeof(b->losses));
	gather_begin(r->gatherer, &b->records);
	r->nr++;
	r->open = b;
	return b;
}

void ring_end_block(struct ring *r)
{
	struct ring_block *b = r->open;

	if (!b)
		return;
	r->open = NULL;
	if (!b->records.records) {
		r->nr--;
		r->numbers--;
		free(b);
		return;
	}
	b->ended = instant_now();
	if (r->newest)
		r->newest->next = b;
	else
		r->oldest = b;
	r->newest = b;
}

/* Return: 0 or a negative errno; then the record is not kept. */
static int add_to_open(struct ring *r, const struct nt_record *rec, uint64_t now_ns, bool *first)
{
	int err;

	if (r->open) {
		err = gather(r->gatherer, rec, first);
		if (err != -ENOSPC)
			return err;
		ring_end_block(r);
	}
	if (!open_block(r, now_ns))
		return -ENOMEM;
	return gather(r->gatherer, rec, first);
}

bool ring_add(struct ring *r, const struct nt_record *rec, uint64_t now_ns)
{
	struct ring_queue *q;
	bool first = false;

	if (add_to_open(r, rec, now_ns, &first)) {
		r->left_out++;
		return false;
	}
	r->kept++;
	if (!first)
		return false;
	q = find(r, rec->slot, rec->gen, rec->cntlid);
	if (q) {
		q->last_block = r->numbers;
		r->untold |= q->told != r->file;
	}
	return !q || !q->q.subsysnqn[0];
}

void ring_age(struct ring *r, uint64_t now_ns)
{
	if (r->open && now_ns - r->open->began_ns > r->keep_ns / RING_BLOCKS_OF_TIME)
		ring_end_block(r);
	/* What a file has not read yet stays, however slow its disk is. */
	while (r->oldest && (!r->reader || r->oldest->number < r->reader) &&
	       now_ns > r->oldest->ended.monotonic_ns &&
	       now_ns - r->oldest->ended.monotonic_ns > r->keep_ns)
		drop_oldest(r);
}

/* A reader asks for one block after another, so the search begins at the last one. */
struct ring_block *ring_from(struct ring *r, uint64_t number)
{
	struct ring_block *b = r->at && r->at->number <= number ? r->at : r->oldest;

	while (b && b->number < number)
		b = b->next;
	r->at = b ?: r->at;
	return b;
}

uint64_t ring_bytes(const struct ring *r)
{
	return (uint64_t)r->nr * sizeof(struct ring_block);
}

void ring_free(struct ring *r)
{
	while (r->oldest)
		drop_oldest(r);
	free(r->open);
	hash_free(r->queues);
	hash_free(r->devices);
	gatherer_free(r->gatherer);
	*r = (struct ring){.nr = 0};
}
