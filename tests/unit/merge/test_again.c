// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stream ends and begins again with another recording: of the same machine, or of one that has
 * rebooted.
 */
#include <malloc.h>

#include "merge/merge.h"
#include "merge/testing.h"

#define HOST 0
#define TARGET 1
/* The length of a recording, and of the time until the next one. */
#define LASTS (200 * MS)
#define BETWEEN (400 * MS)
#define ROUNDS 500
/* After this many rounds everything that is kept once exists. */
#define WARM 50
/* The heap may differ by this much: arrays grow in powers of two. */
#define LEVEL_BYTES 65536

/* Recording number @round. The host's clock continues, the target's begins again. */
static struct traffic_config recording(unsigned int round, bool reconnected)
{
	const int64_t again = -(int64_t)(round * (LASTS + BETWEEN));
	struct traffic_config c = {
		.stream = {{NT_HOST, 0, 0}, {NT_TARGET, -300 * (int64_t)SECOND + again, 20}},
		.nr_streams = 2,
		.nr_queues = 2,
		.seed = 88172645463325252ULL + round,
		.percent = {40, 25, 25, 10},
		.network_ns = 20000,
		.device_ns = 100000,
		.think_ns = 2 * MS,
	};

	for (unsigned int i = 0; i < c.nr_queues; i++)
		c.queue[i] =
			(struct traffic_queue){.target = TARGET,
					       .nqn = "nqn.a",
					       .cntlid = (uint16_t)(reconnected ? 1 + round : 1),
					       .qid = (uint16_t)(1 + i),
					       .slot = i,
					       .gen = reconnected ? 1 + round : 1,
					       .target_gen = 1,
					       .depth = 8,
					       .start_ns = round * (LASTS + BETWEEN),
					       .end_ns = round * (LASTS + BETWEEN) + LASTS};
	return c;
}

/*
 * @quiet_ns: the target's records of this last part do not come. Return: how many records were not
 * fed
 */
static unsigned int play(struct outcome *o, struct merge *m, const struct traffic_config *c,
			 uint64_t quiet_ns, bool told[TRAFFIC_QUEUES_MAX][NT_SIDES])
{
	const uint64_t end = TRAFFIC_EPOCH_NS + c->queue[0].end_ns - quiet_ns;
	struct traffic *t = traffic_new(c);
	struct traffic_record r;
	unsigned int left = 0;

	o->config = c;
	while (traffic_next(t, &r)) {
		if (quiet_ns && r.r.side == NT_TARGET && r.at_ns > end)
			left++;
		else
			feed_record(o, m, &r, told);
	}
	traffic_free(t);
	return left;
}

static void rounds(unsigned int nr, bool reconnected)
{
	static struct traffic_config c[8];
	bool told[TRAFFIC_QUEUES_MAX][NT_SIDES] = {{false}};
	unsigned int left = 0;
	struct outcome o;
	struct merge *m;

	for (unsigned int i = 0; i < nr; i++)
		c[i] = recording(i, reconnected);
	m = outcome_merge(&o, &c[0]);
	assert_int_equal(merge_stream(m, HOST, NT_HOST), 0);
	assert_int_equal(merge_stream(m, TARGET, NT_TARGET), 0);
	for (unsigned int i = 0; i < nr; i++) {
		const uint64_t before = o.right;
		unsigned int quiet;

		if (reconnected)
			memset(told, 0, sizeof(told));
		for (unsigned int q = 0; q < c[i].nr_queues; q++)
			told[q][NT_TARGET] = false;
		quiet = play(&o, m, &c[i], i + 1 < nr ? 20 * MS : 0, told);
		assert_int_equal(quiet > 0, i + 1 < nr);
		left += quiet;
		if (i + 1 < nr) {
			merge_end(m, TARGET);
			merge_restart(m, TARGET);
			assert_int_equal(merge_pending(m), 0);
		} else {
			merge_finish(m);
		}
		assert_true(o.right > before);
	}
	assert_int_equal(o.wrong, 0);
	assert_int_equal(o.only[NT_HOST], left);
	assert_int_equal(o.only[NT_TARGET], 0);
	/* outcome_check() knows only one offset for all recordings. */
	if (!reconnected)
		outcome_check(&o, m);
	assert_int_equal(o.right + o.only[NT_HOST], o.fed[NT_HOST]);
	assert_int_equal(o.right, o.fed[NT_TARGET]);
	merge_free(m);
	outcome_free(&o);
}

