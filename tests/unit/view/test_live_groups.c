// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups of a live view that come from records: in an interval, in the run, beyond the limit, and
 * in each format.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "merge/groups.h"
#include "view/groups.h"
#include "view/visible_rows.h"

#define US 1000ULL

static const struct group_by by_size = {.nr = 1, .key = {GROUP_SIZE}};

static struct nt_record read_of(uint32_t bytes, uint64_t latency)
{
	struct nt_record r = {.side = NT_HOST, .op = NT_OP_READ, .length = bytes};

	r.points[NT_H_SUBMIT] = 1000000;
	r.points[NT_H_COMPLETE] = 1000000 + latency;
	return r;
}

static void add(struct live_groups *t, const struct nt_record *r)
{
	struct group_name name;

	memset(&name, 0, sizeof(name));
	name.op = r->op;
	name.size = r->length;
	name.queue = 7;
	name.status = r->status;
	assert_int_equal(live_groups_add(t, &name, r), 0);
}

/*
 * Ends an interval. @oldest_ns: how long the oldest command has been in flight, 0 if there is none
 */
static void interval(struct live_groups *t, uint64_t at_ns, uint64_t oldest_ns)
{
	struct stats_row row = {.waiting = {.commands = oldest_ns != 0, .oldest_ns = oldest_ns}};
	struct stats_row *rows[] = {&row};
	const struct stats s = {.looked_ns = at_ns, .rows = rows, .nr_rows = 1};

	assert_int_equal(live_groups_interval(t, &s), 0);
}

static void an_interval_is_what_came_since_the_last_one(void **state)
{
	struct live_groups *t = live_groups_new(&by_size);
	struct nt_record r = read_of(8192, 20 * US), failed = read_of(4096, 10 * US);

	failed.status = 0x281;
	add(t, &r);
	add(t, &failed);
	/*
	 * The interval's figures appear when the interval is over. Those of the run appear at once.
	 */
	assert_int_equal(live_groups_nr(t), 2);
	assert_int_equal(live_groups_row(t, 0)->name.size, 4096);
	assert_int_equal(live_groups_row(t, 0)->name.queue, 0);
	assert_int_equal(live_groups_row(t, 0)->failed_interval, 0);
	assert_int_equal(live_groups_row(t, 0)->failed_total, 1);
	assert_int_equal(live_groups_row(t, 1)->row.interval.count, 0);
	assert_int_equal(live_groups_row(t, 1)->row.total.count, 1);
	interval(t, 0, 0);
	assert_int_equal(live_groups_row(t, 0)->failed_interval, 1);
	assert_int_equal(live_groups_row(t, 0)->row.interval.count, 0);
	assert_int_equal(live_groups_row(t, 1)->row.interval.count, 1);
	assert_int_equal(live_groups_row(t, 1)->row.interval.bytes, 8192);
	assert_int_equal(live_groups_row(t, 1)->row.interval.max, 20 * US);
	add(t, &r);
	add(t, &r);
	interval(t, 0, 0);
	assert_int_equal(live_groups_row(t, 0)->failed_interval, 0);
	assert_int_equal(live_groups_row(t, 1)->row.interval.count, 2);
	assert_int_equal(live_groups_row(t, 1)->row.total.count, 3);
	interval(t, 0, 0);
	assert_int_equal(live_groups_row(t, 1)->row.interval.count, 0);
	assert_int_equal(live_groups_row(t, 1)->row.total.count, 3);
	live_groups_free(t);
}

static struct nt_record read_from(uint32_t bytes, uint64_t begin, uint64_t end)
{
	struct nt_record r = read_of(bytes, 0);

	r.points[NT_H_SUBMIT] = begin;
	r.points[NT_H_COMPLETE] = end;
	return r;
}

static void assert_seen(const struct flights_seen *s, uint64_t count, uint64_t sum, uint64_t most)
{
	assert_int_equal(s->count, count);
	assert_int_equal(s->sum, sum);
	assert_int_equal(s->most, most);
}

