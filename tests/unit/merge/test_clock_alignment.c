// SPDX-License-Identifier: GPL-2.0-only
/* Recorded streams are put onto one time axis by the commands that they have in common. */
#include "merge/clock_alignment.h"

#include "merge/testing.h"

/* As many as `report` accepts. To compare each with each again and again would take minutes. */
#define MACHINES 128u
#define COMMANDS 1000u

/* How far ahead a stream's clock is. */
static uint64_t clock_of(unsigned int stream)
{
	return stream * 977 * SECOND;
}

/* Commands of a host to a target, with numbers from @first on. */
static void commands(struct clock_alignment *l, unsigned int host, unsigned int target,
		     uint64_t first)
{
	for (uint64_t i = first; i < first + COMMANDS; i++) {
		struct nt_record r = {.opcode = 2, .cntlid = 1, .qid = 1, .slba = i, .nsid = 1};

		r.side = NT_HOST;
		r.points[NT_H_SEND_CMD] = SECOND + i * 10000 + clock_of(host);
		assert_int_equal(clock_alignment_add(l, host, &r), 0);
		r = (struct nt_record){.opcode = 2, .cntlid = 1, .qid = 1, .slba = i, .nsid = 1};
		r.side = NT_TARGET;
		r.points[NT_T_CMD] = SECOND + i * 10000 + 20000 + clock_of(target);
		assert_int_equal(clock_alignment_add(l, target, &r), 0);
	}
}

static void assert_lined_up(const int64_t *to_common, unsigned int a, unsigned int b)
{
	int64_t unmatched =
		(to_common[a] + (int64_t)clock_of(a)) - (to_common[b] + (int64_t)clock_of(b));

	assert_uint_in_range(unmatched + (int64_t)(100 * MS), 0, 200 * MS);
}

static void as_many_machines_as_report_takes(void **state)
{
	struct clock_alignment *l = clock_alignment_new(2 * MACHINES);
	int64_t to_common[2 * MACHINES] = {0};

	assert_non_null(l);
	for (unsigned int i = 0; i < MACHINES; i++)
		commands(l, i, MACHINES + i, i * COMMANDS);
	assert_int_equal(clock_alignment_solve(l, to_common), 0);
	for (unsigned int i = 0; i < MACHINES; i++)
		assert_lined_up(to_common, i, MACHINES + i);
	clock_alignment_free(l);
}

/*
 * Host 0 with target 3, target 3 with host 2, host 2 with target 1: no connection is between
 * neighbouring files.
 */
static void one_leads_to_the_next(void **state)
{
	struct clock_alignment *l = clock_alignment_new(5);
	int64_t to_common[5] = {0, 0, 0, 0, 4711};

	assert_non_null(l);
	commands(l, 0, 3, 0);
	commands(l, 2, 3, COMMANDS);
	commands(l, 2, 1, 2 * COMMANDS);
	assert_int_equal(clock_alignment_solve(l, to_common), 0);
	for (unsigned int i = 1; i < 4; i++)
		assert_lined_up(to_common, 0, i);
	/* A stream that has nothing in common with any other stays where it was. */
	assert_int_equal(to_common[4], 4711);
	clock_alignment_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_machines_as_report_takes),
		cmocka_unit_test(one_leads_to_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
