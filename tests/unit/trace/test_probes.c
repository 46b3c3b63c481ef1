// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which functions of a kernel a program can be attached to. This test stands in for libbpf's object
 * and for the kernel's type information.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "core/array.h"
#include "trace/kernel.h"
#include "trace/probes.h"
#include "trace/refusals.h"

/*
 * @section: ends with a function that ftrace lists on every kernel, or a tracepoint
 * @takes: the first argument is a pointer to this structure, @more of type int follow
 */
static const struct program {
	const char *name, *section, *takes;
	unsigned int more;
	bool works;
} programs[] = {
	{"stock_send_cmd", "fentry/vfs_read", "nvme_tcp_request", 0, true},
	{"stock_send_data", "fentry/vfs_write", "nvme_tcp_request", 2, true},
	{"stock_done", "fentry/vfs_open", "nvmet_tcp_cmd", 0, false},
	{"stock_sent", "fexit/vfs_fsync", "nvme_tcp_queue", 0, true},
	{"stock_send_r2t", "fexit/vfs_statfs", "nvmet_tcp_cmd", 1, false},
	{"queue_rq", "tp_btf/of_seven_arguments", "request", 6, true},
};

struct bpf_program *bpf_object__next_program(const struct bpf_object *o, struct bpf_program *before)
{
	const struct program *p = before ? (const struct program *)before + 1 : programs;

	return p < programs + ARRAY_SIZE(programs) ? (struct bpf_program *)p : NULL;
}

const char *bpf_program__name(const struct bpf_program *p)
{
	return ((const struct program *)p)->name;
}

const char *bpf_program__section_name(const struct bpf_program *p)
{
	return ((const struct program *)p)->section;
}

static bool built_in;

bool kernel_has_builtin(const char *name)
{
	return built_in && !strcmp(name, "nvme_tcp");
}

/* What the kernel's list has; NULL without one. */
static const char *traceable;

FILE *kernel_traceable(void)
{
	return traceable ? fmemopen((void *)traceable, strlen(traceable), "r") : NULL;
}

struct btf *btf__load_module_btf(const char *module, struct btf *base)
{
	return NULL;
}

struct btf *btf__load_vmlinux_btf(void)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		const struct program *p = &programs[i];
		const char *place = strchr(p->section, '/') + 1;
		int id = btf__add_ptr(btf, btf__add_struct(btf, p->takes, 0));
		int proto = btf__add_func_proto(btf, number);
		char name[64];

		if (!strncmp(p->section, "tp_btf/", 7))
			assert_int_equal(btf__add_func_param(btf, "__data", id), 0);
		assert_int_equal(btf__add_func_param(btf, "a", id), 0);
		for (unsigned int more = 0; more < p->more; more++)
			assert_int_equal(btf__add_func_param(btf, "b", number), 0);
		snprintf(name, sizeof(name), "btf_trace_%s", place);
		id = strncmp(p->section, "tp_btf/", 7) != 0
			     ? btf__add_func(btf, place, BTF_FUNC_STATIC, proto)
			     : btf__add_typedef(btf, name, btf__add_ptr(btf, proto));
		assert_true(id > 0);
	}
	return btf;
}

/* At a function's entry, arguments that follow do no harm. At its exit, the result follows them. */
static void a_function_with_other_arguments_is_left_alone(void **state)
{
	const struct refusals refused = {0};
	struct probes *p = probes_new(NT_HOST, NULL, &refused);
	char why[128];

	assert_non_null(p);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		const struct probe_way way = {.programs = {programs[i].name}};

		if (probes_works(p, &way, why, sizeof(why)) != programs[i].works)
			fail_msg("%s: %s", programs[i].name, why);
		if (!programs[i].works)
			assert_non_null(strstr(why, "() has other arguments here: "));
	}
	probes_free(p);
}

/* A tracepoint hands over more arguments than a function's probe can take. */
static void a_refused_tracepoint_is_told_with_the_reason_of_the_kernel(void **state)
{
	const struct probe_way way = {.programs = {"queue_rq"}};
	struct refusals refused = {0};
	struct probes *p;
	char why[128];

	assert_true(refusals_add(&refused, "queue_rq", "null-check it first"));
	p = probes_new(NT_HOST, NULL, &refused);
	assert_non_null(p);
	assert_false(probes_works(p, &way, why, sizeof(why)));
	assert_string_equal(why, "the kernel refuses queue_rq: null-check it first");
	probes_free(p);
}

/* Reading the list takes long, so a start that nothing refuses does without it. */
static void which_functions_are_traceable_is_read_where_one_was_refused(void **state)
{
	const struct probe_way way = {.programs = {"stock_send_cmd"}};
	struct refusals refused = {0};
	struct probes *p = probes_new(NT_HOST, NULL, &refused);
	char why[128];

	traceable = "vfs_read_more\nvfs_write\n";
	assert_non_null(p);
	assert_true(probes_works(p, &way, why, sizeof(why)));
	probes_read_traceable(p);
	assert_false(probes_works(p, &way, why, sizeof(why)));
	assert_string_equal(why, "ftrace cannot trace vfs_read()");
	probes_free(p);
	assert_true(refusals_add(&refused, "queue_rq", "null-check it first"));
	p = probes_new(NT_HOST, NULL, &refused);
	assert_non_null(p);
	assert_false(probes_works(p, &way, why, sizeof(why)));
	probes_free(p);
	traceable = "vfs_read [a_module]\n";
	p = probes_new(NT_HOST, NULL, &refused);
	assert_non_null(p);
	assert_true(probes_works(p, &way, why, sizeof(why)));
	probes_free(p);
	traceable = NULL;
}

static void a_driver_that_is_built_in_has_the_types_of_the_kernel(void **state)
{
	const struct refusals refused = {0};
	struct probes *p = probes_new(NT_HOST, NULL, &refused);

	assert_non_null(p);
	assert_false(probes_module_btf(p));
	probes_free(p);
	built_in = true;
	p = probes_new(NT_HOST, NULL, &refused);
	assert_non_null(p);
	assert_true(probes_module_btf(p));
	probes_free(p);
	p = probes_new(NT_TARGET, NULL, &refused);
	assert_non_null(p);
	assert_false(probes_module_btf(p));
	probes_free(p);
	built_in = false;
}

/* Without one of them, no command would be seen, or none would end. */
static void points_that_each_command_needs_are_vital(void **state)
{
	const uint32_t host = 1u << NT_H_QUEUE_RQ | 1u << NT_H_CQE | 1u << NT_H_COMPLETE;

	assert_int_equal(probe_vital_points(NT_HOST), host);
	assert_int_equal(probe_vital_points(NT_TARGET), 1u << NT_T_CMD | 1u << NT_T_SENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_with_other_arguments_is_left_alone),
		cmocka_unit_test(a_refused_tracepoint_is_told_with_the_reason_of_the_kernel),
		cmocka_unit_test(which_functions_are_traceable_is_read_where_one_was_refused),
		cmocka_unit_test(a_driver_that_is_built_in_has_the_types_of_the_kernel),
		cmocka_unit_test(points_that_each_command_needs_are_vital),
	};

	return cmocka_run_group_tests_name("probes", tests, NULL, NULL);
}
