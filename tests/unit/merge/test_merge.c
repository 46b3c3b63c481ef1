// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both sides' records of a command are matched, and records of two commands never are, whatever is
 * missing and in whatever order they come.
 */
#include "merge/merge.h"
#include "merge/testing.h"

#define COMMANDS 100000
/* Commands that look the same are slow to handle: few are enough. */
#define MIRRORED 20000

/* One host and one target. The controllers have equal queue ids. */
static struct traffic_config traffic(unsigned int controllers, unsigned int queues,
				     unsigned int depth)
{
	struct traffic_config c = {
		.stream = {{NT_HOST, 0, 0}, {NT_TARGET, -300 * (int64_t)SECOND, 20}},
		.nr_streams = 2,
		.nr_queues = controllers * queues,
		.seed = 88172645463325252ULL,
		.percent = {40, 25, 25, 10},
		.network_ns = 20000,
		.device_ns = 100000,
		.think_ns = 5000,
		.commands = COMMANDS,
	};

	for (unsigned int i = 0; i < c.nr_queues; i++)
		c.queue[i] = (struct traffic_queue){.target = 1,
						    .nqn = "nqn.a",
						    .cntlid = (uint16_t)(1 + i / queues),
						    .qid = (uint16_t)(1 + i % queues),
						    .slot = i,
						    .gen = 1,
						    .instance = i / queues,
						    .depth = depth};
	return c;
}

/*
 * Limits the traffic to @seconds instead of a number of commands, at a pace that a test can afford.
 */
