// SPDX-License-Identifier: GPL-2.0-only
/* The list of programs that a kernel refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/refusals.h"

static void the_reason_is_the_logs_last_line_but_its_figures(void **state)
{
	char buf[192];

	refusals_of_log("0: (79) r2 = *(u64 *)(r1 +24)\n"
			"func 'nvmet_req_init' doesn't have 4-th argument\n"
			"invalid bpf_context access off=24 size=8\n"
			"processed 1 insns (limit 1000000) max_states_per_insn 0 total_states 0\n",
			-EACCES, buf, sizeof(buf));
	assert_string_equal(buf, "invalid bpf_context access off=24 size=8");
	refusals_of_log("R1 type=scalar expected=fp\nverification time 12 usec\nstack depth 8+0\n"
			"processed 12 insns (limit 1000000)\n\n",
			-EINVAL, buf, sizeof(buf));
	assert_string_equal(buf, "R1 type=scalar expected=fp");
}

static void without_a_log_the_error_is_the_reason(void **state)
{
	char buf[192];

	refusals_of_log("", -E2BIG, buf, sizeof(buf));
	assert_string_equal(buf, strerror(E2BIG));
	refusals_of_log("processed 0 insns\n", -EINVAL, buf, sizeof(buf));
	assert_string_equal(buf, strerror(EINVAL));
}

static void of_a_log_that_is_cut_off_the_end_is_no_reason(void **state)
{
	char buf[192];

	refusals_of_log("0: (79) r2 = *(u64 *)(r1 +24)\n17: (bf) r", -ENOSPC, buf, sizeof(buf));
	assert_string_equal(buf, strerror(ENOSPC));
}

static void a_reason_is_kept_as_far_as_there_is_room(void **state)
{
	static char log[1000];
	char buf[16];

	memset(log, 'x', sizeof(log) - 1);
	refusals_of_log(log, -EINVAL, buf, sizeof(buf));
	assert_string_equal(buf, "xxxxxxxxxxxxxxx");
}

static void a_program_is_refused_once(void **state)
{
	struct refusals r = {0};

	assert_null(refusals_why(&r, "stock_cmd"));
	assert_true(refusals_add(&r, "stock_cmd", "first"));
	assert_false(refusals_add(&r, "stock_cmd", "second"));
	assert_true(refusals_add(&r, "stock_cmd_no_cq", "another"));
	assert_int_equal(r.nr, 2);
	assert_string_equal(refusals_why(&r, "stock_cmd"), "first");
	assert_string_equal(refusals_why(&r, "stock_cmd_no_cq"), "another");
	assert_null(refusals_why(&r, "stock"));
}

static void past_the_last_one_nothing_is_kept(void **state)
{
	struct refusals r = {0};
	char name[16];

	for (int i = 0; i < REFUSALS_MAX; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		assert_true(refusals_add(&r, name, "why"));
	}
	assert_false(refusals_add(&r, "one_more", "why"));
	assert_null(refusals_why(&r, "one_more"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reason_is_the_logs_last_line_but_its_figures),
		cmocka_unit_test(without_a_log_the_error_is_the_reason),
		cmocka_unit_test(of_a_log_that_is_cut_off_the_end_is_no_reason),
		cmocka_unit_test(a_reason_is_kept_as_far_as_there_is_room),
		cmocka_unit_test(a_program_is_refused_once),
		cmocka_unit_test(past_the_last_one_nothing_is_kept),
	};

	return cmocka_run_group_tests_name("refusals", tests, NULL, NULL);
}
