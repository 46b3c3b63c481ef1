// SPDX-License-Identifier: GPL-2.0-only
/*
 * Peers that ask for something at the terminal. This process plays the user. Its child plays a
 * shell, which leads the session of the terminal. The shell has a job, which is the program with
 * its peers.
 */
#include "peer/testing.h"

#include <pty.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

#include "core/output.h"
#include "peer/prompts.h"
#include "terminal.h"

/* The exit status of the job and the shell if all went well. */
enum { DONE = 7 };

static struct {
	int terminal; /* the user's end */
	pid_t shell;
	char seen[8192];
	size_t nr;
} user;

static int stream_fd;

static int run_job(void *context)
{
	void (**job)(void) = context;

	(*job)();
	return DONE;
}

static void sit_down(void (*job)(void))
{
	memset(&user, 0, sizeof(user));
	stream_fd = beginning();
	user.shell = forkpty(&user.terminal, NULL, NULL, NULL);
	assert_true(user.shell >= 0);
	if (!user.shell)
		run_shell(run_job, &job);
}

static void look(void)
{
	struct pollfd p = {.fd = user.terminal, .events = POLLIN};
	ssize_t n;

	if (poll(&p, 1, 5) <= 0)
		return;
	n = read(user.terminal, user.seen + user.nr, sizeof(user.seen) - 1 - user.nr);
	if (n > 0)
		user.nr += (size_t)n;
}

static bool sees(const char *text)
{
	look();
	return strstr(user.seen, text);
}

static void types(const char *text)
{
	assert_int_equal(write(user.terminal, text, strlen(text)), (ssize_t)strlen(text));
}

static int get_up(void)
{
	int status;

	be_patient();
	while (waitpid(user.shell, &status, WNOHANG) != user.shell) {
		if (monotonic_ns() > give_up_ns)
			kill(-user.shell, SIGKILL);
		look();
	}
	for (int i = 0; i < 10; i++)
		look();
	close(user.terminal);
	close(stream_fd);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != DONE)
		print_message("# at the terminal: %s\n", user.seen);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* For the job. cmocka's own assertions would continue in a copy of the test. */
