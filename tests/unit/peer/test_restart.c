// SPDX-License-Identifier: GPL-2.0-only
/* Peers that are started again: when, and by which process. Nothing is left of the ones before. */
#include "peer/testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <linux/capability.h>

#include "core/rights.h"
#include "peer/child.h"
#include "peer/live_merge.h"
#include "peer/starter.h"

#define SECOND 1000000000ULL
/* An arbitrary time. */
#define NOW (1000 * SECOND)
#define LATER (NOW + 1000 * SECOND)
#define MANY 300
/* After this many restarts, everything that is allocated only once is there. */
#define WARM 20

static int ignore(void *context, const struct stream_event *e)
{
	return 0;
}

static void read_until_over(struct peer *p)
{
	WAIT_FOR((peer_read(p, ignore, NULL, UINT64_MAX), peer_gone(p)));
}

static struct peer *lasting(struct starter *s, const char *source)
{
	struct peer *p = peer_new_lasting(source, NT_TARGET, s, 0);

	assert_non_null(p);
	return p;
}

static struct starter *starter_of(char *source, const struct peer_user *user)
{
	struct starter *s = starter_new(&source, 1, user);

	assert_non_null(s);
	return s;
}

static void waits_become_longer_and_have_an_end(void **state)
{
	char source[] = "exit 1";
	struct starter *s = starter_of(source, &myself);
	struct peer *p = lasting(s, source);
	uint64_t now = NOW, wait = RESTART_FIRST_NS;
	struct restart a = {0};

	read_until_over(p);
	for (unsigned int i = 0; i < 20; i++) {
		assert_false(restart_is_due(&a, p, now));
		assert_false(restart_is_due(&a, p, now + wait - 1));
		assert_true(restart_is_due(&a, p, now + wait));
		now += wait;
		wait = 2 * wait < RESTART_MOST_NS ? 2 * wait : RESTART_MOST_NS;
	}
	assert_int_equal(wait, RESTART_MOST_NS);
	peer_free(p);
	starter_free(s);
}

/*
 * If a stream ran for long, the waits before it do not matter. One that waits for its module runs
 * as well. If the next one ends at once, its wait is longer again.
 */
static void a_stream_that_lasted_begins_with_the_first_wait(void **state)
{
	static const char *const begins[] = {"cat /proc/%d/fd/%d",
					     "echo waiting for module nvmet_tcp >&2; : %d %d"};
	static const enum peer_state states[] = {PEER_RUNNING, PEER_WAITING};
	int fd = beginning(), go[2];

	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(begins); i++) {
		struct restart a = {.wait_ns = RESTART_MOST_NS};
		char begin[64], source[192];
		uint64_t over = NOW + RESTART_WELL_NS;
		struct starter *s;
		struct peer *p;

		snprintf(begin, sizeof(begin), begins[i], (int)getpid(), fd);
		snprintf(source, sizeof(source),
			 "read x </proc/%d/fd/%d; [ $x ] || exit; %s; read x </proc/%d/fd/%d",
			 (int)getpid(), go[0], begin, (int)getpid(), go[0]);
		s = starter_of(source, &myself);
		p = lasting(s, source);
		assert_int_equal(write(go[1], "begin\n", 6), 6);
		WAIT_FOR((peer_read(p, ignore, NULL, UINT64_MAX), peer_state(p) == states[i]));
		assert_false(restart_is_due(&a, p, NOW));
		assert_false(restart_is_due(&a, p, NOW + RESTART_WELL_NS / 2));
		assert_int_equal(write(go[1], "\n", 1), 1);
		read_until_over(p);
		assert_false(restart_is_due(&a, p, over));
		assert_false(restart_is_due(&a, p, over + RESTART_FIRST_NS - 1));
		assert_true(restart_is_due(&a, p, over + RESTART_FIRST_NS));
		assert_int_equal(peer_restart(p), 0);
		assert_int_equal(write(go[1], "\n", 1), 1);
		read_until_over(p);
		over += 2 * RESTART_WELL_NS;
		assert_false(restart_is_due(&a, p, over));
		assert_false(restart_is_due(&a, p, over + 2 * RESTART_FIRST_NS - 1));
		assert_true(restart_is_due(&a, p, over + 2 * RESTART_FIRST_NS));
		peer_free(p);
		starter_free(s);
	}
	close(fd);
	close(go[0]);
	close(go[1]);
}

