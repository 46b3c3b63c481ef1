// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths of cgroups as users write them, which cgroup is inside which, which does not exist on this
 * machine, and origins by number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/device.h"
#include "core/array.h"

static void a_path_is_that_below_the_mount(void **state)
{
	static const char *const same[][2] = {
		{"/", "/"},
		{"/sys/fs/cgroup", "/"},
		{"/sys/fs/cgroup/", "/"},
		{"system.slice", "/system.slice"},
		{"/system.slice/", "/system.slice"},
		{"/sys/fs/cgroup/system.slice/a.service//", "/system.slice/a.service"},
		{"/sys/fs/cgroup/unified/a", "/a"},
		{"/sys/fs/cgroup/blkio/a", "/a"},
		{"/sys/fs/cgroups/a", "/sys/fs/cgroups/a"},
	};
	char path[256], text[300];

	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		assert_null(cgroup_path(same[i][0], path, sizeof(path)));
		assert_string_equal(path, same[i][1]);
	}
	assert_non_null(cgroup_path("", path, sizeof(path)));
	memset(text, 'x', sizeof(text));
	text[254] = '\0';
	assert_null(cgroup_path(text, path, sizeof(path)));
	assert_int_equal(strlen(path), 255);
	text[254] = 'x';
	text[255] = '\0';
	assert_non_null(cgroup_path(text, path, sizeof(path)));
}

static void a_cgroup_has_those_below_it(void **state)
{
	assert_true(cgroup_in("/a", "/a"));
	assert_true(cgroup_in("/a/b/c", "/a"));
	assert_true(cgroup_in("/a", "/"));
	assert_true(cgroup_in("/", "/"));
	assert_false(cgroup_in("/ab", "/a"));
	assert_false(cgroup_in("/", "/a"));
	assert_true(cgroup_in("cgroup 5", "/"));
	assert_false(cgroup_in("cgroup 5", "/a"));
	assert_false(cgroup_in("", "/"));
	assert_false(cgroup_in("", "/a"));
	assert_false(cgroup_in("(others)", "/"));
}

static void what_is_none_is_told(void **state)
{
	struct cgroup_place place;
	char name[64];

	assert_non_null(strstr(cgroup_find("/no/such/cgroup", &place), "no such cgroup"));
	assert_non_null(strstr(cgroup_find("/../../../etc", &place), "no such cgroup"));
	assert_string_equal(cgroup_name(UINT64_MAX - 1, name, sizeof(name)),
			    "cgroup 18446744073709551614");
}

static void each_origin_that_has_a_number_is_found_by_it(void **state)
{
	struct origins *known = origins_new(false);
	struct origin o;

	assert_non_null(known);
	for (unsigned int cpu = 0; cpu < 3; cpu++) {
		const struct nt_from from = {.cpu = cpu};

		assert_int_equal(origins_number(known, &from), cpu + 1);
		origins_get(known, cpu + 1, &o);
		assert_int_equal(o.cpu, cpu);
	}
	origins_get(known, 4, &o);
	assert_string_equal(o.cgroup, "(others)");
	assert_int_equal(o.cpu, ORIGIN_NO_CPU);
	origins_free(known);
}

/* @kernel: NT_TASK_KERNEL, or 0 */
static struct nt_from from_task(uint32_t cpu, uint32_t pid, uint32_t kernel, const char *comm)
{
	struct nt_from from;

	memset(&from, 0, sizeof(from));
	from.cpu = cpu;
	from.task.pid = pid | kernel;
	memcpy(from.task.comm, comm, strnlen(comm, sizeof(from.task.comm)));
	return from;
}

