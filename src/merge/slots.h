/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hash table of numbers that is asked mostly for what it has not, while much else is in the cache: the answer is
 * in one place (open addressing, linear probing), and what the numbers stand for is not looked at.
 */
#ifndef NTPROF_MERGE_SLOTS_H
#define NTPROF_MERGE_SLOTS_H

#include <stdint.h>

/* @id: 0 is free */
struct slot {
	uint32_t hash;
	uint32_t id;
};

/**
 * struct slots - the table
 * @slot: of which @nr are in use, a power of two; @count of them are taken, at most half
 * @other: where they go when there are more or fewer: it is as large as what it has, so that little is in the cache
 * @max: of @nr
 * @spare: removals since more were taken than needs so many slots
 */
struct slots {
	struct slot *slot, *other;
	uint32_t nr, count, max, spare;
};

/** slots_init() - for at most @max numbers, a power of two; Return: 0 or -ENOMEM, slots_free() is due anyhow */
int slots_init(struct slots *s, uint32_t max);
void slots_free(struct slots *s);

/** slots_add() - @id, which is not 0 and not there, under a hash; there is room */
void slots_add(struct slots *s, uint32_t hash, uint32_t id);

/** slots_replace() - there is @other in place of @id */
void slots_replace(struct slots *s, uint32_t hash, uint32_t id, uint32_t other);

/** slots_remove() - @id, which is there under this hash */
void slots_remove(struct slots *s, uint32_t hash, uint32_t id);

/** slots_expect() - this hash will be asked for soon */
static inline void slots_expect(const struct slots *s, uint32_t hash)
{
	__builtin_prefetch(&s->slot[hash & (s->nr - 1)]);
}

/**
 * slots_next() - a number of a hash
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

/** slots_add_at() - slots_add() where slots_next() has returned 0 and left @at so */
static inline void slots_add_at(struct slots *s, uint32_t hash, uint32_t id, uint32_t at)
{
	/* There will be more slots, or have been too many. */
	if (s->count >= s->nr / 2 || s->spare) {
		slots_add(s, hash, id);
		return;
	}
	s->count++;
	s->slot[(hash + at - 1) & (s->nr - 1)] = (struct slot){.hash = hash, .id = id};
}

#endif /* NTPROF_MERGE_SLOTS_H */
