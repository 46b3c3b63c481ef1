// SPDX-License-Identifier: GPL-2.0-only
/* Why no records of two streams match, and what each stream shows by itself until then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "merge/unmatched.h"

enum { HOST, TARGET, OTHER, STREAMS };

#define SECOND 1000000000ULL

static void begin(struct unmatched *a, unsigned int stream, enum nt_side side, uint32_t sample)
{
	const struct unmatched_header h = {.side = side, .sample = sample, .figures = true};
	const struct instant clock = {.monotonic_ns = 0, .realtime_ns = 1000 * (int64_t)SECOND};

	assert_int_equal(unmatched_begin(a, stream, &h), 0);
	unmatched_clock(a, stream, &clock);
}

static void tell_queue(struct unmatched *a, unsigned int stream, const char *nqn, uint16_t cntlid)
{
	struct queue_info q = {.slot = 1, .gen = 1, .cntlid = cntlid, .qid = 1};

	snprintf(q.subsysnqn, sizeof(q.subsysnqn), "%s", nqn);
	assert_int_equal(unmatched_queue(a, stream, &q), 0);
}

/* Reads of 4 KiB, one each second from @from on. */
static void tell_reads(struct unmatched *a, unsigned int stream, enum nt_side side, uint64_t from,
		       uint64_t slba, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct nt_record r = {.side = (uint8_t)side,
				      .opcode = 2,
				      .nsid = 1,
				      .length = 4096,
				      .slba = slba + 8 * i,
				      .slot = 1,
				      .gen = 1};
		unsigned int first = side == NT_HOST ? NT_H_SUBMIT : NT_T_RX;
		unsigned int last = side == NT_HOST ? NT_H_COMPLETE : NT_T_SENT;

		r.points[first] = from + i * SECOND;
		r.points[last] = from + i * SECOND + 1000;
		assert_int_equal(unmatched_record(a, stream, &r), 0);
	}
}

/* A host and a target that agree in everything. */
static struct unmatched *pair(void)
{
	struct unmatched *a = unmatched_new(STREAMS);

	assert_non_null(a);
	begin(a, HOST, NT_HOST, 1);
	begin(a, TARGET, NT_TARGET, 0);
	tell_queue(a, HOST, "nqn.a", 1);
	tell_queue(a, TARGET, "nqn.a", 1);
	tell_reads(a, HOST, NT_HOST, SECOND, 0, 100);
	tell_reads(a, TARGET, NT_TARGET, SECOND, 0, 100);
	return a;
}

static void must_be(const struct unmatched *a, enum unmatched_reason reason)
{
	unsigned int other;

	assert_true(unmatched_is(a, HOST));
	assert_string_equal(unmatched_words(unmatched_why(a, HOST, &other)),
			    unmatched_words(reason));
	if (reason == UNMATCHED_NOBODY)
		assert_int_equal(other, HOST);
	else
		assert_int_equal(other, TARGET);
}

static void a_stream_without_another_side_has_nobody_to_match_with(void **state)
{
	struct unmatched *a = unmatched_new(STREAMS);

	begin(a, HOST, NT_HOST, 1);
	begin(a, OTHER, NT_HOST, 1);
	tell_reads(a, HOST, NT_HOST, SECOND, 0, 3);
	tell_reads(a, OTHER, NT_HOST, SECOND, 0, 3);
	must_be(a, UNMATCHED_NOBODY);
	unmatched_free(a);
}

static void a_target_that_tells_of_no_commands_is_silent(void **state)
{
	struct unmatched *a = pair();

	begin(a, TARGET, NT_TARGET, 1);
	tell_queue(a, TARGET, "nqn.a", 1);
	assert_false(unmatched_is(a, TARGET));
	must_be(a, UNMATCHED_SILENT);
	unmatched_free(a);
}

