// SPDX-License-Identifier: GPL-2.0-only
/* What is kept of commands to say where slow ones come from, and what follows from it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "merge/causes.h"

#define US 1000ULL
#define MS 1000000ULL
#define SECOND (1000 * MS)

static struct merge_connection connections[] = {
	{.index = 0, .qid = 1, .host_stream = 0, .target_stream = 1, .subsysnqn = "nqn.a"},
	{.index = 1, .qid = 2, .host_stream = 0, .target_stream = 1, .subsysnqn = "nqn.a"},
	{.index = 2,
	 .qid = 1,
	 .host_stream = 0,
	 .target_stream = 1,
	 .host_instance = 1,
	 .subsysnqn = "nqn.b"},
};

static struct why *w;

static int setup(void **state)
{
	w = why_new(1);
	return w ? 0 : -1;
}

static int teardown(void **state)
{
	why_free(w);
	return 0;
}

/* The target's records of the commands below; NULL: they have none. */
static const struct nt_record *target;

/* A read that begins at @at, with @disk and @network in these stages, and @rest in the others. */
static void add(unsigned int connection, uint64_t at, uint64_t disk, uint64_t network,
		uint64_t rest, uint32_t length)
{
	static const uint8_t into[NT_MERGED_STAGES_NR] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	const struct nt_record r = {
		.side = NT_HOST,
		.op = NT_OP_READ,
		.qid = connections[connection].qid,
		.nsid = 1,
		.length = length,
		.points = {[NT_H_SUBMIT] = at, [NT_H_COMPLETE] = at + disk + network + rest},
	};
	int64_t stage[NT_MERGED_STAGES_NR] = {
		[NT_MS_TARGET_SUBSYSTEM] = (int64_t)disk,
		[NT_MS_NETWORK_TRANSMISSION] = (int64_t)network,
		[NT_MS_BLK_SUBMISSION] = (int64_t)rest,
	};
	const struct why_command c = {.c = &connections[connection],
				      .r = &r,
				      .target = target,
				      .begin_ns = at,
				      .cpu = ORIGIN_NO_CPU,
				      .nr = NT_MERGED_STAGES_NR,
				      .stage = stage,
				      .into = into};
	unsigned int stands_for = why_stands_for(w, &r);

	if (stands_for)
		assert_int_equal(why_add(w, &c, stands_for), 0);
	if (why_to_follow(w))
		assert_int_equal(why_follow(w, &connections[connection], &r), 0);
}

static uint64_t spread(unsigned int i)
{
	return i * 7919ULL % 1000 * 20;
}

/* 2 % of the commands are slow: the disk takes 10 ms. */
static void slow_disk(unsigned int nr, unsigned int connections_nr)
{
	for (unsigned int i = 0; i < nr; i++)
		add(i % connections_nr, SECOND + i * MS,
		    i % 50 == 7 ? 10 * MS : 100 * US + spread(i), 50 * US + spread(i + 3), 5 * US,
		    4096);
}

static void stages_of_slow_commands_add_up_to_the_gap(void **state)
{
	double sum = 0;
	struct tail t;

	slow_disk(10000, 3);
	assert_true(tail_of(w, WHY_READ, true, true, &t));
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		sum += t.stage_gap[i];
	assert_true(fabs(sum - t.gap_ns) < 1);
	assert_true(fabs(t.place_gap[PLACE_UNKNOWN]) < 1);
	assert_int_equal(t.slow.count, 200);
	assert_true(t.stage_gap[NT_MS_TARGET_SUBSYSTEM] > 0.99 * t.gap_ns);
	assert_int_equal(t.lead, PLACE_DISK);
	assert_true(t.low > 0.95 && t.low <= t.high && t.high < 1.05);
	assert_int_equal(t.sure, CAUSE_NAMED);
	assert_int_equal(t.cause, CAUSE_DISK);
	assert_false(tail_of(w, WHY_WRITE, true, true, &t));
}

static void a_sample_of_the_fast_commands_says_the_same(void **state)
{
	struct tail all, sampled;

	slow_disk(60000, 3);
	assert_true(tail_of(w, WHY_READ, true, true, &all));
	why_free(w);
	w = why_new(WHY_SAMPLE);
	assert_non_null(w);
	slow_disk(60000, 3);
	assert_true(tail_of(w, WHY_READ, true, true, &sampled));
	assert_int_equal(sampled.cause, all.cause);
	assert_true(fabs(sampled.gap_ns - all.gap_ns) < 0.02 * all.gap_ns);
	assert_in_range(sampled.commands, 54000, 66000);
}