static struct traffic_config for_seconds(struct traffic_config c, unsigned int seconds)
{
	c.commands = 0;
	c.think_ns = 2 * MS;
	for (unsigned int i = 0; i < c.nr_queues; i++)
		c.queue[i].end_ns = seconds * SECOND;
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

static void must_match_99_9_percent(const struct traffic_config *c, const struct feed *f)
{
	struct outcome o;

	run(&o, c, f);
	assert_true(o.both > 0);
	assert_int_equal(o.wrong, 0);
	assert_true(o.right * 1000 >= o.both * 999);
}

static void must_not_match_wrongly(const struct traffic_config *c, const struct feed *f)
{
	struct outcome o;

	run(&o, c, f);
	assert_int_equal(o.wrong, 0);
}

static void commands_of_all_shapes_find_each_other(void **state)
{
	struct traffic_config c = traffic(1, 4, 8);

	must_match_all(&c, &(struct feed){0});
}

static void each_shape_by_itself_finds_each_other(void **state)
{
	for (unsigned int shape = 0; shape < NT_SHAPES_NR; shape++) {
		struct traffic_config c = traffic(1, 2, 8);

		memset(c.percent, 0, sizeof(c.percent));
		c.percent[shape] = 100;
		c.commands = COMMANDS / 4;
		must_match_99_9_percent(&c, &(struct feed){0});
	}
}

static void two_controllers_of_a_target_with_equal_queue_ids_are_told_apart(void **state)
{
	struct traffic_config c = traffic(2, 4, 8);
	struct outcome o;

	run(&o, &c, &(struct feed){0});
	assert_int_equal(o.wrong, 0);
	assert_int_equal(o.right, o.both);
	assert_int_equal(o.nr_connections, 8);
}

static void two_subsystems_of_a_target_with_equal_controller_ids_are_told_apart(void **state)
{
	struct traffic_config c = traffic(2, 4, 8);

	for (unsigned int i = 0; i < 4; i++) {
		c.queue[4 + i].cntlid = 1;
		c.queue[4 + i].nqn = "nqn.b";
	}
	must_match_all(&c, &(struct feed){0});
}

static void thirty_percent_lost_by_each_side_spoil_no_other_match(void **state)
{
	struct traffic_config c = traffic(2, 4, 8);
	struct outcome o;

	run(&o, &c, &(struct feed){.loss_percent = 30});
	assert_true(o.both > COMMANDS * 45 / 100 && o.both < COMMANDS * 53 / 100);
	assert_int_equal(o.wrong, 0);
	assert_true(o.right * 1000 >= o.both * 999);
}

static void ninety_percent_lost_by_each_side_give_no_wrong_match(void **state)
{
	struct traffic_config c = traffic(2, 4, 8);

	must_not_match_wrongly(&c, &(struct feed){.loss_percent = 90});
}

static void a_side_that_starts_late_finds_the_rest(void **state)
{
	struct traffic_config c = for_seconds(traffic(2, 4, 8), 5);

	must_match_99_9_percent(&c, &(struct feed){.from_ns = {[NT_TARGET] = 2 * SECOND}});
	must_match_99_9_percent(&c, &(struct feed){.from_ns = {[NT_HOST] = 2 * SECOND}});
}

static void a_side_that_ends_early_has_what_it_saw_matched(void **state)
{
	struct traffic_config c = for_seconds(traffic(2, 4, 8), 5);

	must_match_99_9_percent(&c, &(struct feed){.to_ns = {[NT_TARGET] = 3 * SECOND}});
	must_match_99_9_percent(&c, &(struct feed){.to_ns = {[NT_HOST] = 3 * SECOND}});
}

static void sides_that_never_record_at_the_same_time_share_no_command(void **state)
{
	struct traffic_config c = for_seconds(traffic(1, 2, 8), 4);

	must_not_match_wrongly(&c, &(struct feed){.to_ns = {[NT_HOST] = 2 * SECOND},
						  .from_ns = {[NT_TARGET] = 2 * SECOND}});
	c.same_content = true;
	must_not_match_wrongly(&c, &(struct feed){.to_ns = {[NT_HOST] = 2 * SECOND},
						  .from_ns = {[NT_TARGET] = 2 * SECOND}});
}

/* Only flushes, on a slow wire: at some wrong offset many pairs agree. */
static void clocks_hours_apart_that_drift(int ppm, int64_t offset_ns)
{
	struct traffic_config c = for_seconds(traffic(2, 2, 4), 60);
	struct outcome o;

	c.stream[1].offset_ns = offset_ns;
	c.stream[1].drift_ppm = ppm;
	run(&o, &c, &(struct feed){.loss_percent = 10});
	assert_int_equal(o.wrong, 0);
	assert_true(o.right * 1000 >= o.both * 999);
	assert_int_equal(o.nr_connections, c.nr_queues);
	for (unsigned int i = 0; i < o.nr_connections; i++) {
		const struct merge_connection *at = &o.connection[i];

		print_message("# %u: offset %lld..%lld at %llu, %.3f ppm\n", i,
			      (long long)at->offset_low, (long long)at->offset_high,
			      (unsigned long long)at->offset_at_ns, at->drift_ppm);
		assert_true(at->offset_low <= at->offset_high);
		check_offset(&c, at);
		/*
		 * Twice the shortest time over the wire, and as much again for everything that is
		 * unknown.
		 */
		assert_true(at->offset_high - at->offset_low <= 2 * 2 * (int64_t)c.network_ns);
		assert_true(at->drift_ppm > ppm - 10 && at->drift_ppm < ppm + 10);
	}
}

static void clocks_that_drift_apart_are_followed(void **state)
{
	clocks_hours_apart_that_drift(200, 7 * HOUR);
}

static void clocks_that_drift_the_other_way_are_followed(void **state)
{
	/* The target has just booted, so its clock is near 0. */
	clocks_hours_apart_that_drift(-200, -990 * (int64_t)SECOND);
}

static void records_out_of_order_find_each_other(void **state)
{
	struct traffic_config c = traffic(2, 4, 8);

	c.reorder_ns = MS;
	must_match_all(&c, &(struct feed){0});
}

static void batches_of_the_target_find_the_host(void **state)
{
	struct traffic_config c = for_seconds(traffic(2, 4, 8), 3);

	must_match_all(&c, &(struct feed){.batch_ns = {[NT_TARGET] = 200 * MS}});
	must_match_all(
		&c, &(struct feed){.batch_ns = {[NT_TARGET] = 200 * MS}, .expire_ns = 2 * SECOND});
	must_match_99_9_percent(
		&c, &(struct feed){.batch_ns = {[NT_TARGET] = 200 * MS}, .loss_percent = 30});
}

static void batches_of_the_host_find_the_target(void **state)
{
	struct traffic_config c = for_seconds(traffic(2, 4, 8), 3);

	must_match_all(&c, &(struct feed){.batch_ns = {[NT_HOST] = 200 * MS}});
	must_match_all(&c,
		       &(struct feed){.batch_ns = {[NT_HOST] = 200 * MS}, .expire_ns = 2 * SECOND});
}

static void a_stream_that_is_read_after_the_other_finds_it(void **state)
{
	struct traffic_config c = traffic(2, 4, 8);

	must_match_all(&c, &(struct feed){.batch_ns = {[NT_TARGET] = 1000 * SECOND}});
	must_match_all(&c, &(struct feed){.batch_ns = {[NT_HOST] = 1000 * SECOND}});
}

static struct traffic_config repeating(unsigned int depth, enum nt_shape shape)
{
	struct traffic_config c = traffic(1, 1, depth);

