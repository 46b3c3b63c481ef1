/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs the program with a command line. The program is that of the build directory of the test, or
 * NTPROF_BPF.
 */
#ifndef NTPROF_CLI_TESTING_H
#define NTPROF_CLI_TESTING_H

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/config.h"
#include "core/array.h"

#define WORDS_MAX 300 /* report takes 256 files */
#define TEXT_MAX (1 << 20)
/* A command line that should be refused, but is not, could trace forever. */
#define TIMEOUT_SECONDS 60

/* A valid argument for each name that arguments have in --help. */
static const struct {
	const char *name;
	const char *valid;
} arguments[] = {
	{"ADDRESS", "127.0.0.1:0"},
	{"BYTES", "4096"},
	{"CONDITION", "latency>1ms"},
	{"CTRL", "nvme0"},
	{"DEVICE", "/dev/nvme0n1"},
	{"DIR", "/tmp"},
	{"FIGURES", "mean,p99.9"},
	{"FILE", "/dev/null"},
	{"FORMAT", "json"},
	{"FROM-TO", "1-2.5s"},
	{"HOSTNQN", "nqn.b"},
	{"KEYS", "queue"},
	{"LABEL", "queue"},
	{"LBA", "0-2047"},
	{"N", "3"},
	{"NAME", "fio"},
	{"NQN", "nqn.a"},
	{"NSID", "1"},
	{"ON/EVERY", "1s/60s"},
	{"OP", "read"},
	{"PACE", "fast"},
	{"PATH", "/"},
	{"PEER", "true"},
	{"PID", "4711"},
	{"POINTS", "ends"},
	{"PERCENT", "5"},
	{"QUEUE", "3,5-7"},
	{"RATE", "1250"},
	{"SIZE", "64M"},
	{"SIZES", "4k,64k"},
	{"SOURCE", "stock"},
	{"TIME", "2s"},
	{"TRANSPORTS", "tcp"},
	{"WHEN", "latency>5ms"},
};

struct result {
	int status; /* as in a shell: 128 plus the signal's number if a signal ended it */
	char out[TEXT_MAX];
	char err[TEXT_MAX];
};

static char program[4096];

/* Return: a valid argument of the option; NULL if it takes none */
static inline char *argument_of(const struct argp_option *o)
{
	for (size_t i = 0; o->arg && i < ARRAY_SIZE(arguments); i++)
		if (!strcmp(o->arg, arguments[i].name))
			return (char *)arguments[i].valid;
	if (o->arg)
		fail_msg("--%s=%s: give arguments[] a valid one", o->name, o->arg);
	return NULL;
}

static void read_all(int fd, char *text)
{
	ssize_t n = pread(fd, text, TEXT_MAX - 1, 0);

	assert_true(n >= 0);
	assert_true(n < TEXT_MAX - 1);
	text[n] = '\0';
	close(fd);
}

/* Runs the program with the words of @words, which ends with NULL. @out: its standard output */
static void run_words_to(struct result *r, int out, char **words)
{
	int err = memfd_create("err", MFD_CLOEXEC);
	char *argv[WORDS_MAX + 2] = {"ntprof-bpf"};
	int status;
	pid_t pid;

	for (unsigned int i = 0; words[i]; i++) {
		assert_true(i < WORDS_MAX);
		argv[i + 1] = words[i];
	}
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		alarm(TIMEOUT_SECONDS);
		dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		unsetenv("ARGP_HELP_FMT");
		execv(program, argv);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	read_all(err, r->err);
}

static void run_words(struct result *r, char **words)
{
	int out = memfd_create("out", MFD_CLOEXEC);

	run_words_to(r, out, words);
	read_all(out, r->out);
}

#define RUN(r, ...) run_words(r, (char *[]){__VA_ARGS__, NULL})

static void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

/* Finds the program of this test: DIR/ntprof-bpf for DIR/unit/cli/NAME. */
static int find_program(void **state)
{
	const char *named = getenv("NTPROF_BPF");
	ssize_t n;

	if (named) {
		snprintf(program, sizeof(program), "%s", named);
	} else {
		n = readlink("/proc/self/exe", program, sizeof(program) - 32);
		if (n < 0)
			return -1;
		program[n] = '\0';
		for (int i = 0; i < 3 && strrchr(program, '/'); i++)
			*strrchr(program, '/') = '\0';
		strcat(program, "/ntprof-bpf");
	}
	if (!access(program, X_OK))
		return 0;
	print_error("%s is not there: make it first, or set NTPROF_BPF\n", program);
	return -1;
}

#endif /* NTPROF_CLI_TESTING_H */
