// SPDX-License-Identifier: GPL-2.0-only
/* Two recordings compared: the statistics by themselves, and the limits of what is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "merge/compare.h"
#include "merge/stretches.h"

#define MS 1000000ULL
#define SECOND (1000 * MS)

static uint64_t random_state;

static double uniform(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(random_state >> 11) / (double)(1ULL << 53);
}

/* What the block layer has of the first 10 us. */
static uint64_t block_ns = 5000;

/* A read of a host: 10 us, then @ns, then 10 us. */
static void add_read(struct blocks *b, uint64_t at, uint64_t ns, uint32_t length)
{
	static const struct blocks_where where = {.stream = {0, MERGE_NO_STREAM}};
	const struct nt_record r = {
		.side = NT_HOST,
		.op = NT_OP_READ,
		.shape = NT_SHAPE_READ,
		.length = length,
		.points =
			{
				[NT_H_SUBMIT] = at,
				[NT_H_QUEUE_RQ] = at + block_ns,
				[NT_H_SEND_CMD] = at + 10000,
				[NT_H_RX] = at + 10000 + ns,
				[NT_H_C2H] = at + 13000 + ns,
				[NT_H_CQE] = at + 16000 + ns,
				[NT_H_COMPLETE] = at + 20000 + ns,
			},
	};

	assert_int_equal(blocks_add(b, &where, &r, NULL), 0);
}

/* @nr reads, one each 10 ms. */
static void add_reads(struct blocks *b, unsigned int nr, double ns)
{
	for (unsigned int i = 0; i < nr; i++)
		add_read(b, SECOND + i * 10 * MS, (uint64_t)(ns * (0.5 + uniform())), 4096);
}

static struct compare *compare_made(void)
{
	struct compare *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	c->only = NT_SIDES;
	c->tolerance = COMPARE_TOLERANCE;
	random_state = 1;
	return c;
}

static void compare_done(struct compare *c)
{
	compare_free(c);
	free(c);
}

static void assert_near(double value, double expected, double within)
{
	if (!(fabs(value - expected) <= within))
		fail_msg("%g instead of %g", value, expected);
}

/* Abramowitz and Stegun, table 26.10; the last one is that of the normal distribution. */
static void quantiles_of_students_t(void **state)
{
	assert_near(student_quantile(0.05, 1), 12.706, 0.001);
	assert_near(student_quantile(0.05, 10), 2.228, 0.001);
	assert_near(student_quantile(0.01, 30), 2.750, 0.001);
	assert_near(student_quantile(0.001, 5), 6.869, 0.001);
	assert_near(student_quantile(0.05, 1e6), 1.960, 0.001);
}

static void a_stretch_is_as_long_as_the_series_remembers(void **state)
{
	double series[256], slow = 0;
	unsigned int noise, memory;

	random_state = 7;
	for (unsigned int i = 0; i < ARRAY_SIZE(series); i++)
		series[i] = uniform();
	noise = stretch_length(series, ARRAY_SIZE(series));
	for (unsigned int i = 0; i < ARRAY_SIZE(series); i++)
		series[i] = slow = 0.9 * slow + uniform() - 0.5;
	memory = stretch_length(series, ARRAY_SIZE(series));
	assert_true(noise <= 3);
	assert_true(memory >= 8);
	/* A trend has no end of it. */
	for (unsigned int i = 0; i < ARRAY_SIZE(series); i++)
		series[i] = i;
	assert_int_equal(stretch_length(series, ARRAY_SIZE(series)),
			 ARRAY_SIZE(series) / STRETCHES_MIN);
	for (unsigned int i = 0; i < ARRAY_SIZE(series); i++)
		series[i] = 5;
	assert_int_equal(stretch_length(series, ARRAY_SIZE(series)), 1);
	assert_int_equal(stretch_length(series, 1), 1);
}

