// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records that wait in vain make room for others, and are decided as soon as no record can match
 * them any more.
 */
#include "core/array.h"
#include "merge/merge.h"
#include "merge/testing.h"

/* The numbers of the streams. */
enum { HOST, TARGET_A, TARGET_B };

/* Microseconds from one command to the next, and those that a command takes by default. */
#define EVERY_US 50
#define TAKES_US 30

struct counted {
	uint64_t matched, wrong, host_only, target_only, ambiguous;
};

static void count_matched(void *context, const struct merge_connection *c,
			  const struct nt_record *host, const struct nt_record *target)
{
	struct counted *n = context;

	n->matched++;
	n->wrong += host->slba != target->slba;
}

static void count_single(void *context, const struct merge_connection *c, const struct nt_record *r,
			 bool ambiguous)
{
	struct counted *n = context;

	(*(ambiguous ? &n->ambiguous : r->side == NT_HOST ? &n->host_only : &n->target_only))++;
}

static struct merge *begin(struct counted *n)
{
	struct merge_callbacks callbacks = {count_matched, count_single, n};
	struct merge *m = merge_new(&callbacks);

	*n = (struct counted){0};
	assert_non_null(m);
	assert_int_equal(merge_stream(m, HOST, NT_HOST), 0);
	assert_int_equal(merge_stream(m, TARGET_A, NT_TARGET), 0);
	assert_int_equal(merge_stream(m, TARGET_B, NT_TARGET), 0);
	return m;
}

/* Connects the host's queue to a target. @both: the target's stream has the queue as well */
static void connect(struct merge *m, unsigned int target, bool both)
{
	struct queue_info q = {
		.slot = target, .gen = 1, .cntlid = 1, .qid = 1, .hostnqn = "nqn.host"};

	snprintf(q.subsysnqn, sizeof(q.subsysnqn), "nqn.%u", target);
	assert_int_equal(merge_queue(m, HOST, NT_HOST, &q), 0);
	if (both)
		assert_int_equal(merge_queue(m, target, NT_TARGET, &q), 0);
}

/*
 * Makes both records of command @n to @target, which takes @us longer than the others on the way
 * back.
 */
static void make(unsigned int target, uint64_t n, uint64_t us, struct nt_record *h,
		 struct nt_record *t)
{
	uint64_t at = 100 * SECOND + n * EVERY_US * 1000, end = at + (TAKES_US + us) * 1000;

	*h = (struct nt_record){.side = NT_HOST,
				.op = NT_OP_READ,
				.opcode = 2,
				.cid = (uint16_t)(n % 4096 + 4096 * (n / 4096 % 16)),
				.qid = 1,
				.cntlid = 1,
				.slot = target,
				.gen = 1,
				.nsid = 1,
				.length = 4096,
				.slba = 8 * (n + 1)};
	*t = *h;
	t->side = NT_TARGET;
	h->points[NT_H_QUEUE_RQ] = at;
	h->points[NT_H_SEND_CMD] = at + 1000;
	h->points[NT_H_RX] = end - 2000;
	h->points[NT_H_CQE] = end - 1000;
	h->points[NT_H_COMPLETE] = end;
	t->points[NT_T_RX] = at + 11000 - HOUR / 100;
	t->points[NT_T_CMD] = at + 12000 - HOUR / 100;
	t->points[NT_T_EXEC] = at + 13000 - HOUR / 100;
	t->points[NT_T_DONE] = at + 17000 - HOUR / 100;
	t->points[NT_T_SEND] = at + 18000 - HOUR / 100;
	t->points[NT_T_SENT] = at + 19000 - HOUR / 100;
}

static void say(struct merge *m, unsigned int stream, const struct nt_record *r)
{
	assert_int_equal(merge_record(m, stream, r), 0);
}

static void run_both(struct merge *m, unsigned int target, uint64_t from, uint64_t to)
{
	struct nt_record h, t;

	for (uint64_t n = from; n < to; n++) {
		make(target, n, 0, &h, &t);
		say(m, target, &t);
		say(m, HOST, &h);
	}
}

