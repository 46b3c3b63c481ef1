// SPDX-License-Identifier: GPL-2.0-only
/* The arithmetic of buckets, value by value, and the copy of it for BPF programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

/* The functions as a BPF program compiles them, with other names. */
#define __bpf__
#define nt_bucket bpf_bucket
#define nt_bucket_low bpf_bucket_low
#include "shared/buckets.h"
#undef __bpf__
#undef nt_bucket
#undef nt_bucket_low
#undef NTPROF_SHARED_BUCKETS_H
#include "core/array.h"
#include "shared/buckets.h"

static void bucket_of_known_durations(void **state)
{
	static const struct {
		unsigned long long ns;
		unsigned int bucket;
	} known[] = {
		{0, 0},
		{1, 1},
		{15, 15},
		{16, 16},
		{17, 17},
		{31, 31},
		{32, 32},
		{33, 33},
		{63, 63},
		{64, 64},
		{65, 64},
		{66, 65},
		{67, 65},
		{68, 66},
		{100, 82},
		{127, 95},
		{128, 96},
		{1000, 190},
		{2000000, 541},
		{(1ull << 36) - 1, 1023},
		{1ull << 36, 1024},
		{UINT64_MAX, 1024},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		assert_int_equal(nt_bucket(known[i].ns), known[i].bucket);
	assert_int_equal(NT_OVERFLOW_BUCKET, 1024);
	assert_int_equal(NT_BUCKETS, 1025);
}

static void lower_bound_of_known_buckets(void **state)
{
	static const struct {
		unsigned int bucket;
		unsigned long long low;
	} known[] = {
		{0, 0},
		{1, 1},
		{31, 31},
		{32, 32},
		{63, 63},
		{64, 64},
		{65, 66},
		{95, 126},
		{96, 128},
		{114, 200},
		{191, 1008},
		{192, 1024},
		{1023, 63ull << 30},
		{1024, 1ull << 36},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		assert_int_equal(nt_bucket_low(known[i].bucket), known[i].low);
}

static void every_lower_bound_begins_its_bucket(void **state)
{
	for (unsigned int b = 0; b < NT_BUCKETS; b++) {
		assert_int_equal(nt_bucket(nt_bucket_low(b)), b);
		if (b)
			assert_int_equal(nt_bucket(nt_bucket_low(b) - 1), b - 1);
	}
}

static void no_bucket_is_wider_than_1_in_32_of_its_lower_bound(void **state)
{
	for (unsigned int b = NT_SUB_BUCKETS; b < NT_OVERFLOW_BUCKET; b++) {
		unsigned long long low = nt_bucket_low(b);

		assert_true((nt_bucket_low(b + 1) - low) * 32 <= low);
	}
}

static void durations_below_64_ns_are_exact(void **state)
{
	for (unsigned int ns = 0; ns < 64; ns++) {
		assert_int_equal(nt_bucket(ns), ns);
		assert_int_equal(nt_bucket_low(ns + 1) - nt_bucket_low(ns), 1);
	}
}

static void bpf_buckets_equal_those_of_user_space(void **state)
{
	for (unsigned int bit = 0; bit < 64; bit++) {
		unsigned long long low = 1ull << bit;
		unsigned long long high = low | (low - 1);

		assert_int_equal(bpf_bucket(low), nt_bucket(low));
		assert_int_equal(bpf_bucket(high), nt_bucket(high));
		for (int i = 0; i < 1000; i++) {
			unsigned long long r = low | (((unsigned long long)random() << 33 ^
						       (unsigned long long)random()) &
						      (low - 1));

			assert_int_equal(bpf_bucket(r), nt_bucket(r));
		}
	}
}

static void bpf_counts_in_the_bucket_that_user_space_reads(void **state)
{
	for (unsigned int b = 0; b < NT_BUCKETS; b++) {
		unsigned long long low = nt_bucket_low(b), last = nt_bucket_low(b + 1) - 1;

		assert_int_equal(bpf_bucket_low(b), low);
		assert_int_equal(bpf_bucket(low), b);
		assert_int_equal(bpf_bucket(last), b);
	}
	assert_int_equal(bpf_bucket(UINT64_MAX), NT_OVERFLOW_BUCKET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bucket_of_known_durations),
		cmocka_unit_test(lower_bound_of_known_buckets),
		cmocka_unit_test(every_lower_bound_begins_its_bucket),
		cmocka_unit_test(no_bucket_is_wider_than_1_in_32_of_its_lower_bound),
		cmocka_unit_test(durations_below_64_ns_are_exact),
		cmocka_unit_test(bpf_buckets_equal_those_of_user_space),
		cmocka_unit_test(bpf_counts_in_the_bucket_that_user_space_reads),
	};

	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
