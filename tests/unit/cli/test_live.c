// SPDX-License-Identifier: GPL-2.0-only
/* The live view into a pipe and at a terminal, of a tracer that traces nothing. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create(), posix_openpt() */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "cli/tracer.h"
#include "cli/verbs.h"
#include "core/array.h"
#include "core/time.h"
#include "streams.h"

/* A command that has to be started may take its time on a busy machine. */
#define PATIENCE_NS 60000000000ULL

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

static int peer_goes_on, peer_has_said;

/* When this returns, what the peer says is there, and the end of the interval is the first to see it. */
static void let_the_peer_speak(void)
{
	char byte;

	traced.collecting = NULL;
	assert_int_equal(write(peer_goes_on, "\n", 1), 1);
	assert_int_equal(read(peer_has_said, &byte, 1), 1);
}

static void what_a_peer_says_while_an_interval_ends_is_told(void **state)
{
	char directory[] = "/tmp/ntprof-live.XXXXXX", source[256], text[4096] = "";
	char *words[] = {"live", "--host", "-i", "100ms", "-d", "500ms", "--peer", source, NULL};
	int user = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK), err = dup(STDERR_FILENO);
	int out = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY), terminal, status;

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_int_equal(chdir(directory), 0);
	assert_int_equal(mkfifo("go", 0600) | mkfifo("said", 0600), 0);
	peer_goes_on = open("go", O_RDWR);
	peer_has_said = open("said", O_RDWR);
	snprintf(source, sizeof(source),
		 "cd %s; read x <go; echo nobody may >&2; echo >said; sleep 60", directory);
	assert_int_equal(grantpt(user) | unlockpt(user), 0);
	terminal = open(ptsname(user), O_RDWR | O_NOCTTY);
	assert_true(terminal >= 0);
	fflush(stdout);
	dup2(null, STDOUT_FILENO);
	dup2(terminal, STDERR_FILENO);
	traced.signal = 0;
	traced.records_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	traced.collecting = let_the_peer_speak;
	status = verb_live.main(ARRAY_SIZE(words) - 1, words);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	assert_int_equal(status, EXIT_SUCCESS);
	assert_true(read(user, text, sizeof(text) - 1) >= 0);
	assert_non_null(strstr(text, "peer 1 says: nobody may\r\n"));
	unlink("go");
	unlink("said");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(directory), 0);
	close(traced.records_fd);
	close(peer_goes_on);
	close(peer_has_said);
	close(terminal);
	close(user);
	close(null);
	close(out);
	close(err);
}

/* Of a session of which the terminal is: the live view with a peer is its job, which goes on when it was stopped. */
static void run_shell(char *peer)
{
	char *words[] = {"live", "--host", "-i", "100ms", "--peer", peer, NULL};
	pid_t pid = fork();
	int status;

	if (!pid) {
		setpgid(0, 0);
		while (tcgetpgrp(STDIN_FILENO) != getpgrp())
			poll(NULL, 0, 1);
		traced.signal = 0;
		traced.records_fd = eventfd(0, EFD_NONBLOCK);
		_exit(verb_live.main(ARRAY_SIZE(words) - 1, words));
	}
	signal(SIGTTOU, SIG_IGN);
	setpgid(pid, pid);
	tcsetpgrp(STDIN_FILENO, pid);
	while (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status)) {
		tcsetpgrp(STDIN_FILENO, getpgrp());
		dprintf(STDOUT_FILENO, "stopped by %d\n", WSTOPSIG(status));
		tcsetpgrp(STDIN_FILENO, pid);
		kill(-pid, SIGCONT);
	}
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

/* Reads what is on the screen from now on until it has @text. */
static bool is_seen(int terminal, const char *text)
{
	uint64_t until = monotonic_ns() + PATIENCE_NS;
	static char seen[1 << 16];
	size_t nr = 0;

	while (monotonic_ns() < until) {
		struct pollfd p = {.fd = terminal, .events = POLLIN};
		ssize_t n =
			poll(&p, 1, 100) > 0 ? read(terminal, seen + nr, sizeof(seen) - 1 - nr) : 0;

		if (n < 0)
			return false;
		seen[nr += (size_t)n] = '\0';
		if (strstr(seen, text))
			return true;
		/* What is left may be the beginning. */
		if (nr > sizeof(seen) / 2) {
			memmove(seen, seen + nr - 64, 64);
			nr = 64;
		}
	}
	return false;
}

static void type(int terminal, const char *key)
{
	assert_int_equal(write(terminal, key, 1), 1);
}

static void a_view_with_a_peer_goes_on_when_it_was_stopped(void **state)
{
	int terminal, status = -1, stream = beginning();
	char peer[80], stopped[32];
	pid_t shell;

	(void)state;
	snprintf(stopped, sizeof(stopped), "stopped by %d", SIGTSTP);
	snprintf(peer, sizeof(peer), "cat /proc/%d/fd/%d; sleep 1000", (int)getpid(), stream);
	shell = forkpty(&terminal, NULL, NULL, NULL);
	assert_true(shell >= 0);
	if (!shell)
		run_shell(peer);
	assert_true(is_seen(terminal, "peer 1: running"));
	type(terminal, "\032");
	assert_true(is_seen(terminal, stopped));
	assert_true(is_seen(terminal, "peer 1: running"));
	type(terminal, "\003");
	assert_true(is_seen(terminal, "summary of"));
	/* It reads until nobody has the terminal any more. */
	is_seen(terminal, "\001");
	assert_int_equal(waitpid(shell, &status, 0), shell);
	assert_int_equal(status, EXIT_SUCCESS);
	close(terminal);
	close(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_view_with_a_peer_goes_on_when_it_was_stopped),
		cmocka_unit_test(blocks_that_nobody_waits_for_are_told),
		cmocka_unit_test(what_a_peer_says_while_an_interval_ends_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
