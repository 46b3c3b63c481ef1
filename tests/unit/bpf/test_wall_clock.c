// SPDX-License-Identifier: GPL-2.0-only
/* Which arrivals are accepted while the wall clock may be set: each bound, to the nanosecond. */
#include "bpf/host.h"

#define SECOND 1000000000LL
#define MS 1000000LL
#define OFFSET (1000 * SECOND) /* CLOCK_REALTIME - CLOCK_MONOTONIC as the loader knows it */
#define NOW (500 * SECOND)
#define NONE (-1)

/* How late each read of a clock is, and how many reads there were. */
static struct {
	__s64 by[12];
	unsigned int looks;
} late;

static void look_late(void)
{
	assert_true(late.looks < sizeof(late.by) / sizeof(late.by[0]));
	kernel.now += (__u64)late.by[late.looks++];
}

/* The wall clock was set by @step since the loader last looked. No program has noticed yet. */
static void clock_is(__s64 step)
{
	kernel_reset();
	memset(&late, 0, sizeof(late));
	kernel.on_clock = look_late;
	kernel.now = NOW;
	kernel.tai = OFFSET + step + 37 * SECOND;
	nt_control.tai_offset = 37 * SECOND;
	nt_control.real_offset = nt_control.seen_offset = OFFSET;
	nt_control.looked_ns = NOW;
}

/*
 * Each read takes 100 ns: first one of TAI, then in each attempt one of CLOCK_MONOTONIC, one of TAI
 * and one of CLOCK_MONOTONIC.
 */
static void offset_is_what_it_was_unless_it_is_seen_to_be_another(void **state)
{
	static const struct {
		__s64 step, by[10], known;
		unsigned int looks;
	} cases[] = {
		/* The bounds of what a single read can tell. */
		{0, {0}, 0, 1},
		{20000 - 100, {0}, 0, 1},
		{20000 - 100 + 1, {0}, 0, 4},
		{-20000 - 100, {0}, 0, 1},
		{-20000 - 100 - 1, {0}, -20000 - 1, 4},
		{20000 + 100, {0}, 0, 4},
		{20000 + 100 + 1, {0}, 20000 + 200 + 1, 4},
		/* The first read was late, the next ones are not. */
		{0, {MS}, 0, 4},
		{-20000 - 100, {MS}, 0, 4},
		{-20000 - 100 - 1, {MS}, -20000 - 1, 4},
		{5 * SECOND, {MS}, 5 * SECOND + 100, 4},
		/*
		 * Reads that are as late as allowed. The last case is later, and still shows that
		 * the clock was not set.
		 */
		{5 * SECOND, {0, 0, 20000 - 200}, 5 * SECOND + 20000 - 100, 4},
		{5 * SECOND, {0, 0, 0, 20000 - 200}, 5 * SECOND + 100, 4},
		{-5 * SECOND, {0, 0, 0, 20000 - 200}, -5 * SECOND + 100, 4},
		{0, {MS, 0, MS, MS}, 0, 4},
		/* Later than allowed, twice or each time. */
		{5 * SECOND, {0, 0, 20000 - 200 + 1}, 5 * SECOND + 100, 7},
		{5 * SECOND, {0, 0, MS, 0, 0, 0, MS}, 5 * SECOND + 100, 10},
		{-5 * SECOND, {0, 0, MS, 0, 0, 0, MS}, -5 * SECOND + 100, 10},
		{5 * SECOND, {0, 0, MS, 0, 0, MS, 0, 0, 0, MS}, -OFFSET, 10},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		clock_is(cases[i].step);
		memcpy(late.by, cases[i].by, sizeof(cases[i].by));
		assert_int_equal(real_offset_now(OFFSET, NOW) - OFFSET, cases[i].known);
		assert_int_equal(late.looks, cases[i].looks);
	}
}

/* The state after a step, relative to NOW and OFFSET. */
struct step {
	__s64 before, after, set, age, want;
};

static void arrival_is_by_the_clock_of_its_time(void **state)
{
	const __s64 never = -OFFSET, back = -5 * SECOND, on = 5 * SECOND, small = 3 * MS;
	const struct step cases[] = {
		/* The clock was never set. */
		{never, -NOW, -NOW, 0, 0},
		{never, -NOW, -NOW, -1, NONE},
		{never, -NOW, -NOW, 10 * SECOND, 10 * SECOND},
		{never, -NOW, -NOW, 10 * SECOND + 1, NONE},
		/* The clock was set while the packet waited, or not earlier than that. */
		{back, -20 * SECOND, -20 * SECOND, 10 * SECOND, 10 * SECOND},
		{back, -8 * SECOND, -10 * SECOND, 8 * SECOND, 8 * SECOND},
		{back, -8 * SECOND, -10 * SECOND, 8 * SECOND + 1, NONE},
		/* A packet that has waited for long may have seen two steps. */
		{back, -9 * SECOND, -10 * SECOND + 1, SECOND, SECOND},
		{back, -9 * SECOND, -10 * SECOND + 1, SECOND + 1, NONE},
		{back, -9 * SECOND, -10 * SECOND, SECOND + 1, SECOND + 1},
		/*
		 * By the clock before the step: the arrival is not later than the step, not long
		 * before it, and not in the future.
		 */
		{on, -MS, -MS, -5 * SECOND + MS, MS},
		{on, -MS, -MS, -5 * SECOND + MS - 1, NONE},
		{on, -MS, -MS, -5 * SECOND + SECOND, SECOND},
		{on, -MS, -MS, -5 * SECOND + SECOND + 1, NONE},
		{on, 0, 200, -5 * SECOND, 0},
		{on, 0, 200, -5 * SECOND - 1, NONE},
		{back, -MS, -MS, 5 * SECOND + 2 * MS, 2 * MS},
		/* Possible by both clocks. */
		{small, -20 * MS, -2 * MS, 3 * MS, NONE},
		{small, -2 * MS, -2 * MS, 5 * MS, 8 * MS},
		{-small, -20 * MS, -2 * MS, 4 * MS, 4 * MS},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct step *c = &cases[i];
		__u64 want = c->want == NONE ? 0 : (__u64)(NOW - c->want);

		clock_is(0);
		nt_control.offset_before = OFFSET + c->before;
		nt_control.set_after = (__u64)(NOW + c->after);
		nt_control.set_ns = (__u64)(NOW + c->set);
		if (arrival_held((__u64)(NOW + OFFSET - c->age), NOW) != want)
			fail_msg("case %u", i);
		assert_int_equal(nt_control.seen_offset, OFFSET);
	}
}

