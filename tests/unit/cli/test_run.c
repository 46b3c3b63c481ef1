// SPDX-License-Identifier: GPL-2.0-only
/* A run from its beginning to its end, with a tracer that traces nothing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <cmocka.h>

#include "cli/run.h"
#include "cli/tracer.h"

#define BUFFER_BYTES 65536
#define INTERVALS 5

static const struct run_options options = {.side = NT_HOST, .interval_ns = 1000000};

/*
 * Numbers that a verb gets. Two pieces find no room in the second interval, and one in the fourth.
 */
struct seen {
	unsigned int intervals;
	uint64_t added[INTERVALS + 1];
	uint64_t total[INTERVALS + 1];
};

static const uint64_t left_out_by[INTERVALS + 1] = {0, 2, 2, 3, 3, 3};

static uint64_t seen_left_out(void *context)
{
	const struct seen *seen = context;

	return left_out_by[seen->intervals];
}

static void look(struct seen *seen, const struct stats *s)
{
	seen->added[seen->intervals] = s->counters_interval[COUNTER_READER_SLOW];
	seen->total[seen->intervals] = s->counters_total[COUNTER_READER_SLOW];
}

static int seen_interval(void *context, const struct stats *s)
{
	struct seen *seen = context;

	look(seen, s);
	return ++seen->intervals == INTERVALS;
}

static int seen_end(void *context, const struct stats *s)
{
	look(context, s);
	return 0;
}

static struct run_callbacks callbacks_of(struct output *o)
{
	return (struct run_callbacks){
		.select = NT_SELECT_NONE,
		.interval = seen_interval,
		.end = seen_end,
		.output = o,
		.output_name = "nowhere",
		.left_out = seen_left_out,
	};
}

static void what_is_left_out_is_counted_once(void **state)
{
	int fd = open("/dev/null", O_WRONLY);
	struct output *o = output_new(fd, BUFFER_BYTES);
	struct run_callbacks callbacks = callbacks_of(o);
	struct seen seen = {0};

	assert_int_equal(run(&options, &callbacks, &seen), EXIT_SUCCESS);
	assert_int_equal(seen.intervals, INTERVALS);
	for (unsigned int i = 0; i <= INTERVALS; i++) {
		assert_int_equal(seen.total[i], left_out_by[i]);
		assert_int_equal(seen.added[i], left_out_by[i] - (i ? left_out_by[i - 1] : 0));
	}
	output_free(o);
	close(fd);
}

static int waiting_end(void *context, const struct stats *s)
{
	*(uint64_t *)context = s->counters_total[COUNTER_IN_FLIGHT];
	return 0;
}

static int one_interval(void *context, const struct stats *s)
{
	return 1;
}

/*
 * Commands that end while those in flight are counted are handed over, and are no longer in flight.
 */
static void a_run_is_over_when_all_of_its_records_are_there(void **state)
{
	int fd = open("/dev/null", O_WRONLY);
	struct output *o = output_new(fd, BUFFER_BYTES);
	struct run_callbacks callbacks = callbacks_of(o);
	uint64_t in_flight = 99;

	callbacks.interval = one_interval;
	callbacks.end = waiting_end;
	callbacks.left_out = NULL;
	traced.waiting = 3;
	assert_int_equal(run(&options, &callbacks, &in_flight), EXIT_SUCCESS);
	assert_int_equal(traced.waiting, 0);
	assert_int_equal(in_flight, 0);
	output_free(o);
	close(fd);
}

static int no_memory(void *context, const struct stats *s)
{
	return -ENOMEM;
}

/*
 * @failed: number of failures; @late: tracing had ended by then, which the tracer reports by a
 * signal.
 */
struct failure {
	unsigned int failed;
	bool late;
};

static void on_failed(void *context)
{
	struct failure *f = context;
	sigset_t pending;

	f->failed++;
	f->late = sigpending(&pending) || sigismember(&pending, SIGTERM);
}

static uint64_t none_left_out(void *context)
{
	return 0;
}

/*
 * The terminal of standard output may belong to another process group, so the end of the run may
 * have to wait.
 */
static void a_run_that_fails_says_so_before_it_ends(void **state)
{
	int fd = open("/dev/null", O_WRONLY);
	struct output *o = output_new(fd, BUFFER_BYTES);
	struct run_callbacks callbacks = callbacks_of(o);
	struct failure failure = {0};

	callbacks.interval = no_memory;
	callbacks.failed = on_failed;
	callbacks.left_out = none_left_out;
	traced.signal = SIGTERM;
	assert_int_equal(run(&options, &callbacks, &failure), EXIT_FAILURE);
	traced.signal = 0;
	/* The signal is blocked and still pending. */
	signal(SIGTERM, SIG_IGN);
	assert_int_equal(failure.failed, 1);
	assert_false(failure.late);
	output_free(o);
	close(fd);
}

