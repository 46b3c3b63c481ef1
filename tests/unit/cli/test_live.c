// SPDX-License-Identifier: GPL-2.0-only
/* The live view into a pipe and at a terminal, with a tracer that traces nothing. */
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
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <cmocka.h>

#include "cli/tracer.h"
#include "cli/verbs.h"
#include "core/array.h"
#include "core/time.h"
#include "merge/places.h"
#include "streams.h"
#include "terminal.h"

/* Starting a command may take long on a busy machine. */
#define PATIENCE_NS 60000000000ULL

/* A full pipe that is not read. */
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

	assert_int_equal(full_pipe(p), 0);
	fflush(stdout);
	dup2(p[1], STDOUT_FILENO);
	dup2(told, STDERR_FILENO);
	traced.signal = SIGTERM;
	status = verb_live.main(ARRAY_SIZE(words) - 1, words);
	/* The signal is blocked and still pending. */
	signal(SIGTERM, SIG_IGN);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	assert_int_equal(status, EXIT_SUCCESS);
	assert_true(pread(told, text, sizeof(text) - 1, 0) >= 0);
	/*
	 * Writing the first block has begun, unless the machine is too busy. Two more blocks, and
	 * the one of the whole run, have not been begun.
	 */
	assert_true(strstr(text, "the last 3 blocks are left out\n") ||
		    strstr(text, "the last 4 blocks are left out\n"));
	close(p[0]);
	close(p[1]);
	close(told);
	close(out);
	close(err);
}

static bool by_other;

static void note_by_other(struct stats *s)
{
	by_other = s->by_other;
}

static void rows_are_by_both_nqns_where_they_are_needed(void **state)
{
	/* Every other one is of a target, where both are needed in any case. */
	static char *const keys[] = {"queue", "queue", "ctrl", "nqn", "host"};
	int out = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY), status;

	traced.signal = 0;
	traced.records_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	traced.fill = note_by_other;
	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
		char *words[] = {"live", i % 2 ? "--target" : "--host",
				 "-i",	 "100ms",
				 "-n",	 "1",
				 "--by", keys[i],
				 NULL};

		fflush(stdout);
		dup2(null, STDOUT_FILENO);
		status = verb_live.main(ARRAY_SIZE(words) - 1, words);
		dup2(out, STDOUT_FILENO);
		assert_int_equal(status, EXIT_SUCCESS);
		assert_int_equal(by_other, i > 0);
	}
	traced.fill = NULL;
	close(traced.records_fd);
	close(null);
	close(out);
}

/* Each is of a connection of its own, in a slot of its own. */
static void of_another_connection(struct nt_record *r, uint64_t n)
{
	/* The last one first: arrays of slots reach their size at once. */
	r->slot = PLACES_MAX + 5 - (uint32_t)n;
	r->gen = 1;
}

/* Commands of the disks whose names are gone have none. */
static void names_that_gave_way_are_counted(void **state)
{
	char *words[] = {"live", "--host", "-i", "100ms", "-n", "3", "--by", "device", NULL};
	int out = dup(STDOUT_FILENO), seen = memfd_create("seen", MFD_CLOEXEC), status;
	const uint64_t nr = PLACES_MAX + 5;
	static char text[1 << 16];

	traced.signal = 0;
	traced.nr = 0;
	traced.records_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	assert_int_equal(write(traced.records_fd, &nr, sizeof(nr)), sizeof(nr));
	traced.make = of_another_connection;
	fflush(stdout);
	dup2(seen, STDOUT_FILENO);
	status = verb_live.main(ARRAY_SIZE(words) - 1, words);
	dup2(out, STDOUT_FILENO);
	traced.make = NULL;
	assert_int_equal(status, EXIT_SUCCESS);
	assert_true(pread(seen, text, sizeof(text) - 1, 0) > 0);
	assert_non_null(strstr(text, " names_gone=5"));
	assert_non_null(strstr(text, "\nloss names_gone 5  # "));
	close(traced.records_fd);
	close(seen);
	close(out);
}

/* @context: words of the command line, with NULL at the end */
static int run_live(void *context)
{
	char **words = context;
	int n = 0;

	while (words[n])
		n++;
	traced.signal = 0;
	traced.records_fd = eventfd(0, EFD_NONBLOCK);
	return verb_live.main(n, words);
}

