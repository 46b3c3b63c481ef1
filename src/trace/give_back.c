// SPDX-License-Identifier: GPL-2.0-only
#include "trace/give_back.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/histograms.h"
#include "trace/private.h"

static uint32_t instances(const struct tracer *t)
{
	return t->nr_slots / (t->object.knobs->qid_stride ?: 1);
}

int give_back_init(struct tracer *t)
{
	t->gone = calloc(t->nr_slots, sizeof(*t->gone));
	t->instances = calloc(instances(t) + 1, sizeof(*t->instances));
	return t->gone && t->instances ? 0 : -ENOMEM;
}

void give_back_free(struct tracer *t)
{
	free(t->gone);
	free(t->instances);
}

/* Finds the instances of all controllers. Return: false if they cannot be listed */
static bool find_instances(struct tracer *t)
{
	struct dirent *e;
	unsigned int n;
	DIR *d;

	if (t->o.side != NT_HOST)
		return true;
	d = opendir("/sys/class/nvme");
	if (!d)
		return false;
	memset(t->instances, 0, instances(t));
	while ((e = readdir(d)))
		if (sscanf(e->d_name, "nvme%u", &n) == 1 && n < instances(t))
			t->instances[n] = 1;
	closedir(d);
	return true;
}

static bool is_gone(const struct tracer *t, const struct nt_queue *q)
{
	if (t->o.side == NT_HOST)
		return q->instance >= instances(t) || !t->instances[q->instance];
	return q->dead_gen && q->dead_gen == q->gen;
}

static struct nt_cmd *piece_at(const struct tracer *t, uint32_t nr)
{
	return pool_at(&t->object.pools[NT_POOL_CMDS], nr);
}

static bool has_in_flight(const struct nt_cmd *piece)
{
	for (unsigned int i = 0; i < NT_CHUNK_CMDS; i++) {
		uint64_t owner = __atomic_load_n(&piece[i].owner, __ATOMIC_ACQUIRE);

		if (owner && !(owner & NT_RELEASED))
			return true;
	}
	return false;
}

/* As slot_hash() in bpf/queues.bpf.h. */
static uint32_t slot_hash(uint64_t address)
{
	return ((uint32_t)address >> 6) * NT_SPREAD;
}

static uint64_t address_of(const struct tracer *t, const struct nt_queue *q)
{
	return t->o.side == NT_HOST ? q->queue : q->object;
}

static void forget_address(struct tracer *t, uint64_t address, uint32_t slot)
{
	uint32_t hash = slot_hash(address);
	struct nt_slot_bucket *b = &t->object.slot_index[hash >> (32 - NT_SLOT_INDEX_BITS)];

	for (unsigned int i = 0; i < NT_SLOT_WAYS; i++)
		if ((b->at[i] & NT_SLOT_MASK) == slot + 1)
			__atomic_store_n(&b->at[i], 0, __ATOMIC_RELAXED);
}

/*
 * Only cuts the links. The items go back when their pools are searched for what nothing leads to.
 */
static void release(struct tracer *t, struct nt_queue *q, uint32_t slot)
{
	for (unsigned int n = 0; n < NT_CHUNKS_PER_QUEUE; n++) {
		uint32_t nr = q->chunk[n];

		if (!nr || has_in_flight(piece_at(t, nr)))
			continue;
		__atomic_store_n(&q->chunk[n], 0, __ATOMIC_RELAXED);
		t->object.pools[NT_POOL_CMDS].look = true;
	}
	if (q->joins) {
		__atomic_store_n(&q->joins, 0, __ATOMIC_RELAXED);
		t->object.pools[NT_POOL_JOINS].look = true;
	}
	forget_address(t, address_of(t, q), slot);
}

/**
 * struct there - connections that exist, if they have had a command
 * @pieces: pieces of states that they may use
 * @gens: sum of the generations of all slots, which changes when connections come
 */
struct there {
	uint32_t queues;
	uint32_t pieces;
	uint32_t gens;
};

static struct there release_gone(struct tracer *t)
{
	const uint32_t nr = slots_seen(t);
	struct there there = {0};

	for (uint32_t slot = 0; slot < nr; slot++) {
		struct nt_queue *q = &t->object.queues[slot];
		uint32_t gen = q->gen;

		if (!q->object)
			continue;
		there.gens += gen;
		if (!is_gone(t, q)) {
			t->gone[slot].gen = 0;
			there.queues++;
			there.pieces += (q->sqsize + NT_CHUNK_CMDS) / NT_CHUNK_CMDS;
		} else if (t->gone[slot].gen != gen) {
			t->gone[slot].gen = gen;
		} else {
			release(t, q, slot);
		}
	}
	return there;
}

/*
 * An entry of the index of queues by address whose connection does not seem to be in that slot any
 * more.
 */
struct stale {
	uint32_t *entry;
	uint32_t at;
};