	c.same_content = true;
	memset(c.percent, 0, sizeof(c.percent));
	c.percent[shape] = 100;
	return c;
}

static void commands_that_ask_for_the_same_are_told_apart_by_order_and_time(void **state)
{
	struct traffic_config c = repeating(8, NT_SHAPE_READ);

	must_match_99_9_percent(&c, &(struct feed){0});
	c = repeating(8, NT_SHAPE_NO_DATA);
	must_match_99_9_percent(&c, &(struct feed){0});
}

static void commands_that_ask_for_the_same_one_by_one_are_never_matched_wrongly(void **state)
{
	struct traffic_config c = repeating(1, NT_SHAPE_READ);

	must_not_match_wrongly(&c, &(struct feed){0});
	c = repeating(1, NT_SHAPE_NO_DATA);
	must_not_match_wrongly(&c, &(struct feed){0});
}

static void commands_that_ask_for_the_same_and_are_lost_are_never_matched_wrongly(void **state)
{
	for (unsigned int depth = 1; depth <= 8; depth += 7) {
		struct traffic_config c = repeating(depth, NT_SHAPE_READ);

		must_not_match_wrongly(&c, &(struct feed){.loss_percent = 30});
		c = for_seconds(c, 5);
		must_not_match_wrongly(&c, &(struct feed){.from_ns = {[NT_TARGET] = SECOND}});
		must_not_match_wrongly(&c, &(struct feed){.from_ns = {[NT_HOST] = SECOND},
							  .batch_ns = {[NT_TARGET] = 200 * MS}});
	}
}

/*
 * The load is perfectly even: shifted by 16 uses of the tag, the two sides fit as well as they do
 * in truth.
 */
static void an_even_load_that_asks_for_the_same_is_never_matched_wrongly(void **state)
{
	for (unsigned int depth = 1; depth <= 8; depth += 7) {
		struct traffic_config c = repeating(depth, NT_SHAPE_READ);

		c.regular = true;
		c.commands = 10000;
		c.stream[1].drift_ppm = 0;
		must_not_match_wrongly(&c, &(struct feed){.from_ns = {[NT_TARGET] = 100 * MS},
							  .batch_ns = {[NT_TARGET] = 200 * MS}});
		must_not_match_wrongly(&c, &(struct feed){.from_ns = {[NT_HOST] = 100 * MS}});
		must_not_match_wrongly(&c, &(struct feed){.loss_percent = 30});
	}
}

static void a_reconnected_queue_is_another_connection(void **state)
{
	struct traffic_config c = for_seconds(traffic(1, 2, 8), 2);
	struct outcome o;

	for (unsigned int i = 0; i < 2; i++) {
		c.queue[c.nr_queues] = c.queue[i];
		c.queue[c.nr_queues].gen = 2;
		c.queue[c.nr_queues].start_ns = 2 * SECOND + 100 * MS;
		c.queue[c.nr_queues].end_ns = 4 * SECOND;
		c.nr_queues++;
	}
	must_match_all(&c, &(struct feed){0});
	must_match_all(&c, &(struct feed){.batch_ns = {[NT_TARGET] = 200 * MS}});
	/* The target missed the first connection, or the second. */
	run(&o, &c, &(struct feed){.from_ns = {[NT_TARGET] = 2 * SECOND + 50 * MS}});
	assert_int_equal(o.wrong, 0);
	assert_true(o.right * 1000 >= o.both * 999);
	run(&o, &c, &(struct feed){.to_ns = {[NT_TARGET] = 2 * SECOND + 50 * MS}});
	assert_int_equal(o.wrong, 0);
	assert_true(o.right * 1000 >= o.both * 999);
}

static void two_hosts_of_a_target_are_told_apart(void **state)
{
	struct traffic_config c = traffic(2, 4, 8);

	c.nr_streams = 3;
	c.stream[2] = (struct traffic_stream){NT_HOST, 5 * HOUR, 0};
	for (unsigned int i = 0; i < 4; i++) {
		c.queue[4 + i].host = 2;
		c.queue[4 + i].slot = i;
		c.queue[4 + i].instance = 0;
	}
	/* Only the target's slots differ. */
	for (unsigned int i = 0; i < 4; i++)
		c.queue[4 + i].slot = 4 + i;
	must_match_all(&c, &(struct feed){0});
	must_match_99_9_percent(&c, &(struct feed){.loss_percent = 30});
}

/* One host, and two machines that both claim the same subsystem, controller and queue. */
static struct traffic_config twins(unsigned int depth)
{
	struct traffic_config c = traffic(2, 1, depth);

