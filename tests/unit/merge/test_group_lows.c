// SPDX-License-Identifier: GPL-2.0-only
/* Lows of IOPS: the rate that a share of the seconds does not exceed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "merge/groups.h"

#define SECOND 1000000000ULL
#define PERCENT HIST_PARTS_OF_PERCENT

static struct groups *made(uint64_t every_ns)
{
	const struct grouping how = {
		.by = {.nr = 1, .key = {GROUP_QUEUE}}, .every_ns = every_ns, .seconds = true};
	struct groups *g = groups_new(&how);

	assert_non_null(g);
	return g;
}

/* @nr commands that begin at @ns */
static void add(struct groups *g, uint16_t queue, uint64_t ns, unsigned int nr)
{
	const struct group_command c = {
		.after_ns = ns, .at_ns = ns + 1, .latency = 1000, .stands_for = 1};
	struct group_name name;

	memset(&name, 0, sizeof(name));
	name.queue = queue;
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(groups_add(g, &name, &c), 0);
}

static void assert_low(const struct group_row *r, uint32_t parts, uint32_t expected)
{
	uint32_t rate = UINT32_MAX;

	assert_true(group_lows_rate(&r->lows, parts, &rate));
	assert_int_equal(rate, expected);
}

static void assert_no_low(const struct group_row *r, uint32_t parts)
{
	uint32_t rate;

	assert_false(group_lows_rate(&r->lows, parts, &rate));
}

/* Second i has 200 - i commands of queue 1, and 10 of queue 2. */
static void the_worst_seconds_count(void **state)
{
	struct groups *g = made(0);
	struct group_row r;

	for (unsigned int i = 0; i < 200; i++) {
		add(g, 1, i * SECOND + i, 200 - i);
		add(g, 2, i * SECOND, 10);
	}
	assert_int_equal(groups_finish(g, 0, 200 * SECOND, 0), 0);
	groups_row(g, 0, &r);
	assert_low(&r, PERCENT, 2); /* the second of 200 */
	assert_low(&r, PERCENT + 1, 3);
	assert_low(&r, PERCENT / 2, 1);
	assert_low(&r, 50 * PERCENT, 100);
	assert_low(&r, 99 * PERCENT, 198);
	assert_no_low(&r, PERCENT / 2 - 1);
	assert_no_low(&r, PERCENT / 10);
	groups_row(g, 1, &r);
	assert_low(&r, PERCENT, 10);
	groups_total(g, &r);
	assert_low(&r, PERCENT, 12);
	groups_free(g);
}

static void seconds_without_commands_are_the_worst(void **state)
{
	struct groups *g = made(0);
	struct group_row r;

	for (unsigned int i = 0; i < 99; i++)
		add(g, 1, (100 + i) * SECOND, 7);
	add(g, 2, 199 * SECOND, 1);
	assert_int_equal(groups_finish(g, 0, 1000 * SECOND, 0), 0);
	groups_row(g, 0, &r);
	assert_low(&r, 90 * PERCENT, 0);
	assert_low(&r, 91 * PERCENT, 7);
	groups_row(g, 1, &r);
	assert_low(&r, 99 * PERCENT + 9 * PERCENT / 10, 0);
	groups_free(g);
}

/* Half of the first second and half of the last one are not recorded. */
static void seconds_that_are_not_whole_do_not_count(void **state)
{
	struct groups *g = made(0);
	struct group_row r;

	add(g, 1, SECOND / 2, 1);
	for (unsigned int i = 1; i < 102; i++)
		add(g, 1, i * SECOND, i == 50 ? 3 : 5);
	add(g, 1, 102 * SECOND, 1);
	assert_int_equal(groups_finish(g, SECOND / 2, 102 * SECOND + SECOND / 2, 0), 0);
	groups_row(g, 0, &r);
	/* The second of 101: the one with 3 commands is the first. */
	assert_low(&r, PERCENT, 5);
	groups_free(g);

	g = made(0);
	add(g, 1, SECOND / 2, 1);
	assert_int_equal(groups_finish(g, SECOND / 2, SECOND, 0), 0);
	groups_row(g, 0, &r);
	assert_no_low(&r, 50 * PERCENT);
	groups_free(g);
}

