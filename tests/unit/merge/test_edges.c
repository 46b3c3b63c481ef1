// SPDX-License-Identifier: GPL-2.0-only
/* Which commands are missing from a stream because it was recorded in bursts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "merge/clock_alignment.h"

#define HOST 0
#define TARGET 1
#define OFFSET 1000000

/* The target's clock is ahead by OFFSET. */
static const struct merge_connection connection = {
	.host_stream = HOST,
	.target_stream = TARGET,
	.offset_low = OFFSET - 10,
	.offset_high = OFFSET + 10,
};

static struct nt_record of_host(uint64_t from, uint64_t to)
{
	struct nt_record r = {.side = NT_HOST};

	r.points[NT_H_SUBMIT] = from;
	r.points[NT_H_COMPLETE] = to;
	return r;
}

static struct nt_record of_target(uint64_t from, uint64_t to)
{
	struct nt_record r = {.side = NT_TARGET};

	r.points[NT_T_RX] = from;
	r.points[NT_T_SENT] = to;
	return r;
}

static bool cut(const struct edges *e, const struct merge_connection *c, struct nt_record r)
{
	return edges_cut(e, c, &r);
}

static void what_passed_within_a_burst_is_not_cut(void **state)
{
	struct edges *e = edges_new(2);

	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(edges_burst(e, TARGET, OFFSET + 1000 * i, OFFSET + 1000 * i + 400),
				 0);
	for (uint64_t i = 1; i < 100; i++) {
		assert_false(cut(e, &connection, of_host(1000 * i + 100, 1000 * i + 300)));
		assert_true(cut(e, &connection, of_host(1000 * i + 300, 1000 * i + 500)));
		assert_true(cut(e, &connection, of_host(1000 * i - 100, 1000 * i + 100)));
		assert_true(cut(e, &connection, of_host(1000 * i - 500, 1000 * i - 400)));
		assert_true(cut(e, &connection, of_host(1000 * i - 100, 1000 * i + 500)));
	}
	edges_free(e);
}

static void a_target_s_record_is_looked_for_in_the_host_s_bursts(void **state)
{
	struct edges *e = edges_new(2);

	assert_int_equal(edges_burst(e, HOST, 5000, 6000), 0);
	assert_false(cut(e, &connection, of_target(OFFSET + 5100, OFFSET + 5900)));
	assert_true(cut(e, &connection, of_target(OFFSET + 5900, OFFSET + 6100)));
	assert_true(cut(e, &connection, of_target(5100, 5900)));
	/* The target itself was recorded continuously. */
	assert_false(cut(e, &connection, of_host(1, 2)));
	edges_free(e);
}

static void what_is_not_known_is_not_said(void **state)
{
	struct merge_connection c = connection;
	struct edges *e = edges_new(2);

	assert_int_equal(edges_burst(e, TARGET, 5000, 6000), 0);
	c.offset_low = c.offset_high + 1;
	assert_false(cut(e, &c, of_host(1, 2)));
	c = connection;
	c.target_stream = MERGE_NO_STREAM;
	assert_false(cut(e, &c, of_host(1, 2)));
	assert_false(cut(e, &connection, of_host(0, 0)));
	edges_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_passed_within_a_burst_is_not_cut),
		cmocka_unit_test(a_target_s_record_is_looked_for_in_the_host_s_bursts),
		cmocka_unit_test(what_is_not_known_is_not_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