static void blocks_grow_with_the_recording_and_lose_nothing(void **state)
{
	struct blocks b = {.nr = 0};
	const struct blocks_kind *k;
	uint64_t count = 0, buckets = 0;
	double sum = 0;

	/* Seconds, then a day later, then before all others. */
	for (unsigned int i = 0; i < 1000; i++)
		add_read(&b, 86400 * SECOND + i * 7 * MS, 1000 * i, 4096);
	assert_int_equal(b.shift, 26);
	for (unsigned int i = 0; i < 1000; i++)
		add_read(&b, 2 * 86400 * SECOND + i * 7 * MS, 1000 * i, 4096);
	add_read(&b, SECOND, 1000, 4096);
	assert_true(b.nr <= BLOCKS_MAX && b.nr > BLOCKS_MAX / 2);
	assert_int_equal(b.nr_kinds, 1);
	k = b.kind[0];
	for (unsigned int i = 0; i < BLOCKS_MAX; i++) {
		const struct blocks_hist *h = k->block[i] ? &k->block[i]->of[0] : NULL;

		assert_true(!h || i < b.nr);
		count += h ? h->count : 0;
		sum += h ? h->sum : 0;
		for (unsigned int n = 0; h && n < NT_BUCKETS; n++)
			buckets += blocks_bucket(&b, h, n);
	}
	assert_int_equal(count, 2001);
	assert_int_equal(buckets, 2001);
	assert_near(sum, 2 * 499500e3 + 1000 + 2001 * 20000.0, 1);
	blocks_clear(&b);
}

static void commands_past_the_limit_of_kinds_are_counted(void **state)
{
	struct blocks b = {.nr = 0};
	unsigned int more = 0;

	/* Each class of sizes, for each operation. */
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		for (unsigned int n = 0; n < 32; n++) {
			static const struct blocks_where where = {.stream = {0, MERGE_NO_STREAM}};
			const struct nt_record r = {
				.side = NT_HOST,
				.op = (uint8_t)op,
				.shape = NT_SHAPE_NO_DATA,
				.length = 1u << n,
				.points = {[NT_H_SUBMIT] = SECOND, [NT_H_COMPLETE] = SECOND + 5}};

			assert_int_equal(blocks_add(&b, &where, &r, NULL), 0);
			more++;
		}
	}
	assert_int_equal(b.commands, more);
	assert_int_equal(b.others, more - BLOCKS_KINDS_MAX);
	assert_int_equal(b.nr_kinds, BLOCKS_KINDS_MAX + 1);
	blocks_clear(&b);
}

static void what_a_command_found_in_flight_is_known(void **state)
{
	struct blocks b = {.by_depth = true};
	unsigned int two = 0;

	/* In pairs, the second one of which begins while the first one is in flight; ends cross. */
	for (unsigned int i = 0; i < 100; i++) {
		add_read(&b, SECOND + i * MS + 1000, 50000, 4096);
		add_read(&b, SECOND + i * MS, 200000, 4096);
	}
	assert_int_equal(blocks_finish(&b), 0);
	for (unsigned int i = 0; i < b.nr_kinds; i++)
		if (b.kind[i]->depth == blocks_depth(2))
			two += (unsigned int)b.kind[i]->machine[0].count;
	assert_int_equal(two, 100);
	assert_int_equal(b.late, 0);
	assert_int_equal(blocks_depth(1), 1);
	assert_true(blocks_depth(6) > blocks_depth(5) && blocks_depth(100) == blocks_depth(101));
	assert_int_equal(blocks_depth(UINT64_MAX), BLOCKS_DEPTHS - 1);
	blocks_clear(&b);
}

