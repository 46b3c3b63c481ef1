// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which recorded commands --time and --where select: every relation, stage and bound, to the
 * nanosecond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "core/array.h"
#include "merge/filter.h"

#define BEGAN 1000000ULL

static const struct filter_span all = {.nr = 1, .part = {{.to_ns = UINT64_MAX}}};

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

/* The span of a recording that began at @began_ns, without a wall clock. */
static struct filter_span span_from(const struct filter *f, uint64_t began_ns)
{
	return filter_span(f, &(struct instant){.monotonic_ns = began_ns}, 0);
}

static bool single_from(const struct filter *f, const struct nt_record *r, uint64_t began_ns)
{
	const struct filter_span span = span_from(f, began_ns);

	return filter_takes_single(f, &connection, r, 0, &span);
}

static bool single(const struct filter *f, const struct nt_record *r)
{
	return single_from(f, r, BEGAN);
}

static bool matched(struct filter *f)
{
	const uint32_t missing[NT_SIDES] = {0};
	const struct filter_span span = span_from(f, BEGAN);

	return filter_takes_matched(f, &connection, &host, &target, missing, &span);
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

static void parts_of_the_network_are_held_where_both_sides_know_them(void **state)
{
	static const struct {
		const char *name;
		unsigned int ns;
	} parts[] = {{"host_send_queue", 300},
		     {"target_send_queue", 200},
		     {"wire", 7650 - 5051 - 300 - 200}};
	const uint32_t missing[NT_SIDES] = {0};

	for (unsigned int i = 0; i < 3 * ARRAY_SIZE(parts); i++) {
		struct nt_record h = host, t = target;
		struct filter f = {0};
		char text[64];

		snprintf(text, sizeof(text), "%s>%uns", parts[i / 3].name,
			 parts[i / 3].ns + i % 3 - 1);
		assert_null(filter_where(&f, text));
		h.fine[NT_HF_OUT] = 301;
		t.fine[NT_TF_OUT] = 201;
		assert_int_equal(filter_takes_matched(&f, &connection, &h, &t, missing, &all),
				 i % 3 == 0);
		/* One side does not know. */
		t.fine[NT_TF_OUT] = 0;
		assert_false(filter_takes_matched(&f, &connection, &h, &t, missing, &all));
		assert_false(single(&f, &h) || single(&f, &t));
	}
}

static void parts_of_the_target_subsystem_are_held_where_its_disk_is_known(void **state)
{
	static const struct {
		const char *name;
		unsigned int ns;
	} parts[] = {{"target_block_layer", 7}, {"device", 900}, {"target_block_done", 93}};
	const uint32_t missing[NT_SIDES] = {0};

	for (unsigned int i = 0; i < 3 * ARRAY_SIZE(parts); i++) {
		struct nt_record h = host, t = target;
		struct filter f = {0};
		char text[64];

		snprintf(text, sizeof(text), "%s>%uns", parts[i / 3].name,
			 parts[i / 3].ns + i % 3 - 1);
		assert_null(filter_where(&f, text));
		t.points[NT_T_EXEC] = t.points[NT_T_DONE] - 1000;
		t.points[NT_TD_ISSUE] = t.points[NT_T_EXEC] + 7;
		t.points[NT_TD_DONE] = t.points[NT_TD_ISSUE] + 900;
		assert_int_equal(filter_takes_matched(&f, &connection, &h, &t, missing, &all),
				 i % 3 == 0);
		t.points[NT_TD_ISSUE] = 0;
		assert_false(filter_takes_matched(&f, &connection, &h, &t, missing, &all));
	}
}

static void parts_of_a_file_are_held_by_commands_that_have_them(void **state)
{
	const uint32_t missing[NT_SIDES] = {0};
	struct nt_record t = target;
	struct filter f = {0}, waited = {0};

	assert_null(filter_where(&f, "target_page_cache>=0ns"));
	assert_null(filter_where(&waited, "target_file_wait>=0ns"));
	t.points[NT_T_EXEC] = t.points[NT_T_DONE] - 1000;
	t.flags |= NT_F_FILE | NT_F_CACHED;
	assert_true(filter_takes_matched(&f, &connection, &host, &t, missing, &all));
	assert_false(filter_takes_matched(&waited, &connection, &host, &t, missing, &all));
	t.points[NT_TD_ISSUE] = t.points[NT_T_EXEC] + 7;
	assert_true(filter_takes_matched(&waited, &connection, &host, &t, missing, &all));
	t.flags &= ~NT_F_CACHED;
	assert_false(filter_takes_matched(&f, &connection, &host, &t, missing, &all));
	assert_true(filter_takes_matched(&waited, &connection, &host, &t, missing, &all));
}

/* Each side's waits are known by itself. */
static void parts_of_other_stages_are_held_where_their_side_knows_them(void **state)
{
	const uint32_t missing[NT_SIDES] = {0};

	for (unsigned int i = 0; i < 3; i++) {
		struct nt_record h = host, t = target;
		struct filter f = {0};
		char text[64];

		h.wait[NT_W_STACK] = 1 + 3;
		h.wait[NT_W_WAKEUP] = 1 + 2;
		snprintf(text, sizeof(text), "host_wakeup>%uns", 1 + i);
		assert_null(filter_where(&f, text));
		assert_int_equal(filter_takes_matched(&f, &connection, &h, &t, missing, &all),
				 i == 0);
		h.wait[NT_W_STACK] = 0;
		assert_false(filter_takes_matched(&f, &connection, &h, &t, missing, &all));
		assert_null(filter_where(&f, "target_worker<1s"));
		assert_false(filter_takes_matched(&f, &connection, &h, &t, missing, &all));
	}
}

static void several_conditions_may_stand_in_one_text(void **state)
{
	struct filter f = {0};

	assert_null(filter_where(&f, "latency>8us,target_subsystem==5us,blk_submission<=100ns"));
	assert_int_equal(f.nr, 3);
	assert_int_equal(f.condition[0].relation, FILTER_ABOVE);
	assert_int_equal(f.condition[1].relation, FILTER_SAME);
	assert_int_equal(f.condition[1].ns, 5000);
	assert_int_equal(f.condition[2].relation, FILTER_BELOW_OR);
	assert_int_equal(f.condition[2].ns, 100);
}

static void what_is_no_condition_is_refused(void **state)
{
	static const char *const wrong[] = {"",
					    "latency",
					    "latency>",
					    "latency!5",
					    "latency>x",
					    "latenc>1",
					    ">1ms",
					    "latency =>1ms",
					    "latencyy>1ms",
					    "network>1",
					    "latency>-1ms",
					    "latency>=<1ms",
					    "latency>1ms,",
					    "latency >1ms",
					    "latency>1ms;latency>1ms"};
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
	assert_true(filter_takes_matched(&f, &connection, &without, &target, missing, &all));
	/* The next command lacks no point, nor does the one after it. */
	assert_false(matched(&f));
	assert_true(filter_takes_matched(&f, &connection, &without, &target, missing, &all));
	/*
	 * The target's arrival is missing as well. The time before its next point then belongs to
	 * the network.
	 */
	far.points[NT_T_RX] = 0;
	f.nr = 0;
	assert_null(filter_where(&f, "nstack_submission=11ns"));
	assert_true(matched(&f));
	assert_false(filter_takes_matched(&f, &connection, &host, &far, missing, &all));
	assert_true(matched(&f));
	/* A command that cannot be split has no stages. */
	without.points[NT_H_SEND_CMD] = 0;
	f.nr = 0;
	assert_null(filter_where(&f, "blk_completion<1h"));
	assert_false(single(&f, &without));
	assert_false(filter_takes_matched(&f, &connection, &without, &target, missing, &all));
	f.nr = 0;
	assert_null(filter_where(&f, "latency<1h"));
	assert_true(single(&f, &without));
}

static void times_are_from_and_to(void **state)
{
	static const struct {
		const char *text;
		bool takes; /* a command that begins 1000 ns after the recording */
	} times[] = {{"1000ns-1001ns", true}, {"0s-1000ns", false},
		     {"1001ns-", false},      {"1us-", true},
		     {"-1001ns", true},	      {"-1us", false},
		     {"999ns-1h", true},      {"2s-3s,999ns-1us,1us-2us", true},
		     {"2s-3s,-999ns", false}, {"..999ns,1us..", true}};
	static const char *const wrong[] = {"",
					    "-",
					    "1s",
					    "1s-1s",
					    "2s-1s",
					    "x-1s",
					    "1s-x",
					    "1s-2s-3s",
					    "1s-2s,",
					    ",1s-2s",
					    "1s-2s,2s-1s",
					    "1s-2s,,3s-4s",
					    "-0s",
					    "1s--2s",
					    "0-0ms",
					    "000000000000000000000000000000000000000000000001-2"};

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
	assert_true(single_from(&f, &r, BEGAN + 5000));
	assert_true(single_from(&f, &r, BEGAN + 1000));
	assert_false(single_from(&f, &r, BEGAN + 999));
	for (unsigned int i = 0; i < NT_H_COMPLETE; i++)
		r.points[i] = 0;
	f = (struct filter){0};
	assert_null(filter_time(&f, "9107ns-9108ns"));
	assert_true(single(&f, &r));
}

static void must_be(const char *time, uint64_t began_ns, double seconds, uint64_t from, uint64_t to,
		    uint64_t of)
{
	struct filter f = {0};
	struct filter_span span;
	uint64_t begin = 10, end = 20000, taken;

	if (*time)
		assert_null(filter_time(&f, time));
	span = span_from(&f, began_ns);
	assert_true(filter_seconds(&span, 2000, 5000) == seconds);
	taken = filter_bounds(&span, began_ns, &begin, &end);
	assert_int_equal(taken, of);
	assert_int_equal(begin, from);
	assert_int_equal(end, to);
}

static void how_much_of_a_recording_is_in_it(void **state)
{
	must_be("", 1000, 3e-6, 10, 20000, 0);
	must_be("2us-3us", 1000, 1e-6, 2000, 3000, 0);
	must_be("2us-", 1000, 2e-6, 2000, 20000, 0);
	must_be("-15ns", 1000, 0, 10, 15, 0);
	must_be("2us-3us", 1, 1e-6, 2000, 3000, 0);
	must_be("12us-13us", 1000, 0, 12000, 13000, 0);
	/* Several: they add up, and what is in two of them counts once. */
	must_be("3us-4us,2us-2500ns", 1000, 1.5e-6, 2000, 4000, 1500);
	must_be("2us-3us,2500ns-4us", 1000, 2e-6, 2000, 4000, 0);
	must_be("2us-3us,3us-4us", 1000, 2e-6, 2000, 4000, 0);
	must_be("-2us,3us-", 1000, 2e-6, 10, 20000, 18990);
}

#define HOURS (3600 * 1000000000LL)
#define MINUTES (60 * 1000000000LL)

/* A recording that began at @began, local time, and what of it is taken: minutes after that. */
struct wall_case {
	const char *zone, *began, *time;
	int from, to;
};

#define TO_THE_END INT_MAX
#define VIENNA "CET-1CEST,M3.5.0,M10.5.0/3"

static void must_take_minutes(const struct wall_case *k)
{
	struct filter f = {0};
	struct instant began = {.monotonic_ns = 100 * HOURS};
	struct filter_span span;
	struct wall_time wall;

	setenv("TZ", k->zone, 1);
	tzset();
	assert_int_equal(wall_time_parse(k->began, &wall), 0);
	began.realtime_ns = wall_time_on(&wall, 0, 0, false);
	if (filter_time(&f, k->time))
		fail_msg("%s is refused", k->time);
	span = filter_span(&f, &began, 0);
	if (span.part[0].from_ns != (k->from ? began.monotonic_ns + k->from * MINUTES : 0) ||
	    span.part[0].to_ns !=
		    (k->to == TO_THE_END ? UINT64_MAX : began.monotonic_ns + k->to * MINUTES))
		fail_msg("%s of %s: from minute %lld to %lld", k->time, k->began,
			 (long long)(span.part[0].from_ns - began.monotonic_ns) / MINUTES,
			 (long long)(span.part[0].to_ns - began.monotonic_ns) / MINUTES);
}

static void times_of_the_wall_clock_are_of_the_recording(void **state)
{
	static const struct wall_case cases[] = {
		{VIENNA, "2026-11-22T14:00", "14:03-14:05", 3, 5},
		{VIENNA, "2026-11-22T14:00", "14:03..14:05", 3, 5},
		{VIENNA, "2026-11-22T14:04", "14:03-14:05", 0, 1},
		{VIENNA, "2026-11-22T14:00", "14:03-", 3, TO_THE_END},
		{VIENNA, "2026-11-22T14:04", "14:03-", 0, TO_THE_END},
		{VIENNA, "2026-11-22T14:00", "2026-11-22T14:03..", 3, TO_THE_END},
		{VIENNA, "2026-11-22T14:00", "2026-11-22 14:03..14:05", 3, 5},
		{VIENNA, "2026-11-22T14:00", "2026-11-22T13:03Z..2026-11-22T15:04+01:00", 3, 64},
		{VIENNA, "2026-11-22T14:00", "2026-11-23..", 600, TO_THE_END},
		{VIENNA, "2026-11-22T14:00", "..14:03", 0, 3},
		{VIENNA, "2026-11-22T14:00", "60s..14:03", 1, 3},
		{VIENNA, "2026-11-22T14:00", "14:03..300s", 3, 5},
		/* Midnight */
		{VIENNA, "2026-11-22T23:50", "23:55-00:05", 5, 15},
		{VIENNA, "2026-11-22T23:50", "00:05-00:10", 15, 20},
		{VIENNA, "2026-11-22T23:50", "00:05..", 15, TO_THE_END},
		{VIENNA, "2026-11-22T23:50", "00:00-", 10, TO_THE_END},
		{VIENNA, "2026-11-23T00:01", "23:55-00:05", 0, 4},
		{VIENNA, "2026-11-23T00:01", "14:03-14:04", 842, 843},
		{VIENNA, "2026-12-31T23:50", "00:05-00:10", 15, 20},
		/* The clock is set forward: 2:00 is 3:00. */
		{VIENNA, "2026-03-29T01:50", "03:05-03:10", 15, 20},
		{VIENNA, "2026-03-29T01:50", "02:05-03:10", 15, 20},
		{VIENNA, "2026-03-28T23:00", "04:00-05:00", 240, 300},
		/* The clock is set back: it is 2:30 twice, and both are taken. */
		{VIENNA, "2026-10-25T01:50", "02:30-02:40", 40, 110},
		{VIENNA, "2026-10-25T01:50", "03:05-03:10", 135, 140},
		{VIENNA, "2026-10-24T23:00", "04:00-05:00", 360, 420},
		{"UTC0", "2028-02-28T23:50", "2028-02-29T00:05..2028-03-01", 15, 1450},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		must_take_minutes(&cases[i]);
	unsetenv("TZ");
	tzset();
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const wrong[] = {
		"..",
		"14:03",
		"24:00-",
		"14:60-14:61",
		"14:03:60-",
		"14:3-",
		"2026-02-30..",
		"2026-13-01..",
		"2262-01-01..",
		"1969-01-01..",
		"2026-11-22T..",
		"2026-11-22T14..",
		"2026-11-22T14:03-",
		"14:03Z..",
		"14:03-14:03",
		"2026-11-22T14:03..2026-11-22T14:03",
		"-10s..-30s",
		"-10s..-10s",
		"yesterday..",
		"1-2..3",
		"14:03:04..x",
		"2026-11-22T14:03+1..",
		"14:03:05..14:03:05.000",
	};
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct filter none = {0};

		if (!filter_time(&none, wrong[i]))
			fail_msg("%s is taken", wrong[i]);
		assert_false(filter_any(&none));
	}
}

/* A damaged recording may have begun at any time. */
static void the_ends_of_time_are_survived(void **state)
{
	static const char *const times[] = {"14:03-14:05",	 "14:03..",   "..14:03",
					    "2026-11-22..14:03", "14:03..5s", "5s..14:03"};
	static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, -1, 1, INT64_MAX};

	for (unsigned int i = 0; i < ARRAY_SIZE(times) * ARRAY_SIZE(ends); i++) {
		const struct instant began = {.monotonic_ns = UINT64_MAX - 5,
					      .realtime_ns = ends[i % ARRAY_SIZE(ends)]};
		struct filter f = {0};
		struct filter_span span;

		assert_null(filter_time(&f, times[i / ARRAY_SIZE(ends)]));
		span = filter_span(&f, &began, 0);
		assert_true(span.part[0].from_ns == 0 ||
			    span.part[0].from_ns >= began.monotonic_ns);
	}
}