static void an_origin_has_its_process(void **state)
{
	static const struct {
		uint32_t pid, kernel;
		const char *comm, *shown;
	} of[] = {
		{77, 0, "fio", "fio"},
		{77, 0, "dd", "dd"},
		{78, 0, "fio", "fio"},
		{9, NT_TASK_KERNEL, "kworker/0:1H", "[kworker/0:1H]"},
		{1u << 22, 0, "\x1b[2J\n\"',=%s%n", "\x1b[2J\n\"',=%s%n"},
		/* The kernel ends each with a zero, a damaged one is cut all the same. */
		{79, 0, "0123456789abcdef", "0123456789abcdef"},
		{80, NT_TASK_KERNEL, "0123456789abcde", "[0123456789abcde]"},
		{0, 0, "", ""},
	};
	struct origins *known = origins_new(false);
	struct nt_from from;
	struct origin o;

	for (unsigned int i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		from = from_task(3, of[i].pid, of[i].kernel, of[i].comm);
		assert_int_equal(origins_number(known, &from), i + 1);
		assert_int_equal(origins_number(known, &from), i + 1);
		origins_get(known, i + 1, &o);
		assert_int_equal(o.pid, of[i].pid);
		assert_string_equal(o.comm, of[i].shown);
		assert_int_equal(o.cpu, 3);
	}
	origins_free(known);
}

static void many_processes_leave_numbers_for_cpus(void **state)
{
	struct origins *known = origins_new(false);
	unsigned int number = 0, before = 0;
	struct nt_from from;
	struct origin o;

	for (unsigned int i = 1; i <= 2 * ORIGIN_OTHERS; i++) {
		from = from_task(0, i, 0, "fio");
		number = origins_number(known, &from);
		origins_get(known, number, &o);
		assert_int_equal(o.cpu, 0);
		assert_string_equal(o.comm, "fio");
		assert_int_equal(o.pid, number <= ORIGINS_OF_PIDS ? i : 0);
		before += o.pid != 0;
	}
	assert_int_equal(before, ORIGINS_OF_PIDS);
	/* A name of its own does not come later. */
	for (unsigned int i = 1; i <= 2 * ORIGIN_OTHERS; i++) {
		char comm[NT_COMM_LEN];

		snprintf(comm, sizeof(comm), "job %u", i);
		from = from_task(0, i, NT_TASK_KERNEL, comm);
		number = origins_number(known, &from);
		origins_get(known, number, &o);
		assert_int_equal(o.cpu, 0);
		assert_int_equal(o.pid, 0);
		assert_int_equal(o.comm[0], number <= ORIGINS_OF_COMMS ? '[' : '\0');
	}
	/* Those that have a number keep it; another CPU has one without a process. */
	from = from_task(0, 5, 0, "fio");
	assert_int_equal(origins_number(known, &from), 5);
	from = from_task(1, 5, 0, "fio");
	number = origins_number(known, &from);
	assert_int_not_equal(number, ORIGIN_OTHERS);
	origins_get(known, number, &o);
	assert_int_equal(o.cpu, 1);
	assert_string_equal(o.comm, "");
	origins_free(known);
}

/* trace prints each origin at once. A user who starts many processes hides none of them. */
static void origins_that_pass_have_all_parts(void **state)
{
	struct origins *known = origins_new(true);
	unsigned int number;
	struct nt_from from;
	struct origin o;

	for (unsigned int i = 1; i <= 2 * ORIGIN_OTHERS; i++) {
		char comm[NT_COMM_LEN];

		snprintf(comm, sizeof(comm), "job %u", i);
		from = from_task(i % 8, i, 0, comm);
		number = origins_number(known, &from);
		assert_int_equal(number, (i - 1) % ORIGINS_OF_PIDS + 1);
		assert_int_equal(origins_number(known, &from), number);
		origins_get(known, number, &o);
		assert_int_equal(o.pid, i);
		assert_int_equal(o.cpu, i % 8);
		assert_string_equal(o.comm, comm);
	}
	origins_free(known);
}

