// SPDX-License-Identifier: GPL-2.0-only
#include "merge/pending.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/span.h"

int pending_init(struct pending_pool *p)
{
	struct pending_group *g;

	memset(p, 0, sizeof(*p));
	/* Pages that are never touched take no memory. */
	p->entries = malloc((PENDING_MAX + 1) * sizeof(*p->entries));
	p->groups = malloc((PENDING_MAX + 1) * sizeof(*p->groups));
	p->used = 1;
	p->used_groups = 1;
	p->by_tag = calloc(PENDING_TAG_LISTS, sizeof(*p->by_tag));
	if (!p->entries || !p->groups || !p->by_tag)
		return -ENOMEM;
	/*
	 * uthash frees a table with its last element, and makes it anew, and grows it again, with the
	 * next ones. The group without a number stays; no key is as short as its, so nobody finds it.
	 */
	g = p->groups;
	*g = (struct pending_group){0};
	HASH_ADD_BYHASHVALUE(hh, p->by_key, key, 0, 0, g);
	return hash_added(g) ? 0 : -ENOMEM;
}

void pending_free(struct pending_pool *p)
{
	HASH_CLEAR(hh, p->by_key);
	free(p->entries);
	free(p->groups);
	free(p->by_tag);
}

uint64_t pending_key(const struct nt_record *r, uint16_t cntlid, uint16_t qid)
{
	uint64_t k = hash_mix((uint64_t)cntlid << 48 | (uint64_t)qid << 32 |
			      (uint64_t)r->cid << 16 | r->opcode);

	k = hash_mix(k ^ r->slba);
	return hash_mix(k ^ ((uint64_t)r->nsid << 32 | r->length));
}

bool pending_same(const struct nt_record *a, const struct nt_record *b)
{
	return a->cid == b->cid && a->opcode == b->opcode && a->nsid == b->nsid &&
	       a->slba == b->slba && a->length == b->length;
}

/* @key is a hash, of which any bits are as good as any others. */
static struct pending_group *group_find(const struct pending_pool *p, uint64_t key)
{
	struct pending_group *g;

	HASH_FIND_BYHASHVALUE(hh, p->by_key, &key, sizeof(key), (unsigned int)key, g);
	return g;
}

/* Return: NULL when memory ran out. */
static struct pending_group *group_make(struct pending_pool *p, uint64_t key)
{
	pending_id id = p->free_group ?: p->used_groups;
	struct pending_group *g = &p->groups[id];
	pending_id next_free = p->free_group ? g->next_free : 0;

	*g = (struct pending_group){.key = key};
	HASH_ADD_BYHASHVALUE(hh, p->by_key, key, sizeof(key), (unsigned int)key, g);
	if (!hash_added(g)) {
		g->next_free = next_free;
		return NULL;
	}
	if (p->free_group)
		p->free_group = next_free;
	else
		p->used_groups++;
	return g;
}

static void group_free(struct pending_pool *p, struct pending_group *g)
{
	HASH_DELETE(hh, p->by_key, g);
	g->next_free = p->free_group;
	p->free_group = (pending_id)(g - p->groups);
}

pending_id pending_alike(const struct pending_pool *p, uint64_t key)
{
	const struct pending_group *g = group_find(p, key);

	return g ? g->newest : 0;
}

pending_id pending_alike_of(const struct pending_pool *p, uint64_t key, enum nt_side side)
{
	const struct pending_group *g = group_find(p, key);

	return g && g->count[side] ? g->newest : 0;
}

static struct pending_tag_list *tag_list(const struct pending_pool *p, const void *owner,
					 uint16_t cid)
{
	return &p->by_tag[hash_pair((uintptr_t)owner, cid & PENDING_TAG_MASK) % PENDING_TAG_LISTS];
}

pending_id pending_tag(const struct pending_pool *p, const void *owner, uint16_t cid)
{
	return tag_list(p, owner, cid)->first;
}

void pending_tag_reused(struct pending_pool *p, const void *owner, uint16_t cid, uint64_t before_ns,
			uint64_t now_ns)
{
	struct pending_tag_list *t = tag_list(p, owner, cid);
	bool all = true;
	pending_id id;

	for (id = t->unmarked; id; id = p->entries[id].next_tag) {
		struct pending *e = &p->entries[id];

		if (pending_has_tag(e, owner, cid)) {
			if ((int64_t)(record_begin_ns(&e->r) - before_ns) >= 0)
				return;
			if (!e->reused_ns)
				e->reused_ns = now_ns;
		}
		all = all && e->reused_ns;
		if (all)
			t->unmarked = e->next_tag;
	}
}

static void tag_add(struct pending_pool *p, pending_id id)
{
	struct pending *e = &p->entries[id];
	struct pending_tag_list *t = tag_list(p, e->owner, e->r.cid);

	e->previous_tag = t->last;
	if (t->last)
		p->entries[t->last].next_tag = id;
	else
		t->first = id;
	t->last = id;
	if (!t->unmarked)
		t->unmarked = id;
}

static void tag_remove(struct pending_pool *p, const struct pending *e)
{
	struct pending_tag_list *t = tag_list(p, e->owner, e->r.cid);

	if (t->unmarked == (pending_id)(e - p->entries))
		t->unmarked = e->next_tag;
	if (e->previous_tag)
		p->entries[e->previous_tag].next_tag = e->next_tag;
	else
		t->first = e->next_tag;
	if (e->next_tag)
		p->entries[e->next_tag].previous_tag = e->previous_tag;
	else
		t->last = e->previous_tag;
}

pending_id pending_add(struct pending_pool *p, struct pending_list *list, void *owner,
		       const struct nt_record *r, uint64_t key)
{
	pending_id id = p->free ?: p->used;
	struct pending *e = &p->entries[id];
	struct pending_group *g = group_find(p, key) ?: group_make(p, key);

	if (!g)
		return 0;
	if (p->free)
		p->free = e->next;
	else
		p->used++;
	p->count++;
	*e = (struct pending){
		.r = *r,
		.key = key,
		.owner = owner,
		.group = (pending_id)(g - p->groups),
		.next_alike = g->newest,
		.previous = list->last,
		.older = p->newest,
	};
	if (g->newest)
		p->entries[g->newest].previous_alike = id;
	g->newest = id;
	g->count[r->side != NT_HOST]++;
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
	tag_add(p, id);
	return id;
}

void pending_remove(struct pending_pool *p, struct pending_list *list, pending_id id)
{
	struct pending *e = &p->entries[id];
	struct pending_group *g = &p->groups[e->group];

	if (e->next_alike)
		p->entries[e->next_alike].previous_alike = e->previous_alike;
	if (e->previous_alike)
		p->entries[e->previous_alike].next_alike = e->next_alike;
	else
		g->newest = e->next_alike;
	g->count[e->r.side != NT_HOST]--;
	if (!g->newest)
		group_free(p, g);

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

	tag_remove(p, e);
	e->next = p->free;
	p->free = id;
	p->count--;
}