static void the_same_commands_do_not_differ(void **state)
{
	struct compare *c = compare_made();

	for (unsigned int w = 0; w < COMPARE_WHENS; w++) {
		random_state = 5;
		add_reads(&c->blocks[w], 3000, 100000);
	}
	assert_int_equal(compare_again(c), 0);
	assert_int_equal(compare_solve(c), 0);
	assert_int_equal(c->nr_kinds, 1);
	assert_int_equal(compare_answer(c).outcome, COMPARE_NO_SHIFT);
	for (unsigned int f = 0; f < COMPARE_FIGURES_NR; f++) {
		const struct compare_shift *s = &c->kind[0].of[BLOCKS_LATENCY].of[f];

		assert_true(s->value[COMPARE_BEFORE] == s->value[COMPARE_AFTER]);
	}
	assert_near(c->kind[0].of[BLOCKS_LATENCY].greater, 0.5, 1e-9);
	/* 3 of 3000 are not enough for a p99.9. */
	assert_int_equal(c->kind[0].of[BLOCKS_LATENCY].of[COMPARE_P99_9].finding, COMPARE_UNKNOWN);
	assert_int_equal(c->kind[0].of[BLOCKS_LATENCY].of[COMPARE_P99].finding, COMPARE_SAME);
	compare_done(c);
}

static void a_shift_is_found_with_its_stage_either_way(void **state)
{
	static const double ns[][COMPARE_WHENS] = {{100000, 130000}, {130000, 100000}};
	static const enum compare_outcome outcome[] = {COMPARE_REGRESSION, COMPARE_IMPROVED};

	for (unsigned int i = 0; i < ARRAY_SIZE(ns); i++) {
		struct compare *c = compare_made();
		struct compare_answer a;

		for (unsigned int w = 0; w < COMPARE_WHENS; w++)
			add_reads(&c->blocks[w], 3000, ns[i][w]);
		assert_int_equal(compare_again(c), 0);
		assert_int_equal(compare_solve(c), 0);
		a = compare_answer(c);
		assert_int_equal(a.outcome, outcome[i]);
		assert_int_equal(a.figure, COMPARE_MEAN);
		assert_int_equal(a.duration, BLOCKS_STAGE(NT_HS_NETWORK_AND_TARGET));
		assert_true(i ? c->kind[0].of[0].greater < 0.3 : c->kind[0].of[0].greater > 0.7);
		compare_done(c);
	}
}

/* It may be sure, and is not worth a word: 50 ns of 120 us. */
static void a_stage_that_shifts_by_next_to_nothing_is_the_same(void **state)
{
	static const uint64_t after_ns[] = {5050, 5500};

	for (unsigned int i = 0; i < ARRAY_SIZE(after_ns); i++) {
		struct compare *c = compare_made();

		for (unsigned int w = 0; w < COMPARE_WHENS; w++) {
			block_ns = w ? after_ns[i] : 5000;
			random_state = 5;
			add_reads(&c->blocks[w], 3000, 100000);
		}
		block_ns = 5000;
		assert_int_equal(compare_again(c), 0);
		assert_int_equal(compare_solve(c), 0);
		assert_int_equal(
			c->kind[0].of[BLOCKS_STAGE(NT_HS_BLK_SUBMISSION)].of[COMPARE_MEAN].finding,
			i ? COMPARE_SLOWER : COMPARE_SAME);
		compare_done(c);
	}
}

/* Each command takes as long as all others, so the shift is sure. */
static void a_latency_that_shifts_by_next_to_nothing_is_the_same(void **state)
{
	static const uint64_t after_ns[] = {1000500, 1005000};

	for (unsigned int i = 0; i < ARRAY_SIZE(after_ns); i++) {
		struct compare *c = compare_made();

		for (unsigned int w = 0; w < COMPARE_WHENS; w++)
			for (unsigned int n = 0; n < 3000; n++)
				add_read(&c->blocks[w], SECOND + n * (SECOND / 100),
					 w ? after_ns[i] : 1000000, 4096);
		assert_int_equal(compare_again(c), 0);
		assert_int_equal(compare_solve(c), 0);
		assert_int_equal(c->kind[0].of[BLOCKS_LATENCY].of[COMPARE_MEAN].finding,
				 i ? COMPARE_SLOWER : COMPARE_SAME);
		compare_done(c);
	}
}

