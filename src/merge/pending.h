/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records that wait for the other side's record. There is a pool of fixed size. Entries of one
 * owner that asked for the same form a group in order of time. Each owner has a list in order of
 * arrival, and a heap orders these lists. Nothing here walks a list, except for the few records
 * that come out of order.
 */
#ifndef NTPROF_MERGE_PENDING_H
#define NTPROF_MERGE_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/hash.h"
#include "shared/record.h"

/*
 * A hash table of numbers. Mostly it is asked for numbers that are not there, while other data
 * fills the cache. So one access has to give the answer: it uses open addressing with linear
 * probing, and does not read the objects that the numbers stand for.
 */

/* @id: 0: the slot is free */
struct slot {
	uint32_t hash;
	uint32_t id;
};

/**
 * struct slots - the table
 * @slot: @nr slots, a power of two; @count of them are taken, at most half
 * @other: memory for the next size. The table grows and shrinks with its contents, so that it takes
 *         little of the cache.
 * @max: the most that @nr may be
 * @spare: removals since the table was last full enough to keep this size
 */
struct slots {
	struct slot *slot, *other;
	uint32_t nr, count, max, spare;
};

/**
 * slots_init() - for at most @max numbers, a power of two; Return: 0 or -ENOMEM, and slots_free()
 * is needed in any case
 */
int slots_init(struct slots *s, uint32_t max);
void slots_free(struct slots *s);

/** slots_add() - add @id under a hash; it is not 0 and not there yet, and there is room */
void slots_add(struct slots *s, uint32_t hash, uint32_t id);

/** slots_remove() - remove @id, which is there under this hash */
void slots_remove(struct slots *s, uint32_t hash, uint32_t id);

/** slots_expect() - prefetch the place of a hash */
static inline void slots_expect(const struct slots *s, uint32_t hash)
{
	__builtin_prefetch(&s->slot[hash & (s->nr - 1)]);
}

/**
 * slots_next() - the next number with a hash
 * @at: 0 for the first one; changed
 *
 * Return: the number, 0 if there is no further one.
 */
static inline uint32_t slots_next(const struct slots *s, uint32_t hash, uint32_t *at)
{
	for (;;) {
		const struct slot *t = &s->slot[(hash + (*at)++) & (s->nr - 1)];

		if (!t->id || t->hash == hash)
			return t->id;
	}
}

/** slots_add_at() - slots_add() at the place @at where slots_next() has returned 0 */
static inline void slots_add_at(struct slots *s, uint32_t hash, uint32_t id, uint32_t at)
{
	/* The table grows, or has been too large for a while. */
	if (s->count >= s->nr / 2 || s->spare) {
		slots_add(s, hash, id);
		return;
	}
	s->count++;
	s->slot[(hash + at - 1) & (s->nr - 1)] = (struct slot){.hash = hash, .id = id};
}

/*
 * The most records that wait, 34 MiB with their groups. When they are too many, the one with the
 * least chance of a match is given up.
 */
#ifndef PENDING_MAX
#define PENDING_MAX (1u << 17)
#endif
/*
 * With many endpoints this many may wait for each, as with fewer no endpoint finds its partner; all
 * together at most PENDING_POOL_MAX: 272 MiB.
 */
#define PENDING_PER_ENDPOINT 12
#define PENDING_POOL_MAX (8 * PENDING_MAX)

/* Number of an entry or of a group; 0 is none. */
typedef uint32_t pending_id;

/* How likely it is that a record's counterpart still comes, the least likely first. */
enum pending_likelihood {
	PENDING_NOBODY,	 /* no possible partner is known */
	PENDING_STRANGE, /* there are possible partners: it is not known which, or its clock */
	PENDING_AHEAD,	 /* record of the host: the target's stream has not come that far */
	PENDING_OWED,	 /* record of the target: the host has not completed the command */
};

/*
 * An owner's entries, oldest first, and their chance. All zero at the beginning.
 * @at: 1 + its place among the lists with entries, 0: it has none
 */
struct pending_list {
	pending_id first;
	pending_id last;
	uint32_t count;
	enum pending_likelihood likelihood;
	uint32_t at;
};

/*
 * An element of the heap of lists with entries. @order: by chance, and then by the oldest entry,
 * which may be gone by now.
 */