static void other_subsystems_and_other_queues_are_told_apart(void **state)
{
	struct unmatched *a = pair();

	begin(a, TARGET, NT_TARGET, 1);
	tell_queue(a, TARGET, "nqn.b", 1);
	tell_reads(a, TARGET, NT_TARGET, SECOND, 0, 100);
	must_be(a, UNMATCHED_SUBSYSTEM);
	tell_queue(a, TARGET, "nqn.a", 2);
	must_be(a, UNMATCHED_QUEUE);
	/* A controller id that is not known may be any. */
	tell_queue(a, TARGET, "nqn.a", 0xffff);
	must_be(a, UNMATCHED_CLOCKS);
	unmatched_free(a);
}

static void what_is_not_known_of_a_queue_may_agree(void **state)
{
	struct unmatched *a = pair();
	struct queue_info other = {.slot = 2, .gen = 1, .cntlid = 1, .qid = 2};

	begin(a, TARGET, NT_TARGET, 1);
	tell_reads(a, TARGET, NT_TARGET, SECOND, 0, 100);
	assert_int_equal(unmatched_queue(a, TARGET, &other), 0);
	must_be(a, UNMATCHED_QUEUE);
	tell_queue(a, TARGET, "", 2);
	must_be(a, UNMATCHED_QUEUE);
	tell_queue(a, TARGET, "", 0);
	must_be(a, UNMATCHED_CLOCKS);
	unmatched_free(a);
}

/* With more queues than this, their names are not compared: they are taken to agree. */
static void of_many_queues_some_are_taken_to_agree(void **state)
{
	enum { QUEUES_MAX = 1024 };
	struct unmatched *a = pair();

	begin(a, TARGET, NT_TARGET, 1);
	tell_reads(a, TARGET, NT_TARGET, SECOND, 0, 100);
	for (unsigned int i = 0; i < QUEUES_MAX - 1; i++) {
		/* A queue that is described again does not count twice. */
		tell_queue(a, TARGET, "nqn.b", (uint16_t)(2 + i));
		tell_queue(a, TARGET, "nqn.b", (uint16_t)(2 + i));
	}
	must_be(a, UNMATCHED_SUBSYSTEM);
	tell_queue(a, TARGET, "nqn.b", 2 + QUEUES_MAX);
	must_be(a, UNMATCHED_CLOCKS);
	unmatched_free(a);
}

static void recordings_of_different_times_are_told(void **state)
{
	const struct instant later = {.monotonic_ns = 0, .realtime_ns = 2000 * (int64_t)SECOND};
	struct unmatched *a = pair();

	unmatched_clock(a, TARGET, &later);
	must_be(a, UNMATCHED_REPEATED);
	begin(a, TARGET, NT_TARGET, 1);
	tell_queue(a, TARGET, "nqn.a", 1);
	tell_reads(a, TARGET, NT_TARGET, SECOND, 1 << 20, 3);
	unmatched_clock(a, TARGET, &later);
	must_be(a, UNMATCHED_TIME);
	unmatched_free(a);
}

/* The bound is exact to the nanosecond: the host's last command ends at 100 s and 1 us. */
static void recordings_overlap_if_they_have_a_moment_in_common(void **state)
{
	for (unsigned int after = 0; after < 2; after++) {
		struct unmatched *a = pair();

		begin(a, TARGET, NT_TARGET, 1);
		tell_queue(a, TARGET, "nqn.a", 1);
		tell_reads(a, TARGET, NT_TARGET, 100 * SECOND + 1000 + after, 0, 3);
		must_be(a, after ? UNMATCHED_REPEATED : UNMATCHED_CLOCKS);
		begin(a, TARGET, NT_TARGET, 1);
		tell_queue(a, TARGET, "nqn.a", 1);
		/*
		 * The target's last command ends when the host's first one begins, or 1 ns earlier.
		 */
		tell_reads(a, TARGET, NT_TARGET, SECOND - 1000 - after, 0, 1);
		must_be(a, after ? UNMATCHED_REPEATED : UNMATCHED_CLOCKS);
		unmatched_free(a);
	}
}