static void a_run_that_finds_no_descriptors_takes_none_of_others(void **state)
{
	int fd = open("/dev/null", O_WRONLY);
	struct output *o = output_new(fd, BUFFER_BYTES);
	struct run_callbacks callbacks = callbacks_of(o);
	struct rlimit old, limit;
	struct seen seen = {0};
	int status, in;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	limit = old;
	limit.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	status = run(&options, &callbacks, &seen);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(status, EXIT_FAILURE);
	in = fcntl(STDIN_FILENO, F_GETFD);
	assert_true(in >= 0);
	output_free(o);
	close(fd);
}

/*
 * What a verb gets with bursts.
 * @at: number of bursts that had ended at each interval
 * @time: intervals are of time, and the run ends with the first one in which @wanted bursts have
 * ended
 * @in_burst: that interval also has to be in the burst after these
 */
struct bursts {
	unsigned int intervals;
	unsigned int wanted;
	uint64_t at[INTERVALS];
	bool time;
	bool in_burst;
};

static int burst_interval(void *context, const struct stats *s)
{
	struct bursts *b = context;

	if (b->time && (s->bursts < b->wanted || (b->in_burst && traced.resumed == s->bursts)))
		return 0;
	b->at[b->intervals++] = s->bursts;
	return b->time || b->intervals == b->wanted;
}

static int burst_over(void *context, const struct stats *s)
{
	return 0;
}

static int run_bursts(struct bursts *b, const struct run_options *o)
{
	int fd = open("/dev/null", O_WRONLY), status;
	struct output *out = output_new(fd, BUFFER_BYTES);
	const struct run_callbacks callbacks = {
		.select = NT_SELECT_NONE,
		.interval = burst_interval,
		.interval_is_time = b->time,
		.end = burst_over,
		.output = out,
		.output_name = "nowhere",
	};

	traced.resumed = traced.paused = 0;
	status = run(o, &callbacks, b);
	output_free(out);
	close(fd);
	return status;
}

static const struct run_options in_bursts = {
	.side = NT_HOST,
	.interval_ns = 1000000,
	.burst = {.on_ns = 900000000, .every_ns = 1000000000},
};

static void each_burst_has_an_interval(void **state)
{
	struct bursts b = {.wanted = 2};

	assert_int_equal(run_bursts(&b, &in_bursts), EXIT_SUCCESS);
	assert_int_equal(traced.resumed, 2);
	assert_int_equal(traced.paused, 2);
	for (unsigned int i = 0; i < b.wanted; i++)
		assert_int_equal(b.at[i], i + 1);
}

/* It ends before the next one is due, and not when the next one ends. */
static void a_burst_that_takes_longer_to_attach_is_as_long_as_any(void **state)
{
	const struct run_options o = {
		.side = NT_HOST,
		.interval_ns = 1000000,
		.ends = true,
		.stages = {.on_ns = 100000000, .every_ns = 5000000000},
	};
	struct bursts b = {.wanted = 1, .time = true};

	traced.attaching_us = 200000;
	assert_int_equal(run_bursts(&b, &o), EXIT_SUCCESS);
	traced.attaching_us = 0;
	assert_int_equal(traced.resumed, traced.paused);
	assert_int_equal(realtime_ns() / 5000000000, traced.resumed_ns / 5000000000);
}

/* Nothing was read or written, so programs of all points would find nothing. */
static void bursts_of_all_points_wait_for_commands(void **state)
{
	const struct run_options o = {
		.side = NT_HOST,
		.interval_ns = 1000000,
		.duration_ns = 250000000,
		.ends = true,
		.stages = {.on_ns = 50000000, .every_ns = 100000000},
	};
	struct bursts b = {.wanted = INTERVALS, .time = true};

	traced.idle = true;
	assert_int_equal(run_bursts(&b, &o), EXIT_SUCCESS);
	assert_int_equal(traced.resumed, 0);
	traced.idle = false;
	assert_int_equal(run_bursts(&b, &o), EXIT_SUCCESS);
	assert_int_not_equal(traced.resumed, 0);
	assert_int_equal(traced.resumed, traced.paused);
}

