// SPDX-License-Identifier: GPL-2.0-only
/* Commands that take long are reported once, and recognized when they end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/overdue.h"

static struct nt_record record_of(uint16_t cid, uint64_t begin)
{
	return (struct nt_record){
		.side = NT_HOST,
		.slot = 5,
		.gen = 2,
		.cid = cid,
		.points = {[NT_H_SUBMIT] = begin},
	};
}

static void is_told_once_and_again_when_it_ends(void **state)
{
	const struct nt_record r = record_of(0x1001, 1000);
	struct overdue *o = overdue_new();

	assert_non_null(o);
	for (int look = 0; look < 10; look++) {
		assert_int_equal(overdue_tell(o, &r), look == 0);
		overdue_looked(o);
	}
	assert_int_equal(overdue_count(o), 1);
	assert_true(overdue_ended(o, &r));
	assert_false(overdue_ended(o, &r));
	assert_int_equal(overdue_count(o), 0);
	overdue_free(o);
}

static void others_with_the_same_command_id_are_not_it(void **state)
{
	const struct nt_record r = record_of(0x1001, 1000);
	struct nt_record other = record_of(0x1001, 1001);
	struct overdue *o = overdue_new();

	assert_non_null(o);
	assert_int_equal(overdue_tell(o, &r), 1);
	assert_false(overdue_ended(o, &other));
	other = r;
	other.slot = 6;
	assert_false(overdue_ended(o, &other));
	overdue_free(o);
}

static void targets_command_of_another_connection_is_not_it(void **state)
{
	struct nt_record r = record_of(0x1001, 1000), other;
	struct overdue *o = overdue_new();

	assert_non_null(o);
	r.side = NT_TARGET;
	other = r;
	assert_int_equal(overdue_tell(o, &r), 1);
	other.gen = 3;
	assert_false(overdue_ended(o, &other));
	assert_int_equal(overdue_tell(o, &other), 1);
	other = r;
	other.cid = 0x2001;
	assert_false(overdue_ended(o, &other));
	assert_true(overdue_ended(o, &r));
	overdue_free(o);
}

/*
 * Linux changes the upper bits of a command id with each use, and each Connect makes another
 * connection.
 */
static void command_that_a_host_sends_again_is_the_same(void **state)
{
	const struct nt_record r = record_of(0x1001, 1000);
	struct nt_record again = record_of(0x2001, 1000);
	struct overdue *o = overdue_new();

	assert_non_null(o);
	assert_int_equal(overdue_tell(o, &r), 1);
	overdue_looked(o);
	again.gen = 4;
	again.flags = NT_F_REQUEUED;
	for (int look = 0; look < 5; look++) {
		assert_int_equal(overdue_tell(o, &again), 0);
		overdue_looked(o);
	}
	assert_true(overdue_ended(o, &again));
	overdue_free(o);
}

/* A command ends between two looks. Its record is read after the second look. */
static void one_that_is_not_found_is_known_for_one_look_more(void **state)
{
	const struct nt_record r = record_of(0x1001, 1000);
	struct overdue *o = overdue_new();

	assert_non_null(o);
	overdue_looked(o);
	assert_int_equal(overdue_tell(o, &r), 1);
	overdue_looked(o);
	overdue_looked(o);
	assert_int_equal(overdue_count(o), 1);
	overdue_looked(o);
	assert_int_equal(overdue_count(o), 0);
	assert_false(overdue_ended(o, &r));
	overdue_free(o);
}

/* Ends are lost when records are not read. The memory is bounded by the commands in flight. */
static void commands_whose_ends_are_lost_are_forgotten(void **state)
{
	struct overdue *o = overdue_new();

	assert_non_null(o);
	for (unsigned int look = 0; look < 200; look++) {
		for (unsigned int i = 0; i < 100; i++) {
			const struct nt_record r = record_of((uint16_t)i, 1000 + look);

			assert_int_equal(overdue_tell(o, &r), 1);
		}
		overdue_looked(o);
		assert_true(overdue_count(o) <= 300);
	}
	overdue_free(o);
	overdue_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_told_once_and_again_when_it_ends),
		cmocka_unit_test(others_with_the_same_command_id_are_not_it),
		cmocka_unit_test(targets_command_of_another_connection_is_not_it),
		cmocka_unit_test(command_that_a_host_sends_again_is_the_same),
		cmocka_unit_test(one_that_is_not_found_is_known_for_one_look_more),
		cmocka_unit_test(commands_whose_ends_are_lost_are_forgotten),
	};

	return cmocka_run_group_tests_name("overdue", tests, NULL, NULL);
}