static void a_recorder_that_is_started_again_is_matched(void **state)
{
	rounds(6, false);
}

static void so_is_one_whose_machine_began_again(void **state)
{
	rounds(6, true);
}

/* Everything that is known of a recording is freed with it. */
static void memory_is_level(void **state)
{
	bool told[TRAFFIC_QUEUES_MAX][NT_SIDES] = {{false}};
	struct merge *m = merge_new(&(struct merge_callbacks){.matched = NULL});
	size_t warm = 0;

	assert_non_null(m);
	assert_int_equal(merge_stream(m, HOST, NT_HOST), 0);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct traffic_config c = recording(i, false);
		struct traffic *t = traffic_new(&c);
		struct traffic_record r;

		memset(told, 0, sizeof(told));
		for (unsigned int n = 0; n < 100 && traffic_next(t, &r); n++) {
			if (!told[r.queue][r.r.side]) {
				struct queue_info q = traffic_stream_queue(&c, r.queue, r.r.side);

				/* The target has another slot in each recording. */
				q.slot += r.r.side == NT_TARGET ? i : 0;
				assert_int_equal(merge_queue(m, r.stream, r.r.side, &q), 0);
			}
			told[r.queue][r.r.side] = true;
			r.r.slot += r.r.side == NT_TARGET ? i : 0;
			assert_int_equal(merge_record(m, r.stream, &r.r), 0);
		}
		traffic_free(t);
		merge_end(m, TARGET);
		merge_restart(m, TARGET);
		if (i == WARM)
			warm = mallinfo2().uordblks;
	}
	assert_int_equal(merge_strays(m)->records, 0);
	assert_int_equal(merge_connections(m), 2);
	assert_uint_in_range(mallinfo2().uordblks, 0, warm + LEVEL_BYTES);
	merge_free(m);
}

/* The stream is not known yet, or has not ended. */
static void a_stream_that_was_not_there_may_begin(void **state)
{
	struct merge *m = merge_new(&(struct merge_callbacks){.matched = NULL});

	assert_non_null(m);
	merge_restart(m, 7);
	assert_int_equal(merge_stream(m, TARGET, NT_TARGET), 0);
	merge_restart(m, TARGET);
	merge_end(m, TARGET);
	merge_end(m, TARGET);
	merge_restart(m, TARGET);
	merge_free(m);
}

/* As after a boot: the clock is far behind what the stream had before. */
static void records_after_a_restart_are_as_old_as_their_own_clock_says(void **state)
{
	static const struct queue_info q = {.slot = 1, .gen = 1, .cntlid = 1, .qid = 1};
	struct nt_record r = {.side = NT_TARGET, .slot = 1, .gen = 1, .cntlid = 1};
	struct merge *m = merge_new(&(struct merge_callbacks){.matched = NULL});

	assert_non_null(m);
	assert_int_equal(merge_queue(m, TARGET, NT_TARGET, &q), 0);
	r.points[NT_T_SENT] = 3600 * SECOND;
	assert_int_equal(merge_record(m, TARGET, &r), 0);
	merge_restart(m, TARGET);
	assert_int_equal(merge_queue(m, TARGET, NT_TARGET, &q), 0);
	r.points[NT_T_SENT] = SECOND;
	assert_int_equal(merge_record(m, TARGET, &r), 0);
	expire_all(m, SECOND);
	assert_int_equal(merge_pending(m), 1);
	merge_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recorder_that_is_started_again_is_matched),
		cmocka_unit_test(so_is_one_whose_machine_began_again),
		cmocka_unit_test(memory_is_level),
		cmocka_unit_test(a_stream_that_was_not_there_may_begin),
		cmocka_unit_test(records_after_a_restart_are_as_old_as_their_own_clock_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