/* A refused peer keeps running. It is asked to end, gets its time, and is killed then. */
static void what_is_left_of_a_refused_one_is_ended(void **state)
{
	char source[] =
		"trap '' TERM; echo shell $$ >&2; echo no stream; while :; do sleep 0.2; done";
	struct starter *s = starter_of(source, &myself);
	struct peer *p = lasting(s, source);
	struct restart a = {0};
	struct peer_about about;
	pid_t shell;

	WAIT_FOR((peer_read(p, ignore, NULL, UINT64_MAX), peer_about(p, &about),
		  peer_state(p) == PEER_REFUSED && about.messages->nr));
	shell = (pid_t)strtol(messages_line(about.messages, 0) + strlen("shell "), NULL, 10);
	assert_false(restart_is_due(&a, p, NOW));
	assert_false(restart_is_due(&a, p, NOW + RESTART_FIRST_NS));
	assert_false(restart_is_due(&a, p, NOW + RESTART_FIRST_NS + PEER_STOP_NS - 1));
	assert_false(process_gone(shell));
	assert_true(restart_is_due(&a, p, NOW + RESTART_FIRST_NS + PEER_STOP_NS));
	assert_int_equal(peer_restart(p), 0);
	WAIT_FOR(process_gone(shell));
	/* The next one gets its time, too. */
	WAIT_FOR((peer_read(p, ignore, NULL, UINT64_MAX), peer_state(p) == PEER_REFUSED));
	assert_false(restart_is_due(&a, p, LATER));
	assert_false(restart_is_due(&a, p, LATER + 2 * RESTART_FIRST_NS));
	assert_false(restart_is_due(&a, p, LATER + 2 * RESTART_FIRST_NS + PEER_STOP_NS - 1));
	assert_true(restart_is_due(&a, p, LATER + 2 * RESTART_FIRST_NS + PEER_STOP_NS));
	peer_free(p);
	starter_free(s);
}

static unsigned int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int nr = 0;

	assert_non_null(d);
	while (readdir(d))
		nr++;
	closedir(d);
	return nr;
}

/* Counts processes whose parent is @pid, including those that were not waited for. */
static unsigned int children(pid_t pid)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	unsigned int nr = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		char path[300], text[512], *at;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		f = e->d_name[0] >= '0' && e->d_name[0] <= '9' ? fopen(path, "re") : NULL;
		if (!f)
			continue;
		at = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
		fclose(f);
		nr += at && (pid_t)strtol(at + 4, NULL, 10) == pid;
	}
	closedir(d);
	return nr;
}

/* The starter is the only child that is not a guard. */
static pid_t only_child(void)
{
	char path[64], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "re");
	if (!f || !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	return (pid_t)strtol(text, NULL, 10);
}

static void many_starts_leave_nothing(void **state)
{
	char source[] = "echo said this >&2; head -c 100 /dev/zero; exit 3";
	struct starter *s = starter_of(source, &myself);
	struct peer *p = lasting(s, source);
	const pid_t starter = only_child();
	unsigned int fds = 0;
	struct peer_about a;

	assert_true(starter > 0);
	for (unsigned int i = 0; i < MANY; i++) {
		read_until_over(p);
		assert_int_equal(peer_state(p), PEER_REFUSED);
		if (i == WARM)
			fds = descriptors();
		assert_int_equal(peer_restart(p), 0);
	}
	read_until_over(p);
	peer_about(p, &a);
	assert_int_equal(a.restarts, MANY);
	assert_int_equal(a.messages->nr, MANY + 1);
	/* Messages from before the restart are not returned again. */
	assert_int_equal(a.first_message, MANY);
	assert_int_equal(descriptors(), fds);
	/* The last guard has ended, but has not been waited for. */
	WAIT_FOR(children(starter) == 1);
	peer_free(p);
	starter_free(s);
	assert_true(process_gone(starter));
}

