// SPDX-License-Identifier: GPL-2.0-only
/* What is slower than its like all the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "merge/apart.h"

#define US 1000ULL
#define MS (1000 * US)
#define SECOND (1000 * MS)

/* Three arrays: a has two queues, the others one. */
static struct merge_connection connections[] = {
	{.index = 0, .qid = 1, .host_stream = 0, .target_stream = 1, .subsysnqn = "nqn.a"},
	{.index = 1, .qid = 2, .host_stream = 0, .target_stream = 1, .subsysnqn = "nqn.a"},
	{.index = 2, .qid = 1, .target_stream = 1, .host_instance = 1, .subsysnqn = "nqn.b"},
	{.index = 3, .qid = 1, .target_stream = 1, .host_instance = 2, .subsysnqn = "nqn.c"},
};

static struct why *w;
static struct apart a;

static int setup(void **state)
{
	w = why_new(128);
	return w ? 0 : -1;
}

static int teardown(void **state)
{
	why_free(w);
	return 0;
}

/* @nr reads of a namespace, with @disk and @network in these stages. */
static void add(unsigned int connection, uint32_t nsid, unsigned int nr, uint64_t disk,
		uint64_t network)
{
	static const uint8_t into[NT_MERGED_STAGES_NR] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	const struct nt_record r = {
		.side = NT_HOST,
		.op = NT_OP_READ,
		.qid = connections[connection].qid,
		.nsid = nsid,
		.length = 4096,
		.points = {[NT_H_SUBMIT] = SECOND, [NT_H_COMPLETE] = SECOND + disk + network},
	};
	const int64_t stage[NT_MERGED_STAGES_NR] = {
		[NT_MS_TARGET_SUBSYSTEM] = (int64_t)disk,
		[NT_MS_NETWORK_TRANSMISSION] = (int64_t)network,
	};
	const struct why_command c = {.c = &connections[connection],
				      .r = &r,
				      .begin_ns = SECOND,
				      .cpu = ORIGIN_NO_CPU,
				      .nr = NT_MERGED_STAGES_NR,
				      .stage = stage,
				      .into = into};

	for (unsigned int i = 0; i < nr; i++) {
		unsigned int stands_for = why_stands_for(w, &r);

		if (stands_for)
			assert_int_equal(why_add(w, &c, stands_for), 0);
	}
}

static void assert_apart(enum why_key key, unsigned int connection, unsigned int stage)
{
	assert_true(apart_of(w, WHY_READ, &a));
	assert_int_equal(a.key, key);
	assert_ptr_equal(a.cell->c, &connections[connection]);
	assert_int_equal(a.stage, stage);
}

static void assert_about(uint64_t ns, uint64_t expected)
{
	assert_in_range(ns, expected - expected / 20, expected + expected / 20);
}

static void a_slow_array_is_apart_also_where_something_else_is_slow_for_a_while(void **state)
{
	for (unsigned int round = 0; round < 200; round++) {
		uint64_t network = round / 20 == 7 ? 120 * MS : 20 * MS;

		for (unsigned int c = 0; c < 4; c++)
			add(c, 1, 1, c == 2 ? 16 * MS : MS, network);
	}
	assert_apart(WHY_ARRAY, 2, NT_MS_TARGET_SUBSYSTEM);
	assert_about(a.typical_ns, 16 * MS);
	assert_about(a.others_ns, MS);
	assert_int_equal(a.others, 2);
}

static void a_slow_disk_is_apart_from_the_other_of_its_array(void **state)
{
	for (unsigned int c = 0; c < 2; c++) {
		add(c, 1, 300, 300 * US, 3 * MS);
		add(c, 2, 300, 20 * MS, 3 * MS);
	}
	assert_apart(WHY_DEVICE, 0, NT_MS_TARGET_SUBSYSTEM);
	assert_int_equal(a.cell->what, 2);
	assert_about(a.typical_ns, 20 * MS);
	assert_about(a.others_ns, 300 * US);
}

static void a_slow_queue_is_apart_from_the_others(void **state)
{
	add(0, 1, 300, MS, MS);
	add(1, 1, 300, MS, 30 * MS);
	add(2, 1, 300, MS, MS);
	add(3, 1, 300, MS, MS);
	assert_apart(WHY_QUEUE, 1, NT_MS_NETWORK_TRANSMISSION);
	assert_int_equal(a.others, 3);
}

/* Commands past the first some thousands are counted one for many. */
static void a_sample_says_the_same(void **state)
{
	for (unsigned int i = 0; i < 100000; i++)
		add(i % 4, 1, 1, i % 4 == 3 ? 16 * MS : MS, 2 * MS);
	assert_true(w->cell[0]->levels.seen < 25000);
	assert_apart(WHY_ARRAY, 3, NT_MS_TARGET_SUBSYSTEM);
	assert_about(a.typical_ns, 16 * MS);
}

static void some_commands_that_hang_make_nothing_slower(void **state)
{
	for (unsigned int c = 0; c < 4; c++)
		add(c, 1, 300, MS, MS);
	add(2, 1, 5, 30 * SECOND, MS);
	assert_false(apart_of(w, WHY_READ, &a));
	assert_int_equal(a.key, WHY_KEYS_NR);
}

static void what_is_a_small_part_of_the_latency_is_not_told(void **state)
{
	add(0, 1, 300, 100 * US, 20 * MS);
	add(2, 1, 300, 2 * MS, 20 * MS);
	assert_false(apart_of(w, WHY_READ, &a));
}

static void a_few_commands_are_no_array(void **state)
{
	add(0, 1, 300, MS, MS);
	add(2, 1, APART_COMMANDS_MIN - 1, 50 * MS, MS);
	assert_false(apart_of(w, WHY_READ, &a));
	add(2, 1, 1, 50 * MS, MS);
	assert_apart(WHY_ARRAY, 2, NT_MS_TARGET_SUBSYSTEM);
}

static void nothing_is_apart_by_itself(void **state)
{
	assert_false(apart_of(w, WHY_READ, &a));
	add(2, 1, 300, 50 * MS, MS);
	assert_false(apart_of(w, WHY_READ, &a));
	assert_false(apart_of(w, WHY_WRITE, &a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_slow_array_is_apart_also_where_something_else_is_slow_for_a_while),
		TEST(a_slow_disk_is_apart_from_the_other_of_its_array),
		TEST(a_slow_queue_is_apart_from_the_others),
		TEST(a_sample_says_the_same),
		TEST(some_commands_that_hang_make_nothing_slower),
		TEST(what_is_a_small_part_of_the_latency_is_not_told),
		TEST(a_few_commands_are_no_array),
		TEST(nothing_is_apart_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
