// SPDX-License-Identifier: GPL-2.0-only
/* Which counters are losses, and that each counter has its own text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/counters.h"
#include "core/array.h"

static void what_waits_or_is_under_way_is_no_loss(void **state)
{
	static const char *const none[] = {"async_event", "no_start",	"in_flight",
					   "burst_edge",  "names_gone", "disk_stacked",
					   "disk_unseen"};

	for (unsigned int i = 0; i < COUNTERS_NR; i++) {
		bool loss = true;

		for (unsigned int k = 0; k < ARRAY_SIZE(none); k++)
			loss = loss && strcmp(counter_name(i), none[k]) != 0;
		assert_int_equal(counter_is_loss(i), loss);
	}
}

static void each_counter_has_words_of_its_own(void **state)
{
	for (unsigned int i = 0; i < COUNTERS_NR; i++) {
		assert_true(*counter_name(i) && *counter_help(i) && *counter_advice(i));
		for (unsigned int k = 0; k < i; k++) {
			assert_string_not_equal(counter_name(i), counter_name(k));
			assert_string_not_equal(counter_help(i), counter_help(k));
		}
	}
	assert_string_equal(counter_name(COUNTERS_NR), "unknown");
	assert_string_equal(counter_help(COUNTERS_NR), "unknown");
	assert_string_equal(counter_advice(COUNTERS_NR), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_waits_or_is_under_way_is_no_loss),
		cmocka_unit_test(each_counter_has_words_of_its_own),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
