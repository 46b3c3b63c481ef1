// SPDX-License-Identifier: GPL-2.0-only
/* A line has a priority if it goes to the journal, and only then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/notify.h"

/*
 * Writes to standard error, which is a pipe, and reads it back. @format: of its device and inode;
 * NULL: unset
 */
static void tell(const char *format, char *text, size_t size)
{
	char stream[64];
	struct stat st;
	int p[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(p), 0);
	assert_int_equal(fstat(p[1], &st), 0);
	if (format) {
		snprintf(stream, sizeof(stream), "%llu:%llu%s", (unsigned long long)st.st_dev,
			 (unsigned long long)st.st_ino, format);
		setenv("JOURNAL_STREAM", stream, 1);
	} else {
		unsetenv("JOURNAL_STREAM");
	}
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(p[1], STDERR_FILENO);
		journal(JOURNAL_WARNING, "%d lines", 1);
		fflush(stderr);
		_exit(0);
	}
	close(p[1]);
	n = read(p[0], text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	close(p[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unsetenv("JOURNAL_STREAM");
}

static void only_the_journal_gets_priorities(void **state)
{
	char text[256];

	tell("", text, sizeof(text));
	assert_string_equal(text, "<4>1 lines\n");
	tell(NULL, text, sizeof(text));
	assert_string_equal(text, "ntprof-bpf: 1 lines\n");
	/* The variable names another file. */
	tell("0", text, sizeof(text));
	assert_string_equal(text, "ntprof-bpf: 1 lines\n");
	tell("x", text, sizeof(text));
	assert_string_equal(text, "ntprof-bpf: 1 lines\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_journal_gets_priorities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
