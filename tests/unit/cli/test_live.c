// SPDX-License-Identifier: GPL-2.0-only
/* The live view into a pipe, of a tracer that traces nothing. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create() */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "cli/tracer.h"
#include "cli/verbs.h"
#include "core/array.h"

/* Nobody reads it: what it has room for is in it already. */
static int full_pipe(int p[2])
{
	char byte = '\n';

	if (pipe(p) || fcntl(p[1], F_SETFL, O_NONBLOCK))
		return -1;
	while (write(p[1], &byte, 1) == 1)
		;
	return fcntl(p[1], F_SETFL, 0);
}

static void blocks_that_nobody_waits_for_are_told(void **state)
{
	char *words[] = {"live", "--host", "-i", "100ms", "-n", "3", NULL};
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), p[2], status;
	int told = memfd_create("told", MFD_CLOEXEC);
	char text[4096] = "";

	(void)state;
	assert_int_equal(full_pipe(p), 0);
	fflush(stdout);
	dup2(p[1], STDOUT_FILENO);
	dup2(told, STDERR_FILENO);
	traced.signal = SIGTERM;
	status = verb_live.main(ARRAY_SIZE(words) - 1, words);
	/* It is blocked and still pending. */
	signal(SIGTERM, SIG_IGN);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	assert_int_equal(status, EXIT_SUCCESS);
	assert_true(pread(told, text, sizeof(text) - 1, 0) >= 0);
	/* The first one is begun; two more, and that of the whole run, are not. */
	assert_non_null(strstr(text, "the last 3 blocks are left out\n"));
	close(p[0]);
	close(p[1]);
	close(told);
	close(out);
	close(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_that_nobody_waits_for_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
