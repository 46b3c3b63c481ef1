// SPDX-License-Identifier: GPL-2.0-only
/* Commands in bins of time: what joins keeps its counts, and memory has its limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "merge/timeline.h"

#define SECOND 1000000000ULL

static int setup(void **state)
{
	*state = timeline_new();
	return !*state;
}

static int teardown(void **state)
{
	timeline_free(*state);
	return 0;
}

/* A read of 4 KiB that takes 1000 ns, of which 300 are in the first stage. */
static void add_at(struct timeline *t, uint64_t ns, uint64_t lba, const void *owner)
{
	static const uint8_t into[NT_MERGED_STAGES_NR] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	const int64_t stage[NT_MERGED_STAGES_NR] = {300, [NT_MS_TARGET_SUBSYSTEM] = 700};
	const struct nt_record r = {.op = NT_OP_READ, .length = 4096, .slba = lba};
	const struct timeline_command c = {
		.owner = owner,
		.begin_ns = ns,
		.latency_ns = 1000,
		.r = &r,
		.cpu = 3,
		.nr = NT_MERGED_STAGES_NR,
		.stage = stage,
		.into = into,
	};

	assert_int_equal(timeline_add(t, &c), 0);
}

/* All that adds up over the bins, and over the points of a cell's curve. */
static void assert_adds_up(const struct timeline *t, uint64_t commands)
{
	uint64_t count = 0, reads = 0, lbas = 0, bytes = 0, cells = 0, sparks = 0;

	assert_true(t->time.nr <= TIMELINE_BINS && t->lba.nr <= TIMELINE_LBAS);
	for (unsigned int i = 0; i < TIMELINE_BINS; i++) {
		const struct timeline_bin *b = &t->bin[i];

		if (i >= t->time.nr)
			assert_int_equal(b->h.count, 0);
		count += b->h.count;
		bytes += b->h.bytes;
		reads += b->count[TIMELINE_READ];
		for (unsigned int k = 0; k < TIMELINE_LBAS; k++)
			lbas += b->lba[k];
	}
	for (unsigned int i = 0; i < t->nr_cells; i++) {
		if (!t->cell[i]->owner)
			continue;
		cells += t->cell[i]->h.count;
		for (unsigned int k = 0; k < TIMELINE_SPARKS; k++)
			sparks += t->cell[i]->spark[k].count;
	}
	assert_int_equal(count, commands);
	assert_int_equal(bytes, 4096 * commands);
	assert_int_equal(reads, commands);
	assert_int_equal(lbas, commands);
	assert_int_equal(cells + t->others, commands);
	assert_int_equal(sparks, cells);
}

static uint64_t count_at(const struct timeline *t, uint64_t ns)
{
	return t->bin[(ns >> t->time.shift) - t->time.base].h.count;
}

static void bins_that_join_keep_their_commands(void **state)
{
	struct timeline *t = *state;

	for (unsigned int i = 0; i < 5000; i++)
		add_at(t, SECOND + i * SECOND / 100, i, t);
	assert_adds_up(t, 5000);
	/* 50 s in 512 parts of a power of two: 134 ms. */
	assert_int_equal(t->time.shift, 27);
	assert_in_range(count_at(t, 20 * SECOND), 13, 14);
}

static void a_command_may_begin_before_all_others(void **state)
{
	struct timeline *t = *state;

	for (unsigned int i = 5000; i; i--)
		add_at(t, i * SECOND / 100, 1000000 - 7ULL * i, t);
	assert_adds_up(t, 5000);
	assert_in_range(count_at(t, 20 * SECOND), 13, 14);
	for (unsigned int i = 1; i < 5000; i++)
		add_at(t, i * SECOND / 100, 1000000 - 7ULL * i, t);
	assert_adds_up(t, 9999);
	assert_in_range(count_at(t, 20 * SECOND), 26, 28);
}

/* A damaged recording may say anything. */
static void any_time_and_address_has_a_bin(void **state)
{
	static const uint64_t any[] = {0, 1, SECOND, UINT64_MAX, UINT64_MAX / 2, 5, 1ULL << 63};
	struct timeline *t = *state;
	uint64_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(any); i++)
		for (size_t k = 0; k < ARRAY_SIZE(any); k++) {
			add_at(t, any[i], any[k], t);
			assert_adds_up(t, ++n);
		}
	timeline_add_failed(t, UINT64_MAX - 1);
	timeline_add_failed(t, 2);
	assert_int_equal(t->bin[0].failed + t->bin[t->time.nr - 1].failed, 2);
}