/* A peer may send nothing, or send a recording and end. Each recording counts. */
static void what_was_told_counts_on(void **state)
{
	char source[128];
	int fd = beginning();
	struct starter *s;
	struct peer *p;
	struct peer_about a;
	uint64_t records;

	snprintf(source, sizeof(source), "cat /proc/%d/fd/%d", (int)getpid(), fd);
	s = starter_of(source, &myself);
	p = lasting(s, source);
	read_until_over(p);
	peer_about(p, &a);
	records = a.records;
	assert_int_equal(peer_restart(p), 0);
	read_until_over(p);
	peer_about(p, &a);
	assert_int_equal(a.records, 2 * records);
	assert_int_equal(a.restarts, 1);
	assert_non_null(a.header);
	peer_free(p);
	starter_free(s);
	close(fd);
}

/* No process of a starter outlives the program, even if the program is killed. */
static void who_is_killed_leaves_no_starter_and_no_peer(void **state)
{
	char source[128];
	int told[2];
	pid_t child, starter = 0, shell = 0;
	FILE *f;
	char line[64];

	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	snprintf(source, sizeof(source), "echo shell $$ >/proc/%d/fd/%d; sleep 1000; true",
		 (int)getpid(), told[1]);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		lasting(starter_of(source, &myself), source);
		dprintf(told[1], "starter %d\n", (int)only_child());
		for (;;)
			pause();
	}
	f = fdopen(told[0], "r");
	assert_non_null(f);
	while ((!starter || !shell) && fgets(line, sizeof(line), f)) {
		sscanf(line, "starter %d", &starter);
		sscanf(line, "shell %d", &shell);
	}
	assert_false(process_gone(starter));
	assert_false(process_gone(shell));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	WAIT_FOR(process_gone(starter));
	WAIT_FOR(process_gone(shell));
	fclose(f);
	close(told[1]);
}

/* A peer that cannot be started is refused, with a reason. The others continue. */
static void without_a_starter_nothing_is_started(void **state)
{
	char source[] = "exit 1";
	struct starter *s = starter_of(source, &myself);
	struct peer *p = lasting(s, source);
	struct peer_about a;

	read_until_over(p);
	kill(only_child(), SIGKILL);
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(peer_restart(p) < 0);
		assert_int_equal(peer_state(p), PEER_REFUSED);
		assert_true(peer_over(p) && peer_gone(p));
		peer_about(p, &a);
		assert_string_equal(a.why, "it cannot be started again");
	}
	peer_free(p);
	starter_free(s);
}

static void a_file_does_not_last_and_a_fifo_does(void **state)
{
	char file[] = "/tmp/ntprof-test-XXXXXX", fifo[64];
	int fd = mkstemp(file);
	struct starter *s;
	struct peer *p;

	assert_true(fd >= 0);
	s = starter_of(file, &myself);
	p = lasting(s, file);
	assert_false(peer_lasts(p));
	peer_free(p);
	starter_free(s);
	snprintf(fifo, sizeof(fifo), "%s.fifo", file);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	s = starter_of(fifo, &myself);
	p = lasting(s, fifo);
	assert_true(peer_lasts(p));
	peer_free(p);
	starter_free(s);
	unlink(fifo);
	unlink(file);
	close(fd);
}

/*
 * What a source is, is found out once: a socket, or a program that another process puts in the
 * place of a FIFO, is not executed.
 */