/* 40 of 100 commands begin together, and the disk does one after the other. */
static void bursts(void)
{
	for (unsigned int i = 0; i < 60000; i++) {
		unsigned int k = i % 100 < 40 ? i % 100 : 0;

		add(i % 3 / 2, SECOND + (i / 100 * 100 + (k ? 0 : i % 100)) * MS,
		    (k + 1) * 100 * US, 50 * US, 5 * US, 4096);
	}
}

static void a_sample_of_commands_in_flight_says_the_same(void **state)
{
	struct tail all, sampled;

	bursts();
	assert_true(tail_of(w, WHY_READ, true, true, &all));
	assert_int_equal(all.cause, CAUSE_DEPTH);
	why_free(w);
	w = why_new(WHY_SAMPLE);
	assert_non_null(w);
	bursts();
	assert_true(tail_of(w, WHY_READ, true, true, &sampled));
	assert_int_equal(sampled.cause, CAUSE_DEPTH);
	assert_true(fabs(sampled.figure[CAUSE_DEPTH] - all.figure[CAUSE_DEPTH]) <
		    0.1 * all.figure[CAUSE_DEPTH]);
}

/* The disk would not be faster if other queues had some of the commands. */
static void one_queue_of_four_is_not_the_cause_if_the_disk_has_the_time(void **state)
{
	struct tail t;

	for (uint16_t qid = 1; qid <= 4; qid++)
		assert_int_equal(why_queue(w, 0, NT_HOST, &(struct queue_info){.qid = qid}), 0);
	for (unsigned int i = 0; i < 60000; i++)
		add(0, SECOND + (i / 100 * 100 + (i % 100 < 40 ? 0 : i % 100)) * MS,
		    (i % 100 < 40 ? i % 100 + 1 : 1) * 100 * US, 50 * US, 5 * US, 4096);
	assert_true(tail_of(w, WHY_READ, true, true, &t));
	assert_int_equal(t.cause, CAUSE_DEPTH);
	assert_true(t.figure[CAUSE_FEW_QUEUES] < cause_least(CAUSE_FEW_QUEUES));
}

/*
 * The first queue of a controller with @queues of them has all commands, and no other one has
 * announced itself. With @bursts 40 of 100 begin together, and their connection carries one after
 * the other; else one of 50 is late.
 */
static void all_on_one_queue(uint16_t queues, bool bursts, struct tail *t)
{
	const struct queue_info q = {.qid = 1, .queues = queues};

	assert_int_equal(why_queue(w, 0, NT_HOST, &q), 0);
	for (unsigned int i = 0; i < 60000; i++) {
		unsigned int k = bursts && i % 100 < 40 ? i % 100 : 0;

		add(0, SECOND + (i / 100 * 100 + (k ? 0 : i % 100)) * MS, 50 * US,
		    !bursts && i % 50 == 7 ? 10 * MS : (k + 1) * 100 * US, 5 * US, 4096);
	}
	assert_true(tail_of(w, WHY_READ, true, true, t));
}

static void queues_without_a_command_are_queues(void **state)
{
	struct tail t;

	all_on_one_queue(9, true, &t);
	assert_int_equal(t.cause, CAUSE_FEW_QUEUES);
	assert_true(t.figure[CAUSE_FEW_QUEUES] == 1);
}

static void a_controller_with_few_queues_has_no_other_one_to_use(void **state)
{
	struct tail t;

	all_on_one_queue(4, true, &t);
	assert_int_equal(t.cause, CAUSE_DEPTH);
}

/* As after a reconnect to a target that offers fewer. */
static void a_controller_has_as_many_queues_as_it_had_last(void **state)
{
	const struct queue_info before = {.qid = 8, .queues = 9};
	struct tail t;

	assert_int_equal(why_queue(w, 0, NT_HOST, &before), 0);
	all_on_one_queue(4, true, &t);
	assert_int_equal(t.cause, CAUSE_DEPTH);
}

