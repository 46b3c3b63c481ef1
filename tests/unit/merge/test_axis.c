// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams that are read side by side stay side by side on the time axis, whichever of them are
 * connected.
 */
#include "merge/testing.h"

#include "merge/clock_alignment.h"

#define STREAMS 4

/* Accuracy of the clocks: about the network's time. */
#define CLOSE_NS ((int64_t)MS)

static void feed(struct merge *m, struct outcome *o, const struct traffic_config *c)
{
	bool told[TRAFFIC_QUEUES_MAX][NT_SIDES] = {{false}};
	struct traffic *t = traffic_new(c);
	struct traffic_record r;

	while (traffic_next(t, &r))
		feed_record(o, m, &r, told);
	traffic_free(t);
}

static struct traffic_queue queue(unsigned int host, unsigned int target, const char *nqn)
{
	return (struct traffic_queue){.host = host,
				      .target = target,
				      .nqn = nqn,
				      .cntlid = 1,
				      .qid = 1,
				      .slot = 1 + 10 * target + host,
				      .gen = 1,
				      .depth = 8};
}

/* H0 - T1 and H2 - T3, or a chain of all four. */
static struct traffic_config config(bool chain)
{
	struct traffic_config c = {
		.stream = {{NT_HOST, 0, 0},
			   {NT_TARGET, 7 * (int64_t)SECOND, 0},
			   {NT_HOST, 3 * (int64_t)SECOND, 0},
			   {NT_TARGET, -11 * (int64_t)SECOND, 0}},
		.nr_streams = STREAMS,
		.seed = 11,
		.percent = {50, 20, 20, 10},
		.network_ns = 20000,
		.device_ns = 100000,
		.think_ns = 50000,
		.commands = 4000,
	};

	/* The connection that is linked to the first stream last comes first. */
	c.queue[c.nr_queues++] = queue(2, 3, "nqn.b");
	if (chain)
		c.queue[c.nr_queues++] = queue(2, 1, "nqn.c");
	c.queue[c.nr_queues++] = queue(0, 1, "nqn.a");
	return c;
}

/* The zero of the simulation's clock on the common axis, calculated from a stream. */
static int64_t zero_of(const struct traffic_config *c, const int64_t *to_common, unsigned int i)
{
	return to_common[i] + c->stream[i].offset_ns;
}

static void must_be_close(const struct traffic_config *c, const int64_t *to_common, unsigned int a,
			  unsigned int b)
{
	int64_t unmatched = zero_of(c, to_common, a) - zero_of(c, to_common, b);

	if (unmatched > CLOSE_NS || unmatched < -CLOSE_NS)
		fail_msg("streams %u and %u are %lld ns apart", a, b, (long long)unmatched);
}

/* The initial alignment of the streams is wrong by up to a second. */
static void correct(bool chain, int64_t to_common[STREAMS], bool linked[STREAMS])
{
	struct traffic_config c = config(chain);
	struct outcome o;
	struct merge *m = outcome_merge(&o, &c);

	feed(m, &o, &c);
	assert_true(o.right > 3000);
	for (unsigned int i = 0; i < STREAMS; i++)
		to_common[i] = -c.stream[i].offset_ns + (int64_t)(i * 300 * MS);
	assert_int_equal(axis_correct(m, STREAMS, to_common, linked), 0);
	must_be_close(&c, to_common, 0, 1);
	must_be_close(&c, to_common, 2, 3);
	if (chain)
		must_be_close(&c, to_common, 0, 3);
	assert_int_equal(zero_of(&c, to_common, 0), 0);
	merge_free(m);
	outcome_free(&o);
}

static void pairs_that_have_nothing_in_common_are_each_corrected(void **state)
{
	int64_t to_common[STREAMS];
	bool linked[STREAMS];

	correct(false, to_common, linked);
	/* The first stream of the other pair does not move. */
	assert_int_equal(to_common[2] + 3 * (int64_t)SECOND, 600 * MS);
	for (unsigned int i = 0; i < STREAMS; i++)
		assert_true(linked[i]);
}

static void streams_that_others_link_to_the_first_are_corrected(void **state)
{
	int64_t to_common[STREAMS];
	bool linked[STREAMS];

	correct(true, to_common, linked);
}

