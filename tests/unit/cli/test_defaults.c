// SPDX-License-Identifier: GPL-2.0-only
/* What a short command line stands for: the side whose driver is loaded, and the name of a machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <cmocka.h>

#include "cli/options.h"
#include "cli/tracer.h"
#include "cli/verbs.h"

/*
 * Runs a verb in a process of its own. Return: its exit status, or 128 plus the side that was
 * traced. @err: its messages
 */
static int run_verb(const struct verb *verb, char **words, char err[4096])
{
	int fd = memfd_create("err", MFD_CLOEXEC), status, argc = 0;
	ssize_t n;
	pid_t pid;

	while (words[argc])
		argc++;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(fd, STDERR_FILENO);
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		traced.records_fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
		status = verb->main(argc, words);
		_exit(status ? status : 128 + (int)traced.side);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	n = pread(fd, err, 4095, 0);
	assert_true(n >= 0);
	err[n] = '\0';
	close(fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_side_is_that_whose_driver_is_loaded(void **state)
{
	char *words[] = {"ntprof-bpf", "-d", "0.1", NULL};
	char *named[] = {"ntprof-bpf", "-d", "0.1", "--target", NULL};
	char err[4096];

	traced.loaded[NT_HOST] = true;
	traced.loaded[NT_TARGET] = false;
	assert_int_equal(run_verb(&verb_live, words, err), 128 + NT_HOST);
	assert_int_equal(run_verb(&verb_live, named, err), 128 + NT_TARGET);
	traced.loaded[NT_HOST] = false;
	traced.loaded[NT_TARGET] = true;
	assert_int_equal(run_verb(&verb_live, words, err), 128 + NT_TARGET);
	assert_int_equal(run_verb(&verb_trace, words, err), 128 + NT_TARGET);
}

static void with_no_driver_or_both_it_says_what_to_do(void **state)
{
	char *words[] = {"ntprof-bpf", "-d", "0.1", NULL};
	char err[4096];

	traced.loaded[NT_HOST] = traced.loaded[NT_TARGET] = true;
	assert_int_equal(run_verb(&verb_live, words, err), EX_USAGE);
	assert_non_null(strstr(err, "this machine is both: take --host for the commands that it "
				    "sends, or --target for those that it serves\n"));
	traced.loaded[NT_HOST] = traced.loaded[NT_TARGET] = false;
	assert_int_equal(run_verb(&verb_live, words, err), EX_USAGE);
	assert_non_null(strstr(err, "no driver of NVMe/TCP is loaded: modprobe nvme-tcp on a host, "
				    "modprobe nvmet-tcp on a target; with --host or --target the "
				    "program waits for it\n"));
}

/* @source becomes @command; the same if it stays. */
static void assert_peer_of(enum nt_side side, const char *source, const char *command)
{
	const struct argp_state state = {.name = "ntprof-bpf"};
	struct peer_options o = {.source = {(char *)source}, .nr = 1};

	peer_options_end(&state, &o, side, false);
	assert_string_equal(o.source[0], command);
	if (!strcmp(source, command)) {
		assert_null(o.machine[0]);
		return;
	}
	assert_string_equal(o.machine[0], source);
	free(o.source[0]);
}

/* A peer has the points that this machine has. */
static void finer_points_are_asked_of_a_peer_that_is_a_machine(void **state)
{
	const struct argp_state argp = {.name = "ntprof-bpf"};
	struct peer_options o = {.source = {(char *)"root@target", (char *)"./a.ntp"}, .nr = 2};

	peer_options_end(&argp, &o, NT_HOST, true);
	assert_string_equal(o.source[0],
			    "ssh root@target ntprof-bpf record --target --points fine -o -");
	assert_string_equal(o.source[1], "./a.ntp");
	free(o.source[0]);
}

static void assert_peer(const char *source, const char *command)
{
	assert_peer_of(NT_HOST, source, command);
}

static void a_peer_that_is_a_machine_is_reached_by_ssh(void **state)
{
	assert_peer("root@target", "ssh root@target ntprof-bpf record --target -o -");
	assert_peer_of(NT_TARGET, "root@host", "ssh root@host ntprof-bpf record --host -o -");
	assert_peer("root@10.0.0.2", "ssh root@10.0.0.2 ntprof-bpf record --target -o -");
	assert_peer("joe@a-b.example.com",
		    "ssh joe@a-b.example.com sudo -n ntprof-bpf record --target -o -");
	if (!geteuid()) {
		unsetenv("SUDO_UID");
		unsetenv("SUDO_GID");
		assert_peer("target", "ssh target ntprof-bpf record --target -o -");
		setenv("SUDO_UID", "1234", 1);
		setenv("SUDO_GID", "1234", 1);
	}
	assert_peer("target", "ssh target sudo -n ntprof-bpf record --target -o -");
}

/* There is no such machine, and a run with a peer that fails goes on. */
static void a_run_says_how_it_reaches_a_peer(void **state)
{
	char *words[] = {"ntprof-bpf",		"--host", "-d", "0.1", "--peer",
			 "root@ntprof.invalid", NULL};
	char err[4096];

	assert_int_equal(run_verb(&verb_live, words, err), 128 + NT_HOST);
	assert_non_null(strstr(err, "ntprof-bpf: --peer root@ntprof.invalid runs: ssh "
				    "root@ntprof.invalid ntprof-bpf record --target -o -\n"));
}

static void a_peer_that_is_a_command_or_a_file_stays(void **state)
{
	char path[] = "/tmp/ntprof-peer.XXXXXX", *name = strrchr(path, '/') + 1;
	int fd = mkstemp(path);

	assert_peer("ssh root@target ntprof-bpf record --target -o -",
		    "ssh root@target ntprof-bpf record --target -o -");
	assert_peer("./target.ntp", "./target.ntp");
	assert_peer("a;b", "a;b");
	assert_peer("-oProxyCommand=x@a", "-oProxyCommand=x@a");
	assert_peer("joe@-oProxyCommand", "joe@-oProxyCommand");
	assert_peer("@target", "@target");
	assert_peer("a@b@c", "a@b@c");
	assert_true(fd >= 0);
	assert_int_equal(chdir("/tmp"), 0);
	assert_peer(name, name);
	unlink(path);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_side_is_that_whose_driver_is_loaded),
		cmocka_unit_test(with_no_driver_or_both_it_says_what_to_do),
		cmocka_unit_test(a_peer_that_is_a_machine_is_reached_by_ssh),
		cmocka_unit_test(finer_points_are_asked_of_a_peer_that_is_a_machine),
		cmocka_unit_test(a_run_says_how_it_reaches_a_peer),
		cmocka_unit_test(a_peer_that_is_a_command_or_a_file_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
