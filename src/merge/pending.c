// SPDX-License-Identifier: GPL-2.0-only
#include "merge/pending.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/hash.h"
#include "core/segments.h"
#include "merge/offset.h"

static void place_moved(void *place, size_t at)
{
	((struct pending_place *)place)->list->at = (uint32_t)at + 1;
}

/* Puts a list in the free place @at, or where it belongs. */
static void place_put(struct pending_pool *p, uint32_t at, const struct pending_place *place)
{
	if (at && p->lists[(at - 1) / 2].order > place->order)
		heap_up(p->lists, at, place, sizeof(*place), place_moved);
	else
		heap_down(p->lists, p->nr_lists, at, place, sizeof(*place), place_moved);
}

/* Reserves memory for the largest possible need. Pages that are never touched take no memory. */

/**
 * pages_reserve() - reserve @size bytes, all zero
 *
 * Return: memory for pages_release(), or NULL if memory ran out.
 */
/*
 * Not malloc(): sanitizers write a shadow byte for each eight bytes that malloc() returns, whether
 * they are touched or not.
 */
static void *pages_reserve(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/** pages_release() - give back the @size bytes of pages_reserve(); @at may be NULL */
static void pages_release(void *at, size_t size)
{
	if (at)
		munmap(at, size);
}

#define SLOTS_MIN 256
/*
 * The table shrinks when, for as many removals as it has slots, less than this part of it was
 * taken.
 */
#define SLOTS_PER_ENTRY_MAX 16

int slots_init(struct slots *s, uint32_t max)
{
	s->max = 2 * max > SLOTS_MIN ? 2 * max : SLOTS_MIN;
	s->nr = SLOTS_MIN;
	s->count = 0;
	s->spare = 0;
	s->slot = pages_reserve(s->max * sizeof(*s->slot));
	s->other = pages_reserve(s->max * sizeof(*s->other));
	return s->slot && s->other ? 0 : -ENOMEM;
}

void slots_free(struct slots *s)
{
	pages_release(s->slot, s->max * sizeof(*s->slot));
	pages_release(s->other, s->max * sizeof(*s->other));
}

static void slots_put(struct slots *s, struct slot what)
{
	uint32_t at = what.hash & (s->nr - 1);

	while (s->slot[at].id)
		at = (at + 1) & (s->nr - 1);
	s->slot[at] = what;
}

static void resize(struct slots *s, uint32_t nr)
{
	struct slot *from = s->slot;
	uint32_t before = s->nr;

	s->slot = s->other;
	s->other = from;
	s->nr = nr;
	s->spare = 0;
	memset(s->slot, 0, nr * sizeof(*s->slot));
	for (uint32_t i = 0; i < before; i++) {
		if (from[i].id)
			slots_put(s, from[i]);
	}
}

void slots_add(struct slots *s, uint32_t hash, uint32_t id)
{
	if (++s->count > s->nr / SLOTS_PER_ENTRY_MAX)
		s->spare = 0;
	if (s->count > s->nr / 2 && s->nr < s->max)
		resize(s, 2 * s->nr);
	slots_put(s, (struct slot){.hash = hash, .id = id});
}

/* Puts @other in the place of @id. */
static void slots_replace(struct slots *s, uint32_t hash, uint32_t id, uint32_t other)
{
	uint32_t at = hash & (s->nr - 1);

	while (s->slot[at].id != id)
		at = (at + 1) & (s->nr - 1);
	s->slot[at].id = other;
}

/*
 * Whether the number at @at may move to the free slot before it: a search for it still has to pass
 * there.
 */
static bool may_move(const struct slots *s, uint32_t free_slot, uint32_t at)
{
	uint32_t mask = s->nr - 1;

	return ((at - s->slot[at].hash) & mask) >= ((at - free_slot) & mask);
}

void slots_remove(struct slots *s, uint32_t hash, uint32_t id)
{
	uint32_t mask = s->nr - 1, at = hash & mask;

	while (s->slot[at].id != id)
		at = (at + 1) & mask;
	for (uint32_t i = (at + 1) & mask; s->slot[i].id; i = (i + 1) & mask) {
		if (!may_move(s, at, i))
			continue;
		s->slot[at] = s->slot[i];
		at = i;
	}
	s->slot[at].id = 0;
	if (--s->count < s->nr / SLOTS_PER_ENTRY_MAX && ++s->spare >= s->nr && s->nr > SLOTS_MIN)
		resize(s, s->nr / 2);
}

/*
 * The most entries that are passed to insert one into its group in order of time: few come out of
 * order.
 */
#define DISORDER_MAX 64

/*
 * Keys of the heap have the chance of a list from this bit on, and below it the serial number of
 * the list's oldest entry.
 */
#define LIKELIHOOD_SHIFT 60

/* When this many entries are in use, some MiB, many more may follow. */
#define MANY 16384

/*
 * Where very many records wait, one is hardly ever in the same page as the one before it. In large
 * pages, if there are any, the processor finds them sooner. With fewer records a large page would
 * only cost memory.
 */
static void expect_many(const struct pending_pool *p)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *from = (char *)&p->entries[MANY], *to = (char *)&p->entries[PENDING_MAX + 1];

	from += -(uintptr_t)from % page;
	if (from < to)
		madvise(from, (size_t)(to - from) / page * page, MADV_HUGEPAGE);
}

