// SPDX-License-Identifier: GPL-2.0-only
#include "core/overdue.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/hash.h"
#include "core/segments.h"

/* Linux keeps the tag in the low bits of a host's command id (nvme_tag_from_cid()). */
#define TAG_MASK 0xfff

/*
 * Identifies a command. A command id is used again, but never by two commands at the same time. A
 * request that a host sends again has the same tag and start time, but another @gen, and another id
 * in the bits above the tag.
 */
struct key {
	uint64_t begin;
	uint32_t slot;
	uint32_t gen;
	uint64_t cid;
};

/* @look: number of the last scan that found the command. */
struct told {
	struct key key;
	uint64_t look;
	UT_hash_handle hh;
};

struct overdue {
	struct told *told; /* hash table */
	uint64_t look;
};

struct overdue *overdue_new(void)
{
	return calloc(1, sizeof(struct overdue));
}

static unsigned int hash_of(const struct key *k)
{
	return hash_pair(k->begin, (uint64_t)k->slot << 16 | k->cid);
}

static struct key key_of(const struct nt_record *r)
{
	bool host = r->side == NT_HOST;

	return (struct key){
		.begin = record_begin_ns(r),
		.slot = r->slot,
		.gen = host ? 0 : r->gen,
		.cid = host ? r->cid & TAG_MASK : r->cid,
	};
}

static struct told *find(const struct overdue *o, const struct key *k)
{
	struct told *t;

	HASH_FIND_BYHASHVALUE(hh, o->told, k, sizeof(*k), hash_of(k), t);
	return t;
}

int overdue_tell(struct overdue *o, const struct nt_record *r)
{
	const struct key key = key_of(r);
	struct told *t = find(o, &key);

	if (t) {
		t->look = o->look;
		return 0;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->key = key;
	t->look = o->look;
	HASH_ADD_BYHASHVALUE(hh, o->told, key, sizeof(t->key), hash_of(&t->key), t);
	return hash_kept(t) ? 1 : -ENOMEM;
}

void overdue_looked(struct overdue *o)
{
	struct told *t, *next;

	for (t = o->told; t; t = next) {
		next = t->hh.next;
		if (o->look - t->look >= 2)
			hash_drop(o->told, t);
	}
	o->look++;
}

bool overdue_ended(struct overdue *o, const struct nt_record *r)
{
	const struct key key = key_of(r);
	struct told *t = find(o, &key);

	if (t)
		hash_drop(o->told, t);
	return t;
}

size_t overdue_count(const struct overdue *o)
{
	return HASH_COUNT(o->told);
}

void overdue_free(struct overdue *o)
{
	if (o)
		hash_free(o->told);
	free(o);
}
