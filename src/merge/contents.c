// SPDX-License-Identifier: GPL-2.0-only
#include "merge/contents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"

#define TABLE (2 * CONTENTS_MAX)

/*
 * A hash of what both sides know of a command, without its queue: the two sides may not agree on
 * that. Never 0.
 */
static uint64_t key_of(const struct nt_record *r)
{
	uint64_t what = (uint64_t)r->length << 32 ^ (uint64_t)r->opcode << 24 ^ r->nsid;

	return hash_mix(r->slba * 0x9e3779b97f4a7c15ULL ^ what) ?: 1;
}

/* Return: the place of a key, or the free place for it. The table is never more than half full. */
static unsigned int find(const uint64_t *table, uint64_t key)
{
	/* @mask clears low bits, so the place is taken from high ones. */
	unsigned int i = (key >> 40) % TABLE;

	while (table[i] && table[i] != key)
		i = (i + 1) % TABLE;
	return i;
}

static void thin_out(struct contents *c)
{
	uint64_t old[TABLE];

	memcpy(old, c->key, sizeof(old));
	memset(c->key, 0, sizeof(old));
	c->mask = c->mask << 1 | 1;
	c->nr = 0;
	for (unsigned int i = 0; i < TABLE; i++) {
		if (!old[i] || old[i] & c->mask)
			continue;
		c->key[find(c->key, old[i])] = old[i];
		c->nr++;
	}
}

int contents_add(struct contents *c, const struct nt_record *r)
{
	uint64_t key = key_of(r);
	unsigned int at;

	if (key & c->mask)
		return 0;
	if (!c->key)
		c->key = calloc(TABLE, sizeof(*c->key));
	if (!c->key)
		return -ENOMEM;
	at = find(c->key, key);
	if (c->key[at])
		return 0;
	if (c->nr == CONTENTS_MAX) {
		thin_out(c);
		return contents_add(c, r);
	}
	c->key[at] = key;
	c->nr++;
	return 0;
}

bool contents_common(const struct contents *a, const struct contents *b, unsigned int enough)
{
	uint64_t mask = a->mask | b->mask;
	unsigned int in_a = 0, in_b = 0;

	for (unsigned int i = 0; i < TABLE; i++) {
		if (a->key && a->key[i] && !(a->key[i] & mask)) {
			in_a++;
			if (b->key && b->key[find(b->key, a->key[i])])
				return true;
		}
		in_b += b->key && b->key[i] && !(b->key[i] & mask);
	}
	return in_a < enough || in_b < enough;
}

void contents_free(struct contents *c)
{
	free(c->key);
	*c = (struct contents){0};
}
