/* SPDX-License-Identifier: GPL-2.0-only */
/* An invariant of all counts: each command is in one row, and in each stage of its operation. */
#ifndef NTPROF_TESTS_ROWS_ADD_UP_H
#define NTPROF_TESTS_ROWS_ADD_UP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/stats.h"

/* Commands of an operation, according to its stages. */
static inline uint64_t staged(const struct stats *s, unsigned int op)
{
	uint64_t most = 0;

	for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
		if (s->stage_total[op][i].count > most)
			most = s->stage_total[op][i].count;
	return most;
}

/*
 * assert_rows_add_up() - check the invariant, while no command ends
 *
 * A command that cannot be split is in its row only, and is counted as such. One without a
 * histogram may be in the row of others, or in no stage; its operation is unknown.
 */
static inline void assert_rows_add_up(const struct stats *s)
{
	uint64_t rows[NT_OPS_NR] = {0}, shared = 0, in_rows = 0, in_stages = 0;
	const uint64_t unsplit = s->counters_total[NT_CNT_POINT_MISSING];
	const uint64_t without = s->counters_total[NT_CNT_HIST_FULL];

	for (size_t i = 0; i < s->nr_rows; i++) {
		const struct stats_row *r = s->rows[i];
		const bool has_op = !r->shared || !strcmp(r->controller, STATS_GONE);

		in_rows += r->total.count;
		if (has_op)
			rows[r->op] += r->total.count;
		else
			shared += r->total.count;
	}
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		in_stages += staged(s, op);
		if (!shared && !unsplit && !without && rows[op] != staged(s, op))
			fail_msg("operation %u: rows have %lu commands, stages %lu", op,
				 (unsigned long)rows[op], (unsigned long)staged(s, op));
	}
	if (in_rows < in_stages + unsplit || in_rows > in_stages + unsplit + without)
		fail_msg("rows have %lu commands, stages %lu, and %lu were not split",
			 (unsigned long)in_rows, (unsigned long)in_stages, (unsigned long)unsplit);
}

#endif /* NTPROF_TESTS_ROWS_ADD_UP_H */
