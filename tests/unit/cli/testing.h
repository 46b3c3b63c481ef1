/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs the program with a command line, and has the options of each verb. The program is that of
 * the build directory of the test, or NTPROF_BPF.
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

#include "core/hash.h"

#define WORDS_MAX 300 /* report takes 256 files */
#define TEXT_MAX (1 << 19)
/* A command line that should be refused, but is not, could trace forever. */
#define TIMEOUT_SECONDS 60

struct option {
	const char *name;
	const char *argument; /* a valid one; NULL if it takes none */
};

static const struct option options[] = {
	{"host", NULL},
	{"target", NULL},
	{"source", "stock"},
	{"interval", "2s"},
	{"duration", "2s"},
	{"count", "3"},
	{"histogram", NULL},
	{"sample", "10"},
	{"peer", "true"},
	{"slower", "1ms"},
	{"summary", NULL},
	{"output", "/nowhere/file"},
	{"force", NULL},
	{"max-size", "1G"},
	{"slowest", "3"},
	{"commands", NULL},
	{"format", "json"},
	{"verbose", NULL},
	{"buffer", "1M"},
	{"peer-as-root", NULL},
	{"burst", "1s/60s"},
	{"paths", "3"},
	{"folded", NULL},
	{"burst", "1s/60s"},
	{"ctrl", "nvme0"},
	{"nqn", "nqn.a"},
	{"hostnqn", "nqn.b"},
	{"nsid", "1"},
	{"queue", "3,5-7"},
	{"op", "read"},
	{"size", "4k-128k"},
	{"lba", "0-2047"},
	{"failed", NULL},
	{"time", "1-2.5s"},
	{"where", "latency>1ms"},
	{"config", "/dev/null"},
	{"device", "/dev/nvme0n1"},
	{"events", NULL},
	{"admin", NULL},
	{"network-limit", "1250"},
	{"drive-limit", "0.5"},
	{"by", "queue"},
	{"every", "1s"},
	{"stats", "mean,p99.9"},
	{"detail", NULL},
	{"min-latency", "100us"},
	{"bucket-shift", "3"},
	{"listen", "127.0.0.1:0"},
	{"keep", "30s"},
	{"keep-bytes", "64M"},
	{"after", "5s"},
	{"when", "latency>5ms"},
	{"dir", "/tmp"},
	{"files", "16"},
	{"bytes", "1G"},
	{"keep-free", "10G"},
	{"series", "256"},
	{"cgroup", "/"},
	{"origin", NULL},
};

#define SELECTIONS \
	"ctrl", "nqn", "hostnqn", "nsid", "queue", "op", "size", "lba", "device", "cgroup"

/* The verbs and their options. */
static const struct verb {
	const char *name;
	const char *options[ARRAY_SIZE(options) + 1];
} verbs[] = {
	{"live",
	 {"host",	 "target",	"source",	"interval",	 "duration",	"count",
	  "histogram",	 "sample",	"peer",		"peer-as-root",	 "burst",	"format",
	  "json-schema", "verbose",	"config",	"network-limit", "drive-limit", "by",
	  "stats",	 "min-latency", "bucket-shift", SELECTIONS}},
	{"trace",
	 {"host", "target", "source", "duration", "count", "histogram", "sample", "slower",
	  "summary", "burst", "format", "json-schema", "verbose", "failed", "config", "events",
	  "admin", SELECTIONS}},
	{"record",
	 {"host", "target", "source", "duration", "count", "sample", "output", "force", "max-size",
	  "buffer", "burst", "verbose", "failed", "slower", "config", "origin", SELECTIONS}},
	{"serve", {"host",	 "target", "source",	   "interval", "duration", "sample",
		   "burst",	 "listen", "by",	   "verbose",  "config",   "keep",
		   "keep-bytes", "after",  "when",	   "dir",      "files",	   "bytes",
		   "keep-free",	 "peer",   "peer-as-root", "series",   SELECTIONS}},
	{"stacks",
	 {"host", "duration", "sample", "paths", "folded", "format", "json-schema", "verbose",
	  "config"}},
	{"report",
	 {"slowest", "commands", "format", "json-schema", "failed", "slower", "time", "where",
	  "config", "by", "every", "stats", "detail", "min-latency", "bucket-shift",
	  "network-limit", "drive-limit", SELECTIONS}},
	{"probes", {"host", "target", "source", "format", "verbose"}},
	{"help", {NULL}},
};

struct result {
	int status; /* as in a shell: 128 plus the signal's number if a signal ended it */
	char out[TEXT_MAX];
	char err[TEXT_MAX];
};

static char program[4096];

static inline bool has(const struct verb *v, const char *option)
{
	for (const char *const *o = v->options; *o; o++)
		if (!strcmp(*o, option))
			return true;
	return false;
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
