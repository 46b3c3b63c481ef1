// SPDX-License-Identifier: GPL-2.0-only
/* The pool of waiting records: no record is lost, and none that was removed is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/hash.h"
#include "merge/pending.h"

/* A record that began at @ns. */
static pending_id add_at(struct pending_pool *p, struct pending_list *list, uint64_t key,
			 uint64_t ns)
{
	const struct nt_record r = {.side = NT_TARGET, .slba = key, .points = {[NT_T_RX] = ns}};
	pending_id id = pending_add(p, list, list, &r, key, PENDING_STRANGE);

	assert_int_not_equal(id, 0);
	return id;
}

static pending_id add(struct pending_pool *p, struct pending_list *list, uint64_t key)
{
	return add_at(p, list, key, p->serial + 1);
}

static pending_id newest(const struct pending_pool *p, uint64_t key,
			 const struct pending_list *owner)
{
	const struct pending_group *g = pending_alike(p, key, owner);

	return g ? g->newest : 0;
}

/* Checks that the records with @key are these, up to a 0. */
static void must_be_alike(const struct pending_pool *p, uint64_t key,
			  const struct pending_list *owner, const pending_id *ids)
{
	pending_id id = newest(p, key, owner);

	for (; *ids; ids++) {
		assert_int_equal(id, *ids);
		id = pending_get(p, id)->older_alike;
	}
	assert_int_equal(id, 0);
}

static void those_of_equal_key_and_owner_are_found_newest_first(void **state)
{
	struct pending_list a = {0}, b = {0};
	struct pending_pool p;
	pending_id x, y, z;

	assert_int_equal(pending_init(&p), 0);
	must_be_alike(&p, 7, &a, (pending_id[]){0});
	x = add(&p, &a, 7);
	y = add(&p, &b, 7);
	z = add(&p, &a, 7);
	/* Another key with the same bits that choose a bucket. */
	add(&p, &a, 7 + (1ULL << 32));
	must_be_alike(&p, 7, &a, (pending_id[]){z, x, 0});
	must_be_alike(&p, 7, &b, (pending_id[]){y, 0});
	pending_remove(&p, &b, y);
	must_be_alike(&p, 7, &b, (pending_id[]){0});
	pending_remove(&p, &a, z);
	must_be_alike(&p, 7, &a, (pending_id[]){x, 0});
	y = add(&p, &a, 7);
	pending_remove(&p, &a, x);
	must_be_alike(&p, 7, &a, (pending_id[]){y, 0});
	pending_remove(&p, &a, y);
	must_be_alike(&p, 7, &a, (pending_id[]){0});
	assert_int_equal(p.count, 1);
	pending_free(&p);
}

static void those_that_come_out_of_order_are_put_in_order(void **state)
{
	struct pending_list a = {0};
	struct pending_group *g;
	struct pending_pool p;
	pending_id id[5];

	assert_int_equal(pending_init(&p), 0);
	id[3] = add_at(&p, &a, 7, 400);
	id[1] = add_at(&p, &a, 7, 200);
	id[4] = add_at(&p, &a, 7, 500);
	id[0] = add_at(&p, &a, 7, 100);
	id[2] = add_at(&p, &a, 7, 300);
	must_be_alike(&p, 7, &a, (pending_id[]){id[4], id[3], id[2], id[1], id[0], 0});
	g = pending_alike(&p, 7, &a);
	assert_int_equal(pending_seek(&p, g, 300), id[2]);
	assert_int_equal(pending_seek(&p, g, 399), id[2]);
	assert_int_equal(pending_seek(&p, g, 1000), id[4]);
	assert_int_equal(pending_seek(&p, g, 100), id[0]);
	assert_int_equal(pending_seek(&p, g, 99), 0);
	assert_int_equal(pending_seek(&p, g, 250), id[1]);
	pending_remove(&p, &a, id[1]);
	assert_int_equal(pending_seek(&p, g, 250), id[0]);
	assert_int_equal(pending_seek(&p, g, 450), id[3]);
	pending_free(&p);
}

