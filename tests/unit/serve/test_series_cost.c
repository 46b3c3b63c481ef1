// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a host that connects to a target costs the series, in basic blocks of their code: see
 * tests/unit/merge/test_cost.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "serve/series.h"

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

static void hosts(struct series_table *t, unsigned int first, unsigned int nr)
{
	for (unsigned int i = first; i < first + nr; i++) {
		const uint32_t ops = 1u << NT_OP_ADMIN | 1u << NT_OP_READ;
		struct series_group *g;
		char labels[16];
		uint32_t at;

		snprintf(labels, sizeof(labels), "%u", i);
		g = series_group(t, labels, ops, &at);
		assert_non_null(g);
		series_count(t, g, NT_OP_ADMIN)->all.commands++;
		series_count(t, g, NT_OP_READ)->all.commands++;
		assert_non_null(g->of[NT_OP_READ]);
	}
}

/* @max series are in use. Return: cost of each new host, for half of which there are series */
static uint64_t cost_of_a_host(unsigned int max)
{
	struct series_table *t = series_new(max, SERIES_BYTES_MAX, "others", "gone", 1000);
	uint64_t before;

	assert_non_null(t);
	series_begin(t, 2000);
	hosts(t, 0, max / 2);
	series_begin(t, 3000);
	series_begin(t, 4000);
	before = blocks;
	hosts(t, max, max);
	before = (blocks - before) / max;
	assert_true(series_folded(t) == max);
	series_free(t);
	return before;
}

/* Somebody may connect by a new name thousands of times a second. */
static void a_new_host_costs_no_more_if_there_are_many_series(void **state)
{
	assert_in_range(cost_of_a_host(SERIES_MAX), 1, 3 * cost_of_a_host(SERIES_MAX / 32));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_host_costs_no_more_if_there_are_many_series),
	};

	return cmocka_run_group_tests_name("series_cost", tests, NULL, NULL);
}
