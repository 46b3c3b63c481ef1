// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths of cgroups as users write them, which cgroup is inside which, which does not exist on this
 * machine, and origins by number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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
	struct origins *known = origins_new();
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_that_below_the_mount),
		cmocka_unit_test(a_cgroup_has_those_below_it),
		cmocka_unit_test(what_is_none_is_told),
		cmocka_unit_test(each_origin_that_has_a_number_is_found_by_it),
	};

	return cmocka_run_group_tests_name("cgroup", tests, NULL, NULL);
}
