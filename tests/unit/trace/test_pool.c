// SPDX-License-Identifier: GPL-2.0-only
/* What user space does with pools, and programs that take out of them, made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/pool.h"

#define ITEM_BYTES 16
#define PER_BANK 64
#define BANKS 40

static struct {
	struct nt_pool ring;
	__u16 numbers[NT_FREE_MAX];
	struct pool p;
	unsigned int banks_left;
	uint8_t taken[PER_BANK * BANKS];
} shared;

static void *add(struct pool *p)
{
	if (!shared.banks_left)
		return NULL;
	shared.banks_left--;
	return calloc(p->per_bank, p->item_bytes);
}

static int setup(void **state)
{
	(void)state;
	memset(&shared, 0, sizeof(shared));
	shared.banks_left = BANKS;
	shared.p = (struct pool){
		.ring = &shared.ring,
		.numbers = shared.numbers,
		.add = add,
		.item_bytes = ITEM_BYTES,
		.per_bank = PER_BANK,
		.max_banks = BANKS,
	};
	return pool_init(&shared.p);
}

static int teardown(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < shared.p.nr_banks; i++)
		free(shared.p.bank[i]);
	pool_close(&shared.p);
	return 0;
}

/* As nt_take() in bpf/pools.bpf.h. */
static uint32_t take(void)
{
	uint32_t nr;

	if (shared.ring.taken == shared.ring.given)
		return 0;
	nr = shared.numbers[shared.ring.taken++ & (NT_FREE_MAX - 1)];
	assert_int_not_equal(nr, 0);
	assert_false(shared.taken[nr]);
	shared.taken[nr] = 1;
	for (int i = 0; i < ITEM_BYTES; i++)
		assert_int_equal(((char *)pool_at(&shared.p, nr))[i], 0);
	memset(pool_at(&shared.p, nr), 0xff, ITEM_BYTES);
	return nr;
}

static bool yes(void *context, uint32_t nr)
{
	(void)context;
	shared.taken[nr] = 0;
	return true;
}

static bool no(void *context, uint32_t nr)
{
	(void)context;
	(void)nr;
	return false;
}

/* @lead: to an item, what programs have does. */
static void look(bool lead, bool (*fn)(void *context, uint32_t nr))
{
	uint8_t used[PER_BANK * BANKS] = {0};

	if (lead)
		memcpy(used, shared.taken, sizeof(used));
	pool_look(&shared.p, used, fn, NULL);
}

static void what_is_not_asked_for_takes_one_bank(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		pool_supply(&shared.p, 0);
	assert_int_equal(shared.p.nr_banks, 1);
	assert_int_equal(pool_bytes(&shared.p), PER_BANK * ITEM_BYTES);
	assert_int_equal(pool_taken(&shared.p), 0);
}

/* It is no memory of the pool's own, and is what is taken first, however many banks there are. */
static void first_bank_may_be_there_already(void **state)
{
	char *first = calloc(PER_BANK, ITEM_BYTES);

	(void)state;
	shared.p.first = first;
	pool_supply(&shared.p, 0);
	assert_int_equal(shared.p.nr_banks, 1);
	assert_int_equal(pool_bytes(&shared.p), 0);
	pool_supply(&shared.p, 3 * PER_BANK);
	assert_int_equal(shared.banks_left, BANKS - (shared.p.nr_banks - 1));
	assert_int_equal(pool_bytes(&shared.p), (shared.p.nr_banks - 1) * PER_BANK * ITEM_BYTES);
	assert_ptr_equal(pool_at(&shared.p, 0), first);
	for (uint32_t nr = 1; nr < 3 * PER_BANK; nr++)
		assert_int_equal(take(), nr);
}

