// SPDX-License-Identifier: GPL-2.0-only
#include "trace/give_back.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Return: false if it cannot be told. */
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

static void forget_address(struct tracer *t, uint64_t address, uint32_t slot)
{
	uint32_t hash = ((uint32_t)address >> 6) * NT_SPREAD;
	struct nt_slot_bucket *b = &t->object.slot_index[hash >> (32 - NT_SLOT_INDEX_BITS)];

	for (unsigned int i = 0; i < NT_SLOT_WAYS; i++)
		if ((b->at[i] & NT_SLOT_MASK) == slot + 1)
			__atomic_store_n(&b->at[i], 0, __ATOMIC_RELAXED);
}

/* What nothing leads to any more goes back when it is looked for. */
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
	forget_address(t, t->o.side == NT_HOST ? q->queue : q->object, slot);
}

static void release_gone(struct tracer *t)
{
	for (uint32_t slot = 0; slot < t->nr_slots; slot++) {
		struct nt_queue *q = &t->object.queues[slot];
		uint32_t gen = q->gen;

		if (!q->object)
			continue;
		if (!is_gone(t, q))
			t->gone[slot].gen = 0;
		else if (t->gone[slot].gen != gen)
			t->gone[slot].gen = gen;
		else
			release(t, q, slot);
	}
}

/*
 * A state that is in flight, or of a connection that lives, keeps its piece: programs may still find it by its owner.
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
	(void)context;
	(void)nr;
	return true;
}

static bool has_changed(const struct pool *p)
{
	return p->look || p->looked_taken != __atomic_load_n(&p->ring->taken, __ATOMIC_RELAXED);
}

static void look_for_pieces(struct tracer *t)
{
	struct pool *p = &t->object.pools[NT_POOL_CMDS];
	uint8_t *used = has_changed(p) ? calloc(pool_items(p) + 1, 1) : NULL;

	if (!used)
		return;
	for (uint32_t slot = 0; slot < t->nr_slots; slot++)
		for (unsigned int n = 0; n < NT_CHUNKS_PER_QUEUE; n++)
			if (t->object.queues[slot].chunk[n] < pool_items(p))
				used[t->object.queues[slot].chunk[n]] = 1;
	pool_look(p, used, piece_goes_back, t);
	free(used);
}

static void look_for_joins(struct tracer *t)
{
	struct pool *p = &t->object.pools[NT_POOL_JOINS];
	uint8_t *used = has_changed(p) ? calloc(pool_items(p) + 1, 1) : NULL;

	if (!used)
		return;
	for (uint32_t slot = 0; slot < t->nr_slots; slot++)
		if (t->object.queues[slot].joins < pool_items(p))
			used[t->object.queues[slot].joins] = 1;
	pool_look(p, used, goes_back, t);
	free(used);
}

void give_back(struct tracer *t)
{
	if (!find_instances(t))
		return;
	release_gone(t);
	look_for_pieces(t);
	look_for_joins(t);
	give_back_supply(t);
}

void give_back_supply(struct tracer *t)
{
	for (unsigned int i = 0; i < NT_POOLS_NR; i++) {
		if (t->o.no_histograms && (i == NT_POOL_HISTS || i == NT_POOL_STAGES))
			continue;
		pool_supply(&t->object.pools[i], 0);
	}
}
