/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hash table of numbers. Mostly it is asked for numbers that are not there, while other data
 * fills the cache. So one access has to give the answer: it uses open addressing with linear
 * probing, and does not read the objects that the numbers stand for.
 */
#ifndef NTPROF_MERGE_SLOTS_H
#define NTPROF_MERGE_SLOTS_H

#include <stdint.h>

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

/** slots_replace() - put @other in the place of @id */
void slots_replace(struct slots *s, uint32_t hash, uint32_t id, uint32_t other);

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

#endif /* NTPROF_MERGE_SLOTS_H */