/* One thread has no use for other queues: what is late is late for one command as well. */
static void one_queue_of_many_is_not_the_cause_if_nothing_waits_for_others(void **state)
{
	struct tail t;

	all_on_one_queue(9, false, &t);
	assert_int_equal(t.cause, CAUSE_NETWORK);
	assert_true(t.figure[CAUSE_FEW_QUEUES] == 0);
}

/* 20 of 100 commands begin together, but only 2 of them leave the block layer at a time. */
static void tags(uint64_t disk)
{
	for (unsigned int i = 0; i < 60000; i++) {
		unsigned int k = i % 100 < 20 ? i % 100 : 0;

		add(i % 3 / 2, SECOND + (i / 100 * 100 + (k ? 0 : i % 100)) * MS,
		    MS + (k ? disk : 0), 50 * US, 5 * US + k / 2 * MS, 4096);
	}
}

static void a_wait_for_tags_is_of_the_block_layer(void **state)
{
	struct tail t;

	tags(0);
	assert_true(tail_of(w, WHY_READ, true, true, &t));
	assert_int_equal(t.cause, CAUSE_BLOCK);
	assert_true(tail_of(w, WHY_READ, true, false, &t));
	assert_int_equal(t.cause, CAUSE_BLOCK);
}

/* With more tags they would wait there instead. */
static void a_wait_for_tags_is_depth_if_the_disk_is_slower_as_well(void **state)
{
	struct tail t;

	tags(3 * MS);
	assert_true(tail_of(w, WHY_READ, true, true, &t));
	assert_true(t.figure[CAUSE_BLOCK] > cause_least(CAUSE_BLOCK));
	assert_int_equal(t.cause, CAUSE_DEPTH);
}

/* The same at one array only; commands of two others come one by one. */
static void tags_of_one_array(uint64_t disk, struct tail *t)
{
	for (unsigned int i = 0; i < 60000; i++) {
		unsigned int k = i % 100 < 20 ? i % 100 : 0;

		add(i % 100 < 20 ? 2 : i % 2, SECOND + (i / 100 * 100 + (k ? 0 : i % 100)) * MS,
		    MS + (k ? disk : 0), 50 * US, 5 * US + k / 2 * MS, 4096);
	}
	assert_true(tail_of(w, WHY_READ, true, true, t));
	assert_int_equal(t->key.key, WHY_ARRAY);
	assert_string_equal(t->key.cell->c->subsysnqn, "nqn.b");
}

static void a_wait_for_tags_of_one_array_is_of_the_block_layer(void **state)
{
	struct tail t;

	tags_of_one_array(0, &t);
	assert_int_equal(t.cause, CAUSE_BLOCK);
}

static void a_wait_for_tags_is_of_an_array_that_is_slower_as_well(void **state)
{
	struct tail t;

	tags_of_one_array(3 * MS, &t);
	assert_int_equal(t.cause, CAUSE_ARRAY);
}

/* One array has bursts, which its disk does one after the other; @usual is what it takes otherwise.
 */
static void bursts_to_one_array(uint64_t usual, struct tail *t)
{
	for (unsigned int i = 0; i < 60000; i++) {
		unsigned int k = i % 400 < 40 ? i % 400 + 1 : 0;
		unsigned int to = k ? 2 : i % 3;

		add(to, SECOND + (i / 400 * 400 + (k ? 0 : i % 400)) * MS,
		    k * 50 * US + (to == 2 ? usual : 100 * US), 50 * US, 5 * US, 4096);
	}
	assert_true(tail_of(w, WHY_READ, true, true, t));
	assert_int_equal(t->key.key, WHY_ARRAY);
	assert_true(t->figure[CAUSE_DEPTH] >= cause_least(CAUSE_DEPTH));
}

static void an_array_that_had_more_to_do_is_depth(void **state)
{
	struct tail t;

	bursts_to_one_array(100 * US, &t);
	assert_int_equal(t.cause, CAUSE_DEPTH);
}

static void an_array_that_is_slow_without_bursts_as_well_is_named(void **state)
{
	struct tail t;

	bursts_to_one_array(500 * US, &t);
	assert_int_equal(t.cause, CAUSE_ARRAY);
}

