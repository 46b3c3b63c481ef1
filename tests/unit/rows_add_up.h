/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An invariant of all counts: each command is in one row, in each stage of its operation, and in
 * each stage of its controller.
 */
#ifndef NTPROF_TESTS_ROWS_ADD_UP_H
#define NTPROF_TESTS_ROWS_ADD_UP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/stats.h"

/* Commands of an operation, according to its stages. */
static inline uint64_t staged_in(const struct hist *stages)
{
	uint64_t most = 0;

	for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
		if (stages[i].count > most)
			most = stages[i].count;
	return most;
}

static inline uint64_t staged(const struct stats *s, unsigned int op)
{
	return staged_in(s->stage_total[op]);
}

/*
 * Checks that each controller's stages have the commands of its rows, and that none is in those of
 * two controllers. If a row has gone, its commands are still in the stages.
 */
static inline void assert_controllers_add_up(const struct stats *s, bool all_split)
{
	struct hist *left = malloc(sizeof(s->stage_total));

	assert_non_null(left);
	memcpy(left, s->stage_total, sizeof(s->stage_total));
	for (size_t i = 0; i < s->nr_stages; i++) {
		const struct stats_stages *of = s->stages[i];
		const uint64_t in_stages = staged_in(of->total);
		bool unstaged = false;
		uint64_t rows = 0;

		for (size_t k = 0; k < s->nr_rows; k++) {
			if (stats_stages_find(s, s->rows[k]) != of)
				continue;
			rows += s->rows[k]->total.count;
			unstaged |= s->rows[k]->unstaged_total;
		}
		if (all_split && !unstaged && (s->rows_gone ? in_stages < rows : in_stages != rows))
			fail_msg("operation %u of %s: rows have %lu commands, stages %lu", of->op,
				 of->controller, (unsigned long)rows, (unsigned long)in_stages);
		for (unsigned int k = 0; k < NT_STAGES_MAX; k++) {
			struct hist *h = &left[of->op * NT_STAGES_MAX + k];

			assert_true(h->count >= of->total[k].count && h->sum >= of->total[k].sum);
			h->count -= of->total[k].count;
			h->sum -= of->total[k].sum;
			for (unsigned int b = 0; b < NT_BUCKETS; b++) {
				assert_true(h->buckets[b] >= of->total[k].buckets[b]);
				h->buckets[b] -= of->total[k].buckets[b];
			}
		}
	}
	free(left);
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
	assert_controllers_add_up(s, !unsplit);
	if (in_rows < in_stages + unsplit || in_rows > in_stages + unsplit + without)
		fail_msg("rows have %lu commands, stages %lu, and %lu were not split",
			 (unsigned long)in_rows, (unsigned long)in_stages, (unsigned long)unsplit);
}

#endif /* NTPROF_TESTS_ROWS_ADD_UP_H */
