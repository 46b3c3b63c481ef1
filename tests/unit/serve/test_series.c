// SPDX-License-Identifier: GPL-2.0-only
/* Which label sets have series of their own, which ones give way, and that no counts are lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "serve/series.h"

#define MAX 16

static int begin(void **state)
{
	*state = series_new(MAX, SERIES_BYTES_MAX, "others", "gone", 1000);
	if (*state)
		series_begin(*state, 2000);
	return *state ? 0 : -1;
}

static int end(void **state)
{
	series_free(*state);
	return 0;
}

static struct series_group *group(struct series_table *t, unsigned int i)
{
	struct series_group *g;
	char labels[16];
	uint32_t at;

	snprintf(labels, sizeof(labels), "%u", i);
	g = series_group(t, labels, 0, &at);
	assert_non_null(g);
	assert_ptr_equal(series_group_at(t, at, g->id), g);
	return g;
}

static struct series *count(struct series_table *t, unsigned int i, enum nt_op op, uint64_t n)
{
	struct series *s = series_count(t, group(t, i), op);

	s->all.commands += n;
	return s;
}

static const struct series_group *last_group(struct series_table *t, const char *labels)
{
	const struct series_group *g;
	size_t at = 0;

	while ((g = series_next(t, &at)) && strcmp(g->labels, labels) != 0)
		;
	assert_non_null(g);
	return g;
}

static uint64_t sum(struct series_table *t)
{
	const struct series_group *g;
	uint64_t n = 0;
	size_t at = 0;

	while ((g = series_next(t, &at)))
		for (unsigned int op = 0; op < NT_OPS_NR; op++)
			n += g->of[op] ? g->of[op]->all.commands : 0;
	return n;
}

static void one_more_than_the_most_is_of_the_others(void **state)
{
	struct series_table *t = *state;

	for (unsigned int i = 0; i < MAX; i++)
		assert_ptr_not_equal(count(t, i, NT_OP_READ, 1), series_others(t)->of[NT_OP_READ]);
	assert_int_equal(series_folded(t), 0);
	assert_ptr_equal(count(t, MAX, NT_OP_READ, 1), series_others(t)->of[NT_OP_READ]);
	assert_int_equal(series_folded(t), 1);
	assert_int_equal(sum(t), MAX + 1);
}

static void reads_displace_admin_commands_and_these_nobody(void **state)
{
	struct series_table *t = *state;

	for (unsigned int i = 0; i < MAX; i++)
		count(t, i, NT_OP_ADMIN, 3);
	assert_non_null(group(t, 0)->of[NT_OP_ADMIN]);
	assert_ptr_equal(count(t, MAX, NT_OP_ADMIN, 1), series_others(t)->of[NT_OP_ADMIN]);
	assert_ptr_not_equal(count(t, MAX, NT_OP_READ, 1), series_others(t)->of[NT_OP_READ]);
	/*
	 * The series gives way and continues under the others. Its old counts move to those that
	 * are gone, so rates neither jump nor fall.
	 */
	assert_int_equal(last_group(t, "gone")->of[NT_OP_ADMIN]->all.commands, 3);
	assert_int_equal(series_others(t)->of[NT_OP_ADMIN]->all.commands, 1);
	assert_int_equal(series_folded(t), 2);
	assert_int_equal(sum(t), MAX * 3 + 2);
}

/* Errors of this collection are still held. Earlier ones have been added to the count. */
static void errors_of_what_gives_way_are_kept(void **state)
{
	struct series_table *t = *state;
	const struct series *gone;
	struct series *s;

	count(t, 0, NT_OP_ADMIN, 5)->told = true;
	assert_int_equal(series_error(t, count(t, 0, NT_OP_ADMIN, 0), 2, 2), 0);
	series_begin(t, 3000);
	s = count(t, 0, NT_OP_ADMIN, 7);
	assert_int_equal(s->errors, 2);
	s->told = false;
	assert_int_equal(series_error(t, s, 2, 3), 0);
	assert_int_equal(s->errors, 2);
	for (unsigned int i = 1; i <= MAX; i++)
		count(t, i, NT_OP_READ, 1);
	assert_null(group(t, 0)->of[NT_OP_ADMIN]);
	gone = last_group(t, "gone")->of[NT_OP_ADMIN];
	assert_int_equal(gone->errors, 2 + 3);
	assert_int_equal(gone->nr_status, 1);
	assert_int_equal(gone->status[0].n, 2 + 3);
}