	c.nr_streams = 3;
	c.stream[2] = (struct traffic_stream){NT_TARGET, 2 * HOUR, -50};
	c.queue[1].cntlid = 1;
	c.queue[1].target = 2;
	return c;
}

static void two_targets_of_one_identity_are_told_apart(void **state)
{
	struct traffic_config c = twins(8);

	must_match_99_9_percent(&c, &(struct feed){0});
	must_match_99_9_percent(&c, &(struct feed){.loss_percent = 30});
	must_match_99_9_percent(&c, &(struct feed){.batch_ns = {[NT_TARGET] = 200 * MS}});
}

static void mirrored_writes_are_matched_right_or_not_at_all(void **state)
{
	for (unsigned int depth = 1; depth <= 8; depth += 7) {
		struct traffic_config c = twins(depth);

		c.queue[1].mirror = 1;
		c.commands = MIRRORED;
		c.percent[NT_SHAPE_READ] = 0;
		c.percent[NT_SHAPE_INLINE_WRITE] = 65;
		must_not_match_wrongly(&c, &(struct feed){0});
		must_not_match_wrongly(&c, &(struct feed){.loss_percent = 30});
		c.same_content = true;
		must_not_match_wrongly(&c, &(struct feed){0});
		c.regular = true;
		must_not_match_wrongly(&c, &(struct feed){0});
	}
}

static void without_a_target_all_are_the_hosts_only(void **state)
{
	struct traffic_config c = traffic(2, 4, 8);
	struct outcome o;

	run(&o, &c, &(struct feed){.without_target = true});
	assert_int_equal(o.fed[NT_HOST], COMMANDS);
	assert_int_equal(o.only[NT_HOST], COMMANDS);
	assert_int_equal(o.nr_connections, 8);
	for (unsigned int i = 0; i < 8; i++) {
		assert_int_equal(o.connection[i].host_stream, 0);
		assert_int_equal(o.connection[i].target_stream, MERGE_NO_STREAM);
		assert_true(o.connection[i].offset_low > o.connection[i].offset_high);
	}
}

/* The target is known and sends no records. The host's records must not pile up. */
static void a_target_that_says_nothing_does_not_make_memory_grow(void **state)
{
	struct traffic_config c = traffic(1, 4, 8);
	struct queue_info q;
	struct traffic *t;
	struct outcome o;
	struct merge *m = outcome_merge(&o, &c);
	bool told[TRAFFIC_QUEUES_MAX][NT_SIDES] = {{false}};
	struct traffic_record r;

	c.commands = 1000000;
	t = traffic_new(&c);
	for (unsigned int i = 0; i < c.nr_queues; i++) {
		q = traffic_stream_queue(&c, i, NT_TARGET);
		assert_int_equal(merge_queue(m, 1, NT_TARGET, &q), 0);
	}
	while (traffic_next(t, &r))
		if (r.r.side == NT_HOST)
			feed_record(&o, m, &r, told);
	traffic_free(t);
	assert_int_equal(o.pending_max, PENDING_MAX);
	merge_finish(m);
	outcome_check(&o, m);
	assert_int_equal(o.fed[NT_HOST], c.commands);
	assert_int_equal(o.only[NT_HOST] + o.ambiguous[NT_HOST], c.commands);
	merge_free(m);
	outcome_free(&o);
}

/* Stores the number of the last record that was given up, which was the oldest one then. */
static void note_oldest(void *context, const struct merge_connection *c, const struct nt_record *r,
			bool ambiguous)
{
	uint64_t *slba = context;

	assert_int_equal(r->slba, *slba + 1);
	*slba = r->slba;
}

/* The slots of all records that ever waited are used again, more than once. */
static void the_oldest_gives_way_when_as_many_wait_as_can(void **state)
{
	struct traffic_config c = traffic(1, 1, 8);
	struct queue_info q = traffic_stream_queue(&c, 0, NT_HOST);
	uint64_t given_up = 0, n = 0;
	struct merge_callbacks callbacks = {NULL, note_oldest, &given_up};
	struct merge *m = merge_new(&callbacks);
	struct nt_record r = {.side = NT_HOST, .slot = q.slot, .gen = q.gen, .cntlid = q.cntlid};

	assert_non_null(m);
	assert_int_equal(merge_queue(m, 0, NT_HOST, &q), 0);
	while (n < 3 * PENDING_MAX) {
		r.slba = ++n;
		r.points[NT_H_SEND_CMD] = n * 1000;
		r.points[NT_H_COMPLETE] = n * 1000 + 500;
		assert_int_equal(merge_record(m, 0, &r), 0);
		assert_int_equal(merge_pending(m), n < PENDING_MAX ? n : PENDING_MAX);
		assert_int_equal(given_up, n < PENDING_MAX ? 0 : n - PENDING_MAX);
	}
	assert_int_equal(merge_connection(m, 0)->host_only, n - PENDING_MAX);
	merge_finish(m);
	assert_int_equal(merge_pending(m), 0);
	assert_int_equal(given_up, n);
	assert_int_equal(merge_connection(m, 0)->host_only, n);
	merge_free(m);
}

static void records_of_queues_that_nobody_told_of_are_counted(void **state)
{
	struct traffic_config c = traffic(1, 1, 8);
	struct queue_info q = traffic_stream_queue(&c, 0, NT_HOST);
	struct outcome o;
	struct merge *m = outcome_merge(&o, &c);
	struct traffic *t = traffic_new(&c);
	struct traffic_record r;
	struct nt_record stranger;

	assert_int_equal(merge_strays(m)->records, 0);
	do
		assert_true(traffic_next(t, &r));
	while (r.r.side != NT_HOST);
	/* An unknown stream, then an unknown slot, then an unknown generation. */
	assert_int_equal(merge_record(m, 0, &r.r), 0);
	assert_int_equal(merge_queue(m, 0, NT_HOST, &q), 0);
	stranger = r.r;
	stranger.slot = 99999999;
	assert_int_equal(merge_record(m, 0, &stranger), 0);
	stranger = r.r;
	stranger.gen++;
	assert_int_equal(merge_record(m, 0, &stranger), 0);
	assert_int_equal(merge_strays(m)->records, 3);
	outcome_note(&o, &r);
	assert_int_equal(merge_record(m, 0, &r.r), 0);
	merge_finish(m);
	assert_int_equal(merge_strays(m)->records, 3);
	outcome_check(&o, m);
	assert_int_equal(o.only[NT_HOST], 1);
	merge_free(m);
	traffic_free(t);
	outcome_free(&o);
}

static void records_are_given_up_when_they_are_too_old(void **state)
{
	struct traffic_config c = traffic(1, 4, 8);
	bool told[TRAFFIC_QUEUES_MAX][NT_SIDES] = {{false}};
	struct outcome o;
	struct merge *m = outcome_merge(&o, &c);
	uint64_t complete[20000], newest = 0, old = 0, n = 0;
	struct traffic *t;
	struct traffic_record r;

	c.commands = sizeof(complete) / sizeof(complete[0]);
	t = traffic_new(&c);
	for (unsigned int i = 0; i < c.nr_queues; i++) {
		struct queue_info q = traffic_stream_queue(&c, i, NT_TARGET);

		assert_int_equal(merge_queue(m, 1, NT_TARGET, &q), 0);
	}
	while (traffic_next(t, &r)) {
		if (r.r.side != NT_HOST)
			continue;
		feed_record(&o, m, &r, told);
		complete[n++] = newest = r.r.points[NT_H_COMPLETE];
	}
	assert_int_equal(merge_pending(m), n);
	expire_all(m, 10 * MS);
	for (uint64_t i = 0; i < n; i++)
		old += complete[i] + 10 * MS < newest;
	assert_true(old > 0 && old < n);
	assert_int_equal(o.only[NT_HOST] + o.ambiguous[NT_HOST], old);
	assert_int_equal(merge_pending(m), n - old);
	/* No record is newer, so none is too old. */
	expire_all(m, 10 * MS);
	assert_int_equal(merge_pending(m), n - old);
	merge_finish(m);
	outcome_check(&o, m);
	merge_free(m);
	traffic_free(t);
	outcome_free(&o);
}

/*
 * A short burst of commands, and after a pause the first command of the next one. The host's record
 * of that one comes with the others; the target's comes later.
 */
static void records_are_matched_before_they_are_given_up(void **state)
{
	struct traffic_config c = traffic(1, 1, 8);
	bool told[TRAFFIC_QUEUES_MAX][NT_SIDES] = {{false}};
	struct traffic_record r, after;
	struct outcome o;
	struct merge *m;
	struct traffic *t;

	c.commands = 64;
	c.stream[1].drift_ppm = 0;
	m = outcome_merge(&o, &c);
	t = traffic_new(&c);
	while (traffic_next(t, &r)) {
		if (r.id < c.commands - 1) {
			feed_record(&o, m, &r, told);
			continue;
		}
		for (unsigned int p = 0; p < NT_POINTS_MAX; p++)
			r.r.points[p] += r.r.points[p] ? 6 * SECOND : 0;
		if (r.r.side == NT_HOST)
			feed_record(&o, m, &r, told);
		else
			after = r;
	}
	expire_all(m, 5 * SECOND);
	feed_record(&o, m, &after, told);
	merge_finish(m);
	outcome_check(&o, m);
	assert_int_equal(o.right, c.commands);
	merge_free(m);
	traffic_free(t);
	outcome_free(&o);
}

/* A sanitizer found this: the record that was given up was the newest, and had no successor. */
static void the_newest_of_the_waiting_records_may_be_given_up(void **state)
{
	struct traffic_config c = traffic(1, 1, 8);
	bool told[TRAFFIC_QUEUES_MAX][NT_SIDES] = {{false}};
	struct outcome o;
	struct merge *m = outcome_merge(&o, &c);
	struct traffic_record r;
	struct traffic *t;

	c.commands = 20000;
	t = traffic_new(&c);
	while (traffic_next(t, &r))
		if (r.r.side == NT_HOST || r.id != c.commands - 50)
			feed_record(&o, m, &r, told);
	assert_int_equal(merge_pending(m), 1);
	expire_all(m, 0);
	assert_int_equal(merge_pending(m), 0);
	assert_int_equal(o.right, c.commands - 1);
	assert_int_equal(o.only[NT_HOST], 1);
	merge_finish(m);
	outcome_check(&o, m);
	merge_free(m);
	traffic_free(t);
	outcome_free(&o);
}

/* Points and contents that no driver makes: every record is still accounted for. */
static void records_of_any_values_are_accounted_for(void **state)
{
	struct traffic_config c = traffic(2, 2, 4);
	struct outcome o;
	struct merge *m = outcome_merge(&o, &c);
	struct traffic chance = {.random = 3};
	bool told[TRAFFIC_QUEUES_MAX][NT_SIDES] = {{false}};

	for (uint64_t i = 0; i < 50000; i++) {
		struct traffic_record r = {.id = i,
					   .queue = (unsigned int)traffic_random(&chance, 4)};
		struct queue_info q;

		r.stream = r.r.side = (uint8_t)traffic_random(&chance, 2);
		q = traffic_stream_queue(&c, r.queue, r.r.side);
		r.r.slot = q.slot;
		r.r.gen = q.gen;
		r.r.qid = q.qid;
		r.r.cntlid = q.cntlid;
		r.r.shape = (uint8_t)traffic_random(&chance, 4);
		r.r.op = (uint8_t)traffic_random(&chance, NT_OPS_NR);
		r.r.cid = (uint16_t)traffic_random(&chance, 65536);
		r.r.flags = (uint32_t)traffic_random(&chance, 64);
		r.r.length = (uint32_t)traffic_random(&chance, 2) << traffic_random(&chance, 32);
		for (unsigned int p = 0; p < NT_POINTS_MAX; p++) {
			traffic_random(&chance, 1);
			r.r.points[p] = chance.random >> chance.random % 64;
			if (!traffic_random(&chance, 8))
				r.r.points[p] = traffic_random(&chance, 2) ? 0 : UINT64_MAX;
		}
		feed_record(&o, m, &r, told);
		if (i % 5000 == 0)
			expire_all(m, SECOND);
	}
	merge_finish(m);
	assert_int_equal(merge_pending(m), 0);
	assert_int_equal(o.right + o.wrong + o.only[NT_HOST] + o.ambiguous[NT_HOST],
			 o.fed[NT_HOST]);
	assert_int_equal(o.right + o.wrong + o.only[NT_TARGET] + o.ambiguous[NT_TARGET],
			 o.fed[NT_TARGET]);
	merge_free(m);
	outcome_free(&o);
}

/* Changes a record before it is fed. @i: number of records that were fed before */
typedef void change_fn(struct nt_record *r, unsigned int i);

/*
 * Streams with one boot id. @ahead: how much more the target's wall clock is ahead of its monotonic
 * clock than the host's. @change: changes each record, may be NULL
 *
 * Return: how many commands were matched
 */
static uint64_t matched_of_one_boot(struct traffic_config c, int64_t ahead, change_fn *change)
{
	bool told[TRAFFIC_QUEUES_MAX][NT_SIDES] = {{false}};
	struct instant now = {.monotonic_ns = TRAFFIC_EPOCH_NS};
	struct traffic_record r;
	struct outcome o;
	struct traffic *t;
	struct merge *m;

	c.stream[1].offset_ns = 0;
	m = outcome_merge(&o, &c);
	for (unsigned int i = 0; i < c.nr_streams; i++) {
		assert_int_equal(merge_stream(m, i, c.stream[i].side), 0);
		now.realtime_ns = (int64_t)SECOND + (i ? ahead : 0);
		merge_clock(m, i, "6a2c58a8-41c8-4a3e-9d39-7b8a6f3f2d10", &now);
	}
	t = traffic_new(&c);
	for (unsigned int i = 0; traffic_next(t, &r); i++) {
		if (change)
			change(&r.r, i);
		feed_record(&o, m, &r, told);
	}
	merge_finish(m);
	outcome_check(&o, m);
	assert_int_equal(o.wrong, 0);
	merge_free(m);
	traffic_free(t);
	outcome_free(&o);
	return o.right;
}

/* An hour without any record. */
static void pause_an_hour(struct nt_record *r, unsigned int i)
{
	for (unsigned int p = 0; i >= 1000 && p < NT_POINTS_MAX; p++)
		r->points[p] += r->points[p] ? 3600 * SECOND : 0;
}

/*
 * A connection ends while the target works on all of its commands. The target's device is done with
 * them a second later.
 */
static void die(struct nt_record *r, unsigned int i)
{
	r->flags |= NT_F_CANCELLED;
	if (r->side == NT_HOST) {
		r->points[NT_H_RX] = r->points[NT_H_CQE] = 0;
		return;
	}
	r->points[NT_T_DONE] += SECOND;
	r->points[NT_T_SEND] = r->points[NT_T_SENT] = 0;
}

static void streams_of_one_boot_have_one_clock(void **state)
{
	struct traffic_config c = traffic_of_one_queue();

	/* They look alike, and come at regular times. */
	c.percent[NT_SHAPE_READ] = 100;
	c.percent[NT_SHAPE_INLINE_WRITE] = c.percent[NT_SHAPE_R2T_WRITE] = 0;
	c.percent[NT_SHAPE_NO_DATA] = 0;
	c.same_content = c.regular = true;
	c.queue[0].depth = 1;
	c.commands = 1000;
	assert_int_equal(matched_of_one_boot(c, 0, NULL), 1000);
	assert_int_equal(matched_of_one_boot(c, 0, pause_an_hour), 1000);
	/* A copy of a virtual machine has its boot id but another clock. */
	assert_int_equal(matched_of_one_boot(c, 2 * (int64_t)MS, NULL), 0);
	c = traffic_of_one_queue();
	c.queue[0].depth = c.commands = 16;
	assert_int_equal(matched_of_one_boot(c, 0, die), 16);
}

/* The host's names are not known, so either of the target's queues may be that of the host. */
static void a_record_that_two_queues_have_alike_is_matched_with_neither(void **state)
{
	const struct instant now = {.monotonic_ns = SECOND, .realtime_ns = SECOND};
	struct queue_info q = {.slot = 1, .gen = 1, .cntlid = 1, .qid = 1};
	struct nt_record r = {.side = NT_HOST, .slot = 1, .gen = 1, .cntlid = 1, .slba = 8};
	struct merge *m = merge_new(&(struct merge_callbacks){NULL, NULL, NULL});

	assert_non_null(m);
	for (enum nt_side side = NT_HOST; side < NT_SIDES; side++) {
		assert_int_equal(merge_stream(m, side, side), 0);
		merge_clock(m, side, "6a2c58a8-41c8-4a3e-9d39-7b8a6f3f2d10", &now);
	}
	assert_int_equal(merge_queue(m, NT_HOST, NT_HOST, &q), 0);
	for (q.slot = 1; q.slot <= 2; q.slot++) {
		snprintf(q.subsysnqn, sizeof(q.subsysnqn), "nqn.%u", q.slot);
		assert_int_equal(merge_queue(m, NT_TARGET, NT_TARGET, &q), 0);
	}
	r.points[NT_H_SEND_CMD] = SECOND;
	r.points[NT_H_RX] = r.points[NT_H_COMPLETE] = SECOND + 120000;
	assert_int_equal(merge_record(m, NT_HOST, &r), 0);
	r = (struct nt_record){.side = NT_TARGET, .gen = 1, .cntlid = 1, .slba = 8};
	r.points[NT_T_RX] = SECOND + 20000;
	r.points[NT_T_SEND] = SECOND + 100000;
	for (r.slot = 1; r.slot <= 2; r.slot++)
		assert_int_equal(merge_record(m, NT_TARGET, &r), 0);
	merge_finish(m);
	for (unsigned int i = 0; i < merge_connections(m); i++)
		assert_int_equal(merge_connection(m, i)->matched, 0);
	merge_free(m);
}

/* It may be that of a tracer that was started again, and has not reported its queues yet. */
static void a_target_s_stream_without_queues_is_waited_for(void **state)
{
	static const struct queue_info q = {.slot = 1, .gen = 1, .cntlid = 1, .qid = 1};
	struct nt_record r = {.side = NT_HOST, .slot = 1, .gen = 1, .cntlid = 1, .slba = 8};
	struct merge *m = merge_new(&(struct merge_callbacks){NULL, NULL, NULL});

	assert_non_null(m);
	assert_int_equal(merge_stream(m, 1, NT_TARGET), 0);
	assert_int_equal(merge_stream(m, 2, NT_TARGET), 0);
	assert_int_equal(merge_queue(m, 0, NT_HOST, &q), 0);
	r.points[NT_H_SEND_CMD] = SECOND;
	r.points[NT_H_COMPLETE] = SECOND + 120000;
	assert_int_equal(merge_record(m, 0, &r), 0);
	merge_end(m, 1);
	assert_int_equal(merge_pending(m), 1);
	merge_end(m, 2);
	assert_int_equal(merge_pending(m), 0);
	merge_free(m);
}

static void nothing_comes_of_nothing(void **state)
{
	struct merge *m = merge_new(&(struct merge_callbacks){NULL, NULL, NULL});

	assert_non_null(m);
	expire_all(m, 0);
	merge_finish(m);
	assert_int_equal(merge_pending(m), 0);
	assert_int_equal(merge_strays(m)->records, 0);
	assert_int_equal(merge_connections(m), 0);
	assert_null(merge_connection(m, 0));
	merge_free(m);
	merge_free(NULL);
}

static void callbacks_may_be_missing(void **state)
{
	struct traffic_config c = traffic(1, 2, 8);
	struct merge *m = merge_new(&(struct merge_callbacks){NULL, NULL, NULL});
	bool told[TRAFFIC_QUEUES_MAX][NT_SIDES] = {{false}};
	uint64_t matched = 0;
	struct outcome o = {.config = &c};
	struct traffic_record r;
	struct traffic *t;

	c.commands = 20000;
	t = traffic_new(&c);
	while (traffic_next(t, &r))
		feed_record(&o, m, &r, told);
	merge_finish(m);
	for (unsigned int i = 0; i < merge_connections(m); i++)
		matched += merge_connection(m, i)->matched;
	assert_int_equal(matched, c.commands);
	merge_free(m);
	traffic_free(t);
	outcome_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_of_all_shapes_find_each_other),
		cmocka_unit_test(each_shape_by_itself_finds_each_other),
		cmocka_unit_test(two_controllers_of_a_target_with_equal_queue_ids_are_told_apart),
		cmocka_unit_test(
			two_subsystems_of_a_target_with_equal_controller_ids_are_told_apart),
		cmocka_unit_test(thirty_percent_lost_by_each_side_spoil_no_other_match),
		cmocka_unit_test(ninety_percent_lost_by_each_side_give_no_wrong_match),
		cmocka_unit_test(a_side_that_starts_late_finds_the_rest),
		cmocka_unit_test(a_side_that_ends_early_has_what_it_saw_matched),
		cmocka_unit_test(sides_that_never_record_at_the_same_time_share_no_command),
		cmocka_unit_test(clocks_that_drift_apart_are_followed),
		cmocka_unit_test(clocks_that_drift_the_other_way_are_followed),
		cmocka_unit_test(records_out_of_order_find_each_other),
		cmocka_unit_test(batches_of_the_target_find_the_host),
		cmocka_unit_test(batches_of_the_host_find_the_target),
		cmocka_unit_test(a_stream_that_is_read_after_the_other_finds_it),
		cmocka_unit_test(commands_that_ask_for_the_same_are_told_apart_by_order_and_time),
		cmocka_unit_test(
			commands_that_ask_for_the_same_one_by_one_are_never_matched_wrongly),
		cmocka_unit_test(
			commands_that_ask_for_the_same_and_are_lost_are_never_matched_wrongly),
		cmocka_unit_test(an_even_load_that_asks_for_the_same_is_never_matched_wrongly),
		cmocka_unit_test(a_reconnected_queue_is_another_connection),
		cmocka_unit_test(two_hosts_of_a_target_are_told_apart),
		cmocka_unit_test(two_targets_of_one_identity_are_told_apart),
		cmocka_unit_test(mirrored_writes_are_matched_right_or_not_at_all),
		cmocka_unit_test(without_a_target_all_are_the_hosts_only),
		cmocka_unit_test(a_target_that_says_nothing_does_not_make_memory_grow),
		cmocka_unit_test(the_oldest_gives_way_when_as_many_wait_as_can),
		cmocka_unit_test(records_of_queues_that_nobody_told_of_are_counted),
		cmocka_unit_test(records_are_given_up_when_they_are_too_old),
		cmocka_unit_test(records_are_matched_before_they_are_given_up),
		cmocka_unit_test(the_newest_of_the_waiting_records_may_be_given_up),
		cmocka_unit_test(records_of_any_values_are_accounted_for),
		cmocka_unit_test(streams_of_one_boot_have_one_clock),
		cmocka_unit_test(a_record_that_two_queues_have_alike_is_matched_with_neither),
		cmocka_unit_test(a_target_s_stream_without_queues_is_waited_for),
		cmocka_unit_test(nothing_comes_of_nothing),
		cmocka_unit_test(callbacks_may_be_missing),
	};

	return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
