// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resets, stalls, hot blocks, losses and sides that come late, all at once and at random: no match
 * is wrong.
 */
#include "merge/testing.h"

/* The first argument is the number of seeds to try, the second is the first seed. */
#define SEEDS 12

static unsigned int seeds = SEEDS;
static unsigned int first = 1;

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
		/* The next queue connects when all commands of this one have ended. */
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

static uint64_t one_of(struct traffic *chance, const uint64_t *values, size_t nr)
{
	return values[traffic_random(chance, nr)];
}

#define ONE_OF(chance, ...)                             \
	one_of(chance, (const uint64_t[]){__VA_ARGS__}, \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/*
 * Most or all commands look alike, use few tags and are more or less regular. Either side comes
 * late, or ends.
 */
static struct traffic_config alike(struct traffic *chance, struct feed *f)
{
	struct traffic_config c = {
		.stream = {{NT_HOST, 0, 0},
			   {NT_TARGET,
			    (int64_t)traffic_random(chance, 2 * HOUR) - 600 * (int64_t)SECOND,
			    (int)traffic_random(chance, 200) - 100}},
		.nr_streams = 2,
		.nr_queues = 1 + (unsigned int)traffic_random(chance, 3),
		.seed = 1 + traffic_random(chance, 1ULL << 31),
		.percent = {100},
		.hot_percent = (unsigned int)ONE_OF(chance, 90, 99, 100, 100),
		.spread_percent = (unsigned int)ONE_OF(chance, 1, 3, 10, 30, 100),
		.network_ns = ONE_OF(chance, 5000, 20000, 100000),
		.device_ns = ONE_OF(chance, 10000, 100000, 1000000),
		.think_ns = ONE_OF(chance, 2000, 50000, 1000000),
		.reorder_ns = ONE_OF(chance, 0, 0, 100000),
		.commands = 4000 + traffic_random(chance, 16000),
	};
	uint64_t lasts = 3 * SECOND;

	c.regular = !traffic_random(chance, 10);
	if (!traffic_random(chance, 8)) {
		c.same_content = true;
		c.percent[NT_SHAPE_NO_DATA] = 10;
	}
	for (uint32_t i = 0; i < c.nr_queues; i++) {
		struct traffic_queue *q = &c.queue[i];

		*q = (struct traffic_queue){.target = 1,
					    .nqn = "nqn.a",
					    .cntlid = 1,
					    .qid = (uint16_t)(1 + i),
					    .slot = i,
					    .gen = 1,
					    .depth = (unsigned int)ONE_OF(chance, 1, 1, 2, 8, 32),
					    .stall_device = traffic_random(chance, 2)};
		if (!traffic_random(chance, 4)) {
			q->stall_ns = traffic_random(chance, 1000) * MS;
			q->stall_end_ns = q->stall_ns + traffic_random(chance, 3000) * MS;
		}
	}
	if (!traffic_random(chance, 3))
		f->loss_percent = (unsigned int)traffic_random(chance, 30);
	if (traffic_random(chance, 2))
		f->batch_ns[traffic_random(chance, 2)] = 200 * MS;
	if (traffic_random(chance, 2)) {
		/* The recordings may also follow one another without a common moment. */
		enum nt_side side = (enum nt_side)traffic_random(chance, 2);
		uint64_t at = traffic_random(chance, ONE_OF(chance, 100, 1000)) * MS;

		f->from_ns[side] = at;
		if (traffic_random(chance, 2))
			f->to_ns[!side] =
				traffic_random(chance, 2) ? at : at + traffic_random(chance, lasts);
	}
	f->ends = traffic_random(chance, 2);
	if (traffic_random(chance, 2))
		f->expire_ns = 5 * SECOND;
	return c;
}

static void what_looks_alike_is_never_matched_wrongly(void **state)
{
	uint64_t wrong = 0;

	for (uint64_t seed = first; seed < first + seeds; seed++) {
		struct traffic chance = {.random = seed * 0x9e3779b97f4a7c15ULL};
		struct feed f = {0};
		struct traffic_config c = alike(&chance, &f);
		struct outcome o;

		print_message("# seed %llu, hot %u %%, spread %u %%\n", (unsigned long long)seed,
			      c.same_content ? 100 : c.hot_percent,
			      c.regular ? 0 : c.spread_percent);
		run(&o, &c, &f);
		wrong += o.wrong;
	}
	assert_int_equal(wrong, 0);
}

static void whatever_happens_nothing_is_matched_wrongly(void **state)
{
	for (uint64_t seed = first; seed < first + seeds; seed++) {
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
		cmocka_unit_test(what_looks_alike_is_never_matched_wrongly),
		cmocka_unit_test(whatever_happens_nothing_is_matched_wrongly),
	};

	if (argc > 1)
		seeds = (unsigned int)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		first = (unsigned int)strtoul(argv[2], NULL, 10);
	return cmocka_run_group_tests_name("mixed", tests, NULL, NULL);
}