struct pending_place {
	uint64_t order;
	struct pending_list *list;
};

struct pending {
	struct nt_record r;
	uint64_t key;
	uint64_t from_ns; /* offset_from() */
	uint64_t serial;  /* in order of arrival */
	void *owner;
	pending_id group;		     /* 0: none, as it is the only entry of its key */
	pending_id older_alike, newer_alike; /* in the group, by from_ns */
	pending_id next, previous;	     /* in the owner's list */
	pending_id next_tag,
		previous_tag; /* of a target: in the list of the tag; tags may share one */
	uint64_t reused_ns;   /* when the host was seen to reuse the tag */
	bool doubtful;	      /* it has more than one possible pair... */
	bool forsaken;	      /* ...and one of these was given up, so no other pair is certain */
};

/* Linux keeps the tag in the low bits of a command id and counts uses above them (nvme_cid()). */
#define PENDING_TAG_MASK 0xfff
#ifndef PENDING_TAG_LISTS
#define PENDING_TAG_LISTS 65536
#endif

/* The target's entries of one tag, oldest first. Those before @unmarked have reused_ns set. */
struct pending_tag_list {
	pending_id first;
	pending_id last;
	pending_id unmarked;
};

/* Set in the hash table for the number of a group; not for that of an entry. */
#define PENDING_GROUP (1u << 31)

/*
 * The entries of one owner with one key; a group always has entries.
 * @newest_ns: from_ns of @newest, which has mostly left the cache when the next entry comes
 * @cursor: where the last search ended; the next one looks for about the same time
 * @doubted: all entries up to this serial number are doubtful
 */
struct pending_group {
	uint64_t key;
	const void *owner;
	uint64_t doubted;
	uint64_t newest_ns;
	pending_id newest;
	pending_id cursor;
	pending_id next_free;
};

/*
 * @entries and @groups never move. Numbers below @used and @used_groups were in use at some time;
 * number 0 never is. Free ones are chained from @free (by next) and @free_group.
 *
 * Most entries are the only ones of their key. So a group is made only when a second entry comes,
 * or when a caller needs it.
 */
struct pending_pool {
	struct pending *entries;
	struct pending_group *groups;
	struct slots by_key; /* by key and owner: entries, and groups with PENDING_GROUP */
	struct pending_tag_list *by_tag;
	pending_id free, free_group;
	pending_id used, used_groups;
	struct pending_place *lists; /* the heap, @nr_lists of them */
	uint32_t nr_lists;
	uint64_t serial;
	uint32_t count;
};

/** pending_init() - 0 or -ENOMEM; pending_free() - release */
int pending_init(struct pending_pool *p);
void pending_free(struct pending_pool *p);

/**
 * pending_key() - a hash of what both sides know alike: queue, controller, command id, opcode,
 * namespace, LBA and length
 */
static inline uint64_t pending_key(const struct nt_record *r, uint16_t cntlid, uint16_t qid)
{
	uint64_t queue = (uint64_t)cntlid << 48 | (uint64_t)qid << 32 | (uint64_t)r->cid << 16;

	return hash_two(hash_two(queue | r->opcode, r->slba), (uint64_t)r->nsid << 32 | r->length);
}

/** pending_same() - whether two records ask for the same, under the same command id */
static inline bool pending_same(const struct nt_record *a, const struct nt_record *b)
{
	return a->cid == b->cid && a->opcode == b->opcode && a->nsid == b->nsid &&
	       a->slba == b->slba && a->length == b->length;
}

/**
 * pending_add() - add a record that waits
 * @p: must not be full: p->count < PENDING_POOL_MAX
 * @list: list of @owner
 * @r: copied
 * @key: pending_key()
 * @likelihood: of all entries of @owner
 *
 * Return: its number.
 */
pending_id pending_add(struct pending_pool *p, struct pending_list *list, void *owner,
		       const struct nt_record *r, uint64_t key, enum pending_likelihood likelihood);

/** pending_remove() - remove an entry; its contents stay readable until the next pending_add() */
void pending_remove(struct pending_pool *p, struct pending_list *list, pending_id id);

