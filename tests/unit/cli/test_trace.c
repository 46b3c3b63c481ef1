// SPDX-License-Identifier: GPL-2.0-only
/* The verb trace into a file, of a tracer that traces what the test says. */
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
#include <sys/resource.h>
#include <cmocka.h>

#include "cli/tracer.h"
#include "cli/verbs.h"
#include "core/array.h"

#define BURST 100000
#define DISK_BYTES 200000

/* The number behind @words in @text; 0 if they are not there. */
static unsigned long number_behind(const char *text, const char *words)
{
	const char *at = strstr(text, words);

	return at ? strtoul(at + strlen(words), NULL, 10) : 0;
}

static unsigned long lines_of(int fd)
{
	static char text[DISK_BYTES];
	ssize_t n = pread(fd, text, sizeof(text), 0);
	unsigned long lines = 0;

	for (ssize_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	assert_true(n > 0 && text[n - 1] == '\n');
	return lines;
}

static void a_full_disk_leaves_no_line_that_is_not_counted(void **state)
{
	char *words[] = {"trace", "--host", "-d", "5", NULL};
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), status;
	int told = memfd_create("told", MFD_CLOEXEC), disk = memfd_create("disk", MFD_CLOEXEC);
	const uint64_t nr = BURST;
	struct rlimit old, limit;
	char text[4096] = "";

	(void)state;
	traced.records_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_int_equal(write(traced.records_fd, &nr, sizeof(nr)), sizeof(nr));
	fflush(stdout);
	dup2(disk, STDOUT_FILENO);
	dup2(told, STDERR_FILENO);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = DISK_BYTES;
	setrlimit(RLIMIT_FSIZE, &limit);
	status = verb_trace.main(ARRAY_SIZE(words) - 1, words);
	setrlimit(RLIMIT_FSIZE, &old);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	assert_int_equal(status, EXIT_FAILURE);
	assert_true(pread(told, text, sizeof(text) - 1, 0) > 0);
	assert_int_equal(lines_of(disk) + number_behind(text, "the last ") +
				 number_behind(text, "reader_slow "),
			 BURST);
	close(traced.records_fd);
	close(told);
	close(disk);
	close(out);
	close(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_disk_leaves_no_line_that_is_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
