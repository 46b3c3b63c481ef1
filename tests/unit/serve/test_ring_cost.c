// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs to go through a ring of many blocks, in basic blocks of its code: see
 * tests/unit/merge/test_cost.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/time.h"
#include "serve/ring.h"

#define FEW 100
#define MANY 3200

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

static void add_blocks(struct ring *r, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		const uint64_t now = monotonic_ns();
		const struct nt_record rec = {
			.side = NT_HOST, .op = NT_OP_READ, .gen = 1, .points = {now, now}};

		ring_add(r, &rec, now);
		ring_end_block(r);
	}
}

/* As a file is written: each block is found by the number behind the last one. */
static uint64_t cost_of_reading(struct ring *r, unsigned int nr)
{
	const uint64_t first = r->numbers + 1, before = blocks;
	const struct ring_block *b;
	uint64_t next = first;

	add_blocks(r, nr);
	while ((b = ring_from(r, next)))
		next = b->number + 1;
	assert_int_equal(next, first + nr);
	return (blocks - before) / nr;
}

static void a_block_costs_no_more_to_read_if_there_are_many(void **state)
{
	struct ring few, many;

	assert_int_equal(ring_init(&few, UINT64_MAX, 1ULL << 40), 0);
	assert_int_equal(ring_init(&many, UINT64_MAX, 1ULL << 40), 0);
	assert_in_range(cost_of_reading(&many, MANY), 1, 2 * cost_of_reading(&few, FEW));
	ring_free(&few);
	ring_free(&many);
}

static void blocks_that_were_dropped_are_not_looked_at_again(void **state)
{
	struct ring r;

	assert_int_equal(ring_init(&r, 1000000000, 1ULL << 40), 0);
	add_blocks(&r, 3);
	assert_int_equal(ring_from(&r, 2)->number, 2);
	ring_age(&r, monotonic_ns() + 2000000000);
	assert_null(ring_from(&r, 2));
	add_blocks(&r, 2);
	assert_int_equal(ring_from(&r, 2)->number, 4);
	assert_int_equal(ring_from(&r, 5)->number, 5);
	/* An earlier one, too. */
	assert_int_equal(ring_from(&r, 1)->number, 4);
	ring_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_costs_no_more_to_read_if_there_are_many),
		cmocka_unit_test(blocks_that_were_dropped_are_not_looked_at_again),
	};

	return cmocka_run_group_tests_name("ring_cost", tests, NULL, NULL);
}
