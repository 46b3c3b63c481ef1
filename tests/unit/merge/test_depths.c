// SPDX-License-Identifier: GPL-2.0-only
/* Which commands of a recording found few others in flight on their queue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/segments.h"
#include "core/array.h"
#include "merge/depths.h"

#define COMMANDS 400u

static struct nt_record command(uint32_t slot, uint64_t begin, uint64_t end)
{
	struct nt_record r = {.side = NT_HOST, .slot = slot, .gen = 1};

	r.points[NT_H_SUBMIT] = begin;
	r.points[NT_H_COMPLETE] = end;
	return r;
}

static struct depths *read_first(struct depths *d, const struct nt_record *r, size_t nr)
{

	assert_non_null(d);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(depths_add(d, &r[i]), 0);
	assert_int_equal(depths_finish(d), 0);
	return d;
}

static struct depths *first_reading(uint32_t few, const struct nt_record *r, size_t nr)
{
	return read_first(depths_new(few, 0), r, nr);
}

/* @taken: '1' or '0' for each record */
static void assert_taken(uint32_t few, const struct nt_record *r, size_t nr, const char *taken,
			 uint64_t unknown)
{
	struct depths *d = first_reading(few, r, nr);

	for (size_t i = 0; i < nr; i++)
		assert_int_equal(depths_take(d), taken[i] == '1');
	assert_int_equal(depths_unknown(d), unknown);
	depths_free(d);
}

static void data_of_others_counts_in_bytes(void **state)
{
	struct nt_record r[] = {
		command(1, 20, 25), /* found the two below: 69,632 */
		command(1, 10, 30), /* none */
		command(1, 12, 40), /* 4,096 */
		command(1, 30, 50), /* 65,536: the first of both has ended */
	};
	static const struct {
		uint32_t few;
		uint64_t bytes;
		const char *taken;
	} of[] = {
		{0, 4096, "0100"},  {0, 4097, "0110"},	{0, 65536, "0110"},
		{0, 65537, "0111"}, {1, 65537, "0100"}, {0, 69633, "1111"},
	};

	r[0].length = 512;
	r[1].length = 4096;
	r[2].length = 65536;
	r[3].length = 8192;
	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		struct depths *d = read_first(depths_new(of[i].few, of[i].bytes), r, 4);

		for (size_t k = 0; k < 4; k++)
			assert_int_equal(depths_take(d), of[i].taken[k] == '1');
		depths_free(d);
	}
}

/* In the order in which they end, as they are recorded. */
static void a_command_does_not_count_itself_nor_other_queues(void **state)
{
	const struct nt_record r[] = {
		command(1, 20, 25), /* found the two below */
		command(1, 10, 30), /* none */
		command(1, 15, 30), /* one */
		command(1, 30, 35), /* none: the two above ended when this one began */
		command(2, 31, 40), /* none of its queue */
		command(1, 32, 41), /* one */
	};

	assert_taken(1, r, 6, "010110", 0);
	assert_taken(2, r, 6, "011111", 0);
	assert_taken(3, r, 6, "111111", 0);
	assert_taken(UINT32_MAX, r, 6, "111111", 0);
}

/* What a recording does not have is not counted, as commands that began before it. */
static void one_that_ends_last_was_there_for_all(void **state)
{
	const struct nt_record r[] = {
		command(1, 20, 25),
		command(1, 30, 35),
		command(1, 40, 45),
		command(1, 10, 90),
	};

	assert_taken(1, r, 4, "0001", 0);
	assert_taken(1, r, 3, "111", 0);
}

/* Each of them may have been first: as many are taken as if they had begun one by one. */
static void of_those_that_begin_at_once_all_but_one_found_another(void **state)
{
	const struct nt_record r[] = {command(1, 10, 20), command(1, 10, 20), command(1, 10, 20)};
	struct depths *d = first_reading(2, r, 3);
	unsigned int taken = 0;

	for (size_t i = 0; i < 3; i++)
		taken += depths_take(d);
	assert_int_equal(taken, 2);
	depths_free(d);
}

static void without_a_beginning_or_an_end_it_is_not_known(void **state)
{
	const struct nt_record r[] = {command(1, 0, 25), command(1, 10, 0), command(1, 30, 20),
				      command(1, 40, 41)};

	assert_taken(9, r, 4, "0001", 3);
}

static void what_a_file_has_grown_by_is_not_taken(void **state)
{
	const struct nt_record r = command(1, 10, 20);
	struct depths *d = first_reading(1, &r, 1);

	assert_true(depths_take(d));
	for (unsigned int i = 0; i < 200; i++)
		assert_false(depths_take(d));
	depths_free(d);
}

static void there_may_be_no_record(void **state)
{
	depths_free(first_reading(1, NULL, 0));
	depths_free(NULL);
}

/* Against a count of each pair: many commands of three queues, of lengths that differ widely. */
static void as_many_as_pairs_of_them_say(void **state)
{
	static struct nt_record r[COMMANDS];
	uint64_t random = 1;

	for (size_t i = 0; i < COMMANDS; i++) {
		uint64_t begin, length;

		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		begin = 1000 + i * 64 + (random >> 60);
		length = 1 + (random >> 33) % (i % 16 ? 300 : 9000);
		r[i] = command((uint32_t)(random >> 50) % 3, begin, begin + length);
	}
	for (uint32_t few = 1; few < 6; few++) {
		struct depths *d = first_reading(few, r, COMMANDS);

		for (size_t i = 0; i < COMMANDS; i++) {
			uint32_t found = 0;

			for (size_t k = 0; k < COMMANDS; k++)
				found += k != i && r[k].slot == r[i].slot &&
					 record_begin_ns(&r[k]) < record_begin_ns(&r[i]) &&
					 record_end_ns(&r[k]) > record_begin_ns(&r[i]);
			assert_int_equal(depths_take(d), found < few);
		}
		depths_free(d);
	}
}

/* A command that ends after more others than can wait. */
static void a_late_command_is_not_known(void **state)
{
	struct depths *d = depths_new(1, 0);
	struct nt_record r = command(1, 1, 1000000000);

	for (uint64_t i = 0; i <= DEPTHS_WAIT_MAX; i++) {
		const struct nt_record other = command(2, 10 + 2 * i, 11 + 2 * i);

		assert_int_equal(depths_add(d, &other), 0);
	}
	assert_int_equal(depths_add(d, &r), 0);
	assert_int_equal(depths_finish(d), 0);
	assert_int_equal(depths_unknown(d), 1);
	for (uint64_t i = 0; i <= DEPTHS_WAIT_MAX; i++)
		assert_true(depths_take(d));
	assert_false(depths_take(d));
	depths_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_does_not_count_itself_nor_other_queues),
		cmocka_unit_test(data_of_others_counts_in_bytes),
		cmocka_unit_test(one_that_ends_last_was_there_for_all),
		cmocka_unit_test(of_those_that_begin_at_once_all_but_one_found_another),
		cmocka_unit_test(without_a_beginning_or_an_end_it_is_not_known),
		cmocka_unit_test(what_a_file_has_grown_by_is_not_taken),
		cmocka_unit_test(there_may_be_no_record),
		cmocka_unit_test(as_many_as_pairs_of_them_say),
		cmocka_unit_test(a_late_command_is_not_known),
	};

	return cmocka_run_group_tests_name("depths", tests, NULL, NULL);
}