/*
 * Stalled commands of a live queue wait longer than any other records of the host. @known: the
 * other target's queue is known
 */
static void stalled_commands_outlast_a_flood_that_nobody_meets(bool known)
{
	struct nt_record stalled[8], h, t;
	struct counted n;
	struct merge *m = begin(&n);
	uint64_t i;

	connect(m, TARGET_A, true);
	connect(m, TARGET_B, known);
	run_both(m, TARGET_A, 0, 1000);
	if (known)
		run_both(m, TARGET_B, 0, 1000);
	for (i = 0; i < 8; i++) {
		make(TARGET_A, 1000 + i, 20000000, &stalled[i], &t);
		say(m, TARGET_A, &t);
	}
	/* The other target's stream has stalled, or never existed. */
	for (; i < 2 * PENDING_MAX; i++) {
		make(TARGET_B, 1000 + i, 0, &h, &t);
		say(m, HOST, &h);
		assert_true(merge_pending(m) <= PENDING_MAX);
		if (i % 10000 == 0 && known)
			expire_all(m, 5 * SECOND);
	}
	assert_true(merge_strays(m)->crowded_out > 0);
	for (i = 0; i < 8; i++)
		say(m, HOST, &stalled[i]);
	assert_int_equal(n.matched, (known ? 2000 : 1000) + 8);
	assert_int_equal(n.wrong, 0);
	assert_int_equal(n.host_only, merge_strays(m)->crowded_out);
	merge_finish(m);
	merge_free(m);
}

static void stalled_commands_outlast_a_target_that_was_never_there(void **state)
{
	stalled_commands_outlast_a_flood_that_nobody_meets(false);
}

static void stalled_commands_outlast_a_target_that_has_stopped(void **state)
{
	stalled_commands_outlast_a_flood_that_nobody_meets(true);
}

/*
 * A target stalls for less time than the pool can hold. Its records are still matched, although
 * other records wait for unknown targets.
 */
static void what_a_stalled_peer_owes_outlasts_what_nobody_does(void **state)
{
	struct nt_record h, t;
	struct counted n;
	struct merge *m = begin(&n);
	uint64_t some = PENDING_MAX / 2;

	connect(m, TARGET_A, true);
	connect(m, TARGET_B, false);
	run_both(m, TARGET_A, 0, 1000);
	for (uint64_t i = 0; i < some; i++) {
		make(TARGET_A, 1000 + i, 0, &h, &t);
		say(m, HOST, &h);
	}
	for (uint64_t i = 0; i < PENDING_MAX; i++) {
		make(TARGET_B, 1000 + some + i, 0, &h, &t);
		say(m, HOST, &h);
	}
	assert_int_equal(merge_strays(m)->crowded_out, some);
	for (uint64_t i = 0; i < some; i++) {
		make(TARGET_A, 1000 + i, 0, &h, &t);
		say(m, TARGET_A, &t);
	}
	assert_int_equal(n.matched, 1000 + some);
	assert_int_equal(n.wrong, 0);
	merge_finish(m);
	merge_free(m);
}

static void what_waits_for_a_stream_is_decided_when_it_ends(void **state)
{
	struct nt_record h, t;
	struct counted n;
	struct merge *m = begin(&n);

	connect(m, TARGET_A, true);
	connect(m, TARGET_B, true);
	run_both(m, TARGET_A, 0, 1000);
	run_both(m, TARGET_B, 0, 1000);
	for (uint64_t i = 1000; i < 1500; i++) {
		make(TARGET_A, i, 0, &h, &t);
		say(m, HOST, &h);
	}
	assert_int_equal(merge_pending(m), 500);
	merge_end(m, TARGET_A);
	assert_int_equal(merge_pending(m), 0);
	assert_int_equal(n.host_only, 500);
	/* From then on at most a second of records waits. */
	for (uint64_t i = 1500; i < 100000; i++) {
		make(TARGET_A, i, 0, &h, &t);
		say(m, HOST, &h);
		assert_true(merge_pending(m) <= 1000000 / EVERY_US + 1);
	}
	/* The other target continues. */
	run_both(m, TARGET_B, 100000, 101000);
	assert_int_equal(n.matched, 3000);
	assert_int_equal(n.wrong, 0);
	assert_int_equal(merge_strays(m)->crowded_out, 0);
	merge_finish(m);
	assert_int_equal(n.ambiguous + n.target_only, 0);
	merge_free(m);
}

