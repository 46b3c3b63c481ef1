// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which recorded commands --time and --where select: every relation, stage and bound, to the
 * nanosecond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "core/hash.h"
#include "merge/filter.h"

#define BEGAN 1000000ULL

/*
 * A read that began 1000 ns after the recording did, and took 8107 ns. The target has another
 * clock.
 */
static const struct nt_record host = {
	.side = NT_HOST,
	.opcode = 2,
	.op = NT_OP_READ,
	.shape = NT_SHAPE_READ,
	.points = {[NT_H_SUBMIT] = BEGAN + 1000,
		   [NT_H_QUEUE_RQ] = BEGAN + 1100,
		   [NT_H_SEND_CMD] = BEGAN + 1350,
		   [NT_H_SENT_CMD] = BEGAN + 1500,
		   [NT_H_RX] = BEGAN + 9000,
		   [NT_H_C2H] = BEGAN + 9040,
		   [NT_H_CQE] = BEGAN + 9100,
		   [NT_H_COMPLETE] = BEGAN + 9107},
};
static const struct nt_record target = {
	.side = NT_TARGET,
	.opcode = 2,
	.op = NT_OP_READ,
	.shape = NT_SHAPE_READ,
	.points = {[NT_T_RX] = 500000,
		   [NT_T_CMD] = 500011,
		   [NT_T_EXEC] = 500034,
		   [NT_T_DONE] = 505034,
		   [NT_T_SEND] = 505051,
		   [NT_T_SENT] = 509999},
};
static const struct merge_connection connection = {
	.host_instance = 3, .cntlid = 7, .qid = 2, .subsysnqn = "nqn.a", .hostnqn = "nqn.h"};

/*
 * Each stage, with its time from each side alone and from both together; 0 if there is no stage
 * with that name.
 */
static const struct {
	const char *name;
	unsigned int ns[NT_SIDES];
	unsigned int matched;
} stages[] = {
	{"latency", {[NT_HOST] = 8107, [NT_TARGET] = 9999}, 8107},
	{"blk_submission", {[NT_HOST] = 100}, 100},
	{"nvme_tcp_submission", {[NT_HOST] = 250}, 250},
	{"network_and_target", {[NT_HOST] = 7650}, 0},
	{"nstack_completion", {[NT_HOST] = 40}, 40},
	{"nvme_tcp_completion", {[NT_HOST] = 60}, 60},
	{"blk_completion", {[NT_HOST] = 7}, 7},
	{"nstack_submission", {[NT_TARGET] = 11}, 11},
	{"nvmet_tcp_submission", {[NT_TARGET] = 23}, 23},
	{"target_subsystem", {[NT_TARGET] = 5000}, 5000},
	{"nvmet_tcp_completion", {[NT_TARGET] = 17}, 17},
	{"send_response", {[NT_TARGET] = 4948}, 0},
	/* From the first thing sent to the first that came, less the target's time. */
	{"network_transmission", {0, 0}, 7650 - 5051},
};

static bool single(const struct filter *f, const struct nt_record *r)
{
	return filter_takes_single(f, &connection, r, 0, BEGAN);
}

static bool matched(struct filter *f)
{
	const uint32_t missing[NT_SIDES] = {0};

	return filter_takes_matched(f, &connection, &host, &target, missing, BEGAN);
}

/*
 * Checks whether a condition of @name, @relation and @ns selects the command: by the host's record,
 * by the target's, and by both.
 */
static void must_take(const char *name, const char *relation, unsigned int ns, const bool takes[3])
{
	struct filter f = {0};
	char text[64];

	snprintf(text, sizeof(text), "%s%s%uns", name, relation, ns);
	assert_null(filter_where(&f, text));
	assert_true(filter_any(&f));
	assert_int_equal(single(&f, &host), takes[0]);
	assert_int_equal(single(&f, &target), takes[1]);
	assert_int_equal(matched(&f), takes[2]);
}

static void every_stage_is_held_against_each_relation(void **state)
{
	static const struct {
		const char *text;
		/* whether it holds for a time that is less, equal and greater */
		bool below, same, above;
	} relations[] = {{">", false, false, true},
			 {">=", false, true, true},
			 {"<", true, false, false},
			 {"<=", true, true, false},
			 {"=", false, true, false}};

	for (unsigned int i = 0; i < ARRAY_SIZE(stages) * ARRAY_SIZE(relations); i++) {
		unsigned int k = i % ARRAY_SIZE(relations);
		const unsigned int ns[] = {stages[i / ARRAY_SIZE(relations)].ns[NT_HOST],
					   stages[i / ARRAY_SIZE(relations)].ns[NT_TARGET],
					   stages[i / ARRAY_SIZE(relations)].matched};

		for (unsigned int at = 0; at < 3 * ARRAY_SIZE(ns); at++) {
			unsigned int to = ns[at / 3] + at % 3 - 1;
			bool takes[3];

			if (!ns[at / 3])
				continue;
			for (unsigned int n = 0; n < 3; n++)
				takes[n] = ns[n] && (ns[n] < to	   ? relations[k].below
						     : ns[n] == to ? relations[k].same
								   : relations[k].above);
			must_take(stages[i / ARRAY_SIZE(relations)].name, relations[k].text, to,
				  takes);
		}
	}
}

