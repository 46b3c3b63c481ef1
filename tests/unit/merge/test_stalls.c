// SPDX-License-Identifier: GPL-2.0-only
/*
 * A command's records are matched however long it takes, and a record without its counterpart does
 * not wait for ever.
 */
#include "merge/testing.h"

/* Two queues. The second one continues while the first one stalls. */
static struct traffic_config machines(uint64_t seconds)
{
	struct traffic_config c = {
		.stream = {{NT_HOST, 0, 0}, {NT_TARGET, -300 * (int64_t)SECOND, 20}},
		.nr_streams = 2,
		.nr_queues = 2,
		.seed = 88172645463325252ULL,
		.percent = {40, 25, 25, 10},
		.network_ns = 20000,
		.device_ns = 100000,
		.think_ns = 2 * MS,
	};

	for (unsigned int i = 0; i < c.nr_queues; i++)
		c.queue[i] = (struct traffic_queue){.target = 1,
						    .nqn = "nqn.a",
						    .cntlid = 1,
						    .qid = (uint16_t)(1 + i),
						    .slot = i,
						    .gen = 1,
						    .depth = 32,
						    .end_ns = seconds * SECOND};
	return c;
}

static void must_match_all(const struct traffic_config *c, const struct feed *f)
{
	struct outcome o;

	run(&o, c, f);
	assert_true(o.both > 0);
	assert_int_equal(o.wrong, 0);
	assert_int_equal(o.right, o.both);
}

static void stall(bool device)
{
	static const uint64_t ms[] = {1100, 3000, 40000};

	for (size_t i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
		struct traffic_config c = machines(2 + ms[i] / 1000);

		/* All flushes look alike, so there are none. */
		c.percent[NT_SHAPE_READ] = 50;
		c.percent[NT_SHAPE_NO_DATA] = 0;
		if (ms[i] > 10000)
			c.think_ns = 20 * MS;
		c.queue[0].stall_ns = 500 * MS;
		c.queue[0].stall_end_ns = (500 + ms[i]) * MS;
		c.queue[0].stall_device = device;
		must_match_all(&c, &(struct feed){0});
		must_match_all(&c, &(struct feed){.expire_ns = 5 * SECOND});
		must_match_all(&c, &(struct feed){.batch_ns = {[NT_TARGET] = 200 * MS},
						  .expire_ns = 5 * SECOND});
		must_match_all(&c, &(struct feed){.batch_ns = {[NT_HOST] = 200 * MS},
						  .expire_ns = 5 * SECOND});
	}
}

static void answers_that_stall_on_the_wire_are_matched(void **state)
{
	stall(false);
}

static void commands_that_stall_in_the_storage_are_matched(void **state)
{
	stall(true);
}

/*
 * A record that lost its counterpart is given up when the tag is used again, or when the other side
 * has passed it.
 */
static void what_waits_in_vain_is_given_up(void **state)
{
	struct traffic_config c = machines(20);
	struct outcome o;

	run(&o, &c, &(struct feed){.loss_percent = 10});
	assert_int_equal(o.wrong, 0);
	assert_true(o.right * 1000 >= o.both * 999);
	/*
	 * A second of either side's losses, which is a tenth of 28,000 a second, and one record for
	 * each tag.
	 */
	assert_true(o.pending_max < 2 * 2800 * 3 / 2 + 64);
}

static void stalls_at_random_match_nothing_wrongly(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct traffic chance = {.random = seed * 2654435761ULL};
		struct traffic_config c = machines(4);
		struct feed f = {.loss_percent = seed % 2 ? 0 : 20};
		struct outcome o;

		c.seed = seed * 7919;
		c.reorder_ns = seed % 4 / 2 * MS;
		for (unsigned int i = 0; i < 2; i++) {
			c.queue[i].stall_ns = traffic_random(&chance, 3000) * MS;
			c.queue[i].stall_end_ns =
				c.queue[i].stall_ns + traffic_random(&chance, 5000) * MS;
			c.queue[i].stall_device = traffic_random(&chance, 2);
		}
		if (seed % 3)
			f.batch_ns[seed % 3 - 1] = 200 * MS;
		run(&o, &c, &f);
		assert_int_equal(o.wrong, 0);
		assert_true(o.right * 1000 >= o.both * 999);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_that_stall_on_the_wire_are_matched),
		cmocka_unit_test(commands_that_stall_in_the_storage_are_matched),
		cmocka_unit_test(what_waits_in_vain_is_given_up),
		cmocka_unit_test(stalls_at_random_match_nothing_wrongly),
	};

	return cmocka_run_group_tests_name("stalls", tests, NULL, NULL);
}
