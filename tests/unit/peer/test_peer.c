// SPDX-License-Identifier: GPL-2.0-only
/*
 * A peer's command as a process: what it inherits, which reports there are of it, and how all of it
 * ends.
 */
#include "peer/testing.h"

#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/capability.h>
#include <linux/landlock.h>

#include "core/rights.h"
#include "peer/child.h"

/* The longest time to stop, with a wide margin for a busy machine. */
#define STOP_AT_MOST_NS (4 * PEER_STOP_NS)

static void all_processes_of_a_command_are_ended(void **state)
{
	struct live_merge *l = start("sleep 1000 & echo one $! >&2; sleep 1001 | sleep 1002 & "
				     "echo two $! >&2; echo shell $$ >&2; sleep 1003; echo");
	pid_t one, two, shell;

	READ_UNTIL(l, pid_said(l, "shell "));
	one = pid_said(l, "one ");
	two = pid_said(l, "two ");
	shell = pid_said(l, "shell ");
	assert_false(process_gone(one));
	assert_int_equal(live_merge_finish(l, -1), 0);
	live_merge_free(l);
	WAIT_FOR(process_gone(shell));
	WAIT_FOR(process_gone(one));
	WAIT_FOR(process_gone(two));
}

static void what_a_command_leaves_running_is_ended_as_well(void **state)
{
	struct live_merge *l = start("sleep 1000 & echo one $! >&2");
	pid_t one;

	READ_UNTIL(l, pid_said(l, "one "));
	one = pid_said(l, "one ");
	assert_false(process_gone(one));
	assert_int_equal(live_merge_finish(l, -1), 0);
	live_merge_free(l);
	WAIT_FOR(process_gone(one));
}

/* It gets its 2 s, neither more nor less. */
static void a_command_that_does_not_want_to_end_is_killed_in_time(void **state)
{
	struct live_merge *l =
		start("trap '' TERM; echo shell $$ >&2; while :; do sleep 0.2; done");
	uint64_t began;
	pid_t shell;

	READ_UNTIL(l, pid_said(l, "shell "));
	shell = pid_said(l, "shell ");
	began = monotonic_ns();
	assert_int_equal(live_merge_finish(l, -1), 0);
	assert_non_null(strstr(about(l).why, "did not end in time"));
	live_merge_free(l);
	assert_true(monotonic_ns() - began >= PEER_STOP_NS);
	assert_true(monotonic_ns() - began < STOP_AT_MOST_NS);
	WAIT_FOR(process_gone(shell));
}

/* The command closes its output, and cleans up before it ends. */
static void a_command_that_takes_its_time_to_end_has_it(void **state)
{
	int done[2];
	char text[256], end;
	struct live_merge *l;

	assert_int_equal(pipe2(done, O_CLOEXEC), 0);
	snprintf(text, sizeof(text),
		 "exec >&-; trap 'sleep 0.2; echo x >/proc/%d/fd/%d; exit' TERM; "
		 "echo shell $$ >&2; while :; do sleep 0.1; done",
		 (int)getpid(), done[1]);
	l = start(text);
	READ_UNTIL(l, pid_said(l, "shell "));
	assert_int_equal(live_merge_finish(l, -1), 0);
	live_merge_free(l);
	fcntl(done[0], F_SETFL, O_NONBLOCK);
	assert_int_equal(read(done[0], &end, 1), 1);
	close(done[0]);
	close(done[1]);
}

static void who_is_in_a_hurry_does_not_wait_for_commands(void **state)
{
	struct live_merge *l =
		start("trap '' TERM; echo shell $$ >&2; while :; do sleep 0.2; done");
	int hurry[2];
	uint64_t began;
	pid_t shell;

	READ_UNTIL(l, pid_said(l, "shell "));
	shell = pid_said(l, "shell ");
	assert_int_equal(pipe2(hurry, O_CLOEXEC), 0);
	assert_int_equal(write(hurry[1], "x", 1), 1);
	began = monotonic_ns();
	assert_int_equal(live_merge_finish(l, hurry[0]), 0);
	live_merge_free(l);
	assert_true(monotonic_ns() - began < PEER_STOP_NS);
	WAIT_FOR(process_gone(shell));
	close(hurry[0]);
	close(hurry[1]);
}

/*
 * Forks a child that has a peer, and kills it. The peer starts @other, and writes its process ids
 * to
 * @told.
 */