int pending_init(struct pending_pool *p)
{
	memset(p, 0, sizeof(*p));
	p->entries = pages_reserve((PENDING_POOL_MAX + 1) * sizeof(*p->entries));
	p->groups = pages_reserve((PENDING_POOL_MAX + 1) * sizeof(*p->groups));
	p->used = 1;
	p->used_groups = 1;
	p->by_tag = calloc(PENDING_TAG_LISTS, sizeof(*p->by_tag));
	/* Each list in the heap has at least one entry. */
	p->lists = pages_reserve(PENDING_POOL_MAX * sizeof(*p->lists));
	return p->entries && p->groups && p->by_tag && p->lists &&
			       !slots_init(&p->by_key, PENDING_POOL_MAX)
		       ? 0
		       : -ENOMEM;
}

void pending_free(struct pending_pool *p)
{
	pages_release(p->entries, (PENDING_POOL_MAX + 1) * sizeof(*p->entries));
	pages_release(p->groups, (PENDING_POOL_MAX + 1) * sizeof(*p->groups));
	pages_release(p->lists, PENDING_POOL_MAX * sizeof(*p->lists));
	slots_free(&p->by_key);
	free(p->by_tag);
}

/* Makes the group of an entry that is the only one of its key. */
static struct pending_group *group_make(struct pending_pool *p, struct pending *e)
{
	pending_id id = p->free_group, only = (pending_id)(e - p->entries);
	struct pending_group *g;

	if (id)
		p->free_group = p->groups[id].next_free;
	else
		id = p->used_groups++;
	g = &p->groups[id];
	*g = (struct pending_group){.key = e->key,
				    .owner = e->owner,
				    .newest_ns = e->from_ns,
				    .newest = only,
				    .cursor = only};
	e->group = id;
	slots_replace(&p->by_key, pending_hash(e->key, e->owner), only, id | PENDING_GROUP);
	return g;
}

static void group_free(struct pending_pool *p, struct pending_group *g)
{
	pending_id id = (pending_id)(g - p->groups);

	slots_remove(&p->by_key, pending_hash(g->key, g->owner), id | PENDING_GROUP);
	g->next_free = p->free_group;
	p->free_group = id;
}

struct pending_group *pending_alike(const struct pending_pool *p, uint64_t key, const void *owner)
{
	struct pending_found f = pending_find(p, key, owner);

	/* The cast is fine: entries stay the same, only the way to find them changes. */
	return f.only ? group_make((struct pending_pool *)p, &p->entries[f.only]) : f.group;
}

static bool later(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) > 0;
}

static void set_newest(const struct pending_pool *p, struct pending_group *g, pending_id id)
{
	g->newest = id;
	if (id)
		g->newest_ns = p->entries[id].from_ns;
}

/* Inserts an entry into its group, after those that began before it. */
static void group_add(struct pending_pool *p, struct pending_group *g, pending_id id)
{
	struct pending *e = &p->entries[id];
	pending_id older = g->newest, newer = 0;
	uint64_t older_ns = g->newest_ns;

	for (unsigned int i = 0; older && i < DISORDER_MAX && later(older_ns, e->from_ns); i++) {
		newer = older;
		older = p->entries[older].older_alike;
		older_ns = older ? p->entries[older].from_ns : 0;
	}
	e->group = (pending_id)(g - p->groups);
	e->older_alike = older;
	e->newer_alike = newer;
	if (older)
		p->entries[older].newer_alike = id;
	if (newer)
		p->entries[newer].older_alike = id;
	else
		set_newest(p, g, id);
	if (!g->cursor)
		g->cursor = id;
}

static void group_remove(struct pending_pool *p, const struct pending *e)
{
	struct pending_group *g = &p->groups[e->group];

	if (e->older_alike)
		p->entries[e->older_alike].newer_alike = e->newer_alike;
	if (e->newer_alike)
		p->entries[e->newer_alike].older_alike = e->older_alike;
	else
		set_newest(p, g, e->older_alike);
	if (g->cursor == (pending_id)(e - p->entries))
		g->cursor = e->newer_alike ?: e->older_alike;
	if (!g->newest)
		group_free(p, g);
}

pending_id pending_seek(const struct pending_pool *p, struct pending_group *g, uint64_t ns)
{
	pending_id id = g->cursor, newer;

	while ((newer = p->entries[id].newer_alike) && !later(p->entries[newer].from_ns, ns))
		id = newer;
	for (; id && later(p->entries[id].from_ns, ns); id = p->entries[id].older_alike)
		g->cursor = id;
	if (id)
		g->cursor = id;
	return id;
}

