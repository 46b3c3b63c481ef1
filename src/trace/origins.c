// SPDX-License-Identifier: GPL-2.0-only
#include "trace/origins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cgroup.h"
#include "core/hash.h"

/* @from: as programs send it, which is the key. */
struct known_origin {
	struct nt_from from;
	struct origin o;
	UT_hash_handle hh;
};

struct origins {
	struct known_origin *table; /* hash table */
	struct known_origin *of[ORIGIN_OTHERS];
	unsigned int nr; /* the first number is 1 */
};

struct origins *origins_new(void)
{
	return calloc(1, sizeof(struct origins));
}

void origins_free(struct origins *o)
{
	struct known_origin *k, *next;

	if (!o)
		return;
	HASH_ITER(hh, o->table, k, next)
	{
		HASH_DEL(o->table, k);
		free(k);
	}
	free(o);
}

/* The cgroup mostly still exists, because its command has just ended. */
static struct known_origin *add(struct origins *o, const struct nt_from *from, unsigned int hash)
{
	struct known_origin *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->from = *from;
	k->o.number = (uint16_t)(o->nr + 1);
	k->o.cpu = from->cpu < ORIGIN_NO_CPU ? (uint16_t)from->cpu : ORIGIN_NO_CPU;
	if (from->cgroup)
		cgroup_name(from->cgroup, k->o.cgroup, sizeof(k->o.cgroup));
	HASH_ADD_BYHASHVALUE(hh, o->table, from, sizeof(k->from), hash, k);
	if (!hash_added(k)) {
		free(k);
		return NULL;
	}
	o->of[++o->nr] = k;
	return k;
}

unsigned int origins_number(struct origins *o, const struct nt_from *from)
{
	unsigned int hash = hash_pair(from->cgroup, from->cpu);
	struct known_origin *k;

	HASH_FIND_BYHASHVALUE(hh, o->table, from, sizeof(*from), hash, k);
	if (!k && o->nr + 1 < ORIGIN_OTHERS)
		k = add(o, from, hash);
	return k ? k->o.number : ORIGIN_OTHERS;
}

void origins_get(const struct origins *o, unsigned int number, struct origin *origin)
{
	if (number && number <= o->nr) {
		*origin = o->of[number]->o;
		return;
	}
	*origin = (struct origin){.number = (uint16_t)number, .cpu = ORIGIN_NO_CPU};
	snprintf(origin->cgroup, sizeof(origin->cgroup), "(others)");
}
