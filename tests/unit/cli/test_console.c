// SPDX-License-Identifier: GPL-2.0-only
/* Standard error during a run, if it is not read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/run.h"
#include "core/time.h"

/* More than the buffer and a pipe hold. */
#define LINE 1024
#define TOO_MUCH (1500u * LINE)
/*
 * Number of messages after that, and the time that all of them may take. A tenth of a second for
 * each would be twice that time.
 */
#define MESSAGES 200
#define SOON_NS 10000000000ULL

static void nobody_waits_for_each_message(void **state)
{
	int before = dup(STDERR_FILENO), p[2], lines = 0;
	char *got = calloc(2, TOO_MUCH), *lost;
	unsigned long bytes = 0;
	uint64_t begin, took;
	size_t nr = 0;
	ssize_t n;

	assert_non_null(got);
	assert_int_equal(pipe(p), 0);
	assert_int_equal(dup2(p[1], STDERR_FILENO), STDERR_FILENO);
	close(p[1]);
	assert_int_equal(console_open(), 0);
	for (int i = 0; i < (int)(TOO_MUCH / LINE); i++)
		fprintf(stderr, "%*d\n", LINE - 1, i);
	begin = monotonic_ns();
	for (int i = 0; i < MESSAGES; i++)
		fprintf(stderr, "%*d\n", LINE - 1, i);
	took = monotonic_ns() - begin;
	/* All may be read while the writer still has to say that it is idle. */
	while ((n = poll(&(struct pollfd){p[0], POLLIN, 0}, 1, 1)) == 1 || !console_idle())
		if (n == 1)
			nr += (size_t)read(p[0], got + nr, LINE);
	fprintf(stderr, "the last one\n");
	console_close(-1);
	dup2(before, STDERR_FILENO);
	close(before);
	while ((n = read(p[0], got + nr, LINE)) > 0)
		nr += (size_t)n;
	close(p[0]);
	assert_true(took < SOON_NS);
	lost = strstr(got, "(messages of ");
	assert_non_null(lost);
	assert_int_equal(sscanf(lost, "(messages of %lu bytes", &bytes), 1);
	assert_non_null(strstr(lost, "the last one\n"));
	/* The blank line belongs to the message about lost lines. */
	for (const char *at = got; at < lost - 1; at++)
		lines += *at == '\n';
	assert_int_equal((size_t)lines * LINE + bytes, TOO_MUCH + MESSAGES * LINE);
	free(got);
}

/* Other programs that write to the terminal do so between lines. */
static void a_line_is_written_at_once(void **state)
{
	int before = dup(STDERR_FILENO), p[2];
	char got[64] = "";

	/* In a packet pipe, each read() returns the bytes of one write(). */
	assert_int_equal(pipe2(p, O_DIRECT), 0);
	assert_int_equal(dup2(p[1], STDERR_FILENO), STDERR_FILENO);
	close(p[1]);
	assert_int_equal(console_open(), 0);
	fputs("one ", stderr);
	/*
	 * If the first part of the line were not held back, it would be there by now in most cases.
	 */
	assert_int_equal(poll(&(struct pollfd){p[0], POLLIN, 0}, 1, 100), 0);
	fputs("line\n", stderr);
	assert_int_equal(read(p[0], got, sizeof(got) - 1), 9);
	assert_string_equal(got, "one line\n");
	fputs("without an end", stderr);
	console_close(-1);
	dup2(before, STDERR_FILENO);
	close(before);
	assert_int_equal(read(p[0], got, sizeof(got) - 1), 14);
	close(p[0]);
}

/* A screen would be drawn over them. */
static void messages_wait_while_they_are_held_back(void **state)
{
	int before = dup(STDERR_FILENO), p[2];
	char got[64] = "";

	assert_int_equal(pipe(p), 0);
	assert_int_equal(dup2(p[1], STDERR_FILENO), STDERR_FILENO);
	close(p[1]);
	assert_int_equal(console_open(), 0);
	console_hold(true);
	fputs("one\n", stderr);
	assert_int_equal(poll(&(struct pollfd){p[0], POLLIN, 0}, 1, 100), 0);
	console_hold(false);
	assert_int_equal(read(p[0], got, sizeof(got) - 1), 4);
	console_hold(true);
	fputs("two\n", stderr);
	console_close(-1);
	dup2(before, STDERR_FILENO);
	close(before);
	assert_int_equal(read(p[0], got, sizeof(got) - 1), 4);
	assert_string_equal(got, "two\n");
	close(p[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_waits_for_each_message),
		cmocka_unit_test(a_line_is_written_at_once),
		cmocka_unit_test(messages_wait_while_they_are_held_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
