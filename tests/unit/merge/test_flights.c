// SPDX-License-Identifier: GPL-2.0-only
/* How many commands of a group were in flight when one began. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "merge/groups.h"

static struct {
	struct flights f;
	struct flights_group one, other;
	struct flights_seen by_all, by_one, by_other;
} m;

static int setup(void **state)
{
	memset(&m, 0, sizeof(m));
	m.f.seen = &m.by_all;
	return 0;
}

static int teardown(void **state)
{
	flights_free(&m.f);
	flights_group_free(&m.one);
	flights_group_free(&m.other);
	assert_null(m.f.wait);
	assert_null(m.f.all.end);
	return 0;
}

static void add(uint64_t begin, uint64_t end)
{
	const struct flight c = {begin, end, &m.one, &m.by_one, 0, 0};

	assert_int_equal(flights_add(&m.f, &c), 0);
}

static void add_other(uint64_t begin, uint64_t end)
{
	const struct flight c = {begin, end, &m.other, &m.by_other, 0, 0};

	assert_int_equal(flights_add(&m.f, &c), 0);
}

static void assert_seen(const struct flights_seen *s, uint64_t count, uint64_t sum, uint64_t most)
{
	assert_int_equal(s->count, count);
	assert_int_equal(s->sum, sum);
	assert_int_equal(s->most, most);
}

/* They come in the order in which they end. */
static void a_command_sees_those_that_have_not_ended(void **state)
{
	add(20, 25); /* sees the two below */
	add(10, 30);
	add(15, 30);
	add(30, 35); /* those have ended when this begins */
	add(31, 40);
	assert_seen(&m.by_all, 0, 0, 0);
	assert_int_equal(flights_finish(&m.f), 0);
	assert_seen(&m.by_all, 5, 1 + 2 + 3 + 1 + 2, 3);
	assert_seen(&m.by_one, 5, 9, 3);
	assert_int_equal(m.f.late, 0);
}

static void a_group_sees_its_own(void **state)
{
	add(10, 100);
	add_other(20, 100);
	add(30, 100);
	add_other(40, 100);
	assert_int_equal(flights_finish(&m.f), 0);
	assert_seen(&m.by_all, 4, 1 + 2 + 3 + 4, 4);
	assert_seen(&m.by_one, 2, 1 + 2, 2);
	assert_seen(&m.by_other, 2, 1 + 2, 2);
}

/* Only commands that began before are counted. One that comes too late for that is reported. */
static void counting_goes_on_until_a_time(void **state)
{
	add(10, 100);
	add(20, 100);
	add(30, 100);
	assert_int_equal(flights_until(&m.f, 20), 0);
	assert_seen(&m.by_all, 1, 1, 1);
	assert_int_equal(flights_until(&m.f, 21), 0);
	assert_seen(&m.by_all, 2, 3, 2);
	assert_int_equal(m.f.frontier, 20);
	add(20, 100);
	assert_int_equal(m.f.late, 0);
	add(19, 100);
	assert_int_equal(m.f.late, 1);
	assert_int_equal(flights_finish(&m.f), 0);
	assert_seen(&m.by_all, 4, 1 + 2 + 3 + 4, 4);
}

/* When no more can wait, the one that began first is counted. */
static void as_many_wait_as_there_is_room_for(void **state)
{
	for (uint64_t i = 0; i < FLIGHTS_MAX; i++)
		add(1000 + i, 1001 + i);
	assert_seen(&m.by_all, 0, 0, 0);
	add(1000 + FLIGHTS_MAX, 2000 + FLIGHTS_MAX);
	assert_seen(&m.by_all, 1, 1, 1);
	assert_int_equal(m.f.frontier, 1000);
	assert_int_equal(m.f.nr, FLIGHTS_MAX);
	/* This one began before all that wait, and had no room either. */
	add(999, 5000);
	assert_int_equal(m.f.late, 1);
	/* And this one before the next one that is counted for it. */
	add(1000, 5000);
	assert_int_equal(m.f.late, 2);
	assert_int_equal(flights_finish(&m.f), 0);
	assert_seen(&m.by_all, FLIGHTS_MAX + 1, FLIGHTS_MAX + 1, 1);
}

/* Ends in no order at all, against a count by comparing each with each. */
static void many_are_counted_as_by_hand(void **state)
{
	enum { MANY = 600 };
	uint64_t begin[MANY], end[MANY], sum = 0, most = 0;
	uint32_t random = 1;

	for (unsigned int i = 0; i < MANY; i++) {
		random = random * 1664525 + 1013904223;
		begin[i] = 1000 + (random >> 16) % 5000 * MANY + i;
		random = random * 1664525 + 1013904223;
		end[i] = begin[i] + 1 + (random >> 12) % 300000;
		add(begin[i], end[i]);
	}
	for (unsigned int i = 0; i < MANY; i++) {
		uint64_t n = 0;

		for (unsigned int k = 0; k < MANY; k++)
			n += begin[k] <= begin[i] && end[k] > begin[i];
		sum += n;
		most = n > most ? n : most;
	}
	assert_int_equal(flights_finish(&m.f), 0);
	assert_seen(&m.by_all, MANY, sum, most);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_command_sees_those_that_have_not_ended),
		TEST(a_group_sees_its_own),
		TEST(counting_goes_on_until_a_time),
		TEST(as_many_wait_as_there_is_room_for),
		TEST(many_are_counted_as_by_hand),
	};

	return cmocka_run_group_tests_name("commands in flight", tests, NULL, NULL);
}
