// SPDX-License-Identifier: GPL-2.0-only
/* When a command began and ended, with any points missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/segments.h"

static void a_host_command_lasts_from_submit_to_complete(void **state)
{
	const struct nt_record r = {.side = NT_HOST,
				    .points = {[NT_H_SUBMIT] = 10,
					       [NT_H_QUEUE_RQ] = 20,
					       [NT_H_CQE] = 80,
					       [NT_H_COMPLETE] = 90}};

	assert_int_equal(record_begin_ns(&r), 10);
	assert_int_equal(record_end_ns(&r), 90);
	assert_int_equal(record_last_ns(&r), 90);
}

static void without_submit_it_begins_with_queue_rq(void **state)
{
	const struct nt_record r = {.side = NT_HOST,
				    .points = {[NT_H_QUEUE_RQ] = 20, [NT_H_SEND_CMD] = 30}};

	assert_int_equal(record_begin_ns(&r), 20);
}

static void a_target_command_lasts_from_arrival_to_sent(void **state)
{
	const struct nt_record r = {
		.side = NT_TARGET,
		.points = {[NT_T_RX] = 10, [NT_T_CMD] = 20, [NT_T_SEND] = 80, [NT_T_SENT] = 90}};

	assert_int_equal(record_begin_ns(&r), 10);
	assert_int_equal(record_end_ns(&r), 90);
	assert_int_equal(record_last_ns(&r), 90);
}

static void without_arrival_it_begins_when_the_driver_has_it(void **state)
{
	const struct nt_record r = {.side = NT_TARGET,
				    .points = {[NT_T_CMD] = 20, [NT_T_EXEC] = 30}};

	assert_int_equal(record_begin_ns(&r), 20);
}

static void an_end_that_is_missing_is_no_other_point(void **state)
{
	const struct nt_record host = {.side = NT_HOST, .points = {[NT_H_CQE] = 80}};
	const struct nt_record target = {.side = NT_TARGET, .points = {[NT_T_SEND] = 70}};

	assert_int_equal(record_end_ns(&host), 0);
	assert_int_equal(record_last_ns(&host), 80);
	assert_int_equal(record_end_ns(&target), 0);
	assert_int_equal(record_last_ns(&target), 70);
}

static void a_record_without_points_has_no_times(void **state)
{
	for (unsigned int side = 0; side < NT_SIDES; side++) {
		const struct nt_record r = {.side = (uint8_t)side};

		assert_int_equal(record_begin_ns(&r), 0);
		assert_int_equal(record_end_ns(&r), 0);
		assert_int_equal(record_last_ns(&r), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_command_lasts_from_submit_to_complete),
		cmocka_unit_test(without_submit_it_begins_with_queue_rq),
		cmocka_unit_test(a_target_command_lasts_from_arrival_to_sent),
		cmocka_unit_test(without_arrival_it_begins_when_the_driver_has_it),
		cmocka_unit_test(an_end_that_is_missing_is_no_other_point),
		cmocka_unit_test(a_record_without_points_has_no_times),
	};

	return cmocka_run_group_tests_name("span", tests, NULL, NULL);
}