/*
 * Without a wall clock the time of a recording is unknown. But if both are of one machine, its
 * clock orders them.
 */
static void a_recording_without_a_clock_may_be_of_any_time(void **state)
{
	for (unsigned int without = 0; without < 4; without++) {
		struct unmatched *a = unmatched_new(STREAMS);

		for (unsigned int i = HOST; i <= TARGET; i++) {
			struct unmatched_header h = {.side = i == HOST ? NT_HOST : NT_TARGET};
			const struct instant clock = {.realtime_ns = (int64_t)SECOND};

			if (without == 3)
				snprintf(h.boot_id, sizeof(h.boot_id), "one");
			assert_int_equal(unmatched_begin(a, i, &h), 0);
			if (!(without & 1U << i))
				unmatched_clock(a, i, &clock);
			tell_queue(a, i, "nqn.a", 1);
			tell_reads(a, i, h.side, (1 + 1000 * i) * SECOND, 0, 3);
		}
		must_be(a, without == 0 || without == 3 ? UNMATCHED_REPEATED : UNMATCHED_CLOCKS);
		unmatched_free(a);
	}
}

/* Of several streams, the one that agrees most gives the reason. */
static void the_stream_with_most_in_common_is_told(void **state)
{
	struct unmatched *a = pair();
	unsigned int other;

	begin(a, OTHER, NT_TARGET, 1);
	tell_queue(a, OTHER, "nqn.b", 1);
	tell_reads(a, OTHER, NT_TARGET, SECOND, 0, 3);
	assert_int_equal(unmatched_why(a, OTHER, &other), UNMATCHED_SUBSYSTEM);
	assert_int_equal(other, HOST);
	must_be(a, UNMATCHED_CLOCKS);
	/*
	 * A stream that is matched with another one is not said to have other addresses or another
	 * time.
	 */
	unmatched_matched(a, OTHER, OTHER);
	begin(a, HOST, NT_HOST, 1);
	tell_queue(a, HOST, "nqn.b", 1);
	tell_reads(a, HOST, NT_HOST, 1000 * SECOND, 0, 3);
	assert_int_equal(unmatched_why(a, HOST, &other), UNMATCHED_CLOCKS);
	assert_int_equal(other, OTHER);
	unmatched_free(a);
}

static void when_a_stream_began_is_what_its_clock_says_first(void **state)
{
	const struct instant clock = {.monotonic_ns = 7, .realtime_ns = 8};
	const struct instant later = {.monotonic_ns = 9, .realtime_ns = 8};
	struct unmatched *a = unmatched_new(STREAMS);
	const struct unmatched_header h = {.side = NT_HOST, .figures = true};
	uint64_t of;

	assert_int_equal(unmatched_begin(a, HOST, &h), 0);
	assert_int_equal(unmatched_began_ns(a, HOST), 0);
	unmatched_clock(a, HOST, &clock);
	unmatched_clock(a, HOST, &later);
	assert_int_equal(unmatched_began_ns(a, HOST), 7);
	tell_reads(a, HOST, NT_HOST, SECOND, 0, 3);
	assert_int_equal(unmatched_began_ns(a, HOST), 7);
	assert_int_equal(unmatched_taken(a, HOST, &of), 3);
	assert_int_equal(of, 3);
	/* Without a clock, the stream began with its first command. */
	assert_int_equal(unmatched_begin(a, HOST, &h), 0);
	tell_reads(a, HOST, NT_HOST, SECOND, 0, 3);
	assert_int_equal(unmatched_began_ns(a, HOST), SECOND);
	unmatched_free(a);
}

