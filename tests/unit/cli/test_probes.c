// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verbs that look at the kernel without a tracer: probes and stacks. This test stands in for
 * the programs and for the points that there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>

#include "cli/verbs.h"
#include "core/array.h"
#include "trace/probes.h"
#include "trace/refusals.h"
#include "trace/stacks.h"
#include "trace/tracer.h"

struct bpf_program;

static enum nt_side looked_at;

/* An object without programs. */
struct bpf_program *bpf_object__next_program(const struct bpf_object *o, struct bpf_program *before)
{
	return NULL;
}

/* The target has the points that are vital, and the host has none. */
uint32_t __wrap_probes_points(struct probes *p, enum nt_source source);
uint32_t __wrap_probes_points(struct probes *p, enum nt_source source)
{
	return looked_at == NT_TARGET ? probe_vital_points(NT_TARGET) : 0;
}

enum tracer_status tracer_check(char *detail, size_t size)
{
	return TRACER_OK;
}

void tracer_explain(enum tracer_status status, enum nt_side side, const char *detail, char *buf,
		    size_t size)
{
	snprintf(buf, size, "%d %s", status, detail);
}

int tracer_look(const struct tracer_options *o, tracer_look_fn *fn, void *context)
{
	const struct refusals refused = {0};
	struct probes *p = probes_new(o->side, NULL, &refused);

	if (!p)
		return -errno;
	looked_at = o->side;
	fn(context, p, 0);
	probes_free(p);
	return 0;
}

/* The user presses Ctrl-C at once. */
enum tracer_status stacks_open(struct stacks **out, uint32_t sample, unsigned int transports,
			       unsigned int verbose, char *detail, size_t size)
{
	raise(SIGINT);
	return TRACER_OK;
}

void stacks_detach(struct stacks *s)
{
}

int stacks_read(struct stacks *s, struct paths *paths, path_name_fn *name, const void *context)
{
	return 0;
}

void stacks_close(struct stacks *s)
{
}

/* Runs a verb in a process of its own. Return: its exit status; @out: its output */
static int run(const struct verb *verb, char **words, char out[4096])
{
	int fd = memfd_create("out", MFD_CLOEXEC), status, argc = 0;
	ssize_t n;
	pid_t pid;

	while (words[argc])
		argc++;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		sigset_t set;

		sigemptyset(&set);
		sigaddset(&set, SIGINT);
		sigprocmask(SIG_BLOCK, &set, NULL);
		dup2(fd, STDOUT_FILENO);
		_exit(verb->main(argc, words));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	n = pread(fd, out, 4095, 0);
	assert_true(n >= 0);
	out[n] = '\0';
	close(fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Of the host nothing is there, and of the target not all. */
static void status_of_probes_is_that_of_the_worse_side(void **state)
{
	char *both[] = {"probes", NULL};
	char *one[] = {"probes", "--target", NULL};
	char out[4096];

	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	assert_int_equal(run(&verb_probes, one, out), 2);
	assert_int_equal(run(&verb_probes, both, out), 3);
}

static void stacks_that_are_ended_early_say_how_long_they_were_counted(void **state)
{
	char *words[] = {"stacks", "--duration", "1h", "--format", "json", NULL};
	char out[4096], *elapsed;

	if (symbols_check(SYMBOLS_FILE))
		skip();
	assert_int_equal(run(&verb_stacks, words, out), 0);
	elapsed = strstr(out, "\"elapsed_seconds\":");
	assert_non_null(elapsed);
	assert_true(strtod(elapsed + strlen("\"elapsed_seconds\":"), NULL) < 3600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_of_probes_is_that_of_the_worse_side),
		cmocka_unit_test(stacks_that_are_ended_early_say_how_long_they_were_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
