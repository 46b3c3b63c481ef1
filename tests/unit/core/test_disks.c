// SPDX-License-Identifier: GPL-2.0-only
/* Who uses the disks behind a target: rows, and what becomes of them when there are too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/disks.h"

#include "in_range.h"

static void add(struct disk_rows *d, const char *disk, enum disk_user user, const char *who,
		uint64_t ns)
{
	const struct nt_disk_use use = {.requests = 1, .bytes = 512, .ns = ns};

	assert_int_equal(disk_rows_add(d, disk, user, who, &use), 0);
}

static const struct disk_row *row(const struct disk_rows *d, const char *disk, enum disk_user user,
				  const char *who)
{
	for (size_t i = 0; i < d->nr; i++)
		if (!strcmp(d->row[i].disk, disk) && d->row[i].user == user &&
		    !strcmp(d->row[i].who, who))
			return &d->row[i];
	return NULL;
}

static uint64_t requests(const struct disk_rows *d)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->nr; i++)
		n += d->row[i].total.requests;
	return n;
}

static void rows_are_of_a_disk_and_a_user(void **state)
{
	struct disk_rows d = {.asked = true};

	add(&d, "sdb", DISK_HOST, "nqn.a", 30);
	add(&d, "sda", DISK_CGROUP, "/backup", 10);
	add(&d, "sda", DISK_HOST, "nqn.a", 60);
	disk_rows_end(&d);
	disk_rows_begin(&d, 1700000000000);
	add(&d, "sda", DISK_HOST, "nqn.a", 20);
	add(&d, "sda", DISK_KERNEL, "", 5);
	disk_rows_end(&d);
	assert_int_equal(d.nr, 4);
	assert_int_equal(row(&d, "sda", DISK_HOST, "nqn.a")->total.ns, 80);
	assert_int_equal(row(&d, "sda", DISK_HOST, "nqn.a")->interval.ns, 20);
	assert_int_equal(row(&d, "sda", DISK_HOST, "nqn.a")->of_interval, 25);
	assert_int_equal(row(&d, "sda", DISK_CGROUP, "/backup")->of_total, 95);
	assert_int_equal(row(&d, "sda", DISK_CGROUP, "/backup")->interval.requests, 0);
	assert_int_equal(row(&d, "sdb", DISK_HOST, "nqn.a")->of_total, 30);
	/* By disk, kind and name. */
	assert_string_equal(d.row[0].who, "nqn.a");
	assert_string_equal(d.row[1].who, "/backup");
	assert_int_equal(d.row[2].user, DISK_KERNEL);
	assert_string_equal(d.row[3].disk, "sdb");
	disk_rows_free(&d);
	assert_int_equal(d.nr, 0);
}

static void the_quietest_row_gives_way_to_a_new_one(void **state)
{
	struct disk_rows d = {0};
	char who[32];

	for (int i = 0; i < DISK_ROWS_MAX; i++) {
		snprintf(who, sizeof(who), "/%d", i);
		add(&d, "sda", DISK_CGROUP, who, 1);
	}
	disk_rows_begin(&d, 1700000000000);
	for (int i = 0; i < DISK_ROWS_MAX; i++) {
		snprintf(who, sizeof(who), "/%d", i);
		if (i != 7)
			add(&d, "sda", DISK_CGROUP, who, 1);
	}
	disk_rows_begin(&d, 1700000000000);
	disk_rows_begin(&d, 1700000000000);
	add(&d, "sdb", DISK_HOST, "nqn.new", 1);
	assert_null(row(&d, "sda", DISK_CGROUP, "/7"));
	assert_int_equal(row(&d, "sda", DISK_GONE, "")->total.requests, 1);
	assert_int_equal(row(&d, "sda", DISK_GONE, "")->interval.requests, 0);
	assert_int_equal(row(&d, "sdb", DISK_HOST, "nqn.new")->total.requests, 1);
	assert_int_equal(row(&d, "sdb", DISK_HOST, "nqn.new")->created_ms, 1700000000000);
	assert_int_equal(row(&d, "sda", DISK_CGROUP, "/8")->created_ms, 0);
	assert_int_equal(d.limited, DISK_ROWS_MAX);
	assert_int_equal(d.nr, DISK_ROWS_MAX + 1);
	assert_int_equal(requests(&d), 2 * DISK_ROWS_MAX);
	disk_rows_free(&d);
}