/* Reads the screen from now on until it has @text. */
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
		/* The rest may be the beginning of @text. */
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
	char *words[] = {"live", "--host", "-i", "100ms", "--peer", peer, NULL};
	pid_t shell;

	snprintf(stopped, sizeof(stopped), "stopped by %d", SIGTSTP);
	snprintf(peer, sizeof(peer), "cat /proc/%d/fd/%d; sleep 1000", (int)getpid(), stream);
	shell = forkpty(&terminal, NULL, NULL, NULL);
	assert_true(shell >= 0);
	if (!shell)
		run_shell(run_live, words);
	assert_true(is_seen(terminal, "peer 1: running"));
	type(terminal, "\032");
	assert_true(is_seen(terminal, stopped));
	assert_true(is_seen(terminal, "peer 1: running"));
	type(terminal, "\003");
	assert_true(is_seen(terminal, "summary of"));
	/* It reads until no process has the terminal open. */
	is_seen(terminal, "\001");
	assert_int_equal(waitpid(shell, &status, 0), shell);
	assert_int_equal(status, EXIT_SUCCESS);
	close(terminal);
	close(stream);
}

/* A user at a terminal with the live view, which has two rows. */
static struct {
	int terminal;
	pid_t shell;
} user;

static void fill(struct stats *s)
{
	static const uint64_t ns[] = {1000000, 9000000};

	for (size_t i = 0; i < ARRAY_SIZE(ns); i++) {
		struct stats_row *row =
			stats_row(s, "nvme0", "nqn.one", (uint16_t)(i + 1), NT_OP_READ, false);

		for (size_t n = 0; row && n < 100 * (i + 1); n++) {
			hist_count(&row->interval, ns[i]);
			hist_count(&row->total, ns[i]);
		}
	}
}

static void sit_down(void)
{
	static char *words[] = {"live", "--host", "-i", "100ms", NULL};
	static const struct winsize size = {.ws_row = 24, .ws_col = 80};

	user.shell = forkpty(&user.terminal, NULL, NULL, &size);
	assert_true(user.shell >= 0);
	if (user.shell)
		return;
	/* With cmocka's handlers this process would go on with the next test. */
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	signal(SIGFPE, SIG_DFL);
	traced.fill = fill;
	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
	run_shell(run_live, words);
}

/* Waits until line mode and echo are on, or off. */
static bool has_lines(bool on)
{
	uint64_t until = monotonic_ns() + PATIENCE_NS;
	const tcflag_t lines = ICANON | ECHO;
	struct termios t;

	while (monotonic_ns() < until) {
		if (!tcgetattr(user.terminal, &t) && (t.c_lflag & lines) == (on ? lines : 0))
			return true;
		poll(NULL, 0, 1);
	}
	return false;
}

static int get_up(void)
{
	int status = -1;

	/* It reads until no process has the terminal open. */
	is_seen(user.terminal, "\001");
	assert_int_equal(waitpid(user.shell, &status, 0), user.shell);
	close(user.terminal);
	return status;
}

/* Loading and attaching take a second or more. The line is gone when the screen comes. */
static void the_start_says_how_many_probes_are_attached(void **state)
{
	sit_down();
	assert_true(is_seen(user.terminal, "\rattaching up to 12 probes...\r\033[K"));
	assert_true(is_seen(user.terminal, "no losses"));
	type(user.terminal, "q");
	assert_int_equal(get_up(), EXIT_SUCCESS);
}

/* It comes again: each of the two attempts takes its line back. */
static void a_driver_that_goes_at_the_start_is_waited_for(void **state)
{
	traced.goes = 1;
	sit_down();
	traced.goes = 0;
	for (unsigned int i = 0; i < 2; i++)
		assert_true(is_seen(user.terminal, "\rattaching up to 12 probes...\r\033[K"));
	assert_true(is_seen(user.terminal, "no losses"));
	type(user.terminal, "q");
	assert_int_equal(get_up(), EXIT_SUCCESS);
}

