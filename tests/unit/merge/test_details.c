// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intervals between points: those of one side add up to its latency, and round trips to the merged
 * network stage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/span.h"
#include "merge/details.h"
#include "merge/merged_stages.h"
#include "traffic.h"

#define COMMANDS 500

/* [command][side] */
static struct nt_record records[COMMANDS][NT_SIDES];

static int setup(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct traffic_record r;
	struct traffic *t;

	(void)state;
	c.commands = COMMANDS;
	t = traffic_new(&c);
	while (traffic_next(t, &r))
		if (r.id < COMMANDS)
			records[r.id][r.r.side] = r.r;
	traffic_free(t);
	return 0;
}

/* The sum of the intervals of a kind that are parts of the latency, or of the network. */
static int64_t sum_of(const struct details *d, enum detail_of of, enum nt_shape shape)
{
	const struct detail *what;
	int64_t sum = 0;

	for (size_t i = 0; (what = details_get(d, i)); i++)
		if (what->of == of && what->shape == shape &&
		    (of == DETAIL_NETWORK || !what->beside))
			sum += (int64_t)what->time.sum + what->below;
	return sum;
}

static void intervals_add_up(void **state)
{
	struct details *d = details_new();

	(void)state;
	for (unsigned int i = 0; i < COMMANDS; i++)
		assert_int_equal(details_add(d, &records[i][NT_HOST], &records[i][NT_TARGET]), 0);
	for (unsigned int shape = 0; shape < NT_SHAPES_NR; shape++) {
		int64_t latency[NT_SIDES] = {0}, network = 0;

		for (unsigned int i = 0; i < COMMANDS; i++) {
			int64_t stage[NT_MERGED_STAGES_NR];
			const struct nt_record *r = records[i];

			if (r[NT_HOST].shape != shape)
				continue;
			for (unsigned int side = 0; side < NT_SIDES; side++)
				latency[side] += (int64_t)record_latency_ns(&r[side]);
			assert_true(merged_stages(&r[NT_HOST], &r[NT_TARGET], stage));
			network += stage[NT_MS_NETWORK_TRANSMISSION];
		}
		assert_true(latency[NT_HOST] > 0);
		assert_int_equal(sum_of(d, DETAIL_HOST, shape), latency[NT_HOST]);
		assert_int_equal(sum_of(d, DETAIL_TARGET, shape), latency[NT_TARGET]);
		assert_int_equal(sum_of(d, DETAIL_NETWORK, shape), network);
	}
	assert_int_equal(details_unordered(d), 0);
	details_free(d);
}

static void intervals_go_on_where_a_point_is_missing(void **state)
{
	struct details *d = details_new();
	int64_t latency = 0;

	(void)state;
	for (unsigned int i = 0; i < COMMANDS; i++) {
		struct nt_record r = records[i][NT_HOST];

		r.points[NT_H_RX] = 0;
		if (r.shape == NT_SHAPE_READ)
			latency += (int64_t)record_latency_ns(&r);
		assert_int_equal(details_add(d, &r, NULL), 0);
	}
	assert_int_equal(sum_of(d, DETAIL_HOST, NT_SHAPE_READ), latency);
	assert_int_equal(sum_of(d, DETAIL_NETWORK, NT_SHAPE_READ), 0);
	details_free(d);
}

static void points_out_of_order_are_in_no_interval_and_told(void **state)
{
	struct details *d = details_new();
	struct nt_record r = records[0][NT_HOST];

	(void)state;
	r.points[NT_H_CQE] = r.points[NT_H_SUBMIT] - 1;
	assert_int_equal(details_add(d, &r, NULL), 0);
	/* A stream may contain any value. */
	r.shape = 0xff;
	assert_int_equal(details_add(d, &r, &r), 0);
	assert_int_equal(details_unordered(d), 1);
	assert_null(details_get(d, 0));
	details_free(d);
}

static void sums_outlive_64_bits(void **state)
{
	const uint64_t long_ns = 1ULL << 62;
	struct details *d = details_new();
	struct nt_record host = records[0][NT_HOST], target = records[0][NT_TARGET];
	const struct detail *what;
	unsigned int nr = 0;

	(void)state;
	/* The host's last interval, and the target's part of a round trip, which the network's is short of. */
	host.points[NT_H_COMPLETE] += long_ns;
	target.points[NT_T_SEND] += long_ns;
	target.points[NT_T_SENT] += long_ns;
	for (unsigned int i = 0; i < 9; i++)
		assert_int_equal(details_add(d, &host, &target), 0);
	for (size_t i = 0; (what = details_get(d, i)); i++) {
		if (what->of == DETAIL_HOST && what->to == NT_H_COMPLETE && !what->beside)
			nr += what->time.sum > (unsigned __int128)9 * long_ns;
		if (what->of == DETAIL_NETWORK && what->below < -(__int128)8 * (__int128)long_ns)
			nr++;
	}
	assert_int_equal(nr, 2);
	details_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_add_up),
		cmocka_unit_test(intervals_go_on_where_a_point_is_missing),
		cmocka_unit_test(points_out_of_order_are_in_no_interval_and_told),
		cmocka_unit_test(sums_outlive_64_bits),
	};

	return cmocka_run_group_tests_name("details", tests, setup, NULL);
}