static void killed_with_a_peer(const char *other, const char *command)
{
	int told[2];
	char text[512], line[64] = "";
	pid_t child, one = 0, shell = 0;
	FILE *f;

	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	snprintf(text, sizeof(text), "{ %s & echo one $!; echo shell $$; } >/proc/%d/fd/%d; %s",
		 other, (int)getpid(), told[1], command);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		start(text);
		for (;;)
			pause();
	}
	f = fdopen(told[0], "r");
	assert_non_null(f);
	while (!shell && fgets(line, sizeof(line), f)) {
		sscanf(line, "one %d", &one);
		sscanf(line, "shell %d", &shell);
	}
	assert_true(one > 0);
	assert_false(process_gone(one));
	assert_false(process_gone(shell));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	WAIT_FOR(process_gone(one));
	WAIT_FOR(process_gone(shell));
	fclose(f);
	close(told[1]);
}

static void no_process_outlives_one_that_is_killed(void **state)
{
	killed_with_a_peer("sleep 1000", "sleep 1001; echo");
}

static void nor_does_one_that_does_not_want_to_end(void **state)
{
	killed_with_a_peer("sleep 1000", "trap '' TERM HUP INT; while :; do sleep 0.2; done");
}

static void nor_does_one_that_has_left_the_group(void **state)
{
	killed_with_a_peer("setsid sh -c 'sleep 1000; echo'", "sleep 1001; echo");
	killed_with_a_peer("trap '' TERM; setsid sh -c 'sleep 1000; echo'", "sleep 1001; echo");
}

static void the_exit_status_is_known_though_children_were_ignored(void **state)
{
	struct live_merge *l;

	signal(SIGCHLD, SIG_IGN);
	l = start("exit 3");
	READ_UNTIL(l, peer_gone(live_merge_peer(l, 0)));
	assert_int_equal(about(l).state, PEER_DIED);
	assert_int_equal(about(l).exit_status, 3);
	live_merge_free(l);
	signal(SIGCHLD, SIG_DFL);
}

static void the_signal_that_ended_a_command_is_told(void **state)
{
	struct live_merge *l = start("kill -KILL $$");

	READ_UNTIL(l, peer_gone(live_merge_peer(l, 0)));
	assert_int_equal(about(l).state, PEER_DIED);
	assert_int_equal(about(l).signal, SIGKILL);
	live_merge_free(l);
}

static void the_last_lines_are_there_in_every_state(void **state)
{
	struct live_merge *l;

	l = start("echo first >&2; echo second >&2; sleep 1000");
	READ_UNTIL(l, said(l, "second"));
	assert_int_equal(about(l).state, PEER_STARTING);
	assert_int_equal(about(l).first_message, 0);
	assert_string_equal(messages_line(about(l).messages, 0), "first");
	live_merge_free(l);

	l = start("echo first >&2; echo second >&2; echo no stream");
	READ_UNTIL(l, about(l).state == PEER_REFUSED && said(l, "second"));
	assert_int_equal(about(l).first_message, 0);
	live_merge_free(l);

	l = start("echo first >&2; echo second >&2; exit 1");
	READ_UNTIL(l, about(l).state == PEER_DIED && said(l, "second"));
	assert_int_equal(about(l).first_message, 0);
	live_merge_free(l);
}

/* The recorder has no stream yet, but will not ask for anything. */
static void a_recorder_that_waits_for_its_module_is_waiting(void **state)
{
	struct live_merge *l =
		start("echo banner >&2; echo waiting for module nvmet_tcp >&2; sleep 1000");

	assert_false(peer_settled(live_merge_peer(l, 0)));
	READ_UNTIL(l, peer_settled(live_merge_peer(l, 0)));
	assert_int_equal(about(l).state, PEER_WAITING);
	assert_non_null(said(l, "waiting for module nvmet_tcp"));
	live_merge_free(l);
}