/* The loader has not noticed the step. The first program that looks notes it. */
static void step_is_noted_with_what_is_known_of_it(void **state)
{
	for (__s64 step = -5 * SECOND; step <= 5 * SECOND; step += 10 * SECOND) {
		clock_is(step);
		nt_control.looked_ns = NOW - 30 * MS;
		assert_int_equal(arrival_held(NOW + OFFSET - 40 * MS, NOW), NOW - 40 * MS);
		assert_int_equal(nt_control.seen_offset, OFFSET + step + 100);
		assert_int_equal(nt_control.offset_before, OFFSET);
		assert_int_equal(nt_control.set_after, NOW - 30 * MS);
		assert_int_equal(nt_control.set_ns, NOW);
		assert_int_equal(nt_control.looked_ns, NOW);
	}
}

/* Not at each look: all CPUs read the note. */
static void look_is_noted_now_and_then(void **state)
{
	for (__s64 ago = 10 * MS; ago <= 10 * MS + 1; ago++) {
		clock_is(0);
		nt_control.looked_ns = (__u64)(NOW - ago);
		arrival_held(NOW + OFFSET - MS, NOW);
		assert_int_equal(nt_control.looked_ns, ago > 10 * MS ? NOW : NOW - ago);
	}
}

/* Two reads of one clock may be this far apart. */
static void offsets_that_are_near_are_the_same(void **state)
{
	assert_true(same_offset(OFFSET, OFFSET - 20000));
	assert_true(same_offset(OFFSET, OFFSET + 20000));
	assert_false(same_offset(OFFSET, OFFSET - 20001));
	assert_false(same_offset(OFFSET, OFFSET + 20001));
}

/* A young arrival does not depend on whether the clock was set, so no clock is read. */
static void young_arrival_is_by_what_the_loader_knows(void **state)
{
	for (__s64 age = 0; age <= 20000; age += age == 0 ? 19999 : 1) {
		clock_is(5 * SECOND);
		nt_control.seen_offset = OFFSET - 5 * SECOND;
		assert_int_equal(arrival(NOW + OFFSET - age, NOW), age < 20000 ? NOW - age : 0);
		assert_int_equal(late.looks, age < 20000 ? 0 : 4);
	}
	clock_is(0);
	assert_int_equal(arrival(0, NOW), 0);
	assert_int_equal(late.looks, 0);
}

/*
 * The clock was set back while a packet waited, and the loader knows. The packet is taken for a
 * young one only if it has waited for as long as that, and 20 us more at the most. Then its arrival
 * is too late by the step; docs/stages.md says so.
 */
static void packet_that_waited_as_long_as_the_clock_was_set_back_is_young(void **state)
{
	const __s64 back = 200 * MS;

	for (__s64 more = -1; more <= 20000; more += more == 0 ? 19999 : 1) {
		const __u64 arrived = (__u64)(NOW - back - more);
		bool young = more >= 0 && more < 20000;
		/* One that has waited for longer may also have come after the step. */
		__u64 want = young ? arrived + (__u64)back : more < 0 ? arrived : 0;

		clock_is(-back);
		nt_control.real_offset = nt_control.seen_offset = OFFSET - back;
		nt_control.offset_before = OFFSET;
		nt_control.set_after = NOW - 10 * MS;
		nt_control.set_ns = NOW - 5 * MS;
		assert_int_equal(arrival(arrived + OFFSET, NOW), want);
		assert_int_equal(late.looks > 0, !young);
	}
}

/* It is unknown whether the clock was set. */
static void without_a_look_there_is_no_arrival(void **state)
{
	clock_is(5 * SECOND);
	for (unsigned int look = 0; look < 10; look++)
		late.by[look] = MS;
	assert_int_equal(arrival_held(NOW + OFFSET - MS, NOW), 0);
	assert_int_equal(nt_control.seen_offset, OFFSET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offset_is_what_it_was_unless_it_is_seen_to_be_another),
		cmocka_unit_test(arrival_is_by_the_clock_of_its_time),
		cmocka_unit_test(step_is_noted_with_what_is_known_of_it),
		cmocka_unit_test(look_is_noted_now_and_then),
		cmocka_unit_test(offsets_that_are_near_are_the_same),
		cmocka_unit_test(young_arrival_is_by_what_the_loader_knows),
		cmocka_unit_test(packet_that_waited_as_long_as_the_clock_was_set_back_is_young),
		cmocka_unit_test(without_a_look_there_is_no_arrival),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
