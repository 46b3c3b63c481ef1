// SPDX-License-Identifier: GPL-2.0-only
/* What the verb report prints of recordings, from the files to the text. */
#include "cli/recordings.h"

static bool never_completed(struct nt_record *r)
{
	r->points[NT_H_COMPLETE] = 0;
	r->flags |= NT_F_CANCELLED;
	return true;
}

static void a_recording_in_which_nothing_ended_has_a_duration(void **state)
{
	struct recording f[] = {{.edit = never_completed}, {.edit = NULL}};
	struct traffic_config c = recordings_config();
	struct result r;

	(void)state;
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "summary of 0.0 s\n");
	assert_contains(r.out, "500 commands in 0.0");
	recordings_free(f, 2);
}

/* A damaged stream may have them in any order. */
static bool backwards(struct nt_record *r)
{
	r->points[NT_H_SUBMIT] = r->points[NT_H_COMPLETE] + 10 * SECOND;
	return true;
}

static void a_recording_that_ends_before_it_begins_lasted_no_time(void **state)
{
	struct recording f[] = {{.edit = backwards}, {.edit = NULL}};
	struct traffic_config c = recordings_config();
	struct result r;

	(void)state;
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "summary of 0.0 s\n");
	assert_contains(r.out, "500 commands in 0.000 s\n");
	recordings_free(f, 2);
}

static void a_command_whose_points_run_backwards_has_no_latency(void **state)
{
	struct recording f[] = {{.edit = backwards}, {.edit = NULL}};
	struct traffic_config c = recordings_config();
	struct result r;

	(void)state;
	c.commands = 20;
	recordings_make(f, &c);
	RUN(&r, "report", "--commands", f[0].path, f[1].path);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, " latency=0 ");
	assert_lacks(r.out, " latency=1844674406");
	recordings_free(f, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_in_which_nothing_ended_has_a_duration),
		cmocka_unit_test(a_recording_that_ends_before_it_begins_lasted_no_time),
		cmocka_unit_test(a_command_whose_points_run_backwards_has_no_latency),
	};

	return cmocka_run_group_tests_name("report", tests, find_program, NULL);
}