static void a_key_of_0_is_a_key_like_others(void **state)
{
	struct pending_list a = {0};
	struct pending_pool p;
	pending_id x;

	assert_int_equal(pending_init(&p), 0);
	must_be_alike(&p, 0, &a, (pending_id[]){0});
	x = add(&p, &a, 0);
	must_be_alike(&p, 0, &a, (pending_id[]){x, 0});
	pending_free(&p);
}

static void owners_and_all_keep_the_order_of_arrival(void **state)
{
	struct pending_list a = {0}, b = {0};
	struct pending_pool p;
	pending_id x, y, z;

	assert_int_equal(pending_init(&p), 0);
	x = add(&p, &a, 1);
	y = add(&p, &b, 2);
	z = add(&p, &a, 3);
	assert_int_equal(pending_least(&p), x);
	assert_int_equal(pending_get(&p, x)->next, z);
	assert_int_equal(a.count, 2);
	pending_remove(&p, &a, x);
	assert_int_equal(pending_least(&p), y);
	assert_int_equal(a.first, z);
	assert_int_equal(a.last, z);
	pending_remove(&p, &a, z);
	assert_int_equal(a.count, 0);
	assert_int_equal(a.first, 0);
	assert_int_equal(pending_least(&p), y);
	pending_free(&p);
}

static void the_least_likely_are_first_and_of_these_the_oldest(void **state)
{
	struct pending_list a = {0}, b = {0};
	struct pending_pool p;
	pending_id id[4];

	assert_int_equal(pending_init(&p), 0);
	assert_int_equal(pending_least(&p), 0);
	id[0] = add(&p, &a, 1);
	id[1] = add(&p, &b, 1);
	id[2] = add(&p, &a, 1);
	id[3] = add(&p, &b, 1);
	pending_rate(&p, &a, PENDING_OWED);
	assert_int_equal(pending_least(&p), id[1]);
	pending_remove(&p, &b, id[1]);
	assert_int_equal(pending_least(&p), id[3]);
	pending_rate(&p, &b, PENDING_OWED);
	assert_int_equal(pending_least(&p), id[0]);
	pending_rate(&p, &b, PENDING_STRANGE);
	pending_rate(&p, &a, PENDING_STRANGE);
	assert_int_equal(pending_least(&p), id[0]);
	pending_rate(&p, &a, PENDING_NOBODY);
	assert_int_equal(pending_least(&p), id[0]);
	pending_remove(&p, &a, id[0]);
	assert_int_equal(pending_least(&p), id[2]);
	pending_remove(&p, &a, id[2]);
	assert_int_equal(pending_least(&p), id[3]);
	pending_remove(&p, &b, id[3]);
	assert_int_equal(pending_least(&p), 0);
	pending_free(&p);
}

/* Finds it the slow way, among many lists that change at random. */
static pending_id least_of(const struct pending_pool *p, const struct pending_list *list,
			   unsigned int nr)
{
	const struct pending_list *best = NULL;

	for (unsigned int i = 0; i < nr; i++) {
		const struct pending_list *l = &list[i];

		if (l->count &&
		    (!best || l->likelihood < best->likelihood ||
		     (l->likelihood == best->likelihood &&
		      pending_get(p, l->first)->serial < pending_get(p, best->first)->serial)))
			best = l;
	}
	return best ? best->first : 0;
}

static void of_many_lists_the_least_likely_and_oldest_is_known(void **state)
{
	enum { LISTS = 37 };
	struct pending_list list[LISTS] = {0};
	struct pending_pool p;
	uint64_t random = 1;

	assert_int_equal(pending_init(&p), 0);
	for (unsigned int i = 0; i < 100000; i++) {
		struct pending_list *l;
		struct nt_record r = {.side = NT_TARGET, .slba = i, .points = {[NT_T_RX] = i + 1}};

		random = hash_mix(random + i);
		l = &list[random % LISTS];
		/* The lists grow and shrink in turn. */
		if (random >> 32 & 1)
			pending_rate(&p, l, random >> 16 & 3);
		else if ((random >> 40 & 7) < (i / 500 % 2 ? 3 : 5))
			pending_add(&p, l, l, &r, random, l->likelihood);
		else if (l->count)
			pending_remove(&p, l, random >> 50 & 1 ? l->last : l->first);
		assert_int_equal(pending_least(&p), least_of(&p, list, LISTS));
	}
	pending_free(&p);
}