static void addresses_that_never_agree_are_told(void **state)
{
	struct unmatched *a = pair();

	begin(a, TARGET, NT_TARGET, 1);
	tell_queue(a, TARGET, "nqn.a", 1);
	tell_reads(a, TARGET, NT_TARGET, SECOND, 1 << 20, 3);
	/* With this few commands there is no verdict. */
	must_be(a, UNMATCHED_CLOCKS);
	tell_reads(a, TARGET, NT_TARGET, SECOND, 1 << 19, 1);
	must_be(a, UNMATCHED_CONTENT);
	tell_reads(a, TARGET, NT_TARGET, SECOND, 1 << 21, 5000);
	must_be(a, UNMATCHED_CONTENT);
	/* One common address is enough, among so many that only samples of them are kept. */
	tell_reads(a, TARGET, NT_TARGET, SECOND, 0, 100);
	tell_reads(a, HOST, NT_HOST, SECOND, 1 << 21, 5000);
	must_be(a, UNMATCHED_CLOCKS);
	unmatched_free(a);
}

static void different_samples_are_told(void **state)
{
	struct unmatched *a = pair();

	begin(a, TARGET, NT_TARGET, 100);
	tell_queue(a, TARGET, "nqn.a", 1);
	tell_reads(a, TARGET, NT_TARGET, SECOND, 4096, 1);
	must_be(a, UNMATCHED_SAMPLE);
	/* The reason is the same with many addresses that differ: samples are expected to. */
	tell_reads(a, TARGET, NT_TARGET, SECOND, 1 << 20, 100);
	must_be(a, UNMATCHED_SAMPLE);
	unmatched_free(a);
}

static void a_stream_tells_by_itself_until_it_is_matched(void **state)
{
	static const uint64_t losses[COUNTERS_NR];
	struct unmatched *a = pair();
	const struct stats *s;

	s = unmatched_stats(a, TARGET, "6.1.0", losses);
	assert_non_null(s);
	assert_int_equal(s->nr_rows, 1);
	assert_int_equal(s->rows[0]->total.count, 100);
	assert_float_equal(s->elapsed, 99.000001, 1e-9);
	/* The stream was recorded in bursts, so its rates are those of the bursts. */
	unmatched_burst(a, TARGET, SECOND);
	unmatched_burst(a, TARGET, 2 * SECOND);
	s = unmatched_stats(a, TARGET, "6.1.0", losses);
	assert_true(s->elapsed == 3);
	/* A sum that overflows is the greatest number. */
	unmatched_burst(a, TARGET, UINT64_MAX - SECOND);
	s = unmatched_stats(a, TARGET, "6.1.0", losses);
	assert_true(s->elapsed > 18e9);
	unmatched_matched(a, HOST, TARGET);
	assert_false(unmatched_is(a, HOST));
	assert_false(unmatched_is(a, TARGET));
	assert_null(unmatched_stats(a, TARGET, "6.1.0", losses));
	tell_reads(a, TARGET, NT_TARGET, SECOND, 0, 1);
	assert_false(unmatched_is(a, TARGET));
	unmatched_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_without_another_side_has_nobody_to_match_with),
		cmocka_unit_test(a_target_that_tells_of_no_commands_is_silent),
		cmocka_unit_test(other_subsystems_and_other_queues_are_told_apart),
		cmocka_unit_test(what_is_not_known_of_a_queue_may_agree),
		cmocka_unit_test(of_many_queues_some_are_taken_to_agree),
		cmocka_unit_test(recordings_of_different_times_are_told),
		cmocka_unit_test(recordings_overlap_if_they_have_a_moment_in_common),
		cmocka_unit_test(a_recording_without_a_clock_may_be_of_any_time),
		cmocka_unit_test(the_stream_with_most_in_common_is_told),
		cmocka_unit_test(when_a_stream_began_is_what_its_clock_says_first),
		cmocka_unit_test(addresses_that_never_agree_are_told),
		cmocka_unit_test(different_samples_are_told),
		cmocka_unit_test(a_stream_tells_by_itself_until_it_is_matched),
	};

	return cmocka_run_group_tests_name("apart", tests, NULL, NULL);
}