#define MUST(condition)                                                                \
	do {                                                                           \
		if (!(condition)) {                                                    \
			dprintf(STDOUT_FILENO, "line %d: %s\n", __LINE__, #condition); \
			_exit(1);                                                      \
		}                                                                      \
	} while (0)

/* Set by a job before its peers start: the wait of a peer that does not answer. */
static uint64_t patience_ns;

static void heard(void *context, unsigned int i, bool all)
{
}

/* Starts as the live view does, and lets each peer have the terminal. */
static struct live_merge *start_at_terminal(char *const *sources, unsigned int nr, int hurry_fd)
{
	struct peer_user user = {.terminal = true};
	int terminal = prompts_terminal();
	struct live_merge *l;

	MUST(terminal >= 0);
	l = live_merge_new(NT_HOST, sources, nr, &user);
	MUST(l);
	for (unsigned int i = 0; i < nr; i++)
		MUST(!prompts_answer(l, i, terminal, hurry_fd, monotonic_ns() + patience_ns, heard,
				     NULL));
	MUST(tcgetpgrp(terminal) == getpgrp());
	close(terminal);
	return l;
}

static struct live_merge *start_one(char *source)
{
	return start_at_terminal(&source, 1, -1);
}

static bool echoes(void)
{
	struct termios t;

	MUST(!tcgetattr(STDIN_FILENO, &t));
	return (t.c_lflag & ECHO) && t.c_cc[VSUSP] != _POSIX_VDISABLE;
}

/* A command that asks as ssh does, without echo, and then sends a stream. */
static char *asking(const char *question)
{
	static char text[2][512];
	static unsigned int nr;
	char *t = text[nr++ % 2];

	snprintf(
		t, sizeof(text[0]),
		"stty -echo </dev/tty; printf '%s' >/dev/tty; read x </dev/tty; stty echo </dev/tty; "
		"echo got $x >&2; cat /proc/%d/fd/%d; sleep 1000",
		question, (int)getpid(), stream_fd);
	return t;
}

static void job_one(void)
{
	struct live_merge *l = start_one(asking("password: "));

	MUST(about(l).state == PEER_RUNNING || about(l).state == PEER_WAITING);
	MUST(!strcmp(said(l, "got "), "secret"));
	MUST(echoes());
	live_merge_free(l);
}

static void a_peer_that_asks_gets_the_terminal_until_it_begins(void **state)
{
	sit_down(job_one);
	WAIT_FOR(sees("password: "));
	types("secret\n");
	assert_int_equal(get_up(), DONE);
	assert_null(strstr(user.seen, "secret"));
}

static void job_two(void)
{
	char *sources[] = {asking("one? "), asking("two? ")};
	struct live_merge *l = start_at_terminal(sources, 2, -1);

	for (unsigned int i = 0; i < 2; i++) {
		struct peer_about a;

		peer_about(live_merge_peer(l, i), &a);
		MUST(a.header);
		MUST(!strcmp(messages_line(a.messages, 0), i ? "got 2" : "got 1"));
	}
	live_merge_free(l);
}

static void peers_that_ask_get_it_one_after_the_other(void **state)
{
	sit_down(job_two);
	WAIT_FOR(sees("one? "));
	for (int i = 0; i < 60; i++)
		look();
	assert_false(sees("two? "));
	types("1\n");
	WAIT_FOR(sees("two? "));
	types("2\n");
	assert_int_equal(get_up(), DONE);
}

/*
 * A thread writes the program's output meanwhile. `stty tostop` stops a process in the background
 * that writes.
 */
static void job_that_tells(void)
{
	struct output *o = output_new(STDOUT_FILENO, 65536);
	struct live_merge *l;
	struct termios t;

	MUST(o);
	MUST(!tcgetattr(STDIN_FILENO, &t));
	t.c_lflag |= TOSTOP;
	MUST(!tcsetattr(STDIN_FILENO, TCSANOW, &t));
	MUST(!output_put(o, "told\n", 5, 0));
	output_flush(o);
	l = start_one(asking("password: "));
	MUST(!output_settle(o, -1, PATIENCE_NS));
	live_merge_free(l);
	output_free(o);
}

static void what_is_told_while_a_peer_asks_stops_nobody(void **state)
{
	sit_down(job_that_tells);
	WAIT_FOR(sees("password: ") && sees("told"));
	types("secret\n");
	assert_int_equal(get_up(), DONE);
	assert_null(strstr(user.seen, "stopped by"));
}

/* SIGINT is blocked, and the run waits for it, as in cli/run.c. */
static void job_interrupted(void)
{
	struct live_merge *l;
	sigset_t set, got;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	l = start_one(asking("password: "));
	MUST(!sigpending(&got) && sigismember(&got, SIGINT));
	MUST(echoes());
	MUST(about(l).state == PEER_DIED);
	live_merge_free(l);
}

static void ctrl_c_at_a_prompt_is_for_the_program(void **state)
{
	sit_down(job_interrupted);
	WAIT_FOR(sees("password: "));
	types("\003");
	assert_int_equal(get_up(), DONE);
}

/* It would stop the peer's command only. */
static void ctrl_z_at_a_prompt_stops_nothing(void **state)
{
	sit_down(job_one);
	WAIT_FOR(sees("password: "));
	types("\032\025secret\n");
	assert_int_equal(get_up(), DONE);
	assert_null(strstr(user.seen, "stopped by"));
}

static void job_killed_while_asked(void)
{
	signal(SIGALRM, SIG_DFL);
	alarm(1);
	start_one(asking("password: "));
}

static void nobody_asks_when_the_program_was_killed(void **state)
{
	sit_down(job_killed_while_asked);
	assert_int_equal(get_up(), 128 + SIGALRM);
}

/* As a key pressed for the program, or SIGTERM: the wait ends, and the command does not. */
static void job_in_a_hurry(void)
{
	int hurry_fd = eventfd(1, EFD_CLOEXEC);
	char *sources[] = {asking("one? "), asking("two? ")};
	struct live_merge *l = start_at_terminal(sources, 2, hurry_fd);

	MUST(echoes());
	MUST(about(l).state == PEER_STARTING);
	live_merge_free(l);
	close(hurry_fd);
}

static void a_signal_ends_the_wait_for_an_answer(void **state)
{
	sit_down(job_in_a_hurry);
	assert_int_equal(get_up(), DONE);
}

/* A program in the background has no terminal to lend, and its peers do not stop for one. */
static void job_in_the_background(void)
{
	char *source = asking("password: ");
	struct live_merge *l;

	signal(SIGTTOU, SIG_IGN);
	tcsetpgrp(STDIN_FILENO, getppid());
	MUST(prompts_terminal() < 0);
	l = live_merge_new(NT_HOST, &source, 1, &myself);
	MUST(l);
	be_patient();
	while (!said(l, "got")) {
		MUST(monotonic_ns() < give_up_ns);
		poll(NULL, 0, 5);
		MUST(!live_merge_ready(l));
	}
	MUST(!strcmp(said(l, "got"), ""));
	live_merge_free(l);
	tcsetpgrp(STDIN_FILENO, getpgrp());
}

static void a_peer_without_a_terminal_fails_to_ask(void **state)
{
	sit_down(job_in_the_background);
	assert_int_equal(get_up(), DONE);
	assert_null(strstr(user.seen, "password"));
}

/* The second one gets the terminal when the time of the first is over. */
static void job_with_one_that_never_begins(void)
{
	static char silent[] = "sleep 1000";
	struct live_merge *l;

	patience_ns = 200000000;
	l = start_one(silent);
	be_patient();
	while (about(l).state != PEER_DIED || about(l).signal != SIGTERM) {
		MUST(monotonic_ns() < give_up_ns);
		poll(NULL, 0, 5);
		MUST(!live_merge_ready(l));
	}
	live_merge_free(l);
	patience_ns = PATIENCE_NS;
	job_one();
}

static void a_peer_that_never_begins_has_the_terminal_for_a_time(void **state)
{
	sit_down(job_with_one_that_never_begins);
	WAIT_FOR(sees("password: "));
	types("secret\n");
	assert_int_equal(get_up(), DONE);
}

/* A file or a FIFO asks for nothing. */
static void job_with_a_fifo(void)
{
	static char fifo[] = "/no/such/fifo";

	live_merge_free(start_one(fifo));
}

static void a_fifo_is_not_waited_for(void **state)
{
	sit_down(job_with_a_fifo);
	assert_int_equal(get_up(), DONE);
}

static int patient(void **state)
{
	patience_ns = PATIENCE_NS;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peer_that_asks_gets_the_terminal_until_it_begins),
		cmocka_unit_test(peers_that_ask_get_it_one_after_the_other),
		cmocka_unit_test(what_is_told_while_a_peer_asks_stops_nobody),
		cmocka_unit_test(ctrl_c_at_a_prompt_is_for_the_program),
		cmocka_unit_test(ctrl_z_at_a_prompt_stops_nothing),
		cmocka_unit_test(nobody_asks_when_the_program_was_killed),
		cmocka_unit_test(a_signal_ends_the_wait_for_an_answer),
		cmocka_unit_test(a_peer_without_a_terminal_fails_to_ask),
		cmocka_unit_test(a_peer_that_never_begins_has_the_terminal_for_a_time),
		cmocka_unit_test(a_fifo_is_not_waited_for),
	};

	return cmocka_run_group_tests_name("prompt", tests, patient, NULL);
}
