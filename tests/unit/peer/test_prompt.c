// SPDX-License-Identifier: GPL-2.0-only
/*
 * Peers that ask for something at the terminal. This process plays the user. Its child plays a
 * shell, which leads the session of the terminal. The shell has a job, which is the program with
 * its peers.
 */
#include "peer/testing.h"

#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

#include "core/output.h"
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

#define READ(l, condition)                                                   \
	do {                                                                 \
		be_patient();                                                \
		while (!(condition)) {                                       \
			struct pollfd ready = {live_merge_fd(l), POLLIN, 0}; \
			MUST(monotonic_ns() < give_up_ns);                   \
			poll(&ready, 1, 5);                                  \
			MUST(!live_merge_ready(l));                          \
		}                                                            \
	} while (0)

/* Starts as the live view does. Input for a peer is not for the program. */
static struct live_merge *start_at_terminal(char *const *sources, unsigned int nr)
{
	struct live_merge *l = live_merge_new(sources, nr, &myself);

	MUST(l);
	live_merge_let_skip(l);
	return l;
}

static struct live_merge *start_one(char *source)
{
	return start_at_terminal(&source, 1);
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

	MUST(!live_merge_settled(l));
	READ(l, live_merge_asking(l));
	MUST(!live_merge_settled(l));
	READ(l, live_merge_settled(l));
	MUST(!strcmp(said(l, "got "), "secret"));
	MUST(!live_merge_asking(l));
	MUST(tcgetpgrp(STDIN_FILENO) == getpgrp());
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
	struct live_merge *l = start_at_terminal(sources, 2);
	struct peer_about a[2];