/*
 * The target's stream has records of commands that the host has not completed. They are matched
 * when the host does, whether that stream goes on or not.
 */
static void what_an_ended_stream_has_told_of_is_met(void **state)
{
	struct nt_record h[100], t;
	struct counted n;
	struct merge *m = begin(&n);

	connect(m, TARGET_A, true);
	run_both(m, TARGET_A, 0, 1000);
	for (uint64_t i = 0; i < 100; i++) {
		make(TARGET_A, 1000 + i, 2000000, &h[i], &t);
		say(m, TARGET_A, &t);
	}
	merge_end(m, TARGET_A);
	merge_end(m, TARGET_B);
	for (uint64_t i = 0; i < 100; i++)
		say(m, HOST, &h[i]);
	assert_int_equal(n.matched, 1100);
	merge_finish(m);
	merge_free(m);
}

/* A tracer that is started again is another stream. It may describe its queues a little later. */
static void a_successor_that_has_not_told_of_anything_is_waited_for(void **state)
{
	struct nt_record h, t;
	struct queue_info q = {.slot = TARGET_A,
			       .gen = 1,
			       .cntlid = 1,
			       .qid = 1,
			       .subsysnqn = "nqn.1",
			       .hostnqn = "nqn.host"};
	struct counted n;
	struct merge *m = begin(&n);

	connect(m, TARGET_A, true);
	run_both(m, TARGET_A, 0, 1000);
	assert_int_equal(merge_queue(m, TARGET_B, NT_TARGET, &q), 0);
	for (uint64_t i = 1000; i < 2000; i++) {
		make(TARGET_A, i, 0, &h, &t);
		say(m, HOST, &h);
	}
	merge_end(m, TARGET_A);
	for (uint64_t i = 1000; i < 2000; i++) {
		make(TARGET_A, i, 0, &h, &t);
		say(m, TARGET_B, &t);
	}
	merge_end(m, TARGET_B);
	merge_finish(m);
	assert_int_equal(n.wrong, 0);
	assert_int_equal(n.matched, 2000);
	merge_free(m);
}

/*
 * A host that gets no response gives up after 30 s. The target's record has the points that the
 * command had reached by then.
 */
/*
 * @late_ns: how long after the host gave up the target went on with the commands; 0: before that
 * @told_late: the target's records come when all others have gone on for seconds
 */
