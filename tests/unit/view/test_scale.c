// SPDX-License-Identifier: GPL-2.0-only
/* Latencies in buckets that the user chooses: their bounds, and where a command counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "view/columns_groups.h"

static struct scale_row row[SCALE_BUCKETS];

/* Counts one command of each duration. */
static unsigned int count(const struct scale *s, const uint64_t *ns, unsigned int nr)
{
	static struct hist h;

	memset(&h, 0, sizeof(h));
	for (unsigned int i = 0; i < nr; i++) {
		h.buckets[nt_bucket(ns[i])]++;
		h.max = ns[i] > h.max ? ns[i] : h.max;
	}
	return scale_count(s, &h, row);
}

static void must_be(unsigned int at, uint64_t from, uint64_t to, uint64_t commands)
{
	assert_int_equal(row[at].from, from);
	assert_int_equal(row[at].to, to);
	assert_int_equal(row[at].commands, commands);
	assert_int_equal(row[at].endless, to == UINT64_MAX);
}

static void buckets_double_from_the_minimum_on(void **state)
{
	const struct scale s = {.min_ns = 5000, .shift = 3};
	const uint64_t ns[] = {1, 4000, 6000, 15000, 100000, 100001};

	assert_int_equal(count(&s, ns, ARRAY_SIZE(ns)), 6);
	must_be(0, 0, 5000, 2);
	must_be(1, 5000, 13000, 1);
	must_be(2, 13000, 21000, 1);
	must_be(3, 21000, 37000, 0);
	must_be(4, 37000, 69000, 0);
	must_be(5, 69000, 133000, 2);
}

/* The middle of the histogram's bucket that has 1000 ns is exactly 1000 ns. */
static void a_command_of_just_a_bound_is_above_it(void **state)
{
	const struct scale s = {0};
	const uint64_t at[] = {1000}, below[] = {999};

	assert_int_equal(count(&s, at, 1), 1);
	must_be(0, 1000, 2000, 1);
	assert_int_equal(count(&s, below, 1), 1);
	must_be(0, 0, 1000, 1);
}

static void all_that_histograms_tell_apart_has_a_bucket(void **state)
{
	const struct scale s = {.shift = SCALE_SHIFT_MAX};
	const uint64_t ns[] = {0, 1ULL << 35, 1ULL << 62};
	const uint64_t first = 1000ULL << SCALE_SHIFT_MAX;

	assert_int_equal(count(&s, ns, 0), 0);
	assert_int_equal(count(&s, ns, ARRAY_SIZE(ns)), 4);
	must_be(0, 0, first, 1);
	must_be(1, first, 2 * first, 0);
	must_be(2, 2 * first, 4 * first, 1);
	/* A duration counts as the least of its histogram bucket. */
	must_be(3, 4 * first, 8 * first, 1);
	assert_int_equal(count(&(struct scale){0}, ns + 2, 1), 1);
	assert_false(row[0].endless);
	assert_int_equal(count(&(struct scale){.min_ns = 1}, ns, 1), 1);
	must_be(0, 0, 1, 1);
}

static void shares_are_of_all_commands_and_only_all_of_them_are_100_per_cent(void **state)
{
	struct scale_row rows[] = {
		{.commands = 1}, {.commands = 0}, {.commands = 1999998}, {.commands = 1}};
	struct scale_row huge[] = {{.commands = 1ULL << 52}, {.commands = 1ULL << 52}};
	struct scale_row none[] = {{.commands = 0}};

	scale_accumulate(rows, ARRAY_SIZE(rows));
	assert_true(rows[0].cumulative == 0);
	assert_true(rows[1].cumulative == 0);
	assert_true(rows[2].cumulative == 0.999);
	assert_true(rows[3].cumulative == 1);
	scale_accumulate(huge, ARRAY_SIZE(huge));
	assert_true(huge[0].cumulative == 0.5);
	assert_true(huge[1].cumulative == 1);
	scale_accumulate(none, ARRAY_SIZE(none));
	assert_true(none[0].cumulative == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_double_from_the_minimum_on),
		cmocka_unit_test(a_command_of_just_a_bound_is_above_it),
		cmocka_unit_test(all_that_histograms_tell_apart_has_a_bucket),
		cmocka_unit_test(shares_are_of_all_commands_and_only_all_of_them_are_100_per_cent),
	};

	return cmocka_run_group_tests_name("scale", tests, NULL, NULL);
}