/* Messages of the login are not of interest then, but later ones are. */
static void lines_of_a_running_peer_are_those_since_it_began(void **state)
{
	char text[256];
	struct live_merge *l;
	int fd = beginning(), go[2];

	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	snprintf(text, sizeof(text),
		 "echo banner >&2; cat /proc/%d/fd/%d; read x </proc/%d/fd/%d; echo trouble >&2; "
		 "sleep 1000",
		 (int)getpid(), fd, (int)getpid(), go[0]);
	l = start(text);
	READ_UNTIL(l, about(l).state == PEER_RUNNING);
	assert_int_equal(about(l).messages->nr, 1);
	assert_int_equal(about(l).first_message, 1);
	assert_int_equal(write(go[1], "\n", 1), 1);
	READ_UNTIL(l, said(l, "trouble"));
	assert_int_equal(about(l).state, PEER_RUNNING);
	assert_string_equal(messages_line(about(l).messages, about(l).first_message), "trouble");
	live_merge_free(l);
	close(fd);
	close(go[0]);
	close(go[1]);
}

static void a_file_is_read_as_it_grows(void **state)
{
	const struct peer_user nobody = {
		.other = true, .uid = 65534, .gid = 65534, .groups = {65534}, .nr_groups = 1};
	char path[] = "/tmp/ntprof-test-XXXXXX";
	struct live_merge *l;
	int fd, growing;
	struct bytes b;

	if (geteuid())
		skip();
	fd = beginning();
	b = file_bytes(fd);
	growing = mkstemp(path);
	assert_true(growing >= 0);
	assert_int_equal(fchmod(growing, 0644), 0);
	l = start_as(&nobody, path);
	assert_int_equal(write(growing, b.p, b.n), (ssize_t)b.n);
	READ_UNTIL(l, about(l).state == PEER_RUNNING);
	live_merge_free(l);
	unlink(path);
	close(growing);
	close(fd);
	free(b.p);
}

/* The value of field @name in /proc/self/status of a command that runs as @user. */
static uint64_t status_field(const struct peer_user *user, const char *name)
{
	struct live_merge *l =
		start_as(user, "grep -E '^(Sig|Cap|NSpgid|NoNew)' /proc/self/status >&2; "
			       "echo done >&2");
	uint64_t value;

	READ_UNTIL(l, said(l, "done"));
	assert_non_null(said(l, name));
	value = strtoull(said(l, name) + 1, NULL, 16);
	live_merge_free(l);
	return value;
}

static void signals_are_as_a_shell_starts_its_commands(void **state)
{
	static const int ignored[] = {SIGPIPE, SIGINT, SIGQUIT, SIGHUP, SIGTTOU, SIGUSR1};
	sigset_t set, before;

	for (unsigned int i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, &before);
	/* serve handles SIGUSR1, and `systemctl kill` sends it to all processes of a service. */
	assert_int_equal(status_field(&myself, "SigIgn:"), 1ULL << (SIGUSR1 - 1));
	assert_int_equal(status_field(&myself, "SigBlk:"), 0);
	sigprocmask(SIG_SETMASK, &before, NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_DFL);
}

/* The service manager would believe a command's notifications. */
static void no_service_manager_is_passed_on(void **state)
{
	static const char *const of_manager[] = {"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"};
	struct live_merge *l;

	for (unsigned int i = 0; i < ARRAY_SIZE(of_manager); i++)
		setenv(of_manager[i], "1", 1);
	setenv("NTPROF_TEST", "1", 1);
	l = start("env | grep -cE '^(NOTIFY_SOCKET|WATCHDOG|NTPROF_TEST)' >&2; echo done >&2");
	READ_UNTIL(l, said(l, "done"));
	assert_non_null(said(l, "1"));
	assert_null(said(l, "4"));
	live_merge_free(l);
	for (unsigned int i = 0; i < ARRAY_SIZE(of_manager); i++)
		unsetenv(of_manager[i]);
	unsetenv("NTPROF_TEST");
}

/* Whatever is open here, the command has 0, 1 and 2 only; 3 is the directory that ls reads. */
static void no_descriptor_is_passed_on(void **state)
{
	int open_ones[20];
	struct live_merge *l;

	for (unsigned int i = 0; i < ARRAY_SIZE(open_ones); i++)
		open_ones[i] = dup(STDIN_FILENO); /* without FD_CLOEXEC */
	l = start("ls -m /proc/self/fd >&2; echo done >&2");
	READ_UNTIL(l, said(l, "done"));
	assert_non_null(said(l, "0, 1, 2, 3"));
	assert_string_equal(said(l, "0, 1, 2, 3"), "");
	live_merge_free(l);
	for (unsigned int i = 0; i < ARRAY_SIZE(open_ones); i++)
		close(open_ones[i]);
}