static void an_interval_has_its_own_seconds(void **state)
{
	struct groups *g = made(2 * SECOND + SECOND / 2);
	struct group_row r;

	for (unsigned int i = 0; i < 10; i++)
		add(g, 1, i * SECOND + SECOND / 4, 1 + i);
	assert_int_equal(groups_finish(g, 0, 10 * SECOND, 0), 0);
	assert_int_equal(groups_rows(g), 4);
	groups_row(g, 0, &r); /* 0 to 2.5 */
	assert_low(&r, 50 * PERCENT, 1);
	groups_row(g, 1, &r); /* 2.5 to 5 */
	assert_low(&r, 50 * PERCENT, 4);
	groups_row(g, 3, &r);
	assert_low(&r, 50 * PERCENT, 9);
	groups_free(g);
}

static void what_cannot_be_known_is_not(void **state)
{
	const struct group_command sampled = {.latency = 1000, .stands_for = 2},
				   failed = {.failed = true, .stands_for = 1};
	struct group_name name;
	struct groups *g = made(0);
	struct group_row r;

	memset(&name, 0, sizeof(name));
	name.queue = 2;
	add(g, 1, 0, 3);
	assert_int_equal(groups_add(g, &name, &sampled), 0);
	name.queue = 3;
	assert_int_equal(groups_add(g, &name, &failed), 0);
	assert_int_equal(groups_finish(g, 0, 10 * SECOND, 0), 0);
	groups_row(g, 0, &r);
	assert_low(&r, 90 * PERCENT, 0);
	groups_row(g, 1, &r);
	assert_no_low(&r, 50 * PERCENT);
	groups_row(g, 2, &r);
	assert_low(&r, 90 * PERCENT, 0); /* that which failed is not counted */
	groups_free(g);

	g = made(0); /* in bursts */
	add(g, 1, 0, 3);
	assert_int_equal(groups_finish(g, 0, 10 * SECOND, 5 * SECOND), 0);
	groups_row(g, 0, &r);
	assert_no_low(&r, 50 * PERCENT);
	groups_total(g, &r);
	assert_no_low(&r, 50 * PERCENT);
	groups_free(g);
}

/* A damaged recording may have any time. */
static void seconds_past_the_limit_are_not_known(void **state)
{
	struct groups *g = made(0);
	struct group_row r;

	add(g, 1, 0, 1);
	add(g, 1, UINT64_MAX - 1, 1);
	add(g, 2, (uint64_t)GROUP_SECONDS_MAX * SECOND, 1);
	add(g, 3, 5 * SECOND, 1);
	assert_int_equal(groups_finish(g, 0, UINT64_MAX, 0), 0);
	for (size_t i = 0; i < 2; i++) {
		groups_row(g, i, &r);
		assert_no_low(&r, 50 * PERCENT);
	}
	groups_row(g, 2, &r);
	assert_low(&r, 50 * PERCENT, 0);
	groups_total(g, &r);
	assert_no_low(&r, 50 * PERCENT);
	groups_free(g);
}

/* Each of them would have room by itself. */
static void the_limit_is_of_all_groups(void **state)
{
	struct groups *g = made(0);
	struct group_row r;

	add(g, 1, (GROUP_SECONDS_MAX / 2 - 1) * SECOND, 1);
	add(g, 2, (GROUP_SECONDS_MAX / 2 - 1) * SECOND, 1);
	add(g, 3, 0, 1);
	assert_int_equal(groups_finish(g, 0, GROUP_SECONDS_MAX / 2 * SECOND, 0), 0);
	for (size_t i = 0; i < 2; i++) {
		groups_row(g, i, &r);
		assert_low(&r, PERCENT, 0);
	}
	groups_row(g, 2, &r);
	assert_no_low(&r, PERCENT);
	groups_total(g, &r);
	assert_no_low(&r, PERCENT);
	groups_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worst_seconds_count),
		cmocka_unit_test(seconds_without_commands_are_the_worst),
		cmocka_unit_test(seconds_that_are_not_whole_do_not_count),
		cmocka_unit_test(an_interval_has_its_own_seconds),
		cmocka_unit_test(what_cannot_be_known_is_not),
		cmocka_unit_test(seconds_past_the_limit_are_not_known),
		cmocka_unit_test(the_limit_is_of_all_groups),
	};

	return cmocka_run_group_tests_name("lows of groups", tests, NULL, NULL);
}
