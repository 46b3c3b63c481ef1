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

#include "core/array.h"
#include "core/segments.h"
#include "merge/details.h"
#include "merge/merged_stages.h"
#include "traffic.h"

#define COMMANDS 500

/* The ten stages of a command of machines that lack no point. */
static bool merged_stages(const struct nt_record *host, const struct nt_record *target,
			  int64_t stage[NT_MERGED_STAGES_NR])
{
	struct merged_split none;

	merged_split_init(&none, 0, 0);
	return merged_split(&none, host, target, stage);
}

/* [command][side] */
static struct nt_record records[COMMANDS][NT_SIDES];

static int setup(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct traffic_record r;
	struct traffic *t;

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

	for (unsigned int i = 0; i < COMMANDS; i++)
		assert_int_equal(details_add(d, &records[i][NT_HOST], &records[i][NT_TARGET]), 0);
	for (unsigned int shape = 0; shape < NT_SHAPE_CORE; shape++) {
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

/* How often an interval of the target's is counted, beside the others. */
static uint64_t counted_beside(const struct details *d, unsigned int from, unsigned int to)
{
	const struct detail *found;

	for (size_t i = 0; (found = details_get(d, i)); i++)
		if (found->of == DETAIL_TARGET && found->beside && found->from == from &&
		    found->to == to)
			return found->time.count;
	return 0;
}

static void a_file_has_intervals_apart_from_those_of_a_disk(void **state)
{
	struct nt_record r = {
		.side = NT_TARGET,
		.shape = NT_SHAPE_READ,
		.flags = NT_F_FILE,
		.points = {[NT_T_EXEC] = 1000, [NT_T_DONE] = 9000, [NT_TD_ISSUE] = 1500}};
	struct details *d = details_new();

	assert_int_equal(details_add(d, NULL, &r), 0);
	assert_int_equal(counted_beside(d, NT_FILE_WORK, NT_T_DONE), 1);
	r.flags |= NT_F_CACHED;
	assert_int_equal(details_add(d, NULL, &r), 0);
	assert_int_equal(counted_beside(d, NT_FILE_WORK, NT_FILE_CACHE), 1);
	assert_int_equal(counted_beside(d, NT_T_EXEC, NT_FILE_WORK), 2);
	r.points[NT_TD_ISSUE] = 0;
	assert_int_equal(details_add(d, NULL, &r), 0);
	assert_int_equal(counted_beside(d, NT_T_EXEC, NT_FILE_CACHE), 1);
	/* Nothing says how it was read. */
	r.flags &= ~NT_F_CACHED;
	assert_int_equal(details_add(d, NULL, &r), 0);
	assert_int_equal(counted_beside(d, NT_T_EXEC, NT_TD_ISSUE), 0);
	assert_int_equal(sum_of(d, DETAIL_TARGET, NT_SHAPE_READ), 4 * 8000);
	details_free(d);
}

static void a_disk_has_three_intervals_beside_the_execution(void **state)
{
	static const unsigned int point[] = {NT_T_EXEC, NT_TD_ISSUE, NT_TD_DONE, NT_T_DONE};
	struct nt_record r = {.side = NT_TARGET,
			      .shape = NT_SHAPE_READ,
			      .points = {[NT_T_EXEC] = 1000,
					 [NT_T_DONE] = 9000,
					 [NT_TD_ISSUE] = 1500,
					 [NT_TD_DONE] = 8800}};
	struct details *d = details_new();
	const struct detail *found;

	assert_int_equal(details_add(d, NULL, &r), 0);
	/* One of them is missing, or later than done. */
	r.points[NT_TD_ISSUE] = 0;
	assert_int_equal(details_add(d, NULL, &r), 0);
	r.points[NT_TD_ISSUE] = 1500;
	r.points[NT_TD_DONE] = 9001;
	assert_int_equal(details_add(d, NULL, &r), 0);
	for (size_t i = 0; i + 1 < ARRAY_SIZE(point); i++) {
		for (size_t k = 0; (found = details_get(d, k)); k++)
			if (found->from == point[i] && found->to == point[i + 1])
				break;
		assert_non_null(found);
		assert_int_equal(found->time.count, 1);
		assert_true(found->beside);
	}
	assert_int_equal(sum_of(d, DETAIL_TARGET, NT_SHAPE_READ), 3 * 8000);
	details_free(d);
}

static void points_out_of_order_are_in_no_interval_and_told(void **state)
{
	struct details *d = details_new();
	struct nt_record r = records[0][NT_HOST];

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

	/* The host's last interval, and the target's part of a round trip, which the network's is
	 * short of. */
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

static const struct detail *find(const struct details *d, enum detail_of of, unsigned int from,
				 unsigned int to)
{
	const struct detail *what;

	for (size_t i = 0; (what = details_get(d, i)); i++)
		if (what->of == of && what->from == from && what->to == to)
			return what;
	return NULL;
}

static void assert_trip(const struct details *d, unsigned int from, unsigned int to, uint64_t sum,
			int64_t below)
{
	const struct detail *what = find(d, DETAIL_NETWORK, from, to);

	assert_non_null(what);
	assert_true(what->beside);
	assert_int_equal(what->time.count, 1);
	assert_true(what->time.sum == sum);
	assert_int_equal(what->below, below);
}

/* A write with two trips: the command and its R2T, the data and the answer. */
static void trips_are_the_hosts_time_less_the_targets(void **state)
{
	const struct nt_record host = {.side = NT_HOST,
				       .shape = NT_SHAPE_R2T_WRITE,
				       .points = {[NT_H_SEND_CMD] = 1000,
						  [NT_H_R2T_RX] = 2000,
						  [NT_H_SEND_DATA] = 2100,
						  [NT_H_RX] = 4000}};
	struct nt_record target = {.side = NT_TARGET,
				   .shape = NT_SHAPE_R2T_WRITE,
				   .points = {[NT_T_RX] = 5000,
					      [NT_T_SEND_R2T] = 5300,
					      [NT_T_DATA_RX] = 6000,
					      [NT_T_SEND] = 6500}};
	struct details *d = details_new();

	assert_int_equal(details_add(d, &host, &target), 0);
	assert_trip(d, NT_H_SEND_CMD, NT_H_R2T_RX, 700, 0);
	assert_trip(d, NT_H_SEND_DATA, NT_H_RX, 1400, 0);
	details_free(d);
	/* The target's clock is faster: it had the data for longer than the host waited. */
	d = details_new();
	target.points[NT_T_SEND] = 8000;
	assert_int_equal(details_add(d, &host, &target), 0);
	assert_trip(d, NT_H_SEND_DATA, NT_H_RX, 0, -100);
	details_free(d);
	/* Without one of its four points there is no trip. */
	for (unsigned int point = 0; point < NT_POINTS_MAX; point++) {
		struct nt_record lacks = target;

		d = details_new();
		lacks.points[point] = 0;
		assert_int_equal(details_add(d, &host, &lacks), 0);
		assert_int_equal(!find(d, DETAIL_NETWORK, NT_H_SEND_CMD, NT_H_R2T_RX),
				 point == NT_T_RX || point == NT_T_SEND_R2T);
		assert_int_equal(!find(d, DETAIL_NETWORK, NT_H_SEND_DATA, NT_H_RX),
				 point == NT_T_DATA_RX || point == NT_T_SEND);
		details_free(d);
	}
}

/* The network has no time of a command whose sides disagree, or that is out of order. */
static void what_is_out_of_order_has_no_trips(void **state)
{
	struct nt_record host = records[0][NT_HOST], target = records[0][NT_TARGET];
	struct details *d = details_new();

	host.points[NT_H_CQE] = host.points[NT_H_SUBMIT] - 1;
	assert_int_equal(details_add(d, &host, &target), 0);
	assert_int_equal(details_unordered(d), 1);
	assert_int_equal(sum_of(d, DETAIL_NETWORK, (enum nt_shape)host.shape), 0);
	assert_int_equal(sum_of(d, DETAIL_TARGET, (enum nt_shape)target.shape),
			 record_latency_ns(&target));
	details_free(d);
	d = details_new();
	host = records[0][NT_HOST];
	target.shape = (uint8_t)((host.shape + 1) % NT_SHAPE_CORE);
	assert_int_equal(details_add(d, &host, &target), 0);
	assert_int_equal(sum_of(d, DETAIL_NETWORK, (enum nt_shape)host.shape), 0);
	details_free(d);
}

/* Points at one instant are in order. Those that bound no stage are beside the others. */
static void points_that_bound_no_stage_are_beside(void **state)
{
	const uint32_t bounds = segments_points(NT_HOST);
	struct nt_record r = {.side = NT_HOST, .shape = NT_SHAPE_READ};
	struct details *d = details_new();
	const struct detail *what;
	unsigned int beside = 0;

	for (unsigned int i = 0; i < NT_HOST_POINTS_NR; i++)
		r.points[i] = 1000;
	assert_int_equal(details_add(d, &r, NULL), 0);
	assert_int_equal(details_unordered(d), 0);
	for (size_t i = 0; (what = details_get(d, i)); i++) {
		assert_int_equal(what->beside, !(bounds & 1u << what->to));
		assert_int_equal(what->time.count, 1);
		beside += what->beside;
	}
	assert_int_equal(beside, NT_HOST_POINTS_NR - __builtin_popcount(bounds));
	details_free(d);
	/* They may be earlier than the point before them in the table; then they tell nothing. */
	d = details_new();
	assert_false(bounds & 1u << NT_H_SENT_CMD);
	r.points[NT_H_SENT_CMD] = 999;
	assert_int_equal(details_add(d, &r, NULL), 0);
	assert_int_equal(details_unordered(d), 0);
	assert_null(find(d, DETAIL_HOST, NT_H_SEND_CMD, NT_H_SENT_CMD));
	details_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_add_up),
		cmocka_unit_test(intervals_go_on_where_a_point_is_missing),
		cmocka_unit_test(a_disk_has_three_intervals_beside_the_execution),
		cmocka_unit_test(a_file_has_intervals_apart_from_those_of_a_disk),
		cmocka_unit_test(points_out_of_order_are_in_no_interval_and_told),
		cmocka_unit_test(sums_outlive_64_bits),
		cmocka_unit_test(trips_are_the_hosts_time_less_the_targets),
		cmocka_unit_test(what_is_out_of_order_has_no_trips),
		cmocka_unit_test(points_that_bound_no_stage_are_beside),
	};

	return cmocka_run_group_tests_name("details", tests, setup, NULL);
}
