// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verbs that look at the kernel without a tracer: probes and stacks. This test stands in for
 * the kernel's type information and for the programs.
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

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <errno.h>

#include "cli/verbs.h"
#include "core/hash.h"
#include "trace/probes.h"
#include "trace/refusals.h"
#include "trace/stacks.h"
#include "trace/tracer.h"

/* The patched target has these tracepoints, and so the points that are vital. */
static const char *const programs[] = {"done_recv_pdu", "sock_set_state", "try_send_response",
				       "try_send_data"};

struct bpf_program *bpf_object__next_program(const struct bpf_object *o, struct bpf_program *before)
{
	const char *const *p = before ? (const char *const *)before + 1 : programs;

	return p < programs + ARRAY_SIZE(programs) ? (struct bpf_program *)p : NULL;
}

const char *bpf_program__name(const struct bpf_program *p)
{
	return *(const char *const *)p;
}

const char *bpf_program__section_name(const struct bpf_program *p)
{
	static char section[ARRAY_SIZE(programs)][32];
	size_t i = (size_t)((const char *const *)p - programs);

	snprintf(section[i], sizeof(section[i]), "tp_btf/%s", programs[i]);
	return section[i];
}

struct btf *btf__load_module_btf(const char *module, struct btf *base)
{
	return NULL;
}

struct btf *btf__load_vmlinux_btf(void)
{
	struct btf *btf = btf__new_empty();
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		snprintf(name, sizeof(name), "btf_trace_%s", programs[i]);
		btf__add_typedef(btf, name, btf__add_ptr(btf, btf__add_func_proto(btf, 0)));
	}
	return btf;
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
	fn(context, p, 0);
	probes_free(p);
	return 0;
}

/* The user presses Ctrl-C at once. */
enum tracer_status stacks_open(struct stacks **s, uint32_t sample, bool verbose, char *detail,
			       size_t size)
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
	char *both[] = {"probes", "--source", "tracepoints", NULL};
	char *one[] = {"probes", "--source", "tracepoints", "--target", NULL};
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
	elapsed = strstr(out, "\"elapsed\":");
	assert_non_null(elapsed);
	assert_true(strtod(elapsed + strlen("\"elapsed\":"), NULL) < 3600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_of_probes_is_that_of_the_worse_side),
		cmocka_unit_test(stacks_that_are_ended_early_say_how_long_they_were_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
