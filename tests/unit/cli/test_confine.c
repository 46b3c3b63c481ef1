// SPDX-License-Identifier: GPL-2.0-only
/* What a process may do when it has given up what it does not need, and what it may not. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_TMPFILE, unshare() */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/confine.h"
#include "core/output.h"
#include "stream/destination.h"

/* Of a thread of this process: the number, or the bits, of a line of its status. */
static unsigned long long status_of(const char *task, const char *name, int base)
{
	char path[300], line[256];
	unsigned long long n = ~0ULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			n = strtoull(line + strlen(name), NULL, base);
	if (f)
		fclose(f);
	return n;
}

#define EXPECT(condition)                  \
	do {                               \
		if (!(condition))          \
			return #condition; \
	} while (0)

static const char *threads_are_confined(void)
{
	DIR *d = opendir("/proc/self/task");
	const struct dirent *e;
	unsigned int nr = 0;

	EXPECT(d);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		nr++;
		EXPECT(status_of(e->d_name, "Seccomp:", 10) == 2);
		EXPECT(status_of(e->d_name, "NoNewPrivs:", 10) == 1);
		if (atoi(e->d_name) != getpid()) {
			EXPECT(status_of(e->d_name, "CapPrm:", 16) == 0);
			EXPECT(status_of(e->d_name, "CapEff:", 16) == 0);
		}
	}
	closedir(d);
	EXPECT(nr == 2);
	return NULL;
}

static const char *nothing_is_executed_or_mounted(void)
{
	EXPECT(execl("/bin/true", "true", (char *)NULL) == -1 && errno == EPERM);
	EXPECT(mount("none", "/tmp", "tmpfs", 0, NULL) == -1 && errno == EPERM);
	EXPECT(unshare(CLONE_NEWUSER) == -1 && errno == EPERM);
	EXPECT(setuid(getuid()) == -1 && errno == EPERM);
	return NULL;
}

/* What files, the thread that writes them, and processes that read a line again do. */
static const char *work_goes_on(struct output *before)
{
	char folder[] = "/tmp/ntprof-confine.XXXXXX", path[64];
	struct destination to;
	struct output *out;
	int status;
	pid_t pid;

	EXPECT(mkdtemp(folder) == NULL && errno == EPERM);
	snprintf(path, sizeof(path), "/tmp/ntprof-confine.%d", getpid());
	EXPECT(!destination_open(&to, path, false));
	out = output_new(to.fd, 4096);
	EXPECT(out);
	EXPECT(!output_put(out, "x", 1, 0));
	output_flush(out);
	EXPECT(!output_settle(out, -1, 10000000000ULL));
	EXPECT(!ftruncate(to.fd, 0));
	output_free(out);
	EXPECT(!destination_commit(&to));
	EXPECT(!destination_close(&to));
	EXPECT(!unlink(path));
	EXPECT(!output_error(before));
	pid = fork();
	if (!pid)
		_exit(7);
	EXPECT(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
	EXPECT(socket(AF_UNIX, SOCK_DGRAM, 0) >= 0);
	EXPECT(!raise(0));
	return NULL;
}

static void what_is_not_needed_is_given_up(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (!pid) {
		struct output *before = output_new(open("/dev/null", O_WRONLY), 4096);
		const char *wrong;

		/* Its thread has begun. */
		output_put(before, "x", 1, 0);
		output_flush(before);
		output_settle(before, -1, 10000000000ULL);
		confine(0, false);
		wrong = threads_are_confined() ?: nothing_is_executed_or_mounted() ?: work_goes_on(before);
		if (wrong)
			fprintf(stderr, "not so: %s (%s)\n", wrong, strerror(errno));
		_exit(wrong != NULL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_needed_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