static void key_add(struct pending_pool *p, pending_id id)
{
	struct pending *e = &p->entries[id];
	uint32_t hash = pending_hash(e->key, e->owner), at = 0;
	uint32_t found = pending_look(p, e->key, e->owner, hash, &at);

	if (found) {
		group_add(p,
			  found & PENDING_GROUP ? &p->groups[found & ~PENDING_GROUP]
						: group_make(p, &p->entries[found]),
			  id);
		return;
	}
	e->group = 0;
	e->older_alike = 0;
	e->newer_alike = 0;
	slots_add_at(&p->by_key, hash, id, at);
}

static void key_remove(struct pending_pool *p, const struct pending *e)
{
	if (e->group)
		group_remove(p, e);
	else
		slots_remove(&p->by_key, pending_hash(e->key, e->owner),
			     (pending_id)(e - p->entries));
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

/* Only tags of the target's records are looked up. */
static bool has_tag(const struct nt_record *r)
{
	return r->side == NT_TARGET;
}

static void tag_add(struct pending_pool *p, struct pending *e)
{
	struct pending_tag_list *t = tag_list(p, e->owner, e->r.cid);
	pending_id id = (pending_id)(e - p->entries);

	e->previous_tag = t->last;
	e->next_tag = 0;
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

/*
 * Orders by chance, and then by age. Serial numbers take a thousand years to reach the bits of the
 * chance.
 */
static uint64_t order_of(const struct pending_pool *p, const struct pending_list *list)
{
	return (uint64_t)list->likelihood << LIKELIHOOD_SHIFT | p->entries[list->first].serial;
}

/* Puts a list with entries into the heap, or where its order belongs. */
static void list_place(struct pending_pool *p, struct pending_list *list)
{
	const struct pending_place place = {order_of(p, list), list};

	place_put(p, list->at ? list->at - 1 : p->nr_lists++, &place);
}

static void list_leave(struct pending_pool *p, struct pending_list *list)
{
	const struct pending_place last = p->lists[--p->nr_lists];

	if (last.list != list)
		place_put(p, list->at - 1, &last);
	list->at = 0;
}

pending_id pending_add(struct pending_pool *p, struct pending_list *list, void *owner,
		       const struct nt_record *r, uint64_t key, enum pending_likelihood likelihood)
{
	pending_id id = p->free ?: p->used;
	struct pending *e = &p->entries[id];

	if (p->free)
		p->free = e->next;
	else if (++p->used == MANY)
		expect_many(p);
	p->count++;
	/* Fields one by one: assigning the whole struct would zero it first. */
	e->r = *r;
	e->key = key;
	e->from_ns = offset_from(r);
	e->serial = ++p->serial;
	e->owner = owner;
	e->previous = list->last;
	e->next = 0;
	e->reused_ns = 0;
	e->doubtful = false;
	e->forsaken = false;
	key_add(p, id);
	if (list->last)
		p->entries[list->last].next = id;
	else
		list->first = id;
	list->last = id;
	list->count++;
	if (!list->at || list->likelihood != likelihood) {
		list->likelihood = likelihood;
		list_place(p, list);
	}
	if (has_tag(r))
		tag_add(p, e);
	return id;
}

void pending_remove(struct pending_pool *p, struct pending_list *list, pending_id id)
{
	struct pending *e = &p->entries[id];

	key_remove(p, e);
	if (e->previous)
		p->entries[e->previous].next = e->next;
	else
		list->first = e->next;
	if (e->next)
		p->entries[e->next].previous = e->previous;
	else
		list->last = e->previous;
	/*
	 * The heap may still have an older key for this list: pending_least() corrects it when the
	 * list is first.
	 */
	if (!--list->count)
		list_leave(p, list);
	if (has_tag(&e->r))
		tag_remove(p, e);
	e->next = p->free;
	p->free = id;
	p->count--;
}

void pending_rate(struct pending_pool *p, struct pending_list *list,
		  enum pending_likelihood likelihood)
{
	list->likelihood = likelihood;
	if (list->count)
		list_place(p, list);
}

void pending_expect(const struct pending_pool *p, uint64_t key, const void *owner)
{
	slots_expect(&p->by_key, pending_hash(key, owner));
}

void pending_expect_removal(const struct pending_pool *p, pending_id id)
{
	const struct pending *e = &p->entries[id];

	slots_expect(&p->by_key, pending_hash(e->key, e->owner));
	__builtin_prefetch(&p->groups[e->group]);
	if (has_tag(&e->r)) {
		__builtin_prefetch(&p->entries[e->next_tag].previous_tag);
		__builtin_prefetch(tag_list(p, e->owner, e->r.cid));
	}
	__builtin_prefetch(&p->entries[e->next].r);
	__builtin_prefetch(&p->entries[e->next].r.points[NT_POINTS_MAX / 2]);
	__builtin_prefetch(&p->entries[e->next].group);
}

pending_id pending_least(struct pending_pool *p)
{
	while (p->nr_lists) {
		struct pending_list *list = p->lists[0].list;

		if (p->lists[0].order == order_of(p, list))
			return list->first;
		list_place(p, list);
	}
	return 0;
}