static void all_conditions_have_to_hold(void **state)
{
	struct filter f = {0};

	assert_true(matched(&f) && single(&f, &host) && single(&f, &target));
	assert_false(filter_any(&f));
	assert_null(filter_where(&f, "latency>8us"));
	assert_null(filter_where(&f, "target_subsystem>=5us"));
	assert_true(matched(&f));
	/* The host alone does not have this stage. */
	assert_false(single(&f, &host));
	assert_true(single(&f, &target));
	assert_null(filter_where(&f, "blk_submission<100ns"));
	assert_false(matched(&f));
	f.nr--;
	assert_null(filter_where(&f, "latency<8us"));
	assert_false(matched(&f) || single(&f, &host) || single(&f, &target));
}

static void what_is_no_condition_is_refused(void **state)
{
	static const char *const wrong[] = {"",		 "latency",	  "latency>",
					    "latency!5", "latency>x",	  "latenc>1",
					    ">1ms",	 "latency =>1ms", "latencyy>1ms",
					    "network>1", "latency>-1ms",  "latency>=<1ms"};
	struct filter f = {0};

	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_non_null(filter_where(&f, wrong[i]));
	assert_int_equal(f.nr, 0);
	for (unsigned int i = 0; i < FILTER_CONDITIONS_MAX; i++)
		assert_null(filter_where(&f, "latency>1ms"));
	assert_non_null(filter_where(&f, "latency>1ms"));
	assert_int_equal(f.nr, FILTER_CONDITIONS_MAX);
}

/* Without the arrival, the stages beside it are one stage with both names. */
static void a_stage_that_others_are_not_parted_from_has_their_time(void **state)
{
	struct nt_record without = host, far = target;
	const uint32_t missing[NT_SIDES] = {0};
	struct filter f = {0};

	without.points[NT_H_RX] = 0;
	assert_null(filter_where(&f, "network_and_target=7690ns"));
	assert_true(single(&f, &without));
	f.nr = 0;
	assert_null(filter_where(&f, "nstack_completion=7690ns"));
	assert_true(single(&f, &without));
	assert_false(single(&f, &host));
	f.nr = 0;
	assert_null(filter_where(&f, "network_transmission=2639ns"));
	assert_true(filter_takes_matched(&f, &connection, &without, &target, missing, BEGAN));
	/* The next command lacks no point, nor does the one after it. */
	assert_false(matched(&f));
	assert_true(filter_takes_matched(&f, &connection, &without, &target, missing, BEGAN));
	/*
	 * The target's arrival is missing as well. The time before its next point then belongs to
	 * the network.
	 */
	far.points[NT_T_RX] = 0;
	f.nr = 0;
	assert_null(filter_where(&f, "nstack_submission=11ns"));
	assert_true(matched(&f));
	assert_false(filter_takes_matched(&f, &connection, &host, &far, missing, BEGAN));
	assert_true(matched(&f));
	/* A command that cannot be split has no stages. */
	without.points[NT_H_SEND_CMD] = 0;
	f.nr = 0;
	assert_null(filter_where(&f, "blk_completion<1h"));
	assert_false(single(&f, &without));
	assert_false(filter_takes_matched(&f, &connection, &without, &target, missing, BEGAN));
	f.nr = 0;
	assert_null(filter_where(&f, "latency<1h"));
	assert_true(single(&f, &without));
}

static void times_are_from_and_to(void **state)
{
	static const struct {
		const char *text;
		bool takes; /* a command that begins 1000 ns after the recording */
	} times[] = {{"1000ns-1001ns", true}, {"0s-1000ns", false}, {"1001ns-", false},
		     {"1us-", true},	      {"-1001ns", true},    {"-1us", false},
		     {"999ns-1h", true}};
	static const char *const wrong[] = {
		"",	"-",	    "1s",  "1s-1s",  "2s-1s", "x-1s",
		"1s-x", "1s-2s-3s", "-0s", "1s--2s", "0-0ms", "00000000000000000000000000000001-2"};

	for (unsigned int i = 0; i < ARRAY_SIZE(times); i++) {
		struct filter f = {0};

		assert_null(filter_time(&f, times[i].text));
		assert_true(filter_any(&f));
		assert_int_equal(single(&f, &host), times[i].takes);
		assert_int_equal(matched(&f), times[i].takes);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct filter f = {0};

		assert_non_null(filter_time(&f, wrong[i]));
		assert_false(filter_any(&f));
	}
}