static void a_row_that_counts_again_stays(void **state)
{
	struct disk_rows d = {0};
	char who[32];

	for (int interval = 0; interval < 3; interval++) {
		for (int i = 0; i < DISK_ROWS_MAX; i++) {
			snprintf(who, sizeof(who), "/%d", i);
			if (!interval || i > interval)
				add(&d, "sda", DISK_CGROUP, who, 1);
		}
		disk_rows_begin(&d, 1700000000000);
	}
	/* Three are quiet, /0 and /1 for longer than /2. */
	add(&d, "sda", DISK_CGROUP, "/0", 1);
	add(&d, "sda", DISK_CGROUP, "/1", 1);
	add(&d, "sda", DISK_CGROUP, "/new", 1);
	for (int i = 0; i < 2; i++) {
		snprintf(who, sizeof(who), "/%d", i);
		assert_non_null(row(&d, "sda", DISK_CGROUP, who));
		assert_int_equal(row(&d, "sda", DISK_CGROUP, who)->interval.requests, 1);
	}
	assert_null(row(&d, "sda", DISK_CGROUP, "/2"));
	disk_rows_free(&d);
}

static void those_past_the_most_are_together_while_none_is_quiet(void **state)
{
	struct disk_rows d = {0};
	char who[32];

	for (int i = 0; i < DISK_ROWS_MAX + 20; i++) {
		snprintf(who, sizeof(who), "/%d", i);
		add(&d, i & 1 ? "sda" : "sdb", DISK_CGROUP, who, 1);
	}
	/* The block layer's own has a row whatever there is. */
	add(&d, "sda", DISK_KERNEL, "", 1);
	assert_int_equal(row(&d, "sda", DISK_OTHERS, "")->total.requests, 10);
	assert_int_equal(row(&d, "sdb", DISK_OTHERS, "")->total.requests, 10);
	assert_int_equal(row(&d, "sda", DISK_KERNEL, "")->total.requests, 1);
	assert_int_equal(requests(&d), DISK_ROWS_MAX + 21);
	disk_rows_free(&d);
}

/* @n users that are there once, a second each. Return: how many rows gave way */
static uint64_t come_once(struct disk_rows *d, enum disk_user user, unsigned int *users,
			  unsigned int n)
{
	const struct disk_row *gone = row(d, "sda", DISK_GONE, "");
	uint64_t before = gone ? gone->total.requests : 0;

	for (unsigned int i = 0; i < n; i++) {
		char who[32];

		snprintf(who, sizeof(who), "/run-%u.scope", ++*users);
		disk_rows_begin(d, d->since_ms + 1000);
		add(d, "sda", user, who, 1);
	}
	gone = row(d, "sda", DISK_GONE, "");
	return (gone ? gone->total.requests : 0) - before;
}

/* A scraper keeps each that it has seen for hours. */
static void users_that_come_once_have_so_many_rows_an_hour(void **state)
{
	struct disk_rows d = {0};
	unsigned int users = 0;

	disk_rows_begin(&d, 1700000000000);
	assert_int_equal(come_once(&d, DISK_CGROUP, &users, 3600), 3600 - DISK_ROWS_MAX);
	disk_rows_hourly(&d);
	/* In the first second as many as may give way at a time still may. */
	assert_int_equal(come_once(&d, DISK_CGROUP, &users, 3600), 2 * DISK_ROWS_MAX - 1);
	assert_int_equal(come_once(&d, DISK_CGROUP, &users, 3600), DISK_ROWS_MAX);
	/* Cgroups take no room from hosts. */
	assert_int_equal(come_once(&d, DISK_HOST, &users, 10), 10);
	assert_int_equal(requests(&d), users);
	disk_rows_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_of_a_disk_and_a_user),
		cmocka_unit_test(the_quietest_row_gives_way_to_a_new_one),
		cmocka_unit_test(a_row_that_counts_again_stays),
		cmocka_unit_test(those_past_the_most_are_together_while_none_is_quiet),
		cmocka_unit_test(users_that_come_once_have_so_many_rows_an_hour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
