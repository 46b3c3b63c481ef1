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

/* The most records that wait, 36 MiB with their groups and the hash table: the oldest gives way to one more. */
#define PENDING_MAX (1u << 17)

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
	bool doubtful;			       /* more than one of the other side would do */
};

/* The entries of equal key, whoever owns them; there is none without entries. */
struct pending_group {
	uint64_t key;
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

#endif /* NTPROF_MERGE_PENDING_H */