static void commands_of_one_array_are_named_by_it(void **state)
{
	struct tail t;

	for (unsigned int i = 0; i < 9000; i++)
		add(i % 3, SECOND + i * MS, i % 3 == 2 ? 3 * MS + spread(i) : 100 * US + spread(i),
		    50 * US, 5 * US, 4096);
	assert_true(tail_of(w, WHY_READ, true, true, &t));
	assert_int_equal(t.key.key, WHY_ARRAY);
	assert_string_equal(t.key.cell->c->subsysnqn, "nqn.b");
	assert_int_equal(t.key.others, 1);
	assert_true(t.key.of_tail > 0.99 && fabs(t.key.share - 1.0 / 3) < 0.01);
	assert_int_equal(t.cause, CAUSE_ARRAY);
}

static void the_narrower_key_is_named_if_it_has_as_much(void **state)
{
	struct tail t;

	for (unsigned int i = 0; i < 9000; i++)
		add(i % 3, SECOND + i * MS, 100 * US + spread(i), 50 * US,
		    i % 3 == 1 && i % 5 == 0 ? 4 * MS : 5 * US, 4096);
	assert_true(tail_of(w, WHY_READ, true, true, &t));
	assert_int_equal(t.key.key, WHY_QUEUE);
	assert_int_equal(t.key.cell->c->qid, 2);
	assert_int_equal(t.cause, CAUSE_QUEUE);
}

static void a_time_with_most_slow_commands_is_found(void **state)
{
	struct tail t;

	for (unsigned int i = 0; i < 60000; i++)
		add(i % 3, SECOND + i * MS, 100 * US + spread(i),
		    i / 6000 == 4 && i % 4 == 0 ? 9 * MS : 50 * US, 5 * US, 4096);
	assert_true(tail_of(w, WHY_READ, true, true, &t));
	assert_int_equal(t.cause, CAUSE_NETWORK);
	assert_true(t.hot_tail > 0.95);
	assert_true(t.hot_seconds > 5 && t.hot_seconds < 9);
	/* They began from 25 s on, until 31 s. A part takes about a second. */
	assert_true(t.hot_from_ns > 23 * SECOND && t.hot_from_ns <= 26 * SECOND);
	assert_true(t.hot_to_ns >= 30 * SECOND && t.hot_to_ns < 33 * SECOND);
	assert_true(t.seconds > 59 && t.seconds < 64);
}

/* Of some 80 commands a second so few are slow that no second alone shows it. */
static void a_time_with_few_slow_commands_in_each_second_is_found(void **state)
{
	struct tail t;

	for (unsigned int i = 0; i < 2200; i++)
		add(i % 3, SECOND + i * 12 * MS, 30 * MS + spread(i),
		    i / 80 / 4 == 3 && i % 2 ? 60 * MS + i % 14 * 20 * MS : 50 * US, 5 * US, 4096);
	assert_true(tail_of(w, WHY_READ, true, true, &t));
	assert_int_equal(t.sure, CAUSE_NAMED);
	assert_int_equal(t.cause, CAUSE_NETWORK);
	assert_true(t.hot_tail > 0.9 && t.hot_share < 0.25);
	assert_true(t.hot_from_ns >= 11 * SECOND && t.hot_to_ns < 19 * SECOND);
}

/* Recordings are lined up as they are read, and may turn out to begin earlier. */
static void times_in_any_order_have_the_same_sums(void **state)
{
	static const uint64_t times[] = {500 * SECOND, 3 * SECOND, 500 * SECOND + MS, 1,
					 9000 * SECOND};
	struct tail t;

	for (unsigned int i = 0; i < 2000; i++)
		add(0, times[i % 5] + i, 100 * US + spread(i), 50 * US, 5 * US, 4096);
	assert_in_range(w->nr_bins, 2, WHY_BINS);
	assert_true(tail_of(w, WHY_READ, true, true, &t));
	assert_int_equal(t.commands, 2000);
	assert_true(t.slow.count + t.mid.count <= 2000 && t.mid.count > 100);
}

/* Latencies from 64 ns to 68 s, in all times. */
static void memory_is_bounded(void **state)
{
	struct tail t;

	for (unsigned int i = 0; i < 64 * 30; i++)
		add(0, SECOND + i / 30 * SECOND, 64ULL << i % 30, 0, 0, 4096);
	assert_true(w->nr_chunks <= WHY_CHUNKS_MAX);
	assert_true(tail_of(w, WHY_READ, true, true, &t));
	assert_int_equal(t.commands, 64 * 30);
}

