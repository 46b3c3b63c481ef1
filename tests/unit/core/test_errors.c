// SPDX-License-Identifier: GPL-2.0-only
/* Errors by queue, operation and status, and the names of statuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/names.h"
#include "core/stats.h"
#include "in_range.h"

static void statuses_have_the_names_of_the_specification(void **state)
{
	assert_string_equal(status_name(NT_OP_READ, 0), "success");
	assert_string_equal(status_name(NT_OP_READ, 0x080), "lba_out_of_range");
	/* The status with Do Not Retry, More and a Command Retry Delay. */
	assert_string_equal(status_name(NT_OP_READ, 0x7800 | 0x286), "access_denied");
	assert_string_equal(status_name(NT_OP_WRITE, 0x182), "attempted_write_to_read_only_range");
	assert_string_equal(status_name(NT_OP_FABRICS, 0x182), "connect_invalid_parameters");
	assert_string_equal(status_name(NT_OP_FABRICS, 0x002), "invalid_field_in_command");
	assert_string_equal(status_name(NT_OP_READ, 0x7c1), "unknown");
	assert_false(status_is_error(0x7800));
	assert_true(status_is_error(0x4002));
}

static void errors_are_kept_apart_and_in_order(void **state)
{
	struct errors e = {0};

	for (int i = 0; i < 3; i++) {
		assert_int_equal(errors_add(&e, "nvme10", "a", 1, NT_OP_READ, 0x4002, 2), 0);
		assert_int_equal(errors_add(&e, "nvme2", "a", 1, NT_OP_READ, 0x002, 1), 0);
		assert_int_equal(errors_add(&e, "nvme2", "a", 1, NT_OP_READ, 0x001, 1), 0);
		assert_int_equal(errors_add(&e, "nvme2", "b", 1, NT_OP_READ, 0x001, 1), 0);
	}
	assert_int_equal(e.nr, 4);
	assert_string_equal(e.row[3].controller, "nvme10");
	assert_int_equal(e.row[3].status, 0x002);
	assert_int_equal(e.row[3].total, 6);
	assert_int_equal(e.row[0].status, 0x001);
	errors_begin_interval(&e);
	assert_int_equal(e.row[3].interval, 0);
	assert_int_equal(e.row[3].total, 6);
	errors_free(&e);
}

static void more_than_there_is_room_for_are_counted_together(void **state)
{
	struct errors e = {0};
	uint64_t sum = 0;
	char peer[16];

	for (int i = 0; i < ERRORS_MAX + 100; i++) {
		snprintf(peer, sizeof(peer), "%d", i);
		assert_int_equal(errors_add(&e, "nvme0", peer, 1, NT_OP_READ, 1, 1), 0);
	}
	/* Past the limit there is one row for each operation at most. */
	assert_uint_in_range(e.nr, ERRORS_MAX, ERRORS_MAX + NT_OPS_NR);
	for (size_t i = 0; i < e.nr; i++)
		sum += e.row[i].total;
	assert_int_equal(sum, ERRORS_MAX + 100);
	errors_free(&e);
}

/* Strangers have filled the table: who fails now is seen, and what they did is still in the sum. */
static void the_one_that_was_quiet_for_longest_gives_way(void **state)
{
	struct errors e = {0};
	uint64_t sum = 0;
	char peer[16];

	for (int i = 0; i < ERRORS_MAX; i++) {
		snprintf(peer, sizeof(peer), "%d", i);
		assert_int_equal(errors_add(&e, "nvme0", peer, 1, NT_OP_READ, 1, 1), 0);
	}
	errors_begin_interval(&e);
	assert_int_equal(errors_add(&e, "nvme0", "7", 1, NT_OP_READ, 1, 1), 0);
	errors_begin_interval(&e);
	/* The first one that goes makes the row of the others. */
	for (int i = 0; i < 3; i++) {
		snprintf(peer, sizeof(peer), "new %d", i);
		assert_int_equal(errors_add(&e, "nvme0", peer, 1, NT_OP_READ, 1, 5), 0);
	}
	assert_uint_in_range(e.nr, ERRORS_MAX, ERRORS_MAX + NT_OPS_NR);
	for (size_t i = 0; i < e.nr; i++) {
		sum += e.row[i].total;
		if (!strcmp(e.row[i].peer, "7"))
			assert_int_equal(e.row[i].total, 2);
		if (!strcmp(e.row[i].peer, "new 2"))
			assert_int_equal(e.row[i].interval, 5);
	}
	assert_string_equal(e.row[e.nr - 1].peer, "new 2");
	assert_int_equal(sum, ERRORS_MAX + 1 + 3 * 5);
	errors_free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statuses_have_the_names_of_the_specification),
		cmocka_unit_test(errors_are_kept_apart_and_in_order),
		cmocka_unit_test(more_than_there_is_room_for_are_counted_together),
		cmocka_unit_test(the_one_that_was_quiet_for_longest_gives_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
