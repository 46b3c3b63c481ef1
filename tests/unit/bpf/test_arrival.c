// SPDX-License-Identifier: GPL-2.0-only
#include "bpf/host.h"

#define SECOND 1000000000LL
#define MS 1000000LL
#define OFFSET (1000 * SECOND) /* CLOCK_REALTIME - CLOCK_MONOTONIC to begin with */

/* The wall clock is @offset before ours. */
static void set_wall_clock(__s64 offset)
{
	kernel.tai = offset + nt_control.tai_offset;
}

static int setup(void **state)
{
	(void)state;
	kernel_reset();
	kernel.now = 100 * SECOND;
	nt_control.real_offset = OFFSET;
	nt_control.seen_offset = OFFSET;
	nt_control.looked_ns = kernel.now;
	nt_control.tai_offset = 37 * SECOND;
	set_wall_clock(OFFSET);
	return 0;
}

/* CLOCK_REALTIME of @ago ns ago, when the wall clock was @offset before ours. */
static __u64 stamped(__s64 ago, __s64 offset)
{
	return kernel.now - ago + offset;
}

static void assert_arrived(__u64 recv_time, __s64 ago)
{
	__u64 now = kernel.now, at = arrival(recv_time, now);

	assert_in_range(at, now - ago - NT_CLOCK_TORN_NS, now - ago + NT_CLOCK_TORN_NS);
}

/* Steps by seconds, before and behind, and how long packets have waited. */
#define EACH_STEP(step) for (__s64 step = -5 * SECOND; step <= 5 * SECOND; step += 10 * SECOND)
#define EACH_AGE(age) for (__s64 age = 10000; age < 200 * MS; age *= 7)

static void packet_that_waited_is_of_its_time(void **state)
{
	(void)state;
	EACH_AGE(age)
	assert_arrived(stamped(age, OFFSET), age);
	assert_int_equal(arrival(0, kernel.now), 0);
	assert_int_equal(arrival(stamped(20 * SECOND, OFFSET), kernel.now), 0);
	assert_int_equal(arrival(stamped(-MS, OFFSET), kernel.now), 0);
}

/* Whether the loader has heard of it, or is stopped. */
static void steps(bool told)
{
	__s64 offset = OFFSET;

	EACH_STEP(step)
	{
		EACH_AGE(age)
		{
			kernel.now += SECOND;
			assert_arrived(stamped(age, offset), age);
			kernel.now += SECOND / 4;
			set_wall_clock(offset + step);
			if (told)
				nt_control.real_offset = offset + step;
			assert_arrived(stamped(age, offset), age);
			kernel.now += age;
			assert_arrived(stamped(age, offset + step), age);
			offset += step;
		}
	}
}

static void step_that_nobody_has_told_of_does_not_reach_an_arrival(void **state)
{
	(void)state;
	steps(false);
}

static void step_that_was_told_of_does_not_reach_what_was_stamped_before(void **state)
{
	(void)state;
	steps(true);
}

/* Set twice while nobody looked: it may have been anything in between. */
static void packet_that_saw_several_steps_has_no_arrival(void **state)
{
	(void)state;
	EACH_STEP(step)
	{
		setup(NULL);
		kernel.now += SECOND / 4;
		set_wall_clock(OFFSET + 2 * step);
		assert_int_equal(arrival(stamped(MS, OFFSET + step), kernel.now), 0);
		assert_arrived(stamped(MS, OFFSET + 2 * step), MS);
	}
}

/* By less than packets wait: of one that may have come before or after it, nothing is said. */
static void small_step_leaves_no_wrong_arrival(void **state)
{
	(void)state;
	set_wall_clock(OFFSET + MS);
	kernel.now += 100 * MS;
	assert_int_equal(arrival(stamped(3 * MS, OFFSET), kernel.now), 0);
	assert_int_equal(arrival(stamped(3 * MS, OFFSET + MS), kernel.now), 0);
	kernel.now += 100 * MS;
	assert_arrived(stamped(3 * MS, OFFSET + MS), 3 * MS);
}

static void leap_seconds_that_become_known_are_no_step(void **state)
{
	(void)state;
	kernel.tai -= 37 * SECOND;
	EACH_AGE(age)
	assert_arrived(stamped(age, OFFSET), age);
}

#define CASE(test) cmocka_unit_test_setup(test, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(packet_that_waited_is_of_its_time),
		CASE(step_that_nobody_has_told_of_does_not_reach_an_arrival),
		CASE(step_that_was_told_of_does_not_reach_what_was_stamped_before),
		CASE(packet_that_saw_several_steps_has_no_arrival),
		CASE(small_step_leaves_no_wrong_arrival),
		CASE(leap_seconds_that_become_known_are_no_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
