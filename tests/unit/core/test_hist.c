// SPDX-License-Identifier: GPL-2.0-only
/* The figures of a histogram, against the sorted durations themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "core/hist.h"
#include "in_range.h"

/* Percentiles in units of 1 / HIST_PARTS, so that ranks are whole numbers here. */
static const uint32_t parts[] = {1,	    10000000,  50000000,  500000000, 900000000, 950000000,
				 990000000, 999000000, 999900000, 999990000, 999999000, 1000000000};

/* Durations below 64 ns have a bucket each, so results are exact. */
static void a_percentile_is_the_nearest_rank(void **state)
{
	static const unsigned int counts[] = {1,   2,	3,    7,    10,	   99,	  100,
					      101, 999, 1000, 1001, 10000, 100000};
	static uint32_t below[64];

	for (unsigned int n = 0; n < ARRAY_SIZE(counts); n++) {
		static struct hist h;
		uint64_t random = 88172645463325252ULL;

		memset(&h, 0, sizeof(h));
		memset(below, 0, sizeof(below));
		for (unsigned int i = 0; i < counts[n]; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			hist_count(&h, random % 64);
			below[random % 64]++;
		}
		for (unsigned int i = 0; i < ARRAY_SIZE(parts); i++) {
			uint64_t all = (uint64_t)parts[i] * counts[n];
			uint64_t rank = (all + HIST_PARTS - 1) / HIST_PARTS, seen = 0;
			unsigned int ns = 0;

			for (; seen + below[ns] < rank; ns++)
				seen += below[ns];
			assert_int_equal(
				hist_percentile(&h, (double)parts[i] / HIST_PARTS_OF_PERCENT), ns);
		}
	}
}

static void a_percentile_is_told_as_the_middle_of_its_bucket(void **state)
{
	static struct hist h;

	memset(&h, 0, sizeof(h));
	assert_int_equal(hist_percentile(&h, 50), 0);
	assert_int_equal(hist_min(&h), 0);
	assert_true(hist_mean(&h) == 0);
	assert_true(hist_empty(&h));
	hist_count(&h, 993);
	hist_count(&h, 5000);
	assert_false(hist_empty(&h));
	/* The bucket is from 992 to 1008. */
	assert_int_equal(hist_percentile(&h, 50), 1000);
	assert_int_equal(hist_min(&h), 992);
	/* A percentile is never above the longest duration. */
	assert_int_equal(hist_percentile(&h, 100), 5000);
	assert_true(hist_mean(&h) == 2996.5);
	for (unsigned int shift = 6; shift < 36; shift++) {
		uint64_t ns = (1ULL << shift) + (1ULL << shift) / 3;

		memset(&h, 0, sizeof(h));
		hist_count(&h, ns);
		hist_count(&h, 1ULL << 40);
		assert_uint_in_range(hist_percentile(&h, 50), ns - ns / 64, ns + ns / 64);
	}
	/*
	 * Durations beyond all buckets are taken to be between the last bound and the longest one.
	 */
	assert_int_equal(hist_percentile(&h, 100),
			 (1ULL << 36) + ((1ULL << 40) - (1ULL << 36)) / 2);
}

static void histograms_add_up(void **state)
{
	static struct hist a, b, both;

	for (unsigned int i = 0; i < 1000; i++) {
		hist_count(i % 3 ? &a : &b, i * i);
		hist_count(&both, i * i);
	}
	a.bytes = 5;
	b.bytes = 7;
	both.bytes = 12;
	hist_merge(&a, &b);
	assert_memory_equal(&a, &both, sizeof(both));
	/*
	 * A command may be counted in the interval before its nanoseconds are. They are not lost.
	 */
	memset(&b, 0, sizeof(b));
	b.sum = 9;
	hist_merge(&a, &b);
	assert_int_equal(a.sum, both.sum + 9);
	hist_account(&a, 2, 3, 4, 1);
	assert_int_equal(a.count, both.count + 2);
	assert_int_equal(a.sum, both.sum + 12);
	assert_int_equal(a.bytes, 16);
	assert_int_equal(a.max, both.max);
	hist_account(&a, 0, 0, 0, both.max + 1);
	assert_int_equal(a.max, both.max + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_percentile_is_the_nearest_rank),
		cmocka_unit_test(a_percentile_is_told_as_the_middle_of_its_bucket),
		cmocka_unit_test(histograms_add_up),
	};

	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}
