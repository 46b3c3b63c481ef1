/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records that wait for the other side's: a pool of fixed size, groups of an owner's that asked for the
 * same, in the order of their times, a list for each owner in order of arrival, and a heap of these lists.
 * Nothing here walks a list, but for the few records that come out of order.
 */
#ifndef NTPROF_MERGE_PENDING_H
#define NTPROF_MERGE_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/hash.h"
#include "core/record.h"
#include "merge/heap.h"
#include "merge/slots.h"

/* The most records that wait, 34 MiB with their groups: the least likely to be met gives way to one more. */
#ifndef PENDING_MAX
#define PENDING_MAX (1u << 17)
#endif
/* Where there are many halves it is so many for each, as none finds its partner with less, up to the most of all: 272 MiB. */
#define PENDING_PER_HALF 12
#define PENDING_POOL_MAX (8 * PENDING_MAX)

/* Numbers of entries and of groups; 0 is none. */
typedef uint32_t pending_id;

/* How likely a record's other half is to come yet, the least likely first. */
enum pending_chance {
	PENDING_NOBODY,	 /* nobody is known who could have it */
	PENDING_STRANGE, /* somebody is, but not who of them, or since when */
	PENDING_AHEAD,	 /* the host's: the target's stream has not come so far */
	PENDING_OWED,	 /* the target's: the host has not completed the command */
};

/*
 * An owner's entries, oldest first, and their chance. All zero at the beginning.
 * @order: among all lists with entries, by chance and then by the oldest entry, or one that was
 */
struct pending_list {
	pending_id first;
	pending_id last;
	uint32_t count;
	enum pending_chance chance;
	struct heap_item order;
};

struct pending {
	struct nt_record r;
	uint64_t key;
	uint64_t from_ns; /* offset_from() */
	uint64_t serial;  /* counts arrivals */
	void *owner;
	pending_id group;		     /* 0: none, as it is the only one of its key */
	pending_id older_alike, newer_alike; /* of the group, by from_ns */
	pending_id next, previous;	     /* of the same owner */
	pending_id next_tag,
		previous_tag; /* the target's: of the same owner's tag, and of others by chance */
	uint64_t reused_ns;   /* when the other side was seen to use the tag again */
	bool doubtful;	      /* more than one of the other side would do... */
	bool forsaken; /* ...and one of these has been given up, so that no other is certain */
};

/* Linux keeps the tag in the low bits of a command id and counts uses above them (nvme_cid()). */
#define PENDING_TAG_MASK 0xfff
#ifndef PENDING_TAG_LISTS
#define PENDING_TAG_LISTS 65536
#endif

/* The target's entries of one tag, oldest first; those before @unmarked are known to have a successor. */
struct pending_tag_list {
	pending_id first;
	pending_id last;
	pending_id unmarked;
};

/* Of the number of a group in the table that has entries, too. */
#define PENDING_GROUP (1u << 31)

/*
 * An owner's entries of equal key; there is none without entries.
 * @newest_ns: from_ns of @newest, as that has mostly left the cache when one more comes
 * @cursor: where the last search ended: the next one looks for about the same time
 * @doubted: entries that had arrived by then are doubtful
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
 * Of @entries and @groups, which never move, @used and @used_groups were ever taken into use, with the
 * unused number 0; what of these is free is chained from @free (by next) and @free_group.
 *
 * Most entries are the only ones of their key: a group is made when a second one comes, or when it is asked for.
 */
