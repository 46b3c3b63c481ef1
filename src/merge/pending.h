/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records that wait for the other side's: a pool of fixed size, groups of those that asked for the same,
 * and lists in order of arrival, one for all and one for each owner. Nothing here walks a list.
 */
#ifndef NTPROF_MERGE_PENDING_H
#define NTPROF_MERGE_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/hash.h"
#include "core/record.h"

/* The most records that wait, 39 MiB with their groups and the hash table: the oldest gives way to one more. */
#ifndef PENDING_MAX
#define PENDING_MAX (1u << 17)
#endif

/* Numbers of entries and of groups; 0 is none. */
typedef uint32_t pending_id;

/* An owner's entries, oldest first. */
struct pending_list {
	pending_id first;
	pending_id last;
	uint32_t count;
};

struct pending {
	struct nt_record r;
	uint64_t key;
	void *owner;
	pending_id group;
	pending_id next_alike, previous_alike; /* of the group, newest first */
	pending_id next, previous;	       /* of the same owner */
	pending_id newer, older;	       /* of all */
	pending_id next_tag, previous_tag; /* of the same owner's tag, and of others by chance */
	uint64_t reused_ns;		   /* when the other side was seen to use the tag again */
	bool doubtful;			   /* more than one of the other side would do */
};

/* Linux keeps the tag in the low bits of a command id and counts uses above them (nvme_cid()). */
#define PENDING_TAG_MASK 0xfff
#ifndef PENDING_TAG_LISTS
#define PENDING_TAG_LISTS 65536
#endif

/* Entries of one tag, oldest first; those before @unmarked are known to have a successor. */
struct pending_tag_list {
	pending_id first;
	pending_id last;
	pending_id unmarked;
};

/* The entries of equal key, whoever owns them, @count of each side; there is none without entries. */
struct pending_group {
	uint64_t key;
	uint32_t count[NT_SIDES];
	pending_id newest;
	pending_id next_free;
	UT_hash_handle hh;
};

/*
 * Of @entries and @groups, which never move, @used and @used_groups were ever taken into use, with the
 * unused number 0; what of these is free is chained from @free (by next) and @free_group.
 */
struct pending_pool {
	struct pending *entries;
	struct pending_group *groups;
	struct pending_group *by_key; /* hash table */
	struct pending_tag_list *by_tag;
	pending_id free, free_group;
	pending_id used, used_groups;
	pending_id oldest, newest;
	uint32_t count;
};

/** pending_init() - 0 or -ENOMEM; pending_free() - release */
int pending_init(struct pending_pool *p);
void pending_free(struct pending_pool *p);

/**
 * pending_key() - a hash of what both sides know alike: queue, controller, command id, opcode,
 * namespace, LBA and length
 */
uint64_t pending_key(const struct nt_record *r, uint16_t cntlid, uint16_t qid);

/** pending_same() - whether two records ask for the same, under the same command id */
bool pending_same(const struct nt_record *a, const struct nt_record *b);

/**
 * pending_add() - let a record wait
 * @p: must not be full: p->count < PENDING_MAX
 * @list: of @owner
 * @r: copied
 * @key: pending_key()
 *
 * Return: its number, 0 when memory ran out.
 */
pending_id pending_add(struct pending_pool *p, struct pending_list *list, void *owner,
		       const struct nt_record *r, uint64_t key);

/** pending_remove() - take an entry out; its contents stay readable until the next pending_add() */
void pending_remove(struct pending_pool *p, struct pending_list *list, pending_id id);

/** pending_get() - an entry by its number */
static inline struct pending *pending_get(const struct pending_pool *p, pending_id id)
{
	return &p->entries[id];
}

/** pending_alike() - the newest entry of @key, 0 if there is none; the others follow by next_alike */
pending_id pending_alike(const struct pending_pool *p, uint64_t key);

/** pending_alike_of() - the same, but 0 if none of @side is among them */
pending_id pending_alike_of(const struct pending_pool *p, uint64_t key, enum nt_side side);

/** pending_tag() - the oldest entry that may be of @owner and the tag of @cid; then by next_tag */
pending_id pending_tag(const struct pending_pool *p, const void *owner, uint16_t cid);

/**
 * pending_tag_reused() - the tag of @cid has been used again
 * @p: pool
 * @owner, @cid: whose entries
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
