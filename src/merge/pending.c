// SPDX-License-Identifier: GPL-2.0-only
#include "merge/pending.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int pending_init(struct pending_pool *p)
{
	memset(p, 0, sizeof(*p));
	/* Pages that are never touched take no memory. */
	p->entries = malloc((PENDING_MAX + 1) * sizeof(*p->entries));
	p->buckets = calloc(PENDING_MAX, sizeof(*p->buckets));
	p->used = 1;
	return p->entries && p->buckets ? 0 : -ENOMEM;
}

void pending_free(struct pending_pool *p)
{
	free(p->entries);
	free(p->buckets);
}

/* The finalizer of MurmurHash3: every bit of the input reaches every bit of the result. */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ (x >> 33);
}

uint64_t pending_key(const struct nt_record *r, uint16_t cntlid, uint16_t qid)
{
	uint64_t k = mix((uint64_t)cntlid << 48 | (uint64_t)qid << 32 | (uint64_t)r->cid << 16 |
			 r->opcode);

	k = mix(k ^ r->slba);
	return mix(k ^ ((uint64_t)r->nsid << 32 | r->length));
}

bool pending_same(const struct nt_record *a, const struct nt_record *b)
{
	return a->cid == b->cid && a->opcode == b->opcode && a->nsid == b->nsid &&
	       a->slba == b->slba && a->length == b->length;
}

pending_id pending_add(struct pending_pool *p, struct pending_list *list, void *owner,
		       const struct nt_record *r, uint64_t key)
{
	pending_id id = p->free ?: p->used;
	pending_id *bucket = &p->buckets[key & (PENDING_MAX - 1)];
	struct pending *e = &p->entries[id];

	if (p->free)
		p->free = e->next;
	else
		p->used++;
	p->count++;
	*e = (struct pending){
		.r = *r,
		.key = key,
		.owner = owner,
		.chain = *bucket,
		.previous = list->last,
		.older = p->newest,
	};
	*bucket = id;
	if (list->last)
		p->entries[list->last].next = id;
	else
		list->first = id;
	list->last = id;
	list->count++;
	if (p->newest)
		p->entries[p->newest].newer = id;
	else
		p->oldest = id;
	p->newest = id;
	return id;
}

void pending_remove(struct pending_pool *p, struct pending_list *list, pending_id id)
{
	struct pending *e = &p->entries[id];
	pending_id *chain = &p->buckets[e->key & (PENDING_MAX - 1)];

	while (*chain != id)
		chain = &p->entries[*chain].chain;
	*chain = e->chain;

	if (e->previous)
		p->entries[e->previous].next = e->next;
	else
		list->first = e->next;
	if (e->next)
		p->entries[e->next].previous = e->previous;
	else
		list->last = e->previous;
	list->count--;

	if (e->older)
		p->entries[e->older].newer = e->newer;
	else
		p->oldest = e->newer;
	if (e->newer)
		p->entries[e->newer].older = e->older;
	else
		p->newest = e->older;

	e->next = p->free;
	p->free = id;
	p->count--;
}