static void a_shift_within_the_tolerance_is_no_regression(void **state)
{
	struct compare *c = compare_made();

	add_reads(&c->blocks[COMPARE_BEFORE], 6000, 100000);
	add_reads(&c->blocks[COMPARE_AFTER], 6000, 115000);
	c->tolerance = 0.3;
	assert_int_equal(compare_again(c), 0);
	assert_int_equal(compare_solve(c), 0);
	assert_int_equal(compare_answer(c).outcome, COMPARE_WORSE);
	compare_done(c);
}

static void too_little_says_nothing(void **state)
{
	static const struct {
		unsigned int nr[COMPARE_WHENS];
		enum compare_why why;
	} tried[] = {
		{{1, 1}, COMPARE_FEW},
		{{3000, 5}, COMPARE_FEW},
		{{3000, 0}, COMPARE_ONLY_ONE},
		{{3000, 300}, COMPARE_SHORT},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(tried); i++) {
		struct compare *c = compare_made();

		for (unsigned int w = 0; w < COMPARE_WHENS; w++)
			add_reads(&c->blocks[w], tried[i].nr[w], 100000);
		if (!tried[i].nr[COMPARE_AFTER])
			add_read(&c->blocks[COMPARE_AFTER], SECOND, 1000, 1 << 20);
		assert_int_equal(compare_again(c), 0);
		assert_int_equal(compare_solve(c), 0);
		assert_int_equal(compare_answer(c).outcome, COMPARE_NOTHING);
		assert_int_equal(c->kind[0].why, tried[i].why);
		compare_done(c);
	}
}

/* The first reading finds that one lacks a point; both are then split without it. */
static void recordings_that_lack_other_points_are_read_once_more(void **state)
{
	static const struct blocks_where lacking = {
		.stream = {0, MERGE_NO_STREAM},
		.missing = {[NT_HOST] = 1u << NT_H_CQE},
	};
	struct compare *c = compare_made();
	struct nt_record r = {.side = NT_HOST, .op = NT_OP_READ, .length = 4096};

	add_reads(&c->blocks[COMPARE_BEFORE], 3000, 100000);
	r.points[NT_H_SUBMIT] = r.points[NT_H_RX] = SECOND;
	r.points[NT_H_COMPLETE] = 2 * SECOND;
	assert_int_equal(blocks_add(&c->blocks[COMPARE_AFTER], &lacking, &r, NULL), 0);
	assert_int_equal(compare_again(c), 1);
	for (unsigned int w = 0; w < COMPARE_WHENS; w++) {
		assert_int_equal(c->blocks[w].commands, 0);
		assert_int_equal(c->blocks[w].missing[NT_HOST], 1u << NT_H_CQE);
		add_reads(&c->blocks[w], 3000, 100000);
		assert_int_equal(c->blocks[w].into[NT_HS_BLK_COMPLETION],
				 c->blocks[w].into[NT_HS_NVME_TCP_COMPLETION]);
	}
	assert_int_equal(compare_again(c), 0);
	compare_done(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_of_students_t),
		cmocka_unit_test(a_stretch_is_as_long_as_the_series_remembers),
		cmocka_unit_test(blocks_grow_with_the_recording_and_lose_nothing),
		cmocka_unit_test(commands_past_the_limit_of_kinds_are_counted),
		cmocka_unit_test(what_a_command_found_in_flight_is_known),
		cmocka_unit_test(the_same_commands_do_not_differ),
		cmocka_unit_test(a_shift_is_found_with_its_stage_either_way),
		cmocka_unit_test(a_stage_that_shifts_by_next_to_nothing_is_the_same),
		cmocka_unit_test(a_latency_that_shifts_by_next_to_nothing_is_the_same),
		cmocka_unit_test(a_shift_within_the_tolerance_is_no_regression),
		cmocka_unit_test(too_little_says_nothing),
		cmocka_unit_test(recordings_that_lack_other_points_are_read_once_more),
	};

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
