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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_block_at_depth_1_is_matched_by_order_and_time),
		cmocka_unit_test(a_hot_block_spoils_nothing_when_a_side_is_late),
	};

	return cmocka_run_group_tests_name("hot", tests, NULL, NULL);
}