static void addresses_have_a_range_of_their_own(void **state)
{
	struct timeline *t = *state;

	for (unsigned int i = 0; i < 64; i++)
		add_at(t, SECOND, 1000000000 + i, t);
	assert_int_equal(t->lba.shift, 0);
	assert_int_equal(t->lba.base, 1000000000);
	assert_int_equal(t->lba.nr, TIMELINE_LBAS);
	add_at(t, SECOND, 1000000000 - 1, t);
	assert_int_equal(t->lba.shift, 1);
	assert_adds_up(t, 65);
}

static void stages_are_counted_by_latency(void **state)
{
	struct timeline *t = *state;
	const struct timeline_band *b = &t->band[TIMELINE_READ][nt_bucket(1000)];

	for (unsigned int i = 0; i < 10; i++)
		add_at(t, SECOND, 0, t);
	assert_int_equal(b->count, 10);
	assert_int_equal(b->sum[NT_MS_BLK_SUBMISSION], 3000);
	assert_int_equal(b->sum[NT_MS_TARGET_SUBSYSTEM], 7000);
	assert_int_equal(t->joined[NT_MS_TARGET_SUBSYSTEM], 1u << NT_MS_TARGET_SUBSYSTEM);
}

static void the_slowest_are_kept(void **state)
{
	struct timeline *t = *state;

	for (unsigned int i = 0; i < 100; i++) {
		const struct nt_record r = {.cid = (uint16_t)i};
		const struct timeline_command c = {
			.begin_ns = SECOND, .latency_ns = i * 37 % 100, .r = &r, .cpu = 1};

		assert_int_equal(timeline_add(t, &c), 0);
	}
	assert_int_equal(t->nr_slow, TIMELINE_SLOWEST);
	for (unsigned int i = 0; i < TIMELINE_SLOWEST; i++) {
		assert_int_equal(t->slow[i].latency, 99 - i);
		assert_int_equal(t->slow[i].r.cid * 37 % 100, 99 - i);
	}
}

static void rows_past_the_limit_are_counted_together(void **state)
{
	static const char owner[TIMELINE_CELLS + 10];
	struct timeline *t = *state;

	for (unsigned int k = 0; k < 2; k++)
		for (size_t i = 0; i < sizeof(owner); i++)
			add_at(t, SECOND, 0, &owner[i]);
	assert_int_equal(t->nr_cells, TIMELINE_CELLS);
	/* One row is that of the CPU. */
	assert_int_equal(t->others, 2 * (sizeof(owner) - TIMELINE_CELLS + 1));
	assert_adds_up(t, 2 * sizeof(owner));
}

/* A command that has no room, for its size or its namespace, is counted once. */
static void a_namespace_has_a_row_beside_that_of_the_size(void **state)
{
	static const char owner[TIMELINE_CELLS];
	const struct nt_record r = {.nsid = 7, .length = 7};
	struct timeline_command c = {
		.owner = owner, .begin_ns = SECOND, .latency_ns = 5, .r = &r, .cpu = ORIGIN_NO_CPU};
	struct timeline *t = *state;

	assert_int_equal(timeline_add(t, &c), 0);
	assert_int_equal(t->nr_cells, 2);
	assert_int_equal(t->cell[0]->what, 7);
	assert_int_equal(t->cell[1]->what, TIMELINE_NAMESPACE | 7);
	assert_string_equal(t->cell[1]->disk, "");
	for (unsigned int i = 1; i < TIMELINE_CELLS; i++) {
		c.owner = &owner[i];
		assert_int_equal(timeline_add(t, &c), 0);
	}
	assert_int_equal(t->nr_cells, TIMELINE_CELLS);
	assert_int_equal(t->others, TIMELINE_CELLS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bins_that_join_keep_their_commands, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_command_may_begin_before_all_others, setup,
						teardown),
		cmocka_unit_test_setup_teardown(any_time_and_address_has_a_bin, setup, teardown),
		cmocka_unit_test_setup_teardown(addresses_have_a_range_of_their_own, setup,
						teardown),
		cmocka_unit_test_setup_teardown(stages_are_counted_by_latency, setup, teardown),
		cmocka_unit_test_setup_teardown(the_slowest_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_past_the_limit_are_counted_together, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_namespace_has_a_row_beside_that_of_the_size,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
