// SPDX-License-Identifier: GPL-2.0-only
/* Lines that serve logs about changes of a machine, once each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/notify.h"

#define S 1000000000ULL

static char line[160];

static bool look(struct changes *c, unsigned int controllers, uint64_t slept_ns)
{
	return changes_look(c, controllers, slept_ns, line, sizeof(line));
}

static void a_connection_that_ends_is_told_once(void **state)
{
	struct changes c = {.looked = false};

	assert_false(look(&c, 0, 0));
	assert_false(look(&c, 1, 0));
	assert_false(look(&c, 2, 0));
	assert_true(look(&c, 0, 0));
	assert_non_null(strstr(line, "no controller is connected any more"));
	assert_false(look(&c, 0, 0));
	assert_true(look(&c, 1, 0));
	assert_non_null(strstr(line, "connected again"));
	assert_false(look(&c, 1, 0));
}

static void a_sleep_is_told_once(void **state)
{
	struct changes c = {.looked = false};

	assert_false(look(&c, 1, 1000 * S));
	/* The two clocks are not read at the same time. */
	assert_false(look(&c, 1, 1000 * S + 1000));
	assert_false(look(&c, 1, 1000 * S - 1000));
	assert_true(look(&c, 0, 1003 * S));
	assert_non_null(strstr(line, "suspended for 3.0 s"));
	assert_true(look(&c, 0, 1003 * S));
	assert_non_null(strstr(line, "no controller"));
	assert_false(look(&c, 0, 1003 * S));
}

static void this_machine_tells(void **state)
{
	assert_true(changes_slept_ns() < UINT64_MAX / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_that_ends_is_told_once),
		cmocka_unit_test(a_sleep_is_told_once),
		cmocka_unit_test(this_machine_tells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