/* Of a machine with 128 CPUs, on which a user has made many names and many cgroups. */
static void many_cpus_leave_numbers_for_cgroups(void **state)
{
	struct origins *known = origins_new(false);
	unsigned int number = 0, cgroup = 1u << 31;
	struct nt_from from;
	struct origin o;

	for (unsigned int i = 1; i <= 2 * ORIGIN_OTHERS; i++) {
		char comm[NT_COMM_LEN];

		snprintf(comm, sizeof(comm), "job %u", i);
		from = from_task(0, i, 0, comm);
		origins_number(known, &from);
	}
	for (unsigned int i = 0; i < 32 * 128; i++) {
		from = from_task(i % 128, 5, 0, "fio");
		from.cgroup = cgroup + i / 128;
		number = origins_number(known, &from);
		origins_get(known, number, &o);
		assert_int_not_equal(number, ORIGIN_OTHERS);
		assert_string_equal(o.comm, "");
		assert_int_equal(o.cpu, number <= ORIGINS_OF_CPUS ? i % 128 : ORIGIN_NO_CPU);
	}
	for (unsigned int i = 32; i < ORIGIN_OTHERS; i++) {
		from.cgroup = cgroup + i;
		number = origins_number(known, &from);
	}
	assert_int_equal(number, ORIGIN_OTHERS);
	origins_get(known, number, &o);
	assert_int_equal(o.pid, 0);
	origins_free(known);
}

#define ID64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void a_cgroup_says_which_container_it_is_of(void **state)
{
	static const char *const of[][2] = {
		{"/system.slice/docker-" ID64 ".scope", "0123456789ab"},
		{"/docker/" ID64, "0123456789ab"},
		{"/docker/" ID64 "/init.scope", "0123456789ab"},
		{"/machine.slice/libpod-" ID64 ".scope/container", "0123456789ab"},
		{"/kubepods.slice/kubepods-burstable.slice/"
		 "kubepods-burstable-pod1a2b3c4d_0000_1111_2222_333344445555.slice/"
		 "cri-containerd-" ID64 ".scope",
		 "0123456789ab"},
		{"/kubepods.slice/kubepods-pod1a2b3c4d_0000_1111_2222_333344445555.slice/"
		 "crio-" ID64 ".scope",
		 "0123456789ab"},
		{"/kubepods/besteffort/pod1a2b3c4d-0000-1111-2222-333344445555/" ID64,
		 "0123456789ab"},
		{"/kubepods.slice/kubepods-pod1a2b3c4d_0000_1111_2222_333344445555.slice",
		 "pod1a2b3c4d"},
		{"/kubepods/pod1a2b3c4d-0000-1111-2222-333344445555", "pod1a2b3c4d"},
		/* One inside of another. */
		{"/docker/" ID64 "/docker/f" ID64 "x", "0123456789ab"},
		{"/docker/" ID64 "/system.slice/docker-ff" ID64 "ff.scope", "0123456789ab"},
		{"/docker/" ID64 "/kubepods/pod1a2b3c4d-0000-1111-2222-333344445555",
		 "pod1a2b3c4d"},
		/* What watches a container is none. */
		{"/system.slice/crio-conmon-" ID64 ".scope", ""},
		{"/system.slice/docker-" ID64 ".service", ""},
		{"/system.slice/docker-" ID64 "0.scope", ""},
		{"/system.slice/docker-0123456789ab.scope", ""},
		{"/kubepods.slice", ""},
		{"/kubepods/podman", ""},
		{"/tripod1a2b3c4d-", ""},
		{"/pod1a2b3c4d5-", ""},
		{"/", ""},
		{"//", ""},
		{"", ""},
		{"(others)", ""},
		{"cgroup 77", ""},
	};
	char name[CONTAINER_LEN];

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		memset(name, 'x', sizeof(name));
		cgroup_container(of[i][0], name);
		if (strcmp(name, of[i][1]) != 0)
			fail_msg("%s: '%s'", of[i][0], name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_that_below_the_mount),
		cmocka_unit_test(a_cgroup_has_those_below_it),
		cmocka_unit_test(what_is_none_is_told),
		cmocka_unit_test(each_origin_that_has_a_number_is_found_by_it),
		cmocka_unit_test(a_cgroup_says_which_container_it_is_of),
		cmocka_unit_test(an_origin_has_its_process),
		cmocka_unit_test(many_processes_leave_numbers_for_cpus),
		cmocka_unit_test(origins_that_pass_have_all_parts),
		cmocka_unit_test(many_cpus_leave_numbers_for_cgroups),
	};

	return cmocka_run_group_tests_name("cgroup", tests, NULL, NULL);
}
