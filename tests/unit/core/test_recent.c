// SPDX-License-Identifier: GPL-2.0-only
/* The last ten seconds of a histogram: what comes in goes out again, whatever the intervals are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/recent.h"

#define MS 1000000ULL
#define SECOND (1000 * MS)

static void add(struct recent **r, uint64_t now, uint64_t ns, uint64_t latency, unsigned int nr)
{
	struct hist h = {.count = 0};

	for (unsigned int i = 0; i < nr; i++)
		hist_count(&h, latency);
	h.bytes = 4096ULL * nr;
	assert_int_equal(recent_add(r, &h, now, ns), 0);
}

static void the_sum_is_of_ten_seconds(void **state)
{
	static const uint64_t every[] = {100 * MS, SECOND, 3 * SECOND, 60 * SECOND};

	for (size_t i = 0; i < sizeof(every) / sizeof(every[0]); i++) {
		struct recent *r = NULL;
		uint64_t now = 1000 * SECOND;

		add(&r, now, every[i], 50 * MS, 7);
		for (unsigned int k = 0; k < 400; k++)
			add(&r, now += every[i], every[i], MS * (1 + k % 5), 3);
		assert_true(r->ns <= (every[i] > RECENT_NS ? every[i] : RECENT_NS));
		assert_true(r->ns >= (every[i] < SECOND ? RECENT_NS - 2 * SECOND : every[i]));
		assert_int_equal(r->h.count, 3 * (r->ns / every[i]));
		assert_int_equal(r->h.bytes, 4096 * r->h.count);
		assert_true(r->h.max <= 5 * MS);
		/* Nothing is left of it when there were no commands for so long. */
		for (unsigned int k = 0; k < 400 && r; k++)
			add(&r, now += every[i], every[i], 0, 0);
		assert_null(r);
	}
}

static void p99_is_that_of_the_interval_if_it_can_tell_it(void **state)
{
	struct recent *r = NULL;

	add(&r, 100 * SECOND, SECOND, MS, 60);
	assert_int_equal(r->p99[0], 0);
	add(&r, 101 * SECOND, SECOND, MS, 60);
	assert_in_range(r->p99[0], MS * 98 / 100, MS * 102 / 100);
	add(&r, 102 * SECOND, SECOND, 9 * MS, 1000);
	assert_in_range(r->p99[0], 9 * MS * 98 / 100, 9 * MS * 102 / 100);
	add(&r, 103 * SECOND, SECOND, MS, 1000);
	assert_in_range(r->p99[0], MS * 98 / 100, MS * 102 / 100);
	assert_in_range(r->p99[1], 9 * MS * 98 / 100, 9 * MS * 102 / 100);
	assert_int_equal(r->p99[3], 0);
	recent_free(r);
	recent_free(NULL);
}

static void more_commands_than_32_bits_leave_it_again(void **state)
{
	struct hist h = {.count = 1ULL << 33, .sum = 1ULL << 53, .max = MS};
	struct recent *r = NULL;

	h.buckets[nt_bucket(MS)] = h.count;
	assert_int_equal(recent_add(&r, &h, 3600 * SECOND, 3600 * SECOND), 0);
	add(&r, 7200 * SECOND, 3600 * SECOND, MS, 5);
	assert_int_equal(r->h.count, 5);
	recent_free(r);
}

static void the_history_of_a_sum_has_the_highest(void **state)
{
	struct recent *one = NULL, *two = NULL, sum = {.nr = 0};

	add(&one, 100 * SECOND, SECOND, MS, 100);
	add(&two, 100 * SECOND, SECOND, 4 * MS, 200);
	recent_merge(&sum, one);
	recent_merge(&sum, two);
	assert_int_equal(sum.h.count, 300);
	assert_int_equal(sum.ns, SECOND);
	assert_in_range(sum.p99[0], 4 * MS * 98 / 100, 4 * MS * 102 / 100);
	recent_free(one);
	recent_free(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sum_is_of_ten_seconds),
		cmocka_unit_test(p99_is_that_of_the_interval_if_it_can_tell_it),
		cmocka_unit_test(more_commands_than_32_bits_leave_it_again),
		cmocka_unit_test(the_history_of_a_sum_has_the_highest),
	};

	return cmocka_run_group_tests_name("recent", tests, NULL, NULL);
}