/* Sets inheritable and ambient capabilities, as the process that started this program may have. */
static void inherit_capabilities(uint32_t inheritable)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	assert_int_equal(syscall(SYS_capget, &h, data), 0);
	data[0].inheritable = inheritable;
	assert_int_equal(syscall(SYS_capset, &h, data), 0);
	if (inheritable)
		assert_int_equal(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0), 0);
}

static void no_capability_is_passed_on(void **state)
{
	static const char *const sets[] = {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"};
	const struct peer_user nobody = {
		.other = true, .uid = 65534, .gid = 65534, .groups = {65534}, .nr_groups = 1};

	if (geteuid())
		skip();
	inherit_capabilities(1u << CAP_NET_RAW);
	for (unsigned int i = 0; i < ARRAY_SIZE(sets); i++)
		assert_int_equal(status_field(&nobody, sets[i]), 0);
	/* Root has capabilities of its own. */
	assert_int_equal(status_field(&myself, "CapInh:"), 0);
	assert_int_equal(status_field(&myself, "CapAmb:"), 0);
	inherit_capabilities(0);
}

/*
 * By the root directory of another process it would get out of a mount namespace. As that process
 * has no capability either, its user alone would be enough.
 */
static void a_bare_command_reaches_no_other_process(void **state)
{
	const struct peer_user bare = {.bare = true};
	char source[160];
	struct live_merge *l;
	pid_t other;

	if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1) {
		print_message("this kernel has no Landlock\n");
		skip();
	}
	other = fork();
	if (!other) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) || rights_reduce(0) ||
		    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
			_exit(1);
		execl("/bin/sleep", "sleep", "600", (char *)NULL);
		_exit(1);
	}
	snprintf(source, sizeof(source),
		 "until grep -q sleep /proc/%d/comm; do sleep 0.01; done; "
		 "ls /proc/%d/root/ >/dev/null 2>&1; echo status $? >&2",
		 other, other);
	l = start_as(&bare, source);
	READ_UNTIL(l, said(l, "status "));
	assert_string_not_equal(said(l, "status "), "0");
	live_merge_free(l);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

/*
 * It has not even the capabilities that root gets with each program, and cannot get any from a
 * program's file.
 */
static void a_bare_command_has_no_capability(void **state)
{
	static const char *const sets[] = {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"};
	const struct peer_user bare = {.bare = true};

	for (unsigned int i = 0; i < ARRAY_SIZE(sets); i++)
		assert_int_equal(status_field(&bare, sets[i]), 0);
	assert_int_equal(status_field(&bare, "NoNewPrivs:"), 1);
	assert_int_equal(status_field(&myself, "NoNewPrivs:"), 0);
}

static void a_guard_can_end_processes_and_nothing_else(void **state)
{
	char command[128];
	struct live_merge *l;

	if (geteuid())
		skip();
	/* The guard drops its other capabilities after it has started the command. */
	snprintf(command, sizeof(command),
		 "until grep -q '^CapPrm:.%016llx$' /proc/$PPID/status; do sleep 0.1; done; "
		 "echo so >&2",
		 (unsigned long long)RIGHT(CAP_KILL));
	l = start(command);
	READ_UNTIL(l, said(l, "so"));
	live_merge_free(l);
}

/* By then serve has dropped its other capabilities: cli/confine.h. */
static void with_one_capability_commands_of_others_are_ended(void **state)
{
	const struct peer_user nobody = {
		.other = true, .uid = 65534, .gid = 65534, .groups = {65534}, .nr_groups = 1};
	int told[2], status;
	pid_t child, one = 0, shell = 0;
	char line[64];
	FILE *f;

	if (geteuid())
		skip();
	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct live_merge *l = start_as(
			&nobody,
			"sleep 1000 & echo one $! >&2; echo shell $$ >&2; sleep 1001; echo");

		READ_UNTIL(l, pid_said(l, "shell "));
		dprintf(told[1], "one %d\nshell %d\n", (int)pid_said(l, "one "),
			(int)pid_said(l, "shell "));
		rights_reduce(RIGHT(CAP_KILL));
		assert_int_equal(live_merge_finish(l, -1), 0);
		live_merge_free(l);
		_exit(0);
	}
	close(told[1]);
	f = fdopen(told[0], "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "one %d", &one);
		sscanf(line, "shell %d", &shell);
	}
	fclose(f);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(one > 0 && shell > 0);
	WAIT_FOR(process_gone(one));
	WAIT_FOR(process_gone(shell));
}