static void queues_past_the_limit_are_counted(void **state)
{
	static struct merge_connection many[WHY_CELLS + 8];
	static const uint8_t into[NT_MERGED_STAGES_NR];

	for (unsigned int i = 0; i < WHY_CELLS + 8; i++) {
		const struct nt_record r = {.op = NT_OP_READ,
					    .qid = 1,
					    .points = {[NT_H_SUBMIT] = 1, [NT_H_COMPLETE] = 100}};
		const struct why_command c = {
			.c = &many[i], .r = &r, .begin_ns = 1, .cpu = ORIGIN_NO_CPU, .into = into};

		many[i].index = i;
		many[i].host_instance = i;
		assert_int_equal(why_add(w, &c, 1), 0);
	}
	/* One cell is of the size, one of the array's disk. */
	assert_int_equal(w->nr_cells, WHY_CELLS);
	assert_int_equal(w->others, 10);
}

/* The sanitizer fails this test where a sum overflows. */
static void times_of_a_broken_recording_may_overflow(void **state)
{
	struct tail t;

	for (unsigned int i = 0; i < 100; i++)
		add(i % 3, SECOND, INT64_MAX / 2, INT64_MAX / 4, 5 * US, 4096);
	assert_true(tail_of(w, WHY_READ, true, true, &t));
	assert_int_equal(t.commands, 100);
}

/* A command of one host, which took longer than all that is recorded of its target. */
static void a_command_that_is_longer_than_the_recording_has_all_of_it_beside_it(void **state)
{
	static const uint8_t into[NT_MERGED_STAGES_NR];
	int64_t stage[NT_MERGED_STAGES_NR] = {0};
	const struct nt_record r = {.op = NT_OP_READ,
				    .qid = 1,
				    .points = {[NT_H_SUBMIT] = 1, [NT_H_COMPLETE] = INT64_MAX}};
	const struct nt_record target = {.slot = 1,
					 .points = {[NT_T_EXEC] = 1, [NT_T_DONE] = INT64_MAX}};
	const struct why_command c = {.c = &connections[0],
				      .r = &r,
				      .target = &target,
				      .begin_ns = 1,
				      .cpu = ORIGIN_NO_CPU,
				      .nr = NT_MERGED_STAGES_NR,
				      .stage = stage,
				      .into = into};
	const struct nt_record other = {.length = UINT32_MAX,
					.points = {[NT_T_EXEC] = 5, [NT_T_DONE] = 6}};
	struct queue_info q = {.slot = 0, .qid = 1, .hostnqn = "a"};

	assert_int_equal(why_queue(w, 1, NT_TARGET, &q), 0);
	q = (struct queue_info){.slot = 1, .qid = 1, .hostnqn = "b"};
	assert_int_equal(why_queue(w, 1, NT_TARGET, &q), 0);
	for (unsigned int i = 0; i < 100; i++)
		why_target(w, 1, &other);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(why_add(w, &c, 1), 0);
}

/* Hosts past the limit are one: what they do is another host's work for all before it. */
static void hosts_past_the_limit_are_neighbours_too(void **state)
{
	struct nt_record mine = {.slot = 1}, other = {.slot = WHY_HOSTS + 1};
	struct tail t;

	for (uint32_t slot = 0; slot <= other.slot; slot++) {
		struct queue_info q = {.slot = slot, .qid = 1};

		snprintf(q.hostnqn, sizeof(q.hostnqn), "host %u", slot);
		assert_int_equal(why_queue(w, 1, NT_TARGET, &q), 0);
	}
	target = &mine;
	for (unsigned int i = 0; i < 10000; i++) {
		uint64_t at = SECOND + i * 20 * MS, disk = i % 50 == 7 ? 10 * MS : 100 * US;

		mine.points[NT_T_EXEC] = at;
		mine.points[NT_T_DONE] = at + disk;
		for (uint64_t done = disk > MS ? 200 : 1; done; done--) {
			other.points[NT_T_EXEC] = at;
			other.points[NT_T_DONE] = at + disk - done;
			why_target(w, 1, &other);
		}
		add(0, at, disk, 50 * US, 5 * US, 4096);
	}
	target = NULL;
	assert_true(tail_of(w, WHY_READ, true, true, &t));
	assert_int_equal(t.slow.count, 200);
	assert_true(t.slow.meanwhile > 100 * t.slow.count);
}