/* A stream has to continue between bursts, too. */
static void who_wants_intervals_of_time_has_them_between_bursts(void **state)
{
	struct bursts b = {.wanted = 1, .time = true};

	assert_int_equal(run_bursts(&b, &in_bursts), EXIT_SUCCESS);
	assert_int_equal(b.intervals, 1);
	assert_int_equal(b.at[0], 1);
}

static void a_run_that_ends_in_a_burst_ends_the_burst(void **state)
{
	struct bursts b = {.wanted = 0, .time = true, .in_burst = true};

	assert_int_equal(run_bursts(&b, &in_bursts), EXIT_SUCCESS);
	assert_int_equal(b.intervals, 1);
	assert_int_equal(b.at[0], 0);
	assert_int_equal(traced.resumed, 1);
	assert_int_equal(traced.paused, 1);
}

/* timer_fired() returns 0 for timers that have been read, as after the wall clock was set. */
static bool clock_was_set;

uint64_t __real_timer_fired(int fd);
uint64_t __wrap_timer_fired(int fd);

uint64_t __wrap_timer_fired(int fd)
{
	uint64_t fired = __real_timer_fired(fd);

	return clock_was_set ? 0 : fired;
}

static void a_burst_into_which_the_clock_was_set_is_left_out(void **state)
{
	struct run_options o = in_bursts;
	struct bursts b = {.wanted = INTERVALS};

	o.burst = (struct burst){.on_ns = 90000000, .every_ns = 100000000};
	o.duration_ns = 350000000;
	clock_was_set = true;
	assert_int_equal(run_bursts(&b, &o), EXIT_SUCCESS);
	clock_was_set = false;
	assert_int_equal(traced.resumed, 0);
}

/* The wall clock is set back by @set_back_s when a timer is about to be armed, if @set_back. */
static bool set_back;
static time_t set_back_s;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved. */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	int ret = (int)syscall(SYS_clock_gettime, clock, ts);

	if (clock == CLOCK_REALTIME)
		ts->tv_sec -= set_back_s;
	return ret;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved. */
int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
	struct itimerspec it = *new;

	if (flags & TFD_TIMER_ABSTIME) {
		if (set_back)
			set_back_s = 24L * 3600;
		set_back = false;
		it.it_value.tv_sec += set_back_s;
	}
	return (int)syscall(SYS_timerfd_settime, fd, flags, &it, old);
}

static void a_clock_that_is_set_back_just_then_delays_no_burst(void **state)
{
	struct run_options o = in_bursts;
	struct bursts b = {.wanted = 1};

	o.burst = (struct burst){.on_ns = 90000000, .every_ns = 100000000};
	o.duration_ns = 5000000000;
	set_back = true;
	assert_int_equal(run_bursts(&b, &o), EXIT_SUCCESS);
	assert_int_equal(set_back_s, 24L * 3600);
	set_back_s = 0;
	assert_true(traced.resumed >= 1);
}

/* A run waits for the next burst, however long that takes. */
static void a_burst_that_is_under_way_is_not_joined(void **state)
{
	struct run_options o = in_bursts;
	struct bursts b = {.wanted = INTERVALS};

	o.burst = (struct burst){.on_ns = 3600ULL * 24 * 365 * 290 * 1000000000,
				 .every_ns = 3600ULL * 24 * 365 * 291 * 1000000000};
	o.duration_ns = 20000000;
	assert_int_equal(run_bursts(&b, &o), EXIT_SUCCESS);
	assert_int_equal(traced.resumed, 0);
	assert_int_equal(b.intervals, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_left_out_is_counted_once),
		cmocka_unit_test(a_run_that_fails_says_so_before_it_ends),
		cmocka_unit_test(each_burst_has_an_interval),
		cmocka_unit_test(a_burst_that_takes_longer_to_attach_is_as_long_as_any),
		cmocka_unit_test(bursts_of_all_points_wait_for_commands),
		cmocka_unit_test(who_wants_intervals_of_time_has_them_between_bursts),
		cmocka_unit_test(a_run_that_ends_in_a_burst_ends_the_burst),
		cmocka_unit_test(a_run_is_over_when_all_of_its_records_are_there),
		cmocka_unit_test(a_burst_into_which_the_clock_was_set_is_left_out),
		cmocka_unit_test(a_clock_that_is_set_back_just_then_delays_no_burst),
		cmocka_unit_test(a_burst_that_is_under_way_is_not_joined),
		cmocka_unit_test(a_run_that_finds_no_descriptors_takes_none_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
