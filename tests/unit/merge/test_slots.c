// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hash table of waiting records: an entry is found whatever else was added and removed, and
 * nothing else is found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/hash.h"
#include "merge/pending.h"

#define MAX 4096
/* Hashes collide completely, or in the bits that choose a slot. */
#define HASHES 700

static uint32_t hash_of(uint32_t id)
{
	return (uint32_t)hash_mix(id % HASHES) & 0xc00003ff;
}

static unsigned int times_found(const struct slots *s, uint32_t id)
{
	uint32_t at = 0, found;
	unsigned int n = 0;

	while ((found = slots_next(s, hash_of(id), &at))) {
		assert_int_equal(hash_of(found), hash_of(id));
		n += found == id;
	}
	return n;
}

static void what_is_there_is_found_once_and_what_is_gone_is_not(void **state)
{
	static bool there[MAX + 1];
	uint64_t random = 1;
	struct slots s;

	assert_int_equal(slots_init(&s, MAX), 0);
	for (unsigned int i = 0; i < 60000; i++) {
		/* The number of entries grows up to all, and shrinks to nearly none. */
		bool more = i / 15000 % 2 == 0;
		uint32_t id;

		random = hash_mix(random + i);
		id = 1 + (uint32_t)(random % MAX);
		if (there[id] == more && random >> 32 & 7)
			continue;
		if (there[id])
			slots_remove(&s, hash_of(id), id);
		else
			slots_add(&s, hash_of(id), id);
		there[id] = !there[id];
		assert_int_equal(times_found(&s, id), there[id]);
		id = 1 + (uint32_t)(random >> 16) % MAX;
		assert_int_equal(times_found(&s, id), there[id]);
	}
	for (uint32_t id = 1; id <= MAX; id++)
		assert_int_equal(times_found(&s, id), there[id]);
	slots_free(&s);
}

static void a_full_table_empties_and_gets_small_again(void **state)
{
	struct slots s;
	uint32_t least;

	assert_int_equal(slots_init(&s, MAX), 0);
	least = s.nr;
	for (unsigned int round = 0; round < 3; round++) {
		for (uint32_t id = 1; id <= MAX; id++)
			slots_add(&s, hash_of(id), id);
		assert_int_equal(s.count, MAX);
		assert_int_equal(s.nr, 2 * MAX);
		for (uint32_t id = 1; id <= MAX; id++)
			slots_remove(&s, hash_of(id), id);
		assert_int_equal(s.count, 0);
		assert_int_equal(times_found(&s, 1), 0);
	}
	for (uint32_t i = 0; i < 8 * MAX; i++) {
		slots_add(&s, i, 1);
		slots_remove(&s, i, 1);
	}
	assert_int_equal(s.nr, least);
	slots_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there_is_found_once_and_what_is_gone_is_not),
		cmocka_unit_test(a_full_table_empties_and_gets_small_again),
	};

	return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
