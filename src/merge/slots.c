// SPDX-License-Identifier: GPL-2.0-only
#include "merge/slots.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "core/pages.h"

#define SLOTS_MIN 256
/*
 * The table shrinks when, for as many removals as it has slots, less than this part of it was
 * taken.
 */
#define SLOTS_PER_ENTRY_MAX 16

int slots_init(struct slots *s, uint32_t max)
{
	s->max = 2 * max > SLOTS_MIN ? 2 * max : SLOTS_MIN;
	s->nr = SLOTS_MIN;
	s->count = 0;
	s->spare = 0;
	s->slot = pages_reserve(s->max * sizeof(*s->slot));
	s->other = pages_reserve(s->max * sizeof(*s->other));
	return s->slot && s->other ? 0 : -ENOMEM;
}

void slots_free(struct slots *s)
{
	pages_release(s->slot, s->max * sizeof(*s->slot));
	pages_release(s->other, s->max * sizeof(*s->other));
}

static void put(struct slots *s, struct slot what)
{
	uint32_t at = what.hash & (s->nr - 1);

	while (s->slot[at].id)
		at = (at + 1) & (s->nr - 1);
	s->slot[at] = what;
}

static void resize(struct slots *s, uint32_t nr)
{
	struct slot *from = s->slot;
	uint32_t before = s->nr;

	s->slot = s->other;
	s->other = from;
	s->nr = nr;
	s->spare = 0;
	memset(s->slot, 0, nr * sizeof(*s->slot));
	for (uint32_t i = 0; i < before; i++) {
		if (from[i].id)
			put(s, from[i]);
	}
}

void slots_add(struct slots *s, uint32_t hash, uint32_t id)
{
	if (++s->count > s->nr / SLOTS_PER_ENTRY_MAX)
		s->spare = 0;
	if (s->count > s->nr / 2 && s->nr < s->max)
		resize(s, 2 * s->nr);
	put(s, (struct slot){.hash = hash, .id = id});
}

void slots_replace(struct slots *s, uint32_t hash, uint32_t id, uint32_t other)
{
	uint32_t at = hash & (s->nr - 1);

	while (s->slot[at].id != id)
		at = (at + 1) & (s->nr - 1);
	s->slot[at].id = other;
}

/*
 * Whether the number at @at may move to the free slot before it: a search for it still has to pass
 * there.
 */
static bool may_move(const struct slots *s, uint32_t free_slot, uint32_t at)
{
	uint32_t mask = s->nr - 1;

	return ((at - s->slot[at].hash) & mask) >= ((at - free_slot) & mask);
}

void slots_remove(struct slots *s, uint32_t hash, uint32_t id)
{
	uint32_t mask = s->nr - 1, at = hash & mask;

	while (s->slot[at].id != id)
		at = (at + 1) & mask;
	for (uint32_t i = (at + 1) & mask; s->slot[i].id; i = (i + 1) & mask) {
		if (!may_move(s, at, i))
			continue;
		s->slot[at] = s->slot[i];
		at = i;
	}
	s->slot[at].id = 0;
	if (--s->count < s->nr / SLOTS_PER_ENTRY_MAX && ++s->spare >= s->nr && s->nr > SLOTS_MIN)
		resize(s, s->nr / 2);
}