/*
 * Two collections without a row are needed, as the rows of a collection are found one after the
 * other.
 */
static void dead_ones_give_way_the_longest_dead_first(void **state)
{
	struct series_table *t = *state;

	for (unsigned int i = 0; i < MAX; i++)
		count(t, i, NT_OP_READ, 1 + i);
	for (unsigned int k = 0; k < 3; k++) {
		series_begin(t, 3000 + k);
		for (unsigned int i = 2; i < MAX; i++)
			if (k == 0 || i > 2)
				group(t, i);
		if (k == 0)
			group(t, 1);
	}
	assert_ptr_not_equal(count(t, 100, NT_OP_ADMIN, 1), series_others(t)->of[NT_OP_ADMIN]);
	assert_int_equal(last_group(t, "gone")->of[NT_OP_READ]->all.commands, 1);
	assert_ptr_not_equal(count(t, 101, NT_OP_ADMIN, 1), series_others(t)->of[NT_OP_ADMIN]);
	assert_ptr_not_equal(count(t, 102, NT_OP_ADMIN, 1), series_others(t)->of[NT_OP_ADMIN]);
	assert_ptr_equal(count(t, 103, NT_OP_ADMIN, 1), series_others(t)->of[NT_OP_ADMIN]);
	assert_int_equal(last_group(t, "gone")->of[NT_OP_READ]->all.commands, 1 + 2 + 3);
	assert_int_equal(sum(t), MAX * (MAX + 1) / 2 + 4);
}

/* In an outage other hosts come and only connect. Reads of the host that was cut off stay. */
static void dead_reads_give_way_after_the_rest_of_the_dead(void **state)
{
	struct series_table *t = *state;

	count(t, 0, NT_OP_READ, 1);
	for (unsigned int k = 0; k < 3; k++)
		series_begin(t, 3000 + k);
	for (unsigned int i = 1; i < MAX; i++)
		count(t, i, NT_OP_FABRICS, 1);
	for (unsigned int k = 0; k < 3; k++)
		series_begin(t, 4000 + k);
	for (unsigned int i = 1; i < MAX; i++)
		count(t, MAX + i, NT_OP_FABRICS, 1);
	assert_int_equal(last_group(t, "gone")->of[NT_OP_READ]->all.commands, 0);
	count(t, 2 * MAX, NT_OP_FABRICS, 1);
	assert_int_equal(last_group(t, "gone")->of[NT_OP_READ]->all.commands, 1);
	assert_int_equal(sum(t), 2 * MAX);
}

/* Empty groups are freed, so a million of them need no more memory than one. */
static void groups_without_rows_and_series_are_freed(void **state)
{
	struct series_table *t = *state;
	const struct series_group *g;
	unsigned int n = 0;
	size_t at = 0;

	for (unsigned int i = 0; i < MAX; i++)
		count(t, i, NT_OP_READ, 1);
	for (unsigned int k = 0; k < 1000; k++) {
		series_begin(t, 3000 + k);
		for (unsigned int i = 0; i < MAX; i++)
			group(t, i);
		count(t, 100 + k, NT_OP_FABRICS, 1);
	}
	while ((g = series_next(t, &at)))
		n++;
	assert_true(n <= MAX + 4);
	assert_int_equal(series_others(t)->of[NT_OP_FABRICS]->all.commands, 1000);
}

static void statuses_past_the_most_are_other(void **state)
{
	struct series_table *t = *state;
	struct series *s = count(t, 0, NT_OP_READ, 0);

	for (uint16_t i = 1; i <= 2 * SERIES_STATUSES_MAX; i++)
		assert_int_equal(series_error(t, s, i, 1), 0);
	assert_int_equal(s->nr_status, SERIES_STATUSES_MAX);
	assert_int_equal(s->status[SERIES_STATUSES_MAX - 2].status, SERIES_STATUSES_MAX - 1);
	assert_int_equal(s->status[SERIES_STATUSES_MAX - 1].status, ERRORS_OTHER);
	assert_int_equal(s->status[SERIES_STATUSES_MAX - 1].n, SERIES_STATUSES_MAX + 1);
}