static void the_last_seconds_are_before_the_last_command_ended(void **state)
{
	const struct instant began = {.monotonic_ns = 1000, .realtime_ns = 1};
	struct filter f = {0};
	struct filter_span span;

	assert_null(filter_time(&f, "-30s.."));
	assert_true(filter_needs_end(&f));
	span = filter_span(&f, &began, 100 * 1000000000ULL);
	assert_int_equal(span.part[0].from_ns, 70 * 1000000000ULL);
	assert_true(span.part[0].to_ns == UINT64_MAX);
	/* All of a recording that is shorter; nothing if the end is not known. */
	span = filter_span(&f, &began, 1000000000ULL);
	assert_int_equal(span.part[0].from_ns, 0);
	span = filter_span(&f, &began, 0);
	assert_int_equal(span.part[0].to_ns, 0);
	f = (struct filter){0};
	assert_null(filter_time(&f, "-30s..-10s"));
	span = filter_span(&f, &began, 100 * 1000000000ULL);
	assert_int_equal(span.part[0].to_ns, 90 * 1000000000ULL);
	f = (struct filter){0};
	assert_null(filter_time(&f, "14:03-"));
	assert_false(filter_needs_end(&f));
	/* Without a wall clock. */
	span = filter_span(&f, &(struct instant){.monotonic_ns = 1000}, 5000);
	assert_int_equal(span.part[0].to_ns, 0);
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
		cmocka_unit_test(parts_of_the_network_are_held_where_both_sides_know_them),
		cmocka_unit_test(parts_of_the_target_subsystem_are_held_where_its_disk_is_known),
		cmocka_unit_test(parts_of_a_file_are_held_by_commands_that_have_them),
		cmocka_unit_test(parts_of_other_stages_are_held_where_their_side_knows_them),
		cmocka_unit_test(several_conditions_may_stand_in_one_text),
		cmocka_unit_test(what_is_no_condition_is_refused),
		cmocka_unit_test(a_stage_that_others_are_not_parted_from_has_their_time),
		cmocka_unit_test(times_are_from_and_to),
		cmocka_unit_test(when_a_command_began_is_known_as_well_as_can_be),
		cmocka_unit_test(how_much_of_a_recording_is_in_it),
		cmocka_unit_test(times_of_the_wall_clock_are_of_the_recording),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(the_ends_of_time_are_survived),
		cmocka_unit_test(the_last_seconds_are_before_the_last_command_ended),
		cmocka_unit_test(a_queue_is_selected_by_its_connection),
		cmocka_unit_test(slow_and_failed_ones_are_selected),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
