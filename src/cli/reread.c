// SPDX-License-Identifier: GPL-2.0-only
#include "cli/reread.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/options.h"
#include "core/rights.h"

/*
 * Seconds that reading again may take. A file that does not answer, such as a FIFO, must not hold
 * up tracing.
 */
#define PATIENCE_S 1

/* File-wide, as a process has one command line. */
static struct {
	const struct verb *const *verbs;
	const struct verb *verb;
	int argc;
	char **argv;
} line;

void reread_set(const struct verb *const *verbs, const struct verb *verb, int argc, char **argv)
{
	line.verbs = verbs;
	line.verb = verb;
	line.argc = argc;
	line.argv = argv;
}

/*
 * The child inherits the tracer's descriptors and must not outlive the tracer. The parent may be
 * unable to kill it (cli/confine.h), so the child has an alarm and a parent death signal.
 */
static void end_in_time(void)
{
	sigset_t set;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	alarm(PATIENCE_S);
}

bool reread_searches(void)
{
	struct config_line l;
	int status = 0;
	pid_t pid;

	if (!line.verb)
		return false;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		/* Faults of the file were reported when it was first read. */
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		end_in_time();
		dup2(null, STDERR_FILENO);
		rights_reduce(0);
		_exit(config_read(&l, line.verbs, line.verb, line.argc, line.argv) != 0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && status;
}

static void run_child(int fd, void (*read)(int argc, char **argv, void *context, void *result),
		      void *context, void *result, size_t size) __attribute__((noreturn));

static void run_child(int fd, void (*read)(int argc, char **argv, void *context, void *result),
		      void *context, void *result, size_t size)
{
	struct config_line l;
	FILE *f = fdopen(STDERR_FILENO, "w");
	ssize_t n;

	end_in_time();
	/* The thread that writes stderr's messages exists only in the parent (cli/run.c). */
	if (f)
		stderr = f;
	if (config_read(&l, line.verbs, line.verb, line.argc, line.argv))
		_exit(EXIT_FAILURE);
	options_origins((const char *const *)l.origins, l.argc);
	read(l.argc, l.argv, context, result);
	n = write(fd, result, size);
	_exit(n == (ssize_t)size ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Return: how many bytes were read before the end of the pipe. */
static size_t receive(int fd, char *to, size_t size)
{
	size_t nr = 0;

	while (nr < size) {
		ssize_t n = read(fd, to + nr, size - nr);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		nr += (size_t)n;
	}
	return nr;
}

int reread_read(void (*read)(int argc, char **argv, void *context, void *result), void *context,
		void *result, size_t size)
{
	int p[2], status;
	size_t nr;
	pid_t pid;

	if (!line.verb)
		return -ENOENT;
	if (pipe2(p, O_CLOEXEC))
		return -errno;
	fflush(stderr);
	pid = fork();
	if (pid < 0) {
		int err = -errno;

		close(p[0]);
		close(p[1]);
		return err;
	}
	if (!pid)
		run_child(p[1], read, context, result, size);
	close(p[1]);
	nr = receive(p[0], result, size);
	close(p[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		return -ETIMEDOUT;
	return nr == size && !WEXITSTATUS(status) ? 0 : -ECANCELED;
}
