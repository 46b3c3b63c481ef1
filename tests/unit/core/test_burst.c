// SPDX-License-Identifier: GPL-2.0-only
/* When bursts begin and end, and which schedules are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/time.h"

#define S 1000000000LL

static const struct burst minutely = {.on_ns = 1 * S, .every_ns = 60 * S};

static void a_schedule_is_two_times(void **state)
{
	struct burst b;

	assert_null(burst_parse("1s/60s", &b));
	assert_int_equal(b.on_ns, 1 * S);
	assert_int_equal(b.every_ns, 60 * S);
	assert_null(burst_parse("0.5/1m", &b));
	assert_int_equal(b.on_ns, S / 2);
	assert_int_equal(b.every_ns, 60 * S);
	assert_null(burst_parse("100ms/24h", &b));
	assert_int_equal(b.on_ns, S / 10);
	assert_int_equal(b.every_ns, 24 * 3600 * S);
}

static void what_is_no_schedule_is_refused_and_changes_nothing(void **state)
{
	static const char *const bad[] = {
		"",	  "/",	      "1s",	"1s/",
		"/60s",	  "1s/60s/2", "60/1",	"1s/1s",
		"1s/1",	  "99ms/1s",  "0/60",	"-1/60",
		"1/-60",  "a/b",      "1 /60",	"1/ 60",
		"nan/60", "1/inf",    "1/1e99", "0.0000000000000000000000000000000000001/2",
	};
	struct burst b = minutely;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_non_null(burst_parse(bad[i], &b));
		assert_int_equal(b.on_ns, minutely.on_ns);
		assert_int_equal(b.every_ns, minutely.every_ns);
	}
}

static void a_burst_begins_at_each_multiple_of_the_wall_clock(void **state)
{
	const int64_t at = 1700000040LL * S; /* a multiple of 60 */

	assert_int_equal(burst_left_ns(&minutely, at), 1 * S);
	assert_int_equal(burst_left_ns(&minutely, at + 1), 1 * S - 1);
	assert_int_equal(burst_left_ns(&minutely, at + 1 * S - 1), 1);
	assert_int_equal(burst_left_ns(&minutely, at + 1 * S), 0);
	assert_int_equal(burst_left_ns(&minutely, at + 60 * S - 1), 0);
	assert_int_equal(burst_left_ns(&minutely, at + 60 * S), 1 * S);
}

static void what_comes_next_is_later_than_now(void **state)
{
	const int64_t at = 1700000040LL * S;

	assert_int_equal(burst_next_ns(&minutely, at), at + 1 * S);
	assert_int_equal(burst_next_ns(&minutely, at + 1 * S - 1), at + 1 * S);
	assert_int_equal(burst_next_ns(&minutely, at + 1 * S), at + 60 * S);
	assert_int_equal(burst_next_ns(&minutely, at + 60 * S - 1), at + 60 * S);
	assert_int_equal(burst_next_ns(&minutely, at + 60 * S), at + 61 * S);
}

/* The multiples continue before 1970, for a machine with such a clock. */
static void before_the_epoch_as_after_it(void **state)
{
	assert_int_equal(burst_left_ns(&minutely, -60 * S), 1 * S);
	assert_int_equal(burst_left_ns(&minutely, -60 * S - 1), 0);
	assert_int_equal(burst_next_ns(&minutely, -60 * S - 1), -60 * S);
	assert_int_equal(burst_next_ns(&minutely, -1), 0);
	assert_int_equal(burst_left_ns(&minutely, -S / 2), 0);
}

/* Two machines burst at the same time, whenever each of them is asked. */
static void two_machines_agree(void **state)
{
	const struct burst b = {.on_ns = 3 * S / 10, .every_ns = 7 * S / 10};
	int64_t a = 1700000000LL * S, c = a;

	for (int i = 0; i < 1000; i++)
		a = burst_next_ns(&b, a);
	while (c < a)
		c = burst_next_ns(&b, c + S / 100 < burst_next_ns(&b, c) ? c + S / 100 : c);
	assert_int_equal(a, c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_schedule_is_two_times),
		cmocka_unit_test(what_is_no_schedule_is_refused_and_changes_nothing),
		cmocka_unit_test(a_burst_begins_at_each_multiple_of_the_wall_clock),
		cmocka_unit_test(what_comes_next_is_later_than_now),
		cmocka_unit_test(before_the_epoch_as_after_it),
		cmocka_unit_test(two_machines_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