/** pending_rate() - set the chance of all entries of @list */
void pending_rate(struct pending_pool *p, struct pending_list *list,
		  enum pending_likelihood likelihood);

/** pending_least() - the oldest of the entries with the least chance; 0: there is none */
pending_id pending_least(struct pending_pool *p);

/** pending_get() - an entry by its number */
static inline struct pending *pending_get(const struct pending_pool *p, pending_id id)
{
	return &p->entries[id];
}

/** pending_alike() - the group of @owner's entries with @key, NULL if there are none */
struct pending_group *pending_alike(const struct pending_pool *p, uint64_t key, const void *owner);

/**
 * struct pending_found - an owner's entries with a key
 * @only: number of the only entry, or 0
 * @group: if there are several; else NULL
 */
struct pending_found {
	pending_id only;
	struct pending_group *group;
};

/* The hash by which the entries of an owner with a key are found. */
static inline uint32_t pending_hash(uint64_t key, const void *owner)
{
	return hash_pair(key, (uintptr_t)owner);
}

/*
 * Return: the number of an entry, or with PENDING_GROUP that of a group, 0 if there is none; @at:
 * as left by slots_next()
 */
static inline uint32_t pending_look(const struct pending_pool *p, uint64_t key, const void *owner,
				    uint32_t hash, uint32_t *at)
{
	uint32_t id;

	while ((id = slots_next(&p->by_key, hash, at))) {
		const struct pending_group *g = &p->groups[id & ~PENDING_GROUP];
		const struct pending *e = &p->entries[id];

		if (id & PENDING_GROUP ? g->key == key && g->owner == owner
				       : e->key == key && e->owner == owner)
			return id;
	}
	return 0;
}

/** pending_find() - pending_alike() for callers that need no group if there is one entry only */
static inline struct pending_found pending_find(const struct pending_pool *p, uint64_t key,
						const void *owner)
{
	uint32_t at = 0, id = pending_look(p, key, owner, pending_hash(key, owner), &at);

	if (id & PENDING_GROUP)
		return (struct pending_found){.group = &p->groups[id & ~PENDING_GROUP]};
	return (struct pending_found){.only = id};
}

/**
 * pending_seek() - the newest entry of a group that began no later than a time
 * @p: pool
 * @g: group
 * @ns: time of the entries' clock
 *
 * Costs one step for each entry between this time and that of the last call.
 *
 * Return: its number, 0 if all began later.
 */
pending_id pending_seek(const struct pending_pool *p, struct pending_group *g, uint64_t ns);

/** pending_expect() - prefetch @owner's entries with @key, as memory is slow where many wait */
void pending_expect(const struct pending_pool *p, uint64_t key, const void *owner);

/** pending_expect_removal() - prefetch what pending_remove() of an entry needs */
void pending_expect_removal(const struct pending_pool *p, pending_id id);

/** pending_doubt_all() - mark all entries of a group as doubtful */
static inline void pending_doubt_all(const struct pending_pool *p, struct pending_group *g)
{
	g->doubted = p->serial;
}

/** pending_is_doubtful() - whether the entry had more than one possible pair */
static inline bool pending_is_doubtful(const struct pending_pool *p, const struct pending *e)
{
	return e->doubtful || e->serial <= p->groups[e->group].doubted;
}

/**
 * pending_tag() - the oldest entry that may have the tag of @cid, of a target @owner; others follow
 * by next_tag
 */
pending_id pending_tag(const struct pending_pool *p, const void *owner, uint16_t cid);

/**
 * pending_tag_reused() - the host has reused the tag of @cid
 * @p: pool
 * @owner, @cid: endpoint of a target, and a command id with the tag
 * @before_ns: entries that began before this time of their own clock had the tag earlier
 * @now_ns: set as reused_ns of each of them that has none; not 0
 */
void pending_tag_reused(struct pending_pool *p, const void *owner, uint16_t cid, uint64_t before_ns,
			uint64_t now_ns);

/** pending_has_tag() - whether an entry has this owner and the tag of @cid */
static inline bool pending_has_tag(const struct pending *e, const void *owner, uint16_t cid)
{
	return e->owner == owner && !((e->r.cid ^ cid) & PENDING_TAG_MASK);
}

#endif /* NTPROF_MERGE_PENDING_H */
