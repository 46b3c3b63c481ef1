// SPDX-License-Identifier: GPL-2.0-only
#include "merge/depths.h"

#include <errno.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/hash.h"
#include "core/segments.h"
#include "merge/groups.h"

#define WORD_BITS 64u

struct depths_queue {
	uint32_t slot;
	uint32_t gen;
	struct flights_group in_flight;
	struct flights_seen seen;
	UT_hash_handle hh;
};

/**
 * struct depths
 * @taken: [record] a bit, of @nr_words words
 * @added, @asked: records of the first reading, and of the second one
 * @told: of how many it is known
 */
struct depths {
	uint32_t few;
	uint64_t bytes;
	struct depths_queue *queues; /* hash table */
	struct flights flights;
	struct flights_seen seen;
	uint64_t *taken;
	size_t nr_words;
	uint64_t added;
	uint64_t asked;
	uint64_t told;
};

static void saw(void *context, const struct flight *command, const struct flights_group *saw)
{
	struct depths *d = context;
	uint64_t bit = 1ULL << command->number % WORD_BITS;

	d->told++;
	/* It saw itself as well. */
	if ((!d->few || saw->nr <= d->few) && (!d->bytes || saw->bytes - command->bytes < d->bytes))
		d->taken[command->number / WORD_BITS] |= bit;
}

struct depths *depths_new(uint32_t few, uint64_t bytes)
{
	struct depths *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->few = few;
	d->bytes = bytes;
	d->flights.seen = &d->seen;
	d->flights.most = DEPTHS_WAIT_MAX;
	d->flights.told = saw;
	d->flights.context = d;
	return d;
}

/* Return: NULL past the limit, or when memory ran out: see errno. */
static struct depths_queue *queue_of(struct depths *d, const struct nt_record *r)
{
	const uint32_t key[2] = {r->slot, r->gen};
	unsigned int hash = hash_pair(r->slot, r->gen);
	struct depths_queue *q;

	HASH_FIND_BYHASHVALUE(hh, d->queues, key, sizeof(key), hash, q);
	if (q)
		return q;
	errno = ENOSPC;
	if (HASH_COUNT(d->queues) == DEPTHS_QUEUES_MAX)
		return NULL;
	errno = ENOMEM;
	q = calloc(1, sizeof(*q));
	if (!q)
		return NULL;
	q->slot = r->slot;
	q->gen = r->gen;
	HASH_ADD_BYHASHVALUE(hh, d->queues, slot, sizeof(key), hash, q);
	return hash_kept(q) ? q : NULL;
}

int depths_add(struct depths *d, const struct nt_record *r)
{
	struct flight flight = {
		.begin = record_begin_ns(r), .number = d->added, .bytes = r->length};
	uint64_t latency = record_latency_ns(r);
	struct depths_queue *q;

	if (d->added / WORD_BITS == d->nr_words) {
		uint64_t *word = ARRAY_INSERT(d->taken, d->nr_words, d->nr_words);

		if (!word)
			return -ENOMEM;
		*word = 0;
	}
	d->added++;
	if (!latency)
		return 0;
	q = queue_of(d, r);
	if (!q)
		return errno == ENOMEM ? -ENOMEM : 0;
	flight.end = flight.begin + latency;
	flight.group = &q->in_flight;
	flight.seen = &q->seen;
	return flights_add(&d->flights, &flight);
}

int depths_finish(struct depths *d)
{
	return flights_finish(&d->flights);
}

bool depths_take(struct depths *d)
{
	uint64_t i = d->asked++;

	/* A file that is being written may have grown. */
	return i < d->added && d->taken[i / WORD_BITS] >> i % WORD_BITS & 1;
}

uint64_t depths_unknown(const struct depths *d)
{
	return d->added - d->told;
}

void depths_free(struct depths *d)
{
	if (!d)
		return;
	for (struct depths_queue *q = d->queues; q; q = q->hh.next)
		flights_group_free(&q->in_flight);
	hash_free(d->queues);
	flights_free(&d->flights);
	free(d->taken);
	free(d);
}