static void time_out(uint64_t late_ns, bool told_late)
{
	static const unsigned int last[] = {NT_T_SENT, NT_T_SEND, NT_T_DONE, NT_T_EXEC, NT_T_CMD};
	const uint64_t waited = 30 * 1000000 / EVERY_US, more = told_late ? waited / 5 : 0,
		       afterwards = told_late ? 1000 : 0;
	struct nt_record h, t, given_up[ARRAY_SIZE(last)], had[ARRAY_SIZE(last)];
	struct counted n;
	struct merge *m = begin(&n);

	connect(m, TARGET_A, true);
	connect(m, TARGET_B, true);
	run_both(m, TARGET_A, 0, 1000);
	run_both(m, TARGET_B, 0, 1000);
	for (uint64_t i = 0; i < ARRAY_SIZE(last); i++) {
		make(TARGET_A, 1000 + i, 30000000, &h, &t);
		h.flags = NT_F_CANCELLED;
		h.points[NT_H_RX] = h.points[NT_H_CQE] = 0;
		given_up[i] = h;
		t.flags = NT_F_CANCELLED;
		for (unsigned int p = NT_T_DONE; late_ns && p <= NT_T_SENT; p++)
			t.points[p] += late_ns;
		for (unsigned int p = last[i] + 1; p < NT_POINTS_MAX; p++)
			t.points[p] = 0;
		had[i] = t;
		if (!told_late)
			say(m, TARGET_A, &t);
	}
	run_both(m, TARGET_B, 1000, waited);
	for (uint64_t i = 0; i < ARRAY_SIZE(last); i++)
		say(m, HOST, &given_up[i]);
	/* The stream of the target goes on with other commands. */
	run_both(m, TARGET_B, waited, waited + more);
	run_both(m, TARGET_A, waited + more, waited + more + afterwards);
	for (uint64_t i = 0; told_late && i < ARRAY_SIZE(last); i++)
		say(m, TARGET_A, &had[i]);
	/* They are matched at once, when waiting records are looked up, and not only at the end. */
	if (told_late)
		assert_int_equal(n.matched, 1000 + waited + more + afterwards + ARRAY_SIZE(last));
	merge_finish(m);
	assert_int_equal(n.wrong, 0);
	assert_int_equal(n.host_only + n.target_only + n.ambiguous, 0);
	assert_int_equal(n.matched, 1000 + waited + more + afterwards + ARRAY_SIZE(last));
	merge_free(m);
}

static void commands_that_time_out_are_matched_with_what_the_target_had(void **state)
{
	time_out(0, false);
}

static void what_a_target_tells_late_of_what_was_given_up_is_met(void **state)
{
	time_out(40000000000ULL, true);
}

static void a_target_may_go_on_with_what_the_host_gave_up(void **state)
{
	time_out(40000000000ULL, false);
}

/* Twice the most records that may wait: of a disk beside the queue of a target. */
#define DISK_COMMANDS 300000

static void commands_of_other_transports_wait_for_no_target(void **state)
{
	struct queue_info disk = {.slot = 7,
				  .gen = 1,
				  .cntlid = 1,
				  .qid = 1,
				  .subsysnqn = "nqn.disk",
				  .transport = NT_TRANSPORT_PCIE};
	struct counted n;
	struct merge *m = begin(&n);
	struct nt_record h, t;

	connect(m, TARGET_A, true);
	assert_int_equal(merge_queue(m, HOST, NT_HOST, &disk), 0);
	for (unsigned int i = 0; i < DISK_COMMANDS; i++) {
		make(disk.slot, i, 0, &h, &t);
		h.shape = NT_SHAPE_CORE;
		h.points[NT_H_SEND_CMD] = h.points[NT_H_RX] = 0;
		say(m, HOST, &h);
		if (i % 100 == 0)
			run_both(m, TARGET_A, i, i + 1);
	}
	assert_int_equal(merge_strays(m)->crowded_out, 0);
	assert_in_range(merge_pending(m), 0, 100);
	assert_int_equal(n.host_only, DISK_COMMANDS);
	merge_finish(m);
	assert_int_equal(n.matched, DISK_COMMANDS / 100);
	assert_int_equal(n.wrong, 0);
	assert_int_equal(n.host_only, DISK_COMMANDS);
	merge_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stalled_commands_outlast_a_target_that_was_never_there),
		cmocka_unit_test(stalled_commands_outlast_a_target_that_has_stopped),
		cmocka_unit_test(what_a_stalled_peer_owes_outlasts_what_nobody_does),
		cmocka_unit_test(what_waits_for_a_stream_is_decided_when_it_ends),
		cmocka_unit_test(what_an_ended_stream_has_told_of_is_met),
		cmocka_unit_test(commands_that_time_out_are_matched_with_what_the_target_had),
		cmocka_unit_test(a_target_may_go_on_with_what_the_host_gave_up),
		cmocka_unit_test(what_a_target_tells_late_of_what_was_given_up_is_met),
		cmocka_unit_test(a_successor_that_has_not_told_of_anything_is_waited_for),
		cmocka_unit_test(commands_of_other_transports_wait_for_no_target),
	};

	return cmocka_run_group_tests_name("room", tests, NULL, NULL);
}