static void what_is_expected_can_be_taken_at_once(void **state)
{
	(void)state;
	pool_supply(&shared.p, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_not_equal(take(), 0);
	assert_int_equal(pool_taken(&shared.p), 1000);
}

static void growing_keeps_ahead_of_who_takes(void **state)
{
	unsigned int n = 0;

	(void)state;
	pool_supply(&shared.p, 0);
	while (n < PER_BANK * (BANKS / 2)) {
		uint32_t ready = shared.ring.given - shared.ring.taken;

		assert_in_range(ready, PER_BANK / 2, NT_FREE_MAX);
		do {
			assert_int_not_equal(take(), 0);
			n++;
		} while (shared.ring.given - shared.ring.taken > shared.ring.low);
		assert_in_range(shared.ring.low, 1, NT_FREE_MAX);
		pool_supply(&shared.p, 0);
	}
}

static void beyond_the_largest_size_there_is_nothing_to_take(void **state)
{
	unsigned int n = 0;

	(void)state;
	do
		pool_supply(&shared.p, 0);
	while (take() && ++n);
	assert_int_equal(n, PER_BANK * BANKS - 1);
	assert_int_equal(pool_taken(&shared.p), n);
	look(false, yes);
	look(false, yes);
	pool_supply(&shared.p, 0);
	assert_int_equal(pool_taken(&shared.p), 0);
	assert_int_not_equal(take(), 0);
}

static void without_memory_what_there_is_goes_on(void **state)
{
	(void)state;
	shared.banks_left = 1;
	for (int i = 0; i < PER_BANK - 1; i++) {
		pool_supply(&shared.p, 0);
		assert_int_not_equal(take(), 0);
	}
	pool_supply(&shared.p, 0);
	assert_int_equal(take(), 0);
}

static void what_is_used_or_waits_in_the_ring_stays(void **state)
{
	(void)state;
	pool_supply(&shared.p, 0);
	for (int i = 0; i < 10; i++)
		take();
	for (int i = 0; i < 3; i++)
		look(true, yes);
	assert_int_equal(pool_taken(&shared.p), 10);
	assert_int_equal(shared.p.nr_free, 0);
}

/* A program may have taken it, and not told yet for whom. */
static void what_nothing_leads_to_goes_back_at_the_second_look(void **state)
{
	(void)state;
	pool_supply(&shared.p, 0);
	take();
	look(false, yes);
	assert_int_equal(pool_taken(&shared.p), 1);
	look(true, yes);
	look(false, yes);
	assert_int_equal(pool_taken(&shared.p), 1);
	look(false, yes);
	assert_int_equal(pool_taken(&shared.p), 0);
}

static void what_has_commands_in_flight_does_not_go_back(void **state)
{
	(void)state;
	pool_supply(&shared.p, 0);
	take();
	for (int i = 0; i < 5; i++)
		look(false, no);
	assert_int_equal(pool_taken(&shared.p), 1);
	assert_true(shared.p.look);
	look(false, yes);
	assert_int_equal(pool_taken(&shared.p), 0);
}

static void coming_and_going_leaves_nothing_taken(void **state)
{
	(void)state;
	for (int i = 0; i < 10000; i++) {
		pool_supply(&shared.p, 0);
		for (int k = i % 30; k >= 0; k--)
			assert_int_not_equal(take(), 0);
		look(false, yes);
		look(false, yes);
	}
	pool_supply(&shared.p, 0);
	assert_int_equal(pool_taken(&shared.p), 0);
	assert_int_equal(shared.p.nr_banks, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(what_is_not_asked_for_takes_one_bank),
		TEST(first_bank_may_be_there_already),
		TEST(what_is_expected_can_be_taken_at_once),
		TEST(growing_keeps_ahead_of_who_takes),
		TEST(beyond_the_largest_size_there_is_nothing_to_take),
		TEST(without_memory_what_there_is_goes_on),
		TEST(what_is_used_or_waits_in_the_ring_stays),
		TEST(what_nothing_leads_to_goes_back_at_the_second_look),
		TEST(what_has_commands_in_flight_does_not_go_back),
		TEST(coming_and_going_leaves_nothing_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
