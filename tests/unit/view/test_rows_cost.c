// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a screen of many rows costs, in basic blocks of the code: see tests/unit/merge/test_cost.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "view/view.h"

#define FEW 128
#define MANY (16 * FEW)

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

/* Return: blocks for each row of a screen with @nr rows of controllers of one name. */
static uint64_t cost_of_a_row(unsigned int nr, bool many_peers, enum output_format format)
{
	struct stats s = {.side = NT_TARGET, .kernel = "6.1", .source = "stock", .seconds = 1};
	struct view_state state = {.keys = true, .filter = "cntlid"};
	struct view_options o = {
		.format = format, .redraw = true, .columns = 80, .lines = 24, .state = &state};
	uint64_t before;

	for (unsigned int i = 0; i < nr; i++) {
		struct stats_row *row;
		char peer[32];

		snprintf(peer, sizeof(peer), "nqn.%u", many_peers ? i : 0);
		row = stats_row(&s, "cntlid 1", peer, (uint16_t)i, NT_OP_READ, false);
		assert_non_null(row);
		hist_count(&row->interval, 1000 + i);
	}
	o.out = fopen("/dev/null", "w");
	assert_non_null(o.out);
	before = blocks;
	assert_int_equal(view_interval(&s, &o), 0);
	before = blocks - before;
	fclose(o.out);
	stats_free(&s);
	return before / nr;
}

static void assert_costs(bool many_peers, enum output_format format)
{
	uint64_t few = cost_of_a_row(FEW, many_peers, format);
	uint64_t many = cost_of_a_row(MANY, many_peers, format);

	print_message("# %llu blocks a row, %llu where there are many\n", (unsigned long long)few,
		      (unsigned long long)many);
	assert_in_range(many, 1, 2 * few);
}

static void a_row_costs_no_more_if_its_controller_has_many(void **state)
{
	assert_costs(false, FORMAT_TEXT);
	assert_costs(false, FORMAT_JSON);
	assert_costs(false, FORMAT_CSV);
}

/* Hosts choose their NQNs. */
static void a_row_costs_no_more_if_many_controllers_have_its_name(void **state)
{
	assert_costs(true, FORMAT_JSON);
	assert_costs(true, FORMAT_CSV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_costs_no_more_if_its_controller_has_many),
		cmocka_unit_test(a_row_costs_no_more_if_many_controllers_have_its_name),
	};

	return cmocka_run_group_tests_name("rows_cost", tests, NULL, NULL);
}
