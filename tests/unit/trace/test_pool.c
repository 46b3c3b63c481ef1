// SPDX-License-Identifier: GPL-2.0-only
/* What user space does with pools. The programs that take from them are simulated. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "in_range.h"
#include "trace/pool.h"

#define ITEM_BYTES 16
#define PER_BANK 64
#define BANKS 40

static struct {
	struct nt_pool ring;
	__u16 numbers[NT_FREE_MAX];
	struct pool p;
	unsigned int banks_left;
	bool stays; /* banks cannot be removed */
	uint8_t taken[PER_BANK * BANKS];
} shared;

static void *add(struct pool *p, uint32_t nr)
{
	assert_uint_in_range(nr, 0, BANKS - 1);
	assert_true(nr >= p->nr_banks || !p->bank[nr]);
	if (!shared.banks_left)
		return NULL;
	shared.banks_left--;
	return calloc(p->per_bank, p->item_bytes);
}

static bool remove_bank(struct pool *p, uint32_t nr)
{
	if (shared.stays)
		return false;
	for (uint32_t i = 0; i < PER_BANK; i++)
		assert_false(shared.taken[nr * PER_BANK + i]);
	free(p->bank[nr]);
	shared.banks_left++;
	return true;
}

static int setup(void **state)
{
	memset(&shared, 0, sizeof(shared));
	shared.banks_left = BANKS;
	shared.p = (struct pool){
		.ring = &shared.ring,
		.numbers = shared.numbers,
		.add = add,
		.remove = remove_bank,
		.item_bytes = ITEM_BYTES,
		.per_bank = PER_BANK,
		.max_banks = BANKS,
	};
	return pool_init(&shared.p);
}

static int teardown(void **state)
{
	for (uint32_t i = 0; i < shared.p.nr_banks; i++)
		free(shared.p.bank[i]);
	pool_close(&shared.p);
	return 0;
}

/* Like nt_take() in bpf/pools.bpf.h. */
static uint32_t take(void)
{
	uint32_t nr;

	if (shared.ring.taken == shared.ring.given)
		return 0;
	nr = shared.numbers[shared.ring.taken++ & (NT_FREE_MAX - 1)];
	assert_int_not_equal(nr, 0);
	assert_false(shared.taken[nr]);
	shared.taken[nr] = 1;
	assert_non_null(pool_at(&shared.p, nr));
	for (int i = 0; i < ITEM_BYTES; i++)
		assert_int_equal(((char *)pool_at(&shared.p, nr))[i], 0);
	memset(pool_at(&shared.p, nr), 0xff, ITEM_BYTES);
	return nr;
}

static bool yes(void *context, uint32_t nr)
{
	shared.taken[nr] = 0;
	return true;
}

static bool no(void *context, uint32_t nr)
{
	return false;
}

/* @lead: whether an item that programs have is found in use */
static void look(bool lead, bool (*fn)(void *context, uint32_t nr))
{
	uint8_t used[PER_BANK * BANKS] = {0};

	if (lead)
		memcpy(used, shared.taken, sizeof(used));
	pool_look(&shared.p, used, fn, NULL);
}

static void what_is_not_asked_for_takes_one_bank(void **state)
{
	for (int i = 0; i < 100; i++)
		pool_supply(&shared.p, 0);
	assert_int_equal(shared.p.nr_banks, 1);
	assert_int_equal(pool_bytes(&shared.p), PER_BANK * ITEM_BYTES);
	assert_int_equal(pool_taken(&shared.p), 0);
}

/*
 * The pool does not own its first bank. Items of that bank are taken first, however many banks
 * there are.
 */