static void few_slow_commands_say_nothing(void **state)
{
	struct tail t;

	slow_disk(300, 3);
	assert_true(tail_of(w, WHY_READ, true, true, &t));
	assert_int_equal(t.percent, 99);
	assert_int_equal(t.sure, CAUSE_THIN);
}

static void short_recordings_take_a_lower_percentile(void **state)
{
	static const struct {
		unsigned int commands, percent;
	} of[] = {{420, 95}, {600, 98}, {10000, 99}};

	for (unsigned int i = 0; i < ARRAY_SIZE(of); i++) {
		struct tail t;

		slow_disk(of[i].commands, 3);
		assert_true(tail_of(w, WHY_READ, true, true, &t));
		assert_int_equal(t.percent, of[i].percent);
		assert_true(t.slow.count >= CAUSE_SLOW_MIN);
		assert_int_equal(t.sure, CAUSE_NAMED);
		assert_int_equal(t.cause, CAUSE_DISK);
		assert_int_equal(teardown(state), 0);
		assert_int_equal(setup(state), 0);
	}
}

static void what_is_only_spread_is_not_blamed(void **state)
{
	struct tail t;

	for (unsigned int i = 0; i < 20000; i++) {
		double u = (1.0 + (double)(i * 7919ULL % 20000)) / 20001.0;

		add(i % 3, SECOND + i * MS, (uint64_t)(-log(u) * 200000), 30 * US, 5 * US, 4096);
	}
	assert_true(tail_of(w, WHY_READ, true, true, &t));
	assert_true(t.ratio > CAUSE_RATIO_MIN);
	assert_int_equal(t.sure, CAUSE_HEALTHY);
}

/* A write waits for an R2T; no target's record tells of other hosts. */
static void what_is_not_recorded_is_not_known(void **state)
{
	struct tail t;

	slow_disk(10000, 3);
	assert_true(tail_of(w, WHY_READ, true, false, &t));
	assert_true(isnan(t.figure[CAUSE_NEIGHBOUR]));
	assert_true(tail_of(w, WHY_READ, false, true, &t));
	assert_true(isnan(t.figure[CAUSE_FEW_QUEUES]));
	assert_true(isnan(t.figure[CAUSE_R2T]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(stages_of_slow_commands_add_up_to_the_gap),
		TEST(a_sample_of_the_fast_commands_says_the_same),
		TEST(a_sample_of_commands_in_flight_says_the_same),
		TEST(one_queue_of_four_is_not_the_cause_if_the_disk_has_the_time),
		TEST(queues_without_a_command_are_queues),
		TEST(a_controller_with_few_queues_has_no_other_one_to_use),
		TEST(a_controller_has_as_many_queues_as_it_had_last),
		TEST(one_queue_of_many_is_not_the_cause_if_nothing_waits_for_others),
		TEST(a_wait_for_tags_is_of_the_block_layer),
		TEST(a_wait_for_tags_is_depth_if_the_disk_is_slower_as_well),
		TEST(a_wait_for_tags_of_one_array_is_of_the_block_layer),
		TEST(a_wait_for_tags_is_of_an_array_that_is_slower_as_well),
		TEST(an_array_that_had_more_to_do_is_depth),
		TEST(an_array_that_is_slow_without_bursts_as_well_is_named),
		TEST(commands_of_one_array_are_named_by_it),
		TEST(the_narrower_key_is_named_if_it_has_as_much),
		TEST(a_time_with_most_slow_commands_is_found),
		TEST(a_time_with_few_slow_commands_in_each_second_is_found),
		TEST(times_in_any_order_have_the_same_sums),
		TEST(memory_is_bounded),
		TEST(queues_past_the_limit_are_counted),
		TEST(times_of_a_broken_recording_may_overflow),
		TEST(a_command_that_is_longer_than_the_recording_has_all_of_it_beside_it),
		TEST(hosts_past_the_limit_are_neighbours_too),
		TEST(few_slow_commands_say_nothing),
		TEST(short_recordings_take_a_lower_percentile),
		TEST(what_is_only_spread_is_not_blamed),
		TEST(what_is_not_recorded_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
