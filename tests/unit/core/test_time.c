// SPDX-License-Identifier: GPL-2.0-only
/* CLOCK_MONOTONIC times are those of the machine, whatever time namespace the program is in. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/time.h"
#include "in_range.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif
#define NS_PER_S 1000000000LL

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void shift_is_what_the_file_says(void **state)
{
	char path[] = "/tmp/time.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	write_text(
		path,
		"monotonic           864000             5\nboottime           1728000         0\n");
	assert_int_equal(time_shift(path), 864000 * NS_PER_S + 5);
	write_text(path, "monotonic            -7000     250000000\nboottime 0 0\n");
	assert_int_equal(time_shift(path), -7000 * NS_PER_S + 250000000);
	write_text(path, "boottime 1 1\n");
	assert_int_equal(time_shift(path), 0);
	unlink(path);
	assert_int_equal(time_shift(path), 0);
}

/*
 * Runs this test's program in a namespace with a clock that is 100,000 seconds ahead. It prints its
 * time.
 */
static uint64_t time_in_namespace(void)
{
	unsigned long long told = 0;
	int out[2], status;
	char text[32] = "";
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWTIME))
			_exit(77);
		write_text("/proc/self/timens_offsets", "monotonic 100000 0\n");
		/* On every kernel only a child is in the new namespace. */
		if (fork())
			_exit(wait(&status) < 0 || status);
		dup2(out[1], STDOUT_FILENO);
		execl("/proc/self/exe", "time", "now", NULL);
		_exit(1);
	}
	close(out[1]);
	assert_true(read(out[0], text, sizeof(text) - 1) >= 0);
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
	assert_int_equal(sscanf(text, "%llu", &told), 1);
	return told;
}

static void time_is_the_machines_in_a_time_namespace(void **state)
{
	uint64_t before = monotonic_ns(), told = time_in_namespace(), after = monotonic_ns();

	assert_true(before <= told && told <= after);
}

/*
 * Made-up clocks, which differ only by WALL. Each reading takes a microsecond. Readings with a bit
 * in @late take LATE_NS longer.
 */
#define WALL 1000000000000LL
#define READING_NS 1000
#define LATE_NS 30000000

static bool made_up;
static int64_t now;
static uint64_t late;

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	int64_t ns;

	if (!made_up)
		return __real_clock_gettime(id, t);
	now += READING_NS + (late & 1 ? LATE_NS : 0);
	late >>= 1;
	ns = now + (id == CLOCK_REALTIME ? WALL : 0);
	*t = (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
	return 0;
}

/* The error of an instant in the difference between the clocks. */
static int64_t error_if_late(uint64_t readings)
{
	struct instant i;

	made_up = true;
	late = readings;
	i = instant_now();
	made_up = false;
	return i.realtime_ns - (int64_t)i.monotonic_ns - WALL;
}

static void an_instant_is_one_though_others_run_in_between(void **state)
{
	for (uint64_t readings = 0; readings < 1 << 12; readings++)
		assert_uint_in_range(error_if_late(readings) + READING_NS, 0, 2 * READING_NS);
	/* With every reading late, it ends all the same. */
	assert_uint_in_range(error_if_late(~0ULL) + LATE_NS, 0, 2 * LATE_NS);
}

static void a_time_of_the_wall_clock_is_written_to_the_nanosecond(void **state)
{
	char text[RFC3339_LEN];

	assert_string_equal(rfc3339_format(text, 0), "1970-01-01T00:00:00.000000000Z");
	assert_string_equal(rfc3339_format(text, 1795359788000000005),
			    "2026-11-22T15:03:08.000000005Z");
	assert_string_equal(rfc3339_format(text, -1), "1969-12-31T23:59:59.999999999Z");
	/* A damaged recording may say anything. */
	/* The second of before is not kept. */
	assert_string_equal(rfc3339_format(text, 999999999), "1970-01-01T00:00:00.999999999Z");
	assert_string_equal(rfc3339_format(text, 1000000000), "1970-01-01T00:00:01.000000000Z");
	assert_string_equal(rfc3339_format(text, INT64_MIN), "1677-09-21T00:12:43.145224192Z");
	assert_string_equal(rfc3339_format(text, INT64_MAX), "2262-04-11T23:47:16.854775807Z");
	setenv("TZ", "EST5EDT,M3.2.0,M11.1.0", 1);
	tzset();
	assert_string_equal(local_time_format(text, 1795359788007000005),
			    "2026-11-22 10:03:08.007 -0500");
	unsetenv("TZ");
	tzset();
}

static void a_time_has_one_of_the_wall_clock_if_that_is_known(void **state)
{
	const struct instant known = {.monotonic_ns = 1000, .realtime_ns = 5000};
	const struct instant unknown = {0};

	assert_int_equal(instant_wall(&known, 1001), 5001);
	assert_int_equal(instant_wall(&known, 1), 4001);
	assert_int_equal(instant_wall(&unknown, 1), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_of_the_wall_clock_is_written_to_the_nanosecond),
		cmocka_unit_test(a_time_has_one_of_the_wall_clock_if_that_is_known),
		cmocka_unit_test(shift_is_what_the_file_says),
		cmocka_unit_test(time_is_the_machines_in_a_time_namespace),
		cmocka_unit_test(an_instant_is_one_though_others_run_in_between),
	};

	if (argc > 1 && !strcmp(argv[1], "now"))
		return printf("%llu\n", (unsigned long long)monotonic_ns()) < 0;
	return cmocka_run_group_tests_name("time", tests, NULL, NULL);
}