/*
 * Records come when commands end. How many commands were in flight at a command's beginning is
 * known when all that began before it have ended.
 */
static void commands_have_seen_what_was_in_flight(void **state)
{
	const struct nt_record r[] = {
		read_from(4096, 200, 300), /* with the one that began at 100, which ends last */
		read_from(4096, 250, 350), /* with these two as well */
		read_from(8192, 240, 400),   read_from(4096, 100, 900), read_from(4096, 950, 960),
		read_from(8192, 1300, 1310), read_from(8192, 50, 2000),
	};
	struct live_groups *t = live_groups_new(&by_size);
	const struct live_groups_row *small, *large;

	for (size_t i = 0; i < 3; i++)
		add(t, &r[i]);
	/* One command has been in flight since 100. */
	interval(t, 500, 400);
	small = live_groups_row(t, 0);
	assert_seen(&small->seen_interval, 0, 0, 0);
	interval(t, 600, 500);
	assert_seen(&small->seen_interval, 0, 0, 0);
	add(t, &r[3]);
	/*
	 * One command was in flight at the end of the last interval, and none is at the end of this
	 * one.
	 */
	interval(t, 1000, 0);
	assert_seen(&small->seen_interval, 0, 0, 0);
	add(t, &r[4]);
	interval(t, 1100, 0);
	large = live_groups_row(t, 1);
	assert_seen(&small->seen_interval, 4, 1 + 2 + 3 + 1, 3);
	assert_seen(&large->seen_interval, 1, 1, 1);
	assert_seen(live_groups_seen(t, false), 5, 1 + 2 + 3 + 4 + 1, 4);
	interval(t, 1200, 0);
	assert_seen(&small->seen_interval, 0, 0, 0);
	assert_seen(&small->seen_total, 4, 7, 3);
	add(t, &r[5]);
	assert_seen(&large->seen_total, 1, 1, 1);
	assert_int_equal(live_groups_finish(t), 0);
	assert_seen(&large->seen_total, 2, 2, 1);
	assert_seen(live_groups_seen(t, true), 6, 12, 4);
	assert_int_equal(live_groups_late(t), 0);
	/* The command ends after the figures of its time were reported. */
	add(t, &r[6]);
	assert_int_equal(live_groups_late(t), 1);
	live_groups_free(t);
}

/* The columns of a row, of all rows, and of the rows that a filter selects. */
static void in_flight_is_none_where_it_is_not_known(void **state)
{
	static const struct {
		const char *filter;
		uint32_t sample;
		bool row, total;
	} of[] = {{"", 1, true, true}, {"q8", 1, true, false}, {"", 10, false, false}};
	const struct group_by by = {.nr = 1, .key = {GROUP_QUEUE}};
	struct live_groups *t = live_groups_new(&by);
	struct group_choice c = {.grouping.by = by, .live_groups = t};
	struct stats s = {.side = NT_HOST, .seconds = 1, .elapsed = 1, .source = "stock"};
	const struct nt_record r = read_of(4096, 10 * US);
	struct group_name name;

	for (unsigned int i = 0; i < 2; i++) {
		memset(&name, 0, sizeof(name));
		name.queue = (uint16_t)(8 + i);
		assert_int_equal(live_groups_add(t, &name, &r), 0);
	}
	assert_int_equal(live_groups_finish(t), 0);
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct view_state view_state = {.choice = &c};
		struct visible_rows p;

		s.sample = of[i].sample;
		snprintf(view_state.filter, sizeof(view_state.filter), "%s", of[i].filter);
		assert_int_equal(visible_rows_make(&p, &s, &view_state, true), 0);
		assert_int_equal(!!p.row[0].seen, of[i].row);
		assert_int_equal(!!p.total.seen, of[i].total);
		if (of[i].total)
			assert_seen(p.total.seen, 2, 3, 2);
		visible_rows_free(&p);
	}
	live_groups_free(t);
}