static void under_sudo_a_command_is_its_callers(void **state)
{
	const struct passwd *nobody = getpwuid(65534);
	struct peer_user user;
	struct live_merge *l;
	char env[256];

	if (geteuid() || !nobody)
		skip();
	snprintf(env, sizeof(env), "%s %s %s %s /run/agent none", nobody->pw_name, nobody->pw_name,
		 nobody->pw_dir, nobody->pw_shell);
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	setenv("SUDO_USER", "nobody", 1);
	setenv("SSH_AUTH_SOCK", "/run/agent", 1);
	assert_int_equal(peer_user_find(&user), 0);
	assert_true(user.other);
	l = start_as(&user,
		     "echo ids $(id -u) $(id -ru) $(id -g) $(id -G) >&2; "
		     "echo env $USER $LOGNAME $HOME $SHELL $SSH_AUTH_SOCK ${SUDO_UID-none} >&2; "
		     "echo done >&2");
	READ_UNTIL(l, said(l, "done"));
	assert_string_equal(said(l, "ids "), "65534 65534 65534 65534");
	assert_string_equal(said(l, "env "), env);
	live_merge_free(l);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	unsetenv("SUDO_USER");
	unsetenv("SSH_AUTH_SOCK");
}

static void without_sudo_or_called_by_root_it_is_ours(void **state)
{
	struct peer_user user;

	unsetenv("SUDO_UID");
	assert_int_equal(peer_user_find(&user), 0);
	assert_false(user.other);
	setenv("SUDO_UID", "0", 1);
	assert_int_equal(peer_user_find(&user), 0);
	assert_false(user.other);
	unsetenv("SUDO_UID");
}

/* A guess could run the command as the wrong user, even as root. */
static void a_caller_that_is_nobody_is_refused(void **state)
{
	static const char *const wrong[] = {"",	   "x",		 "-1",
					    "12x", "4294967295", "99999999999999999999"};
	struct peer_user user;

	if (geteuid())
		skip();
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		setenv("SUDO_UID", wrong[i], 1);
		assert_int_equal(peer_user_find(&user), -EINVAL);
	}
	/* A user without an entry in the password file needs a group from sudo. */
	setenv("SUDO_UID", "3999999", 1);
	unsetenv("SUDO_GID");
	assert_int_equal(peer_user_find(&user), -EINVAL);
	setenv("SUDO_GID", "4000000", 1);
	assert_int_equal(peer_user_find(&user), 0);
	assert_int_equal(user.nr_groups, 1);
	assert_int_equal(user.groups[0], 4000000);
	assert_string_equal(user.home, "/");
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

/* Signals to the group do not reach a command that has left it, but the command must be ended. */
static void a_command_that_leaves_its_group_is_ended_as_well(void **state)
{
	struct live_merge *l = start("exec setsid sh -c 'echo shell $$ >&2; sleep 1000; echo'");
	pid_t shell;

	READ_UNTIL(l, pid_said(l, "shell "));
	shell = pid_said(l, "shell ");
	assert_int_equal(live_merge_finish(l, -1), 0);
	live_merge_free(l);
	WAIT_FOR(process_gone(shell));
}

/*
 * A pipe that is closed when no process is left that has opened @path, which is for a command.
 * Return: its reading end
 */
static int left_pipe(char *path, size_t size, int *writing)
{
	int fd[2];

	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	snprintf(path, size, "/proc/%d/fd/%d", (int)getpid(), fd[1]);
	*writing = fd[1];
	return fd[0];
}

static bool is_closed(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1 && p.revents == POLLHUP;
}

/* Of the processes in @command all have descriptor 9, and some are in other groups and sessions. */
static void all_are_ended(const char *command)
{
	char path[64], text[512];
	int writing, left = left_pipe(path, sizeof(path), &writing);
	struct live_merge *l;
	uint64_t began;

	snprintf(text, sizeof(text), "exec 9>%s; %s", path, command);
	l = start(text);
	READ_UNTIL(l, said(l, "ready"));
	close(writing);
	assert_false(is_closed(left));
	assert_int_equal(live_merge_finish(l, -1), 0);
	began = monotonic_ns();
	live_merge_free(l);
	assert_true(monotonic_ns() - began < GUARD_END_NS + STOP_AT_MOST_NS);
	WAIT_FOR(is_closed(left));
	close(left);
}