static void keys_change_the_screen_and_q_ends_it(void **state)
{
	sit_down();
	assert_true(is_seen(user.terminal, ">nvme0   2 read"));
	assert_true(has_lines(false));
	type(user.terminal, "j");
	assert_true(is_seen(user.terminal, ">nvme0   1 read"));
	type(user.terminal, "\n");
	assert_true(is_seen(user.terminal, "nvme0, queue 1, read"));
	type(user.terminal, "\033");
	assert_true(is_seen(user.terminal, ">nvme0   1 read"));
	type(user.terminal, "/");
	assert_true(is_seen(user.terminal, "filter: _"));
	type(user.terminal, "z");
	type(user.terminal, "q");
	assert_true(is_seen(user.terminal, "filter: zq_"));
	type(user.terminal, "\n");
	assert_true(is_seen(user.terminal, "no row matches the filter"));
	/* The beginning of an escape sequence that is never completed. */
	assert_int_equal(write(user.terminal, "\033[", 2), 2);
	type(user.terminal, "A");
	type(user.terminal, "?");
	assert_true(is_seen(user.terminal, "quit, with the summary"));
	/* Of a page it goes back. */
	type(user.terminal, "q");
	assert_true(is_seen(user.terminal, "no row matches the filter"));
	type(user.terminal, "q");
	assert_true(is_seen(user.terminal, "summary of"));
	assert_true(has_lines(true));
	assert_int_equal(get_up(), EXIT_SUCCESS);
}

static void paused_screen_stays_until_it_goes_on(void **state)
{
	sit_down();
	assert_true(is_seen(user.terminal, "p:pause"));
	type(user.terminal, "p");
	assert_true(is_seen(user.terminal, "PAUSED"));
	/* Keys still work. */
	type(user.terminal, "s");
	assert_true(is_seen(user.terminal, "s:p99"));
	type(user.terminal, "p");
	assert_true(is_seen(user.terminal, "p:pause"));
	type(user.terminal, "\003");
	assert_true(is_seen(user.terminal, "summary of"));
	assert_int_equal(get_up(), EXIT_SUCCESS);
}

/*
 * Nothing is redrawn during a pause, so a slow terminal must still get all of the screen that says
 * PAUSED.
 */
static void pause_is_seen_on_a_terminal_that_was_slow(void **state)
{
	sit_down();
	assert_true(is_seen(user.terminal, "p:pause"));
	/* Wait until the terminal takes no more. */
	poll(NULL, 0, 2000);
	type(user.terminal, "p");
	poll(NULL, 0, 500);
	assert_true(is_seen(user.terminal, "PAUSED"));
	type(user.terminal, "q");
	assert_true(is_seen(user.terminal, "summary of"));
	assert_int_equal(get_up(), EXIT_SUCCESS);
}

static void terminal_has_its_modes_while_the_view_is_stopped(void **state)
{
	char stopped[32];

	snprintf(stopped, sizeof(stopped), "stopped by %d", SIGTSTP);
	sit_down();
	for (int i = 0; i < 3; i++) {
		assert_true(is_seen(user.terminal, "?:help"));
		assert_true(has_lines(false));
		type(user.terminal, "\032");
		assert_true(is_seen(user.terminal, stopped));
	}
	assert_true(is_seen(user.terminal, "?:help"));
	type(user.terminal, "q");
	assert_true(is_seen(user.terminal, "summary of"));
	assert_true(has_lines(true));
	assert_int_equal(get_up(), EXIT_SUCCESS);
}

static void terminal_has_its_modes_however_the_view_ends(void **state)
{
	static const int signals[] = {SIGINT,  SIGTERM, SIGHUP, SIGSEGV, SIGABRT,
				      SIGQUIT, SIGBUS,	SIGFPE, SIGUSR1};

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		sit_down();
		assert_true(is_seen(user.terminal, "?:help"));
		assert_true(has_lines(false));
		assert_int_equal(kill(-tcgetpgrp(user.terminal), signals[i]), 0);
		assert_true(has_lines(true));
		get_up();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_start_says_how_many_probes_are_attached),
		cmocka_unit_test(a_driver_that_goes_at_the_start_is_waited_for),
		cmocka_unit_test(a_view_with_a_peer_goes_on_when_it_was_stopped),
		cmocka_unit_test(keys_change_the_screen_and_q_ends_it),
		cmocka_unit_test(paused_screen_stays_until_it_goes_on),
		cmocka_unit_test(pause_is_seen_on_a_terminal_that_was_slow),
		cmocka_unit_test(terminal_has_its_modes_while_the_view_is_stopped),
		cmocka_unit_test(terminal_has_its_modes_however_the_view_ends),
		cmocka_unit_test(blocks_that_nobody_waits_for_are_told),
		cmocka_unit_test(names_that_gave_way_are_counted),
		cmocka_unit_test(rows_are_by_both_nqns_where_they_are_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
