// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bounds of the offset between two clocks, command by command, and what a pattern of times has
 * to explain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/array.h"
#include "merge/agreement.h"
#include "merge/offset.h"
#include "merge/pattern.h"

#define MS 1000000ULL

static struct offset_bounds bounds(int64_t low, int64_t high, uint64_t at)
{
	return (struct offset_bounds){.low = low, .high = high, .at = at};
}

/*
 * A window is 100 ms long. A command that comes late may belong to the window before. It would move
 * the window.
 */
static void the_tightest_bounds_of_each_window_are_kept(void **state)
{
	static const struct {
		struct offset_bounds b;
		unsigned int nr;
		uint64_t at; /* time of the last one that is kept */
	} steps[] = {
		{{0, 1000, 1050 * MS}, 1, 1050 * MS},  {{0, 2000, 1060 * MS}, 1, 1050 * MS},
		{{100, 900, 1070 * MS}, 1, 1070 * MS}, {{200, 800, 950 * MS}, 1, 1070 * MS},
		{{0, 1000, 1099 * MS}, 1, 1070 * MS},  {{0, 1000, 1100 * MS}, 2, 1100 * MS},
	};
	struct offset_bounds first = bounds(-5000, 5000, 1000 * MS);
	struct offset o = {.known = false};

	offset_set(&o, &first, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++) {
		offset_learn(&o, &steps[i].b);
		assert_int_equal(o.nr, steps[i].nr);
		assert_int_equal(o.sample[o.nr - 1].at, steps[i].at);
	}
}

static void bounds_that_are_apart_by_more_than_time_stamps_may_be_are_not_followed(void **state)
{
	const int64_t slack = OFFSET_SLACK_NS;
	const struct {
		int64_t low, high;
		bool follows;
	} cases[] = {
		{50, 60, true},
		{100 + slack, 100 + slack + 50, true},
		{100 + slack + 1, 100 + slack + 50, false},
		{-slack - 50, -slack, true},
		{-slack - 50, -slack - 1, false},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct offset_bounds now = bounds(0, 100, MS);
		struct offset_bounds b = bounds(cases[i].low, cases[i].high, MS);

		assert_int_equal(offset_follow(&now, &b, 0), cases[i].follows);
		/* Bounds that overlap narrow the offset. */
		assert_int_equal(now.low, i ? 0 : 50);
		assert_int_equal(now.high, i ? 100 : 60);
	}
}

static void a_pattern_that_may_be_chance_does_not_convince(void **state)
{
	const struct pattern sure = {
		.vote = {.votes = 1000}, .in_range = 1000, .refuted = 1000000, .lasted = true};
	struct pattern p = sure;

	assert_true(pattern_convinces(&p, false));
	p.lasted = false;
	assert_false(pattern_convinces(&p, false));
	p = sure;
	p.refuted = 0;
	assert_false(pattern_convinces(&p, false));
	p = sure;
	p.vote.rival = p.vote.votes;
	assert_false(pattern_convinces(&p, false));
	p = sure;
	p.in_range = 10 * p.vote.votes;
	assert_false(pattern_convinces(&p, false));
	p = sure;
	p.vote.votes = p.in_range = pattern_least(true);
	assert_true(pattern_convinces(&p, true));
	assert_false(pattern_convinces(&p, false));
}

static void an_agreement_that_does_not_last_does_not_convince(void **state)
{
	struct agreement a = {.agree = 70, .disagree = 10, .unique = 70, .lasts = true};

	assert_true(agreement_convinces(&a, AGREEMENT_KNOWN));
	a.disagree++;
	assert_false(agreement_convinces(&a, AGREEMENT_KNOWN));
	a.disagree--;
	a.lasts = false;
	assert_false(agreement_convinces(&a, AGREEMENT_KNOWN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tightest_bounds_of_each_window_are_kept),
		cmocka_unit_test(
			bounds_that_are_apart_by_more_than_time_stamps_may_be_are_not_followed),
		cmocka_unit_test(a_pattern_that_may_be_chance_does_not_convince),
		cmocka_unit_test(an_agreement_that_does_not_last_does_not_convince),
	};

	return cmocka_run_group_tests_name("offset", tests, NULL, NULL);
}
