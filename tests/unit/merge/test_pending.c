// SPDX-License-Identifier: GPL-2.0-only
/* The pool of records that wait: nothing in it is lost, and nothing that was taken out is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "merge/pending.h"

static pending_id add(struct pending_pool *p, struct pending_list *list, uint64_t key)
{
	const struct nt_record r = {.slba = key};
	pending_id id = pending_add(p, list, list, &r, key);

	assert_int_not_equal(id, 0);
	return id;
}

/* The entries of @key are these, up to a 0. */
static void must_be_alike(const struct pending_pool *p, uint64_t key, const pending_id *ids)
{
	pending_id id = pending_alike(p, key);

	for (; *ids; ids++) {
		assert_int_equal(id, *ids);
		id = pending_get(p, id)->next_alike;
	}
	assert_int_equal(id, 0);
}

static void those_of_equal_key_are_found_newest_first(void **state)
{
	struct pending_list a = {0}, b = {0};
	struct pending_pool p;
	pending_id x, y, z;

	(void)state;
	assert_int_equal(pending_init(&p), 0);
	must_be_alike(&p, 7, (pending_id[]){0});
	x = add(&p, &a, 7);
	y = add(&p, &b, 7);
	z = add(&p, &a, 7);
	/* Equal in the bits that choose a bucket. */
	add(&p, &a, 7 + (1ULL << 32));
	must_be_alike(&p, 7, (pending_id[]){z, y, x, 0});
	pending_remove(&p, &b, y);
	must_be_alike(&p, 7, (pending_id[]){z, x, 0});
	pending_remove(&p, &a, z);
	must_be_alike(&p, 7, (pending_id[]){x, 0});
	y = add(&p, &b, 7);
	pending_remove(&p, &a, x);
	must_be_alike(&p, 7, (pending_id[]){y, 0});
	pending_remove(&p, &b, y);
	must_be_alike(&p, 7, (pending_id[]){0});
	assert_int_equal(p.count, 1);
	pending_free(&p);
}

static void a_key_of_0_is_a_key_like_others(void **state)
{
	struct pending_list a = {0};
	struct pending_pool p;
	pending_id x;

	(void)state;
	assert_int_equal(pending_init(&p), 0);
	must_be_alike(&p, 0, (pending_id[]){0});
	x = add(&p, &a, 0);
	must_be_alike(&p, 0, (pending_id[]){x, 0});
	pending_free(&p);
}

static void owners_and_all_keep_the_order_of_arrival(void **state)
{
	struct pending_list a = {0}, b = {0};
	struct pending_pool p;
	pending_id x, y, z;

	(void)state;
	assert_int_equal(pending_init(&p), 0);
	x = add(&p, &a, 1);
	y = add(&p, &b, 2);
	z = add(&p, &a, 3);
	assert_int_equal(p.oldest, x);
	assert_int_equal(pending_get(&p, x)->newer, y);
	assert_int_equal(pending_get(&p, x)->next, z);
	assert_int_equal(p.newest, z);
	assert_int_equal(a.count, 2);
	pending_remove(&p, &a, x);
	assert_int_equal(p.oldest, y);
	assert_int_equal(a.first, z);
	assert_int_equal(a.last, z);
	pending_remove(&p, &a, z);
	assert_int_equal(a.count, 0);
	assert_int_equal(a.first, 0);
	assert_int_equal(p.newest, y);
	pending_free(&p);
}

static void a_full_pool_holds_as_many_groups_and_empties_again(void **state)
{
	struct pending_list a = {0};
	struct pending_pool p;

	(void)state;
	assert_int_equal(pending_init(&p), 0);
	for (unsigned int round = 0; round < 2; round++) {
		for (uint64_t key = 1; key <= PENDING_MAX; key++)
			add(&p, &a, hash_mix(key));
		assert_int_equal(p.count, PENDING_MAX);
		/* A table that grew as soon as a few share a bucket would take ten times as much. */
		assert_true(HASH_OVERHEAD(hh, p.by_key) <= 12 << 20);
		for (uint64_t key = 1; key <= PENDING_MAX; key++)
			assert_int_not_equal(pending_alike(&p, hash_mix(key)), 0);
		while (p.oldest)
			pending_remove(&p, &a, p.oldest);
		assert_int_equal(p.count, 0);
		assert_int_equal(pending_alike(&p, hash_mix(1)), 0);
	}
	pending_free(&p);
}

/* 90 % of the reads on one block: taking any of them out costs no more than taking out another. */
static void a_full_pool_of_one_key_empties_in_any_order(void **state)
{
	struct pending_list a = {0};
	struct pending_pool p;

	(void)state;
	assert_int_equal(pending_init(&p), 0);
	while (p.count < PENDING_MAX)
		add(&p, &a, 1);
	for (unsigned int i = 0; p.count; i++)
		pending_remove(&p, &a, i % 2 ? p.newest : p.oldest);
	must_be_alike(&p, 1, (pending_id[]){0});
	pending_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_of_equal_key_are_found_newest_first),
		cmocka_unit_test(a_key_of_0_is_a_key_like_others),
		cmocka_unit_test(owners_and_all_keep_the_order_of_arrival),
		cmocka_unit_test(a_full_pool_holds_as_many_groups_and_empties_again),
		cmocka_unit_test(a_full_pool_of_one_key_empties_in_any_order),
	};

	return cmocka_run_group_tests_name("pending", tests, NULL, NULL);
}
