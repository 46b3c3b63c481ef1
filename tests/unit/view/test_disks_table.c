// SPDX-License-Identifier: GPL-2.0-only
/* Who uses the disks behind a target: the table of an interval and of the whole run, and JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "view/disks_table.h"
#include "view/json_block.h"

static struct stats s;
static char text[2048];

static void add(const char *disk, enum disk_user user, const char *who, uint64_t requests,
		uint64_t ms)
{
	const struct nt_disk_use use = {
		.requests = requests, .bytes = requests * 4096, .ns = ms * 1000000};

	assert_int_equal(disk_rows_add(&s.disks, disk, user, who, &use), 0);
}

/* Two intervals, of two seconds. */
static int set_up(void **state)
{
	s = (struct stats){.side = NT_TARGET, .seconds = 2, .elapsed = 4, .disks.asked = true};
	add("sda", DISK_CGROUP, "/backup", 100, 1000);
	disk_rows_end(&s.disks);
	disk_rows_begin(&s.disks, 1700000000000);
	add("sda", DISK_HOST, "nqn.a", 300, 3000);
	add("sda", DISK_KERNEL, "", 10, 1000);
	add("sdb", DISK_HOST, "nqn.a", 50, 100);
	disk_rows_end(&s.disks);
	return 0;
}

static int tear_down(void **state)
{
	stats_free(&s);
	return 0;
}

static const char *printed(bool summary, unsigned int width)
{
	FILE *f = fmemopen(text, sizeof(text), "w");

	assert_non_null(f);
	disks_print(&s, summary, f, width);
	fclose(f);
	return text;
}

static void an_interval_has_those_who_did_something(void **state)
{
	assert_string_equal(printed(false, 100),
			    "disk    share  in flight  in device  IOPS  MB/s  by      who  \n"
			    "sda    75.0 %       1.50     10.0ms   150  0.61  host    nqn.a\n"
			    "sda    25.0 %       0.50      100ms  5.00  0.02  kernel  -    \n"
			    "sdb   100.0 %       0.05     2.00ms  25.0  0.10  host    nqn.a\n");
}

static void the_summary_has_all(void **state)
{
	assert_string_equal(printed(true, 100),
			    "disk    share  in flight  in device  IOPS  MB/s  by      who    \n"
			    "sda    60.0 %       0.75     10.0ms  75.0  0.31  host    nqn.a  \n"
			    "sda    20.0 %       0.25     10.0ms  25.0  0.10  cgroup  /backup\n"
			    "sda    20.0 %       0.25      100ms  2.50  0.01  kernel  -      \n"
			    "sdb   100.0 %       0.03     2.00ms  12.5  0.05  host    nqn.a  \n");
}

static void a_narrow_terminal_has_the_shares(void **state)
{
	assert_null(strstr(printed(true, 50), "MB/s"));
	assert_non_null(strstr(text, "share"));
	assert_non_null(strstr(text, "/backup"));
}

static void no_disk_is_said(void **state)
{
	disk_rows_free(&s.disks);
	s.disks.asked = true;
	assert_string_equal(printed(false, 80),
			    "no disk is used: one counts from a host's first command to it on\n");
}

static void json_has_the_figures(void **state)
{
	struct json_object *o = json_block(&s, true, false, NULL, NULL), *rows, *row, *value;

	assert_true(json_object_object_get_ex(o, "disks", &rows));
	assert_int_equal(json_object_array_length(rows), 4);
	row = json_object_array_get_idx(rows, 1);
	assert_true(json_object_object_get_ex(row, "who", &value));
	assert_string_equal(json_object_get_string(value), "/backup");
	assert_true(json_object_object_get_ex(row, "by", &value));
	assert_string_equal(json_object_get_string(value), "cgroup");
	assert_true(json_object_object_get_ex(row, "requests", &value));
	assert_int_equal(json_object_get_int64(value), 100);
	assert_true(json_object_object_get_ex(row, "bytes", &value));
	assert_int_equal(json_object_get_int64(value), 409600);
	assert_true(json_object_object_get_ex(row, "time", &value));
	assert_int_equal(json_object_get_int64(value), 1000000000);
	json_object_put(o);
	s.disks.asked = false;
	o = json_block(&s, true, false, NULL, NULL);
	assert_false(json_object_object_get_ex(o, "disks", &rows));
	json_object_put(o);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_interval_has_those_who_did_something),
		TEST(the_summary_has_all),
		TEST(a_narrow_terminal_has_the_shares),
		TEST(no_disk_is_said),
		TEST(json_has_the_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