static void all_that_were_there_are_doubtful_and_none_that_come(void **state)
{
	struct pending_list a = {0};
	struct pending_pool p;
	pending_id x, y;

	assert_int_equal(pending_init(&p), 0);
	x = add(&p, &a, 1);
	pending_doubt_all(&p, pending_alike(&p, 1, &a));
	y = add(&p, &a, 1);
	assert_true(pending_is_doubtful(&p, pending_get(&p, x)));
	assert_false(pending_is_doubtful(&p, pending_get(&p, y)));
	pending_free(&p);
}

static void a_full_pool_holds_as_many_groups_and_empties_again(void **state)
{
	struct pending_list a = {0};
	struct pending_pool p;

	assert_int_equal(pending_init(&p), 0);
	for (unsigned int round = 0; round < 2; round++) {
		for (uint64_t key = 1; key <= PENDING_MAX; key++)
			add(&p, &a, hash_mix(key));
		assert_int_equal(p.count, PENDING_MAX);
		for (uint64_t key = 1; key <= PENDING_MAX; key++)
			assert_int_not_equal(newest(&p, hash_mix(key), &a), 0);
		while (p.count)
			pending_remove(&p, &a, pending_least(&p));
		assert_int_equal(p.count, 0);
		assert_int_equal(newest(&p, hash_mix(1), &a), 0);
	}
	pending_free(&p);
}

/*
 * Connections find their partners while many records wait. The cost for one connection does not
 * grow with the records that wait elsewhere. (It once took 25 s.)
 */
static void a_full_pool_of_many_lists_is_rated_at_once(void **state)
{
	enum { LISTS = 1024, ROUNDS = 64 };
	static struct pending_list list[LISTS];
	struct pending_pool p;

	assert_int_equal(pending_init(&p), 0);
	for (unsigned int i = 0; p.count < PENDING_MAX; i++)
		add(&p, &list[i % LISTS], hash_mix(i));
	for (unsigned int i = 0; i < ROUNDS * LISTS; i++)
		pending_rate(&p, &list[i % LISTS], i / LISTS % 2 ? PENDING_OWED : PENDING_AHEAD);
	assert_int_equal(pending_least(&p), list[0].first);
	pending_free(&p);
}

/*
 * 90 % of the reads are of one block. To remove one of these costs no more than to remove another
 * record.
 */
static void a_full_pool_of_one_key_empties_in_any_order(void **state)
{
	struct pending_list a = {0};
	struct pending_pool p;

	assert_int_equal(pending_init(&p), 0);
	while (p.count < PENDING_MAX)
		add(&p, &a, 1);
	for (unsigned int i = 0; p.count; i++)
		pending_remove(&p, &a, i % 2 ? a.last : pending_least(&p));
	must_be_alike(&p, 1, &a, (pending_id[]){0});
	pending_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_of_equal_key_and_owner_are_found_newest_first),
		cmocka_unit_test(those_that_come_out_of_order_are_put_in_order),
		cmocka_unit_test(the_least_likely_are_first_and_of_these_the_oldest),
		cmocka_unit_test(of_many_lists_the_least_likely_and_oldest_is_known),
		cmocka_unit_test(all_that_were_there_are_doubtful_and_none_that_come),
		cmocka_unit_test(a_key_of_0_is_a_key_like_others),
		cmocka_unit_test(owners_and_all_keep_the_order_of_arrival),
		cmocka_unit_test(a_full_pool_holds_as_many_groups_and_empties_again),
		cmocka_unit_test(a_full_pool_of_many_lists_is_rated_at_once),
		cmocka_unit_test(a_full_pool_of_one_key_empties_in_any_order),
	};

	return cmocka_run_group_tests_name("pending", tests, NULL, NULL);
}