static void what_has_left_the_group_is_ended_as_well(void **state)
{
	/* A tree of processes, of which each is in a session of its own. */
	all_are_ended("setsid sh -c 'setsid sh -c \"setsid sleep 1000; echo\" & sleep 1001' & "
		      "echo ready >&2; sleep 1002; echo");
	/* What is left when the command has ended, and does not want to end. */
	all_are_ended("trap '' TERM; setsid sh -c 'setsid sleep 1000 & sleep 1001' & "
		      "echo ready >&2");
}

/* Such a command has a new process each time that one is killed. */
static void a_command_that_forks_for_ever_is_ended(void **state)
{
	all_are_ended("trap '' TERM; f() { sleep 0.01; f & }; f & echo ready >&2; sleep 1000");
}

/* The group is of another job at our terminal. Its processes may be another user's. */
static void a_command_that_joins_another_group_is_ended_alone(void **state)
{
	char self[PATH_MAX] = "", text[PATH_MAX + 64];
	struct live_merge *l;
	pid_t job = fork(), command;

	assert_true(job >= 0);
	if (!job) {
		for (;;)
			pause();
	}
	assert_int_equal(setpgid(job, job), 0);
	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	snprintf(text, sizeof(text), "exec '%s' join %d", self, (int)job);
	l = start(text);
	READ_UNTIL(l, pid_said(l, "joined "));
	command = pid_said(l, "joined ");
	assert_int_equal(getpgid(command), job);
	assert_int_equal(live_merge_finish(l, -1), 0);
	live_merge_free(l);
	WAIT_FOR(process_gone(command));
	assert_false(process_gone(job));
	kill(job, SIGKILL);
	assert_int_equal(waitpid(job, NULL, 0), job);
}

static int join(const char *group)
{
	if (setpgid(0, (pid_t)strtol(group, NULL, 10)))
		return EXIT_FAILURE;
	dprintf(STDERR_FILENO, "joined %d\n", (int)getpid());
	for (;;)
		pause();
}

/* Of a folder that others may write to, as /tmp. */
struct shared {
	char folder[64];
	char path[80];
};

static void share(struct shared *s)
{
	strcpy(s->folder, "/tmp/ntprof-test-XXXXXX");
	assert_non_null(mkdtemp(s->folder));
	assert_int_equal(chmod(s->folder, 01777), 0);
	snprintf(s->path, sizeof(s->path), "%s/there", s->folder);
}

static void unshare_it(const struct shared *s)
{
	unlink(s->path);
	rmdir(s->folder);
}

static void assert_refused_for(const struct peer_user *user, const struct shared *s,
			       const char *why)
{
	char path[80], line[256];
	struct live_merge *l;

	strcpy(path, s->path);
	l = start_as(user, path);
	READ_UNTIL(l, peer_gone(live_merge_peer(l, 0)));
	assert_int_equal(about(l).state, PEER_DIED);
	snprintf(line, sizeof(line), "%s: %s", path, why);
	assert_string_equal(messages_line(about(l).messages, 0), line);
	live_merge_free(l);
}

static void assert_refused(const struct shared *s, const char *why)
{
	assert_refused_for(&myself, s, why);
}

/* Under sudo, it is for the user who called that. */
static void what_a_user_may_not_read_is_not_read_for_that_user(void **state)
{
	const struct peer_user other = {
		.other = true, .uid = 65534, .gid = 65534, .groups = {65534}, .nr_groups = 1};
	struct shared s;
	int fd;

	if (geteuid())
		skip();
	share(&s);
	fd = open(s.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_refused_for(&other, &s, "Permission denied");
	unshare_it(&s);
}

static void what_another_user_has_put_into_a_shared_folder_is_not_read(void **state)
{
	static const char why[] = "another user has made it, or a link to it, in a folder that "
				  "others may write to";
	struct shared s;
	int fd;

	if (geteuid())
		skip();
	share(&s);
	assert_int_equal(mkfifo(s.path, 0666), 0);
	assert_int_equal(chown(s.path, 65534, 65534), 0);
	assert_refused(&s, why);
	unlink(s.path);
	fd = open(s.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, 65534, 65534), 0);
	assert_refused(&s, why);
	close(fd);
	unlink(s.path);
	assert_int_equal(symlink("/etc/passwd", s.path), 0);
	assert_int_equal(lchown(s.path, 65534, 65534), 0);
	assert_refused(&s, why);
	unshare_it(&s);
}

