// SPDX-License-Identifier: GPL-2.0-only
/* Resets, stalls, hot blocks, losses and sides that come late, all at once and at random: nothing is wrong. */
#include "merge/testing.h"

/* More are tried with their number as the argument. */
#define SEEDS 12

static unsigned int seeds = SEEDS;

static struct traffic_config mixed(struct traffic *chance, struct feed *f)
{
	struct traffic_config c = {
		.stream = {{NT_HOST, 0, 0},
			   {NT_TARGET,
			    (int64_t)traffic_random(chance, 2 * HOUR) - 600 * (int64_t)SECOND,
			    (int)traffic_random(chance, 200) - 100}},
		.nr_streams = 2,
		.seed = 1 + traffic_random(chance, 1ULL << 31),
		.percent = {60, 20, 15, 5},
		.hot_percent = (unsigned int)traffic_random(chance, 2) *
			       (unsigned int)traffic_random(chance, 99),
		.network_ns = 5000 + traffic_random(chance, 50000),
		.device_ns = 20000 + traffic_random(chance, 300000),
		.think_ns = 500000 + traffic_random(chance, 3 * MS),
		.reorder_ns = traffic_random(chance, 2) * MS,
	};
	uint64_t at[2] = {0};

	for (uint32_t i = 0; i < 8; i++) {
		uint32_t who = i % 2;
		struct traffic_queue q = {
			.target = 1,
			.nqn = "nqn.a",
			.cntlid = (uint16_t)(1 + who + 2 * traffic_random(chance, 2)),
			.qid = 1,
			.slot = who,
			.gen = 1 + i,
			.instance = who,
			.depth = 1 + (unsigned int)traffic_random(chance, 32),
			.start_ns = at[who],
			.stall_device = traffic_random(chance, 2)};

		q.end_ns = q.start_ns + (100 + traffic_random(chance, 900)) * MS;
		q.stall_ns = q.start_ns + traffic_random(chance, 1000) * MS;
		q.stall_end_ns = q.stall_ns + traffic_random(chance, 3000) * MS;
		/* The next one connects when all of this one have ended. */
		at[who] = traffic_max(q.end_ns, q.stall_end_ns) + 100 * MS;
		c.queue[c.nr_queues++] = q;
	}
	f->loss_percent = (unsigned int)(traffic_random(chance, 2) * traffic_random(chance, 30));
	if (traffic_random(chance, 2))
		f->batch_ns[traffic_random(chance, 2)] = 200 * MS;
	if (!traffic_random(chance, 3))
		f->from_ns[traffic_random(chance, 2)] = traffic_random(chance, 1000) * MS;
	if (traffic_random(chance, 2))
		f->expire_ns = 5 * SECOND;
	return c;
}

static void whatever_happens_nothing_is_matched_wrongly(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct traffic chance = {.random = seed * 0x9e3779b97f4a7c15ULL};
		struct feed f = {0};
		struct traffic_config c = mixed(&chance, &f);
		struct outcome o;

		print_message("# seed %llu, hot %u %%\n", (unsigned long long)seed, c.hot_percent);
		run(&o, &c, &f);
		assert_int_equal(o.wrong, 0);
		assert_true(o.right * 100 >= o.both * 98);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_happens_nothing_is_matched_wrongly),
	};

	if (argc > 1)
		seeds = (unsigned int)strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests_name("mixed", tests, NULL, NULL);
}