struct pending_pool {
	struct pending *entries;
	struct pending_group *groups;
	struct slots by_key; /* entries and, with PENDING_GROUP, groups, by key and owner */
	struct pending_tag_list *by_tag;
	pending_id free, free_group;
	pending_id used, used_groups;
	struct heap lists; /* with entries */
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
 * pending_add() - let a record wait
 * @p: must not be full: p->count < PENDING_POOL_MAX
 * @list: of @owner
 * @r: copied
 * @key: pending_key()
 * @chance: of all of @owner's
 *
 * Return: its number.
 */
pending_id pending_add(struct pending_pool *p, struct pending_list *list, void *owner,
		       const struct nt_record *r, uint64_t key, enum pending_chance chance);

/** pending_remove() - take an entry out; its contents stay readable until the next pending_add() */
void pending_remove(struct pending_pool *p, struct pending_list *list, pending_id id);

/** pending_rate() - from now on the entries of @list have this chance */
void pending_rate(struct pending_pool *p, struct pending_list *list, enum pending_chance chance);

/** pending_least() - the oldest entry of those that are the least likely to be met, 0: there is none */
pending_id pending_least(struct pending_pool *p);

/** pending_get() - an entry by its number */
static inline struct pending *pending_get(const struct pending_pool *p, pending_id id)
{
	return &p->entries[id];
}

/** pending_alike() - the group of @owner's entries of @key, NULL if there are none */
struct pending_group *pending_alike(const struct pending_pool *p, uint64_t key, const void *owner);

/**
 * struct pending_found - an owner's entries of a key
 * @only: number of the only one, or 0
 * @group: of several, NULL if there are none
 */
struct pending_found {
	pending_id only;
	struct pending_group *group;
};

/* Of what an owner's entries of a key are found by. */
static inline uint32_t pending_hash(uint64_t key, const void *owner)
{
	return hash_pair(key, (uintptr_t)owner);
}

/* Return: the number of an entry, or with PENDING_GROUP that of a group, 0 if there is none; @at: as slots_next() leaves it */
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

/** pending_find() - the same for who has no need of a group where there is one entry */
static inline struct pending_found pending_find(const struct pending_pool *p, uint64_t key,
						const void *owner)
{
	uint32_t at = 0, id = pending_look(p, key, owner, pending_hash(key, owner), &at);

	if (id & PENDING_GROUP)
		return (struct pending_found){.group = &p->groups[id & ~PENDING_GROUP]};
	return (struct pending_found){.only = id};
}

/**
 * pending_seek() - the newest of a group that began no later than a time
 * @p: pool
 * @g: group
 * @ns: time of the entries' clock
 *
 * Costs what lies between this and the last time that was sought.
 *
 * Return: its number, 0 if all began later.
 */
pending_id pending_seek(const struct pending_pool *p, struct pending_group *g, uint64_t ns);

/** pending_expect() - @owner's entries of @key will be asked for soon: memory is slow where many wait */
void pending_expect(const struct pending_pool *p, uint64_t key, const void *owner);

/** pending_expect_removal() - an entry will be taken out soon */
void pending_expect_removal(const struct pending_pool *p, pending_id id);

/** pending_doubt_all() - all entries of a group are doubtful */
static inline void pending_doubt_all(const struct pending_pool *p, struct pending_group *g)
{
	g->doubted = p->serial;
}

/** pending_is_doubtful() - whether more than one of the other side was seen that would do */
static inline bool pending_is_doubtful(const struct pending_pool *p, const struct pending *e)
{
	return e->doubtful || e->serial <= p->groups[e->group].doubted;
}

/** pending_tag() - the oldest entry that may be of @owner, a target's, and the tag of @cid; then by next_tag */
pending_id pending_tag(const struct pending_pool *p, const void *owner, uint16_t cid);

/**
 * pending_tag_reused() - the tag of @cid has been used again
 * @p: pool
 * @owner, @cid: whose entries, a target's
 * @before_ns: those that began before this, of their own clock, have had it
 * @now_ns: noted as reused_ns of each of them that has none; not 0
 */
void pending_tag_reused(struct pending_pool *p, const void *owner, uint16_t cid, uint64_t before_ns,
			uint64_t now_ns);

/** pending_has_tag() - whether an entry is of @owner and the tag of @cid */
static inline bool pending_has_tag(const struct pending *e, const void *owner, uint16_t cid)
{
	return e->owner == owner && !((e->r.cid ^ cid) & PENDING_TAG_MASK);
}

#endif /* NTPROF_MERGE_PENDING_H */