/* Grouped by status, failed commands have a latency of their own. */
static void by_status_nothing_failed_beside_it(void **state)
{
	const struct group_by by = {.nr = 1, .key = {GROUP_STATUS}};
	struct live_groups *t = live_groups_new(&by);
	struct nt_record failed = read_of(4096, 10 * US);

	failed.status = 0x281;
	add(t, &failed);
	interval(t, 0, 0);
	assert_int_equal(live_groups_row(t, 0)->row.interval.count, 1);
	assert_int_equal(live_groups_row(t, 0)->failed_interval, 0);
	live_groups_free(t);
}

/* A command without a latency is in no histogram, and has seen none in flight, whatever the key. */
static void a_command_without_a_latency_has_failed_or_has_none(void **state)
{
	const struct group_by by[] = {{.nr = 1, .key = {GROUP_STATUS}}, by_size};

	for (unsigned int i = 0; i < 2; i++) {
		struct live_groups *t = live_groups_new(&by[i]);
		struct nt_record r = read_of(4096, 10 * US);

		memset(r.points, 0, sizeof(r.points));
		r.points[NT_H_COMPLETE] = 1000000;
		r.status = 0x281;
		add(t, &r);
		interval(t, 0, 0);
		assert_int_equal(live_groups_finish(t), 0);
		assert_int_equal(live_groups_row(t, 0)->failed_total, 1);
		assert_int_equal(live_groups_row(t, 0)->row.total.count, 0);
		assert_seen(live_groups_seen(t, true), 0, 0, 0);
		live_groups_free(t);
	}
}

static void a_command_that_was_given_up_has_failed(void **state)
{
	struct live_groups *t = live_groups_new(&by_size);
	struct nt_record r = read_of(4096, 10 * US);

	r.flags = NT_F_CANCELLED;
	add(t, &r);
	add(t, &r);
	interval(t, 0, 0);
	assert_int_equal(live_groups_row(t, 0)->failed_interval, 2);
	interval(t, 0, 0);
	assert_int_equal(live_groups_row(t, 0)->failed_interval, 0);
	assert_int_equal(live_groups_row(t, 0)->failed_total, 2);
	assert_int_equal(live_groups_row(t, 0)->row.total.count, 0);
	live_groups_free(t);
}

/* Commands of no data are a group, and one that has room as well after others had none. */
static void the_others_are_no_group_of_the_same_name(void **state)
{
	struct live_groups *t = live_groups_new(&by_size);

	for (uint32_t i = 0; i <= LIVE_GROUPS_MAX; i++) {
		const struct nt_record r = read_of(512 * i, 10 * US);

		add(t, &r);
	}
	for (unsigned int i = 0; i < 2; i++) {
		const struct nt_record none = read_of(0, 10 * US);

		add(t, &none);
	}
	assert_int_equal(live_groups_nr(t), LIVE_GROUPS_MAX + 1);
	assert_int_equal(live_groups_row(t, 0)->row.total.count, 3);
	assert_int_equal(live_groups_row(t, LIVE_GROUPS_MAX)->row.total.count, 1);
	live_groups_free(t);
}

/* All formats have them with their number, and none is lost. */
static void sizes_past_the_most_are_others(void **state)
{
	struct live_groups *t = live_groups_new(&by_size);
	struct group_choice c = {.grouping.by = by_size, .live_groups = t};
	const struct view_state view_state = {.choice = &c};
	const struct stats s = {.side = NT_HOST, .seconds = 1, .elapsed = 1, .source = "stock"};
	struct json_object *o;
	char *text = NULL;
	struct visible_rows p;
	size_t size;
	FILE *f;

	for (uint32_t i = 0; i < LIVE_GROUPS_MAX + 50; i++) {
		const struct nt_record r = read_of(512 * (i + 1), 10 * US);

		add(t, &r);
	}
	interval(t, 0, 0);
	assert_int_equal(live_groups_nr(t), LIVE_GROUPS_MAX + 1);
	assert_int_equal(live_groups_row(t, LIVE_GROUPS_MAX)->row.total.count, 50);
	for (unsigned int summary = 0; summary < 2; summary++) {
		assert_int_equal(visible_rows_make(&p, &s, &view_state, summary), 0);
		assert_int_equal(p.nr, LIVE_GROUPS_MAX + 1);
		assert_int_equal(p.total.all.commands, LIVE_GROUPS_MAX + 50);
		assert_int_equal(p.row[p.nr - 1].group->kind, GROUP_OTHERS);
		assert_int_equal(p.row[p.nr - 1].all.commands, 50);
		visible_rows_free(&p);
	}
	o = groups_output_json(&s, true, &c);
	assert_non_null(strstr(json_object_to_json_string(o), "\"commands\": 50"));
	json_object_put(o);
	f = open_memstream(&text, &size);
	assert_int_equal(groups_output_csv(f, &s, true, &c, true), 0);
	fclose(f);
	assert_non_null(strstr(text, ",50,50,0,"));
	free(text);
	live_groups_free(t);
}