static void first_bank_may_be_there_already(void **state)
{
	char *first = calloc(PER_BANK, ITEM_BYTES);

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
	pool_supply(&shared.p, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_not_equal(take(), 0);
	assert_int_equal(pool_taken(&shared.p), 1000);
}

static void growing_keeps_ahead_of_who_takes(void **state)
{
	unsigned int n = 0;

	pool_supply(&shared.p, 0);
	while (n < PER_BANK * (BANKS / 2)) {
		uint32_t ready = shared.ring.given - shared.ring.taken;

		assert_uint_in_range(ready, PER_BANK / 2, NT_FREE_MAX);
		do {
			assert_int_not_equal(take(), 0);
			n++;
		} while (shared.ring.given - shared.ring.taken > shared.ring.low);
		assert_uint_in_range(shared.ring.low, 1, NT_FREE_MAX);
		pool_supply(&shared.p, 0);
	}
}

static void beyond_the_largest_size_there_is_nothing_to_take(void **state)
{
	unsigned int n = 0;

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
	pool_supply(&shared.p, 0);
	for (int i = 0; i < 10; i++)
		take();
	for (int i = 0; i < 3; i++)
		look(true, yes);
	assert_int_equal(pool_taken(&shared.p), 10);
	assert_int_equal(shared.p.nr_free, 0);
}

/* A program may have taken an item, but not have noted yet where it is used. */
static void what_nothing_leads_to_goes_back_at_the_second_look(void **state)
{
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

/* Gives back the items @from to @to - 1, as far as they are taken. */
static void give_back(uint32_t from, uint32_t to)
{
	for (uint32_t nr = from; nr < to; nr++) {
		if (!shared.taken[nr])
			continue;
		shared.taken[nr] = 0;
		pool_give_back(&shared.p, nr);
	}
}

static void take_many(unsigned int nr)
{
	while (nr--) {
		pool_supply(&shared.p, 0);
		assert_int_not_equal(take(), 0);
	}
}

/* Return: the interval in which banks were removed, 0 if none were */
static unsigned int shrink(unsigned int intervals)
{
	for (unsigned int i = 1; i <= intervals; i++) {
		bool went = pool_shrink(&shared.p);

		pool_supply(&shared.p, 0);
		if (went)
			return i;
	}
	return 0;
}

static unsigned int banks_there(void)
{
	unsigned int n = 0;

	for (uint32_t b = 0; b < shared.p.nr_banks; b++)
		n += shared.p.bank[b] != NULL;
	assert_int_equal(n, shared.p.nr_there);
	assert_int_equal(pool_bytes(&shared.p), n * PER_BANK * ITEM_BYTES);
	return n;
}

static void banks_that_nobody_has_go_after_a_while(void **state)
{
	take_many(20 * PER_BANK);
	give_back(1, PER_BANK * BANKS);
	assert_int_equal(shrink(10), 0);
	assert_int_equal(shrink(10), 1);
	assert_int_equal(banks_there(), 2);
	assert_int_equal(shared.p.nr_banks, 2);
	assert_int_equal(pool_taken(&shared.p), 0);
	assert_int_equal(shrink(100), 0);
	assert_null(pool_at(&shared.p, 2 * PER_BANK));
	take_many(20 * PER_BANK);
	assert_int_equal(pool_taken(&shared.p), 20 * PER_BANK);
}

static void bank_of_which_an_item_is_taken_stays(void **state)
{
	const uint32_t stays = 10 * PER_BANK + 3;

	take_many(20 * PER_BANK);
	give_back(1, stays);
	give_back(stays + 1, PER_BANK * BANKS);
	assert_int_equal(shrink(11), 11);
	assert_int_equal(pool_taken(&shared.p), 1);
	assert_non_null(pool_at(&shared.p, stays));
	assert_int_equal(shared.p.nr_banks, 11);
	assert_int_equal(banks_there(), 2);
	for (uint32_t b = 1; b < 10; b++)
		assert_null(pool_at(&shared.p, b * PER_BANK));
	/* New banks fill the gaps, and all items can be taken. */
	take_many(12 * PER_BANK);
	assert_int_equal(pool_taken(&shared.p), 12 * PER_BANK + 1);
	give_back(1, PER_BANK * BANKS);
	assert_int_equal(pool_taken(&shared.p), 0);
	assert_int_equal(shrink(11), 11);
	assert_int_equal(banks_there(), 2);
}

static void banks_stay_while_they_are_used_now_and_then(void **state)
{
	unsigned int banks;

	take_many(20 * PER_BANK);
	banks = banks_there();
	for (int i = 0; i < 10; i++) {
		give_back(1, PER_BANK * BANKS);
		assert_int_equal(shrink(9), 0);
		take_many(20 * PER_BANK);
		assert_int_equal(shrink(1), 0);
	}
	assert_int_equal(banks_there(), banks);
}

static void bank_that_cannot_be_removed_is_used_on(void **state)
{
	unsigned int banks;

	take_many(20 * PER_BANK);
	banks = banks_there();
	give_back(1, PER_BANK * BANKS);
	shared.stays = true;
	assert_int_equal(shrink(50), 0);
	assert_int_equal(banks_there(), banks);
	take_many(20 * PER_BANK);
	assert_int_equal(banks_there(), banks);
}

static void what_is_to_be_there_in_any_case_stays(void **state)
{
	unsigned int banks;

	shared.p.least = 7 * PER_BANK;
	pool_supply(&shared.p, 0);
	banks = banks_there();
	assert_uint_in_range(banks, 7, 8);
	assert_int_equal(shrink(50), 0);
	for (int i = 0; i < 7 * PER_BANK; i++)
		assert_int_not_equal(take(), 0);
	take_many(7 * PER_BANK);
	give_back(1, PER_BANK * BANKS);
	assert_int_equal(shrink(50), 11);
	assert_int_equal(shrink(50), 0);
	assert_int_equal(banks_there(), banks);
}

static void freed_items_of_lower_banks_are_given_out_first(void **state)
{
	take_many(4 * PER_BANK);
	while (take())
		;
	give_back(3 * PER_BANK, 3 * PER_BANK + 10);
	give_back(PER_BANK, PER_BANK + 10);
	pool_supply(&shared.p, 0);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(take(), PER_BANK + i);
}

/* Another thread acts as programs that take items, and holds each for a while. */
#define HELD 100
#define CHANGES 200000
static struct {
	uint32_t nr[HELD]; /* taken by that thread; 0: none yet, or given back */
	bool done;
} others;

static void *take_and_leave(void *context)
{
	struct pool *p = &shared.p;
	unsigned int i = 0, n = 0;

	while (n < CHANGES && !__atomic_load_n(&others.done, __ATOMIC_RELAXED)) {
		uint32_t taken = __atomic_load_n(&p->ring->taken, __ATOMIC_ACQUIRE), nr;

		i = (i + 1) % HELD;
		if (__atomic_load_n(&others.nr[i], __ATOMIC_ACQUIRE))
			continue;
		if (taken == __atomic_load_n(&p->ring->given, __ATOMIC_ACQUIRE))
			continue;
		nr = p->numbers[taken & (NT_FREE_MAX - 1)];
		if (!__atomic_compare_exchange_n(&p->ring->taken, &taken, taken + 1, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&others.nr[i], nr, __ATOMIC_RELEASE);
		n++;
	}
	__atomic_store_n(&others.done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void collect_left(unsigned int from)
{
	for (unsigned int i = from; i < HELD; i += 2) {
		uint32_t nr = __atomic_load_n(&others.nr[i], __ATOMIC_ACQUIRE);

		if (!nr)
			continue;
		/* An item that is in use must be in a bank that exists. */
		assert_non_null(pool_at(&shared.p, nr));
		assert_int_equal(shared.p.items[nr], POOL_OUT);
		pool_give_back(&shared.p, nr);
		__atomic_store_n(&others.nr[i], 0, __ATOMIC_RELEASE);
	}
}

static void programs_take_while_banks_come_and_go(void **state)
{
	pthread_t thread;
	unsigned int n = 0;

	memset(&others, 0, sizeof(others));
	pool_supply(&shared.p, 0);
	assert_int_equal(pthread_create(&thread, NULL, take_and_leave, NULL), 0);
	while (!__atomic_load_n(&others.done, __ATOMIC_ACQUIRE)) {
		/* More than enough banks, from time to time. */
		if (++n % 40 == 0)
			pool_supply(&shared.p, 10 * PER_BANK);
		collect_left(n % 2);
		pool_shrink(&shared.p);
		pool_supply(&shared.p, 0);
	}
	pthread_join(thread, NULL);
	collect_left(0);
	collect_left(1);
	pool_supply(&shared.p, 0);
	assert_int_equal(pool_taken(&shared.p), 0);
	assert_int_equal(shrink(30) ? shrink(30) : 0, 0);
	assert_int_equal(banks_there(), 2);
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
		TEST(banks_that_nobody_has_go_after_a_while),
		TEST(bank_of_which_an_item_is_taken_stays),
		TEST(banks_stay_while_they_are_used_now_and_then),
		TEST(bank_that_cannot_be_removed_is_used_on),
		TEST(what_is_to_be_there_in_any_case_stays),
		TEST(freed_items_of_lower_banks_are_given_out_first),
		TEST(programs_take_while_banks_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