/*
 * Two connections between streams whose clocks drift apart by 400 us each second. One connection
 * ends early, the other begins late.
 */
static void of_two_connections_the_later_tells(bool first_is_later)
{
	const uint64_t early = 50 * MS, late = 950 * MS, end = SECOND;
	struct traffic_config c = traffic_of_one_queue();
	int64_t to_common[2] = {0}, unmatched;
	struct outcome o;
	struct merge *m;
	bool linked[2];

	c.commands = 0;
	c.stream[1].drift_ppm = 400;
	c.queue[c.nr_queues] = c.queue[0];
	c.queue[c.nr_queues].nqn = "nqn.other";
	c.queue[c.nr_queues++].slot++;
	c.queue[first_is_later].end_ns = early;
	c.queue[!first_is_later].start_ns = late;
	c.queue[!first_is_later].end_ns = end;
	m = outcome_merge(&o, &c);
	/* Both are known from the beginning, and the first one before the second. */
	for (unsigned int i = 0; i < 2; i++) {
		for (enum nt_side side = NT_HOST; side <= NT_TARGET; side++) {
			struct queue_info q = traffic_stream_queue(&c, i, side);

			assert_int_equal(merge_queue(m, side == NT_TARGET, side, &q), 0);
		}
	}
	feed(m, &o, &c);
	assert_int_equal(merge_connections(m), 2);
	assert_int_equal(axis_correct(m, 2, to_common, linked), 0);
	assert_int_equal(to_common[0], 0);
	unmatched = to_common[1] + c.stream[1].offset_ns + 400000;
	assert_uint_in_range(unmatched + 100000, 0, 200000);
	merge_free(m);
	outcome_free(&o);
}

static void of_several_connections_the_latest_tells(void **state)
{
	of_two_connections_the_later_tells(false);
	of_two_connections_the_later_tells(true);
}

static void streams_without_matches_stay_where_they_are(void **state)
{
	struct merge *m = merge_new(&(struct merge_callbacks){0});
	int64_t to_common[STREAMS] = {1, 2, 3, 4};
	bool linked[STREAMS];

	assert_int_equal(axis_correct(m, STREAMS, to_common, linked), 0);
	for (unsigned int i = 0; i < STREAMS; i++) {
		assert_int_equal(to_common[i], i + 1);
		assert_false(linked[i]);
	}
	merge_free(m);
}

/*
 * A queue with too few commands to align the clocks is described before the queue that has enough.
 */
static void the_larger_connection_tells_the_clocks_at_the_end(void **state)
{
	static const struct {
		uint64_t seed, end_us, start_us, commands;
		unsigned int depth[2], hot_percent;
	} cases[] = {
		{205, 106, 717, 194, {1, 15}, 0},
		{40, 569, 620, 132, {3, 5}, 90},
	};

	for (unsigned int i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		struct traffic_config c = traffic_of_one_queue();
		const struct feed f = {.batch_ns = {0, i % 2 ? 10 * SECOND : 0}};
		struct outcome o;

		c.queue[1] = c.queue[0];
		c.queue[1].qid = c.queue[1].slot = 2;
		c.nr_queues = 2;
		c.queue[0].depth = cases[i / 2].depth[0];
		c.queue[1].depth = cases[i / 2].depth[1];
		c.queue[0].end_ns = cases[i / 2].end_us * 1000;
		c.queue[1].start_ns = cases[i / 2].start_us * 1000;
		c.seed = cases[i / 2].seed;
		c.hot_percent = cases[i / 2].hot_percent;
		c.commands = cases[i / 2].commands;
		c.regular = true;
		run(&o, &c, &f);
		assert_int_equal(o.both, cases[i / 2].commands);
		assert_int_equal(o.right, o.both);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_that_have_nothing_in_common_are_each_corrected),
		cmocka_unit_test(streams_that_others_link_to_the_first_are_corrected),
		cmocka_unit_test(of_several_connections_the_latest_tells),
		cmocka_unit_test(streams_without_matches_stay_where_they_are),
		cmocka_unit_test(the_larger_connection_tells_the_clocks_at_the_end),
	};

	return cmocka_run_group_tests_name("axis", tests, NULL, NULL);
}