/* Labels of strangers may be long. What has no room is counted all the same. */
static void series_and_statuses_have_room_by_their_bytes(void **state)
{
	char labels[1000];
	struct series_table *t;
	struct series_group *g;
	struct series *s;
	uint32_t at;

	series_free(*state);
	*state = t = series_new(MAX, 132000, "others", "gone", 1000);
	series_begin(t, 2000);
	memset(labels, 'l', sizeof(labels));
	labels[sizeof(labels) - 1] = '\0';
	for (unsigned int i = 0; i < MAX; i++) {
		labels[0] = (char)('a' + i);
		g = series_group(t, labels, 0, &at);
		s = series_count(t, g, NT_OP_READ);
		s->all.commands++;
	}
	assert_int_equal(series_folded(t), MAX - 3);
	assert_int_equal(series_others(t)->of[NT_OP_READ]->all.commands, MAX - 3);
	/* What is worth less gives way to as many as have its room. */
	series_begin(t, 3000);
	series_begin(t, 4000);
	for (unsigned int i = 0; i < MAX; i++)
		count(t, i, NT_OP_READ, 1);
	assert_int_equal(series_folded(t), 0);
	assert_int_equal(sum(t), 2 * MAX);
	for (uint16_t i = 1; i < SERIES_STATUSES_MAX; i++)
		for (unsigned int k = 0; k < MAX; k++)
			assert_int_equal(series_error(t, count(t, k, NT_OP_READ, 0), i, 1), 0);
	s = count(t, MAX - 1, NT_OP_READ, 0);
	assert_in_range(s->nr_status, 2, SERIES_STATUSES_MAX - 1);
	assert_int_equal(s->status[s->nr_status - 1].status, ERRORS_OTHER);
	assert_int_equal(s->status[s->nr_status - 1].n, SERIES_STATUSES_MAX - s->nr_status);
}

/* New hosts in each of @collections, a second apart. Return: how many had a series of their own. */
static unsigned int come_and_go(struct series_table *t, uint64_t *ms, unsigned int *host,
				enum nt_op op, unsigned int collections)
{
	unsigned int own = 0;

	for (unsigned int k = 0; k < collections; k++) {
		series_begin(t, *ms += 1000);
		for (unsigned int i = 0; i < 3; i++)
			own += count(t, ++*host, op, 1) != series_others(t)->of[op];
	}
	return own;
}

/* A scraper keeps what it has seen for hours. */
static void hosts_that_come_once_have_so_many_series_an_hour(void **state)
{
	struct series_table *t = *state;
	unsigned int host = 0;
	uint64_t ms = 2000;

	assert_int_equal(come_and_go(t, &ms, &host, NT_OP_FABRICS, 200), MAX + MAX);
	assert_int_equal(series_folded(t), 6);
	/* Who reads has room all the same, and a limit as well. */
	assert_int_equal(come_and_go(t, &ms, &host, NT_OP_READ, 20), MAX);
	assert_int_equal(come_and_go(t, &ms, &host, NT_OP_FABRICS, 3600), MAX);
	ms -= 100000;
	series_begin(t, ms);
	assert_int_equal(come_and_go(t, &ms, &host, NT_OP_READ, 200), MAX);
	assert_int_equal(sum(t), host);
}

/* Hosts that only connect have none yet. */
static void unused_reads_do_not_displace_flushes(void **state)
{
	struct series_table *t = *state;
	char labels[16];
	uint32_t at;

	for (unsigned int i = 0; i < MAX; i++)
		count(t, i, NT_OP_FLUSH, 5);
	for (unsigned int i = 100; i < 100 + MAX / 2; i++) {
		snprintf(labels, sizeof(labels), "%u", i);
		series_group(t, labels, 1u << NT_OP_READ | 1u << NT_OP_WRITE, &at);
	}
	for (unsigned int i = 0; i < MAX; i++)
		assert_non_null(group(t, i)->of[NT_OP_FLUSH]);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(one_more_than_the_most_is_of_the_others),
		TEST(reads_displace_admin_commands_and_these_nobody),
		TEST(errors_of_what_gives_way_are_kept),
		TEST(dead_ones_give_way_the_longest_dead_first),
		TEST(dead_reads_give_way_after_the_rest_of_the_dead),
		TEST(groups_without_rows_and_series_are_freed),
		TEST(statuses_past_the_most_are_other),
		TEST(series_and_statuses_have_room_by_their_bytes),
		TEST(hosts_that_come_once_have_so_many_series_an_hour),
		TEST(unused_reads_do_not_displace_flushes),
	};

	return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}