/* A command that is not in the sample has no record, even where it is counted. */
static void of_a_sample_rows_are_estimates(void **state)
{
	struct live_groups *t = live_groups_new(&by_size);
	struct group_choice c = {.grouping.by = by_size, .live_groups = t};
	const struct view_state view_state = {.choice = &c};
	struct stats s = {.side = NT_HOST, .seconds = 1, .elapsed = 1, .source = "stock"};
	const struct nt_record r = read_of(4096, 10 * US);
	struct visible_rows p;

	s.sample = 10;
	s.counted = true;
	add(t, &r);
	add(t, &r);
	assert_int_equal(visible_rows_make(&p, &s, &view_state, true), 0);
	assert_int_equal(p.row[0].all.commands, 20);
	assert_int_equal(p.total.all.commands, 20);
	assert_int_equal(p.row[0].all.bytes, 20 * 4096);
	visible_rows_free(&p);
	live_groups_free(t);
}

static void a_filter_is_of_the_names(void **state)
{
	static const struct {
		const char *filter;
		size_t rows;
	} of[] = {{"", 2},	{"db", 1}, {"DB read", 1}, {"db write", 0},
		  {"slice", 2}, {"q7", 0}, {"fio", 1}};
	const struct group_by by = {.nr = 3, .key = {GROUP_CGROUP, GROUP_OP, GROUP_COMM}};
	struct live_groups *t = live_groups_new(&by);
	struct group_choice c = {.grouping.by = by, .live_groups = t};
	const struct stats s = {.side = NT_HOST, .seconds = 1, .elapsed = 1, .source = "stock"};
	const struct nt_record r = read_of(4096, 10 * US);

	for (unsigned int i = 0; i < 2; i++) {
		struct group_name name;

		memset(&name, 0, sizeof(name));
		name.op = NT_OP_READ;
		name.queue = 7;
		snprintf(name.cgroup, sizeof(name.cgroup), "/slice/%s", i ? "web" : "db");
		snprintf(name.comm, sizeof(name.comm), "%s", i ? "fio" : "dd");
		assert_int_equal(live_groups_add(t, &name, &r), 0);
	}
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct view_state view_state = {.choice = &c};
		struct visible_rows p;

		snprintf(view_state.filter, sizeof(view_state.filter), "%s", of[i].filter);
		assert_int_equal(visible_rows_make(&p, &s, &view_state, true), 0);
		assert_int_equal(p.nr, of[i].rows);
		assert_int_equal(p.from, 2);
		visible_rows_free(&p);
	}
	live_groups_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interval_is_what_came_since_the_last_one),
		cmocka_unit_test(commands_have_seen_what_was_in_flight),
		cmocka_unit_test(in_flight_is_none_where_it_is_not_known),
		cmocka_unit_test(by_status_nothing_failed_beside_it),
		cmocka_unit_test(a_command_without_a_latency_has_failed_or_has_none),
		cmocka_unit_test(a_command_that_was_given_up_has_failed),
		cmocka_unit_test(the_others_are_no_group_of_the_same_name),
		cmocka_unit_test(sizes_past_the_most_are_others),
		cmocka_unit_test(of_a_sample_rows_are_estimates),
		cmocka_unit_test(a_filter_is_of_the_names),
	};

	return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