/* Others may put a program there. A shell would run it. */
static void a_path_is_no_command(void **state)
{
	struct shared s;

	share(&s);
	assert_refused(&s, "No such file or directory");
	assert_int_equal(mkdir(s.path, 0700), 0);
	assert_refused(&s, "it is not a FIFO");
	rmdir(s.path);
	unshare_it(&s);
	assert_int_equal(source_kind("/no/such"), SOURCE_FIFO);
	assert_int_equal(source_kind("./no-such"), SOURCE_FIFO);
	assert_int_equal(source_kind("no-such"), SOURCE_COMMAND);
	assert_int_equal(source_kind("/no/such -o -"), SOURCE_COMMAND);
	assert_int_equal(source_kind("~/no-such"), SOURCE_COMMAND);
	assert_int_equal(source_kind("of=/no/such"), SOURCE_COMMAND);
	assert_int_equal(source_kind("#/no/such"), SOURCE_COMMAND);
	assert_int_equal(source_kind("/no/such;"), SOURCE_COMMAND);
	assert_int_equal(source_kind("/no/such=1"), SOURCE_FIFO);
	assert_int_equal(source_kind("/no/s~1"), SOURCE_FIFO);
	assert_int_equal(source_kind("/no/s{#*1}"), SOURCE_FIFO);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_processes_of_a_command_are_ended),
		cmocka_unit_test(what_a_command_leaves_running_is_ended_as_well),
		cmocka_unit_test(a_command_that_does_not_want_to_end_is_killed_in_time),
		cmocka_unit_test(a_command_that_takes_its_time_to_end_has_it),
		cmocka_unit_test(who_is_in_a_hurry_does_not_wait_for_commands),
		cmocka_unit_test(no_process_outlives_one_that_is_killed),
		cmocka_unit_test(nor_does_one_that_does_not_want_to_end),
		cmocka_unit_test(nor_does_one_that_has_left_the_group),
		cmocka_unit_test(the_exit_status_is_known_though_children_were_ignored),
		cmocka_unit_test(the_signal_that_ended_a_command_is_told),
		cmocka_unit_test(the_last_lines_are_there_in_every_state),
		cmocka_unit_test(a_recorder_that_waits_for_its_module_is_waiting),
		cmocka_unit_test(lines_of_a_running_peer_are_those_since_it_began),
		cmocka_unit_test(a_file_is_read_as_it_grows),
		cmocka_unit_test(signals_are_as_a_shell_starts_its_commands),
		cmocka_unit_test(no_service_manager_is_passed_on),
		cmocka_unit_test(no_descriptor_is_passed_on),
		cmocka_unit_test(no_capability_is_passed_on),
		cmocka_unit_test(a_bare_command_has_no_capability),
		cmocka_unit_test(a_bare_command_reaches_no_other_process),
		cmocka_unit_test(a_guard_can_end_processes_and_nothing_else),
		cmocka_unit_test(with_one_capability_commands_of_others_are_ended),
		cmocka_unit_test(under_sudo_a_command_is_its_callers),
		cmocka_unit_test(without_sudo_or_called_by_root_it_is_ours),
		cmocka_unit_test(a_caller_that_is_nobody_is_refused),
		cmocka_unit_test(a_command_that_leaves_its_group_is_ended_as_well),
		cmocka_unit_test(what_has_left_the_group_is_ended_as_well),
		cmocka_unit_test(a_command_that_forks_for_ever_is_ended),
		cmocka_unit_test(a_command_that_joins_another_group_is_ended_alone),
		cmocka_unit_test(what_another_user_has_put_into_a_shared_folder_is_not_read),
		cmocka_unit_test(what_a_user_may_not_read_is_not_read_for_that_user),
		cmocka_unit_test(a_path_is_no_command),
	};

	/* The command of a test. */
	if (argc == 3 && !strcmp(argv[1], "join"))
		return join(argv[2]);
	return cmocka_run_group_tests_name("peer", tests, NULL, NULL);
}
