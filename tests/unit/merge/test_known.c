// SPDX-License-Identifier: GPL-2.0-only
/* The connections that a merge knows: one for each name, and a bounded number for each queue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "merge/topology.h"

#define MAX 1000

static struct known known;

static int begin(void **state)
{
	known = (struct known){0};
	return 0;
}

static int end(void **state)
{
	known_free(&known);
	return 0;
}

static struct merge_connection *get(struct merge_connection like, uint16_t cntlid, unsigned int max)
{
	like.cntlid = cntlid;
	return known_get(&known, &like, max);
}

static void each_name_is_one_connection(void **state)
{
	static const struct merge_connection like[] = {
		{.host_stream = 1,
		 .target_stream = 2,
		 .host_instance = 3,
		 .subsysnqn = "s",
		 .qid = 4},
		{.host_stream = 9,
		 .target_stream = 2,
		 .host_instance = 3,
		 .subsysnqn = "s",
		 .qid = 4},
		{.host_stream = 1,
		 .target_stream = 9,
		 .host_instance = 3,
		 .subsysnqn = "s",
		 .qid = 4},
		{.host_stream = 1,
		 .target_stream = 2,
		 .host_instance = 9,
		 .subsysnqn = "s",
		 .qid = 4},
		{.host_stream = 1,
		 .target_stream = 2,
		 .host_instance = 3,
		 .subsysnqn = "t",
		 .qid = 4},
		{.host_stream = 1,
		 .target_stream = 2,
		 .host_instance = 3,
		 .subsysnqn = "s",
		 .qid = 9},
	};
	struct merge_connection *c[ARRAY_SIZE(like)];

	for (unsigned int i = 0; i < ARRAY_SIZE(like); i++) {
		c[i] = get(like[i], 7, MAX);
		assert_int_equal(c[i]->index, i);
		assert_int_equal(known.nr, i + 1);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(like); i++)
		assert_ptr_equal(get(like[i], 7, MAX), c[i]);
	assert_int_equal(known.nr, ARRAY_SIZE(like));
}

static void a_queue_has_so_many_controllers_and_then_the_last_one_goes_on(void **state)
{
	const struct merge_connection like = {.host_stream = 1, .target_stream = 2, .qid = 4};
	struct merge_connection *last = NULL;

	for (uint16_t id = 1; id <= KNOWN_PER_QUEUE; id++) {
		last = get(like, id, MAX);
		assert_int_equal(known.nr, id);
	}
	assert_ptr_equal(get(like, 99, MAX), last);
	assert_int_equal(last->cntlid, 99);
	assert_int_equal(known.nr, KNOWN_PER_QUEUE);
	/* The other connections have not changed. */
	assert_int_equal(get(like, 1, MAX)->index, 0);
	/*
	 * The id that the last connection had before counts as a new one, so that connection gets
	 * it again.
	 */
	assert_ptr_equal(get(like, KNOWN_PER_QUEUE, MAX), last);
}

/* With only a target's stream it is unknown whether they are one controller that reconnects. */
static void controllers_of_a_target_alone_are_all_told(void **state)
{
	const struct merge_connection like = {.host_stream = MERGE_NO_STREAM, .target_stream = 2};

	for (uint16_t id = 1; id <= 10 * KNOWN_PER_QUEUE; id++)
		assert_int_equal(get(like, id, MAX)->index, id - 1);
}

static void with_half_of_all_taken_each_queue_has_one(void **state)
{
	enum { MANY = 20 };
	const struct merge_connection sides[] = {
		{.host_stream = 1, .target_stream = 2, .qid = 4},
		{.host_stream = MERGE_NO_STREAM, .target_stream = 2, .qid = 4},
	};
	struct merge_connection *c[ARRAY_SIZE(sides)];

	for (unsigned int i = 0; i < ARRAY_SIZE(sides); i++)
		c[i] = get(sides[i], 1, MANY);
	for (uint16_t qid = 10; known.nr < MANY / 2 - 1; qid++) {
		struct merge_connection other = sides[0];

		other.qid = qid;
		get(other, 1, MANY);
	}
	/* This one is the last of the first endpoint. */
	assert_ptr_not_equal(get(sides[0], 2, MANY), c[0]);
	assert_int_equal(known.nr, MANY / 2);
	assert_int_equal(get(sides[0], 3, MANY)->index, MANY / 2 - 1);
	assert_ptr_equal(get(sides[1], 3, MANY), c[1]);
	assert_int_equal(known.nr, MANY / 2);
	for (uint16_t qid = 100; known.nr < MANY; qid++) {
		struct merge_connection other = sides[0];

		other.qid = qid;
		assert_non_null(get(other, 1, MANY));
	}
	assert_null(get((struct merge_connection){.qid = 999}, 1, MANY));
	assert_ptr_equal(get(sides[1], 3, MANY), c[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_name_is_one_connection, begin, end),
		cmocka_unit_test_setup_teardown(
			a_queue_has_so_many_controllers_and_then_the_last_one_goes_on, begin, end),
		cmocka_unit_test_setup_teardown(controllers_of_a_target_alone_are_all_told, begin,
						end),
		cmocka_unit_test_setup_teardown(with_half_of_all_taken_each_queue_has_one, begin,
						end),
	};

	return cmocka_run_group_tests_name("known", tests, NULL, NULL);
}