/*
 * A command that began before its recording counts as the recording's first moment. One with an
 * unknown beginning counts by its end.
 */
static void when_a_command_began_is_known_as_well_as_can_be(void **state)
{
	struct nt_record r = host;
	struct filter f = {0};

	assert_null(filter_time(&f, "-1ns"));
	assert_true(filter_takes_single(&f, &connection, &r, 0, BEGAN + 5000));
	assert_true(filter_takes_single(&f, &connection, &r, 0, BEGAN + 1000));
	assert_false(filter_takes_single(&f, &connection, &r, 0, BEGAN + 999));
	for (unsigned int i = 0; i < NT_H_COMPLETE; i++)
		r.points[i] = 0;
	f = (struct filter){0};
	assert_null(filter_time(&f, "9107ns-9108ns"));
	assert_true(single(&f, &r));
}

static void how_much_of_a_recording_is_in_it(void **state)
{
	struct filter f = {0};
	uint64_t from = 10, to = 20;

	assert_true(filter_seconds(&f, 1000, 2000, 5000) == 3e-6);
	assert_true(filter_seconds(&f, 1000, 5000, 5000) == 0);
	filter_bounds(&f, &from, &to);
	assert_true(from == 10 && to == 20);
	assert_null(filter_time(&f, "2us-3us"));
	assert_true(filter_seconds(&f, 1000, 2000, 5000) == 1e-6);
	assert_true(filter_seconds(&f, 1000, 3500, 3900) == 4e-7);
	assert_true(filter_seconds(&f, 0, 9000, 12000) == 0);
	f = (struct filter){0};
	assert_null(filter_time(&f, "2us-"));
	assert_true(filter_seconds(&f, 1000, 2000, 5000) == 2e-6);
	filter_bounds(&f, &from, &to);
	assert_true(from == 2000 && to == 20);
	from = 10;
	f = (struct filter){0};
	assert_null(filter_time(&f, "-15ns"));
	filter_bounds(&f, &from, &to);
	assert_true(from == 10 && to == 15);
}

/* Conditions on the queue look at the connection. */
static void a_queue_is_selected_by_its_connection(void **state)
{
	static const struct {
		const char *(*parse)(struct nt_selection *, const char *);
		const char *text;
		bool takes[3]; /* by the host's record, by the target's, and by both */
	} by[] = {
		{select_queue, "2", {true, true, true}},
		{select_queue, "3", {false, false, false}},
		{select_ctrl, "nvme3", {true, false, true}},
		{select_ctrl, "7", {true, true, true}},
		{select_nqn, "nqn.a", {true, true, true}},
		{select_nqn, "nqn.b", {false, false, false}},
		{select_hostnqn, "nqn.h", {true, true, true}},
		{select_hostnqn, "nqn.a", {false, false, false}},
		{select_op, "read", {true, true, true}},
		{select_op, "write", {false, false, false}},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(by); i++) {
		struct filter f = {0};

		assert_null(by[i].parse(&f.select.by, by[i].text));
		assert_true(filter_any(&f));
		assert_int_equal(single(&f, &host), by[i].takes[0]);
		assert_int_equal(single(&f, &target), by[i].takes[1]);
		assert_int_equal(matched(&f), by[i].takes[2]);
	}
}

static void slow_and_failed_ones_are_selected(void **state)
{
	struct nt_record r = host;
	struct filter f = {.select.slower_ns = 8107};

	assert_true(filter_any(&f) && single(&f, &host) && matched(&f));
	f.select.slower_ns++;
	assert_false(single(&f, &host) || matched(&f));
	f = (struct filter){.select.failed = true};
	assert_true(filter_any(&f));
	assert_false(single(&f, &host) || matched(&f));
	r.flags = NT_F_CANCELLED;
	assert_true(single(&f, &r));
	f = (struct filter){.select.device = "nvme0n1"};
	assert_true(filter_any(&f));
	f = (struct filter){.select.cgroup = "/a"};
	assert_true(filter_any(&f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_stage_is_held_against_each_relation),
		cmocka_unit_test(all_conditions_have_to_hold),
		cmocka_unit_test(what_is_no_condition_is_refused),
		cmocka_unit_test(a_stage_that_others_are_not_parted_from_has_their_time),
		cmocka_unit_test(times_are_from_and_to),
		cmocka_unit_test(when_a_command_began_is_known_as_well_as_can_be),
		cmocka_unit_test(how_much_of_a_recording_is_in_it),
		cmocka_unit_test(a_queue_is_selected_by_its_connection),
		cmocka_unit_test(slow_and_failed_ones_are_selected),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