static bool is_stale(const struct tracer *t, uint32_t bucket, uint32_t at)
{
	uint32_t slot = (at & NT_SLOT_MASK) - 1, hash;
	uint64_t address;

	if (slot >= t->nr_slots)
		return true;
	address = address_of(t, &t->object.queues[slot]);
	hash = slot_hash(address);
	return !address || hash >> (32 - NT_SLOT_INDEX_BITS) != bucket ||
	       NT_SLOT_TAG(hash) != (at & ~NT_SLOT_MASK);
}

/*
 * A connection may have come into the slot of one that was never found gone. Then nothing else
 * removes the address of the earlier one. A program writes the queue before the entry, but this CPU
 * may see them the other way round until the program has ended. So each entry is checked again
 * after a wait.
 */
static void forget_stale(struct tracer *t)
{
	struct stale *stale = calloc((1 << NT_SLOT_INDEX_BITS) * NT_SLOT_WAYS, sizeof(*stale));
	size_t nr = 0;

	for (uint32_t b = 0; stale && b < 1 << NT_SLOT_INDEX_BITS; b++) {
		for (unsigned int i = 0; i < NT_SLOT_WAYS; i++) {
			uint32_t *entry = &t->object.slot_index[b].at[i];
			uint32_t at = __atomic_load_n(entry, __ATOMIC_ACQUIRE);

			if (at && is_stale(t, b, at))
				stale[nr++] = (struct stale){entry, at};
		}
	}
	if (nr)
		pool_wait(&t->object.pools[NT_POOL_CMDS]);
	for (size_t i = 0; i < nr; i++) {
		uint32_t at = stale[i].at;
		size_t entry = (size_t)(stale[i].entry - t->object.slot_index[0].at);

		if (is_stale(t, (uint32_t)(entry / NT_SLOT_WAYS), at))
			__atomic_compare_exchange_n(stale[i].entry, &at, 0, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
	}
	free(stale);
}

/*
 * A piece stays if one of its states is in flight, or belongs to a connection that lives: programs
 * may still find it by its owner.
 */
static bool piece_goes_back(void *context, uint32_t nr)
{
	const struct tracer *t = context;
	const struct nt_cmd *piece = piece_at(t, nr);

	if (has_in_flight(piece))
		return false;
	for (unsigned int i = 0; i < NT_CHUNK_CMDS; i++) {
		const struct nt_record *r = &piece[i].r;

		if (piece[i].owner && r->slot < t->nr_slots &&
		    r->gen == t->object.queues[r->slot].gen &&
		    !is_gone(t, &t->object.queues[r->slot]))
			return false;
	}
	return true;
}

static bool goes_back(void *context, uint32_t nr)
{
	return true;
}

static bool has_changed(const struct pool *p)
{
	return p->look || p->looked_taken != __atomic_load_n(&p->ring->taken, __ATOMIC_RELAXED);
}

/* Gives back items of a pool that no queue leads to. */
static void look_for_items(struct tracer *t, unsigned int pool)
{
	struct pool *p = &t->object.pools[pool];
	uint32_t nr = pool_items(p);
	uint8_t *used = has_changed(p) ? calloc(nr + 1, 1) : NULL;

	if (!used)
		return;
	for (uint32_t slot = 0; slot < t->nr_slots; slot++) {
		const struct nt_queue *q = &t->object.queues[slot];

		if (pool == NT_POOL_JOINS && q->joins < nr)
			used[q->joins] = 1;
		for (unsigned int n = 0; pool == NT_POOL_CMDS && n < NT_CHUNKS_PER_QUEUE; n++)
			if (q->chunk[n] < nr)
				used[q->chunk[n]] = 1;
	}
	pool_look(p, used, pool == NT_POOL_CMDS ? piece_goes_back : goes_back, t);
	free(used);
}

void give_back(struct tracer *t)
{
	struct there there;

	if (!find_instances(t))
		return;
	there = release_gone(t);
	if (there.gens != t->gens)
		forget_stale(t);
	t->gens = there.gens;
	look_for_items(t, NT_POOL_CMDS);
	look_for_items(t, NT_POOL_JOINS);
	give_back_keep(t, there.queues, there.pieces);
	for (unsigned int i = 0; i < NT_POOLS_NR; i++)
		if (pool_shrink(&t->object.pools[i]))
			histograms_forget(t);
	give_back_supply(t);
}

/* One for reads and one for writes. */
#define HISTS_OF_QUEUE 2

static uint32_t more(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

void give_back_keep(struct tracer *t, uint32_t queues, uint32_t pieces)
{
	struct pool *pools = t->object.pools;

	pieces = more(pieces, t->expected);
	pools[NT_POOL_CMDS].least = pieces + pieces / 8;
	pools[NT_POOL_HISTS].least = HISTS_OF_QUEUE * more(queues, t->expected);
}

void give_back_supply(struct tracer *t)
{
	for (unsigned int i = 0; i < NT_POOLS_NR; i++) {
		if (t->o.no_histograms && (i == NT_POOL_HISTS || i == NT_POOL_STAGES))
			continue;
		pool_supply(&t->object.pools[i], 0);
	}
}
