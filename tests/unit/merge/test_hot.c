// SPDX-License-Identifier: GPL-2.0-only
/* Commands that look alike neither keep other records from matching, nor cost much more. */
#include "merge/testing.h"

static struct traffic_config machines(unsigned int hot_percent, unsigned int depth)
{
	struct traffic_config c = {
		.stream = {{NT_HOST, 0, 0}, {NT_TARGET, -300 * (int64_t)SECOND, 20}},
		.nr_streams = 2,
		.nr_queues = 1,
		.seed = 88172645463325252ULL,
		.percent = {100},
		.hot_percent = hot_percent,
		.network_ns = 20000,
		.device_ns = 100000,
		.think_ns = 2 * MS,
	};

	c.queue[0] = (struct traffic_queue){.target = 1,
					    .nqn = "nqn.a",
					    .cntlid = 1,
					    .qid = 1,
					    .gen = 1,
					    .depth = depth,
					    .end_ns = 3 * SECOND};
	return c;
}

static void must_match_99_9_percent(const struct traffic_config *c, const struct feed *f)
{
	struct outcome o;

	run(&o, c, f);
	assert_true(o.both > 0);
	assert_int_equal(o.wrong, 0);
	assert_true(o.right * 1000 >= o.both * 999);
}

static void a_hot_block_spoils_nothing_when_a_side_is_late(void **state)
{
	for (unsigned int hot = 50; hot <= 98; hot += 16) {
		struct traffic_config c = machines(hot, 32);

		must_match_99_9_percent(&c, &(struct feed){.from_ns = {[NT_TARGET] = SECOND}});
		must_match_99_9_percent(&c, &(struct feed){.from_ns = {[NT_HOST] = SECOND}});
		must_match_99_9_percent(&c, &(struct feed){.from_ns = {[NT_TARGET] = SECOND},
							   .batch_ns = {[NT_TARGET] = 200 * MS},
							   .loss_percent = 10});
	}
}

/*
 * One command at a time, always for the same block: only order and times tell the commands apart.
 */
static void one_block_at_depth_1_is_matched_by_order_and_time(void **state)
{
	static const uint64_t think[] = {5000, 100000, 2 * MS};

	for (size_t i = 0; i < sizeof(think) / sizeof(think[0]); i++) {
		struct traffic_config c = machines(100, 1);

		c.think_ns = think[i];
		must_match_99_9_percent(&c, &(struct feed){0});
		must_match_99_9_percent(&c, &(struct feed){.from_ns = {[NT_TARGET] = SECOND}});
		must_match_99_9_percent(&c, &(struct feed){.from_ns = {[NT_HOST] = SECOND}});
		must_match_99_9_percent(&c, &(struct feed){.from_ns = {[NT_TARGET] = SECOND},
							   .batch_ns = {[NT_TARGET] = 200 * MS},
							   .expire_ns = 5 * SECOND});
		must_match_99_9_percent(&c, &(struct feed){.to_ns = {[NT_TARGET] = SECOND}});
	}
}

static void count_match(void *context, const struct merge_connection *c,
			const struct nt_record *host, const struct nt_record *target)
{
	++*(unsigned int *)context;
}

/* Feeds 300 reads of one block. All streams have the same ones, and clocks of their own. */
static void feed_reads(struct merge *m, unsigned int stream, enum nt_side side)
{
	uint64_t random = 1, at = (1 + stream) * 1000 * SECOND;

	for (unsigned int i = 0; i < 300; i++) {
		struct nt_record r = {.side = side,
				      .op = NT_OP_READ,
				      .opcode = 2,
				      .cid = (uint16_t)(i % 16 << 12),
				      .gen = 1,
				      .qid = 1,
				      .cntlid = 1,
				      .nsid = 1,
				      .length = 4096};

		random = random * 6364136223846793005 + 1442695040888963407;
		at += 100000 + (random >> 40) % (2 * MS);
		if (side == NT_HOST) {
			r.points[NT_H_SEND_CMD] = at;
			r.points[NT_H_RX] = at + 60000;
			r.points[NT_H_COMPLETE] = at + 61000;
		} else {
			r.points[NT_T_RX] = at + 20000;
			r.points[NT_T_SEND] = at + 40000;
			r.points[NT_T_SENT] = at + 41000;
		}
		assert_int_equal(merge_record(m, stream, &r), 0);
	}
}

/* Either of two hosts that are copies may be the target's, but one has not begun yet. */
static void a_pattern_waits_for_a_host_in_step_that_comes_later(void **state)
{
	unsigned int matched = 0;
	struct merge_callbacks callbacks = {.matched = count_match, .context = &matched};
	struct merge *m = merge_new(&callbacks);
	struct queue_info q = {.gen = 1, .cntlid = 1, .qid = 1, .subsysnqn = "nqn.a"};

	assert_non_null(m);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(merge_stream(m, i, i < 2 ? NT_HOST : NT_TARGET), 0);
		assert_int_equal(merge_queue(m, i, i < 2 ? NT_HOST : NT_TARGET, &q), 0);
	}
	feed_reads(m, 2, NT_TARGET);
	feed_reads(m, 1, NT_HOST);
	feed_reads(m, 0, NT_HOST);
	merge_finish(m);
	assert_int_equal(matched, 0);
	merge_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_block_at_depth_1_is_matched_by_order_and_time),
		cmocka_unit_test(a_hot_block_spoils_nothing_when_a_side_is_late),
		cmocka_unit_test(a_pattern_waits_for_a_host_in_step_that_comes_later),
	};

	return cmocka_run_group_tests_name("hot", tests, NULL, NULL);
}