	READ(l, live_merge_settled(l));
	for (unsigned int i = 0; i < 2; i++) {
		peer_about(live_merge_peer(l, i), &a[i]);
		MUST(a[i].state == PEER_RUNNING);
	}
	MUST(!strcmp(messages_line(a[0].messages, 0), "got 1"));
	MUST(!strcmp(messages_line(a[1].messages, 0), "got 2"));
	live_merge_free(l);
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
	l = start_one(asking("password: "));
	READ(l, live_merge_asking(l));
	MUST(!output_put(o, "told\n", 5, 0));
	MUST(!output_settle(o, -1, PATIENCE_NS));
	READ(l, live_merge_settled(l));
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

static void peers_that_ask_get_it_one_after_the_other(void **state)
{
	bool one;

	sit_down(job_two);
	WAIT_FOR(sees("one? ") || sees("two? "));
	for (int i = 0; i < 60; i++)
		look();
	one = sees("one? ");
	assert_true(one != sees("two? "));
	types(one ? "1\n" : "2\n");
	WAIT_FOR(sees(one ? "two? " : "one? "));
	types(one ? "2\n" : "1\n");
	assert_int_equal(get_up(), DONE);
}

/* SIGINT is blocked, and the run waits for it, as in cli/run.c. */
static void job_interrupted(void)
{
	struct live_merge *l;
	struct termios t;
	sigset_t set, got;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	l = start_one(asking("password: "));
	READ(l, !sigpending(&got) && sigismember(&got, SIGINT));
	MUST(!live_merge_finish(l, -1));
	MUST(tcgetpgrp(STDIN_FILENO) == getpgrp());
	MUST(!tcgetattr(STDIN_FILENO, &t));
	MUST(t.c_lflag & ECHO);
	live_merge_free(l);
}

static void job_that_fails(void)
{
	struct live_merge *l = start_one(asking("password: "));
	struct termios t;

	READ(l, live_merge_asking(l));
	/* Wait until the peer has turned echo off. */
	be_patient();
	do
		MUST(!tcgetattr(STDIN_FILENO, &t) && monotonic_ns() < give_up_ns);
	while (t.c_lflag & ECHO);
	live_merge_fail(l);
	MUST(tcgetpgrp(STDIN_FILENO) == getpgrp());
	MUST(!tcgetattr(STDIN_FILENO, &t));
	MUST(t.c_lflag & ECHO);
	/* The peer asks again, but does not get the terminal. */
	MUST(!live_merge_ready(l));
	MUST(!live_merge_asking(l));
	live_merge_free(l);
}

static void a_run_that_fails_at_a_prompt_has_the_terminal_at_once(void **state)
{
	sit_down(job_that_fails);
	assert_int_equal(get_up(), DONE);
}

static void ctrl_c_at_a_prompt_is_for_the_program(void **state)
{
	sit_down(job_interrupted);
	WAIT_FOR(sees("password: "));
	types("\003");
	assert_int_equal(get_up(), DONE);
}

static void ctrl_z_at_a_prompt_stops_the_program(void **state)
{
	char stopped[32];

	sit_down(job_one);
	WAIT_FOR(sees("password: "));
	types("\032");
	snprintf(stopped, sizeof(stopped), "stopped by %d", SIGTSTP);
	WAIT_FOR(sees(stopped));
	types("secret\n");
	assert_int_equal(get_up(), DONE);
}

/* The peer stops itself, and is continued when the program has had time to see that. */
static void job_whose_peer_stops(void)
{
	struct live_merge *l;
	char text[512];

	snprintf(
		text, sizeof(text),
		"cat /proc/%d/fd/%d; (until grep -q '^State:.T' /proc/$$/status; do sleep 0.1; done; "
		"sleep 0.2; kill -CONT $$) & kill -TSTP $$; echo went on >&2; sleep 1000",
		(int)getpid(), stream_fd);
	l = start_one(text);
	READ(l, said(l, "went on"));
	live_merge_free(l);
}

static void a_peer_that_stops_without_asking_does_not_stop_the_program(void **state)
{
	sit_down(job_whose_peer_stops);
	assert_int_equal(get_up(), DONE);
	assert_null(strstr(user.seen, "stopped by"));
}

static void job_killed_while_asked(void)
{
	struct live_merge *l = start_one(asking("password: "));

	READ(l, live_merge_asking(l));
	kill(getpid(), SIGKILL);
}

static void nobody_asks_when_the_program_was_killed(void **state)
{
	sit_down(job_killed_while_asked);
	assert_int_equal(get_up(), 128 + SIGKILL);
}

/* A job in the background does not have the terminal, so it cannot lend it. */
static void job_in_the_background(void)
{
	struct live_merge *l;

	signal(SIGTTOU, SIG_IGN);
	tcsetpgrp(STDIN_FILENO, getppid());
	l = start_one(asking("password: "));
	READ(l, peer_asks(live_merge_peer(l, 0)));
	MUST(!live_merge_asking(l));
	MUST(about(l).why[0]);
	MUST(tcgetpgrp(STDIN_FILENO) == getppid());
	tcsetpgrp(STDIN_FILENO, getpgrp());
	READ(l, live_merge_settled(l));
	MUST(!strcmp(said(l, "got "), "secret"));
	live_merge_free(l);
}

static void a_job_of_the_background_waits_for_the_terminal(void **state)
{
	sit_down(job_in_the_background);
	WAIT_FOR(sees("password: "));
	types("secret\n");
	assert_int_equal(get_up(), DONE);
}

/*
 * The terminal belongs to another group, which does not read its input now. The program must check
 * only once an interval whether it has the terminal again.
 */
static void job_that_others_type_beside(void)
{
	struct pollfd typed = {.fd = STDIN_FILENO, .events = POLLIN}, ready = {.events = POLLIN};
	struct live_merge *l;

	signal(SIGTTOU, SIG_IGN);
	l = start_one("sleep 1000");
	tcsetpgrp(STDIN_FILENO, getppid());
	dprintf(STDOUT_FILENO, "ready\n");
	MUST(poll(&typed, 1, (int)(PATIENCE_NS / 1000000)) == 1);
	ready.fd = live_merge_fd(l);
	READ(l, poll(&ready, 1, 0) == 0);
	MUST(!live_merge_settled(l));
	tcsetpgrp(STDIN_FILENO, getpgrp());
	MUST(!live_merge_interval(l));
	READ(l, live_merge_settled(l));
	live_merge_free(l);
}

static void a_job_of_the_background_does_not_spin_when_somebody_types(void **state)
{
	sit_down(job_that_others_type_beside);
	WAIT_FOR(sees("ready"));
	types("\n");
	assert_int_equal(get_up(), DONE);
}

static void job_skipped(void)
{
	struct live_merge *l = start_one("sleep 1000");

	MUST(!live_merge_settled(l));
	dprintf(STDOUT_FILENO, "ready\n");
	READ(l, live_merge_settled(l));
	MUST(about(l).state == PEER_STARTING);
	live_merge_free(l);
}

static void nobody_has_to_wait_for_a_peer(void **state)
{
	sit_down(job_skipped);
	WAIT_FOR(sees("ready"));
	types("\n");
	assert_int_equal(get_up(), DONE);
}

/*
 * Each peer asks once it has the terminal, which stty waits for. It gets its answer, and never
 * sends a stream.
 */
static void job_of_those_that_never_begin(void)
{
	static char one[] = "stty -echo </dev/tty; printf 'one? ' >/dev/tty; read x </dev/tty; "
			    "echo thanks >/dev/tty; echo got $x >&2; sleep 1000";
	static char two[] = "stty -echo </dev/tty; printf 'two? ' >/dev/tty; read x </dev/tty; "
			    "echo thanks >/dev/tty; echo got $x >&2; sleep 1000";
	char *sources[] = {one, two};
	struct live_merge *l = start_at_terminal(sources, 2);
	struct peer_about a[2];
	bool got;

	do {
		READ(l, poll(&(struct pollfd){live_merge_fd(l), POLLIN, 0}, 1, 0) == 0);
		MUST(!live_merge_interval(l));
		poll(NULL, 0, 100);
		got = live_merge_settled(l);
		for (unsigned int i = 0; i < 2; i++) {
			peer_about(live_merge_peer(l, i), &a[i]);
			got = got && a[i].messages->nr == 1;
		}
	} while (!got);
	for (unsigned int i = 0; i < 2; i++) {
		MUST(a[i].state == PEER_STARTING);
		MUST(!strcmp(messages_line(a[i].messages, 0), "got answer"));
	}
	live_merge_free(l);
}

static void who_was_answered_and_never_begins_keeps_nobody_waiting(void **state)
{
	bool one;

	sit_down(job_of_those_that_never_begin);
	WAIT_FOR(sees("one? ") || sees("two? "));
	one = sees("one? ");
	types("answer\n");
	WAIT_FOR(sees("thanks"));
	/* No peer reads this line, so it is for the program. */
	types("\n");
	WAIT_FOR(sees(one ? "two? " : "one? "));
	types("answer\n");
	assert_int_equal(get_up(), DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peer_that_asks_gets_the_terminal_until_it_begins),
		cmocka_unit_test(what_is_told_while_a_peer_asks_stops_nobody),
		cmocka_unit_test(peers_that_ask_get_it_one_after_the_other),
		cmocka_unit_test(a_run_that_fails_at_a_prompt_has_the_terminal_at_once),
		cmocka_unit_test(ctrl_c_at_a_prompt_is_for_the_program),
		cmocka_unit_test(ctrl_z_at_a_prompt_stops_the_program),
		cmocka_unit_test(a_peer_that_stops_without_asking_does_not_stop_the_program),
		cmocka_unit_test(nobody_asks_when_the_program_was_killed),
		cmocka_unit_test(a_job_of_the_background_waits_for_the_terminal),
		cmocka_unit_test(a_job_of_the_background_does_not_spin_when_somebody_types),
		cmocka_unit_test(nobody_has_to_wait_for_a_peer),
		cmocka_unit_test(who_was_answered_and_never_begins_keeps_nobody_waiting),
	};

	return cmocka_run_group_tests_name("prompt", tests, NULL, NULL);
}