static void what_replaces_a_fifo_is_not_executed(void **state)
{
	char folder[] = "/tmp/ntprof-test-XXXXXX", path[64];
	struct starter *s;
	struct peer_about a;
	struct peer *p;
	int fd;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/there", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	s = starter_of(path, &myself);
	p = lasting(s, path);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(peer_restart(p), 0);
		read_until_over(p);
		peer_about(p, &a);
		assert_non_null(strstr(messages_line(a.messages, a.messages->nr - 1),
				       ": it is not a FIFO"));
		rmdir(path);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
		assert_true(fd >= 0);
		close(fd);
	}
	assert_true(peer_lasts(p));
	peer_free(p);
	starter_free(s);
	unlink(path);
	rmdir(folder);
}

/* It has neither our terminal nor our session, so it cannot join a process group of ours. */
static void commands_are_in_another_session(void **state)
{
	char source[] = "read -r pid comm state parent group session tty rest </proc/self/stat; "
			"echo $session $tty >&2";
	struct starter *s = starter_of(source, &myself);
	struct peer *p = lasting(s, source);
	struct peer_about a;
	int session, tty;

	read_until_over(p);
	peer_about(p, &a);
	assert_int_equal(sscanf(messages_line(a.messages, 0), "%d %d", &session, &tty), 2);
	assert_int_not_equal(session, getsid(0));
	assert_int_equal(tty, 0);
	peer_free(p);
	starter_free(s);
}

/* Its guard has time for that, and others are started meanwhile. */
static void what_does_not_want_to_end_delays_no_start(void **state)
{
	char source[] = "trap '' TERM; setsid sh -c 'f() { sleep 0.01; f & }; f & sleep 1000' & "
			"echo ready >&2; sleep 1000";
	struct starter *s = starter_of(source, &myself);
	struct peer *p = lasting(s, source);
	struct peer_about a;

	for (unsigned int i = 1; i < 10; i++) {
		WAIT_FOR((peer_read(p, ignore, NULL, UINT64_MAX), peer_about(p, &a),
			  a.messages->nr == i && a.messages->ended));
		assert_int_equal(peer_restart(p), 0);
	}
	peer_free(p);
	starter_free(s);
}

/* The starter keeps capabilities that serve has dropped by then. Commands do not get them. */
static void commands_of_others_are_started_and_ended_again(void **state)
{
	const struct peer_user nobody = {
		.other = true, .uid = 65534, .gid = 65534, .groups = {65534}, .nr_groups = 1};
	char source[] = "echo ids $(id -u) $(sed -n 's/^CapPrm:.0*//p' /proc/self/status). >&2; "
			"exec sleep 1000";
	int status;
	pid_t child;

	if (geteuid())
		skip();
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct starter *s = starter_of(source, &nobody);
		struct peer *p = lasting(s, source);
		struct peer_about a;

		rights_reduce(RIGHT(CAP_KILL));
		for (unsigned int i = 1; i < 4; i++) {
			WAIT_FOR((peer_read(p, ignore, NULL, UINT64_MAX), peer_about(p, &a),
				  a.messages->nr == i && a.messages->ended));
			if (strcmp(messages_line(a.messages, i - 1), "ids 65534 .") != 0)
				_exit((int)i);
			if (peer_restart(p))
				_exit(10 + (int)i);
		}
		peer_free(p);
		starter_free(s);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_become_longer_and_have_an_end),
		cmocka_unit_test(a_stream_that_lasted_begins_with_the_first_wait),
		cmocka_unit_test(what_is_left_of_a_refused_one_is_ended),
		cmocka_unit_test(many_starts_leave_nothing),
		cmocka_unit_test(what_was_told_counts_on),
		cmocka_unit_test(who_is_killed_leaves_no_starter_and_no_peer),
		cmocka_unit_test(without_a_starter_nothing_is_started),
		cmocka_unit_test(a_file_does_not_last_and_a_fifo_does),
		cmocka_unit_test(what_replaces_a_fifo_is_not_executed),
		cmocka_unit_test(commands_are_in_another_session),
		cmocka_unit_test(what_does_not_want_to_end_delays_no_start),
		cmocka_unit_test(commands_of_others_are_started_and_ended_again),
	};

	return cmocka_run_group_tests_name("peers that are started again", tests, NULL, NULL);
}
