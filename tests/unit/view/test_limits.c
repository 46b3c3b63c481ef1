// SPDX-License-Identifier: GPL-2.0-only
/* Groups that reach 90 % of the limits that the user gives for network and drives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "view/view.h"

#define MB 1000000ull

static struct stats stats_make(void)
{
	return (struct stats){
		.side = NT_HOST,
		.kernel = "6.1",
		.driver = "driver",
		.source = "stock",
		.seconds = 1,
		.elapsed = 10,
	};
}

/* MB in the last second, and in the ten seconds of the run. */
static void transfer(struct stats *s, const char *controller, enum nt_op op, uint64_t interval,
		     uint64_t total)
{
	struct stats_row *row = stats_row(s, controller, "nqn", 1, op, false);

	assert_non_null(row);
	row->others_interval = (struct workload){1, interval * MB};
	row->others_total = (struct workload){1, total * MB};
}

static char *render(int (*show)(const struct stats *s, struct view_options *o),
		    const struct stats *s, const struct limits *l, enum output_format format)
{
	struct view_options o = {.columns = 120, .limits = l, .format = format};
	char *text = NULL;
	size_t size = 0;

	o.out = open_memstream(&text, &size);
	assert_int_equal(show(s, &o), 0);
	fclose(o.out);
	return text;
}

static void assert_shown(int (*show)(const struct stats *s, struct view_options *o),
			 const struct stats *s, const struct limits *l, const char *line,
			 bool there)
{
	char *text = render(show, s, l, FORMAT_TEXT);

	if (!strstr(text, line) == there)
		fail_msg("%s '%s' in:\n%s", there ? "no" : "a", line, text);
	free(text);
}

static void a_group_is_marked_from_90_percent_on(void **state)
{
	struct limits l = {.network = 1000 * MB, .drive = 500 * MB};
	struct stats s = stats_make();

	transfer(&s, "nvme0", NT_OP_READ, 460, 460);
	transfer(&s, "nvme1", NT_OP_READ, 439, 439);
	transfer(&s, "nvme1", NT_OP_WRITE, 10, 10);
	assert_int_equal(limits_interval(&l, &s), 0);
	/* 899 MB/s of reads; 460 of nvme0; 449 of nvme1 */
	assert_shown(view_interval, &s, &l,
		     "near its limit: drive nvme0, 460 of 500 MB/s (92.0 %)\n", true);
	assert_shown(view_interval, &s, &l, "near its limit: network", false);
	assert_shown(view_interval, &s, &l, "near its limit: drive nvme1", false);

	transfer(&s, "nvme1", NT_OP_READ, 440, 440);
	assert_int_equal(limits_interval(&l, &s), 0);
	assert_shown(view_interval, &s, &l,
		     "near its limit: network reads, 900 of 1000 MB/s (90.0 %)\n", true);
	assert_shown(view_interval, &s, &l, "near its limit: drive nvme1", true);
	assert_shown(view_interval, &s, &l, "writes", false);

	/* Over the run the rate is a tenth of that. */
	assert_int_equal(limits_summary(&l, &s), 0);
	assert_shown(view_summary, &s, &l,
		     "\nlimit network reads 90000000 1000000000 1 2  # within 90 % of its limit in "
		     "1 of 2 intervals\n",
		     true);
	assert_shown(view_summary, &s, &l, "\nlimit network writes 1000000 1000000000 0 2\n", true);
	assert_shown(view_summary, &s, &l, "\nlimit drive nvme0 46000000 500000000 2 2  # within",
		     true);
	limits_free(&l);
	stats_free(&s);
}

static void of_a_run_that_is_near_as_a_whole_the_summary_says_so(void **state)
{
	struct limits l = {.drive = 500 * MB};
	struct stats s = stats_make();

	transfer(&s, "nvme0", NT_OP_WRITE, 1, 4999);
	assert_int_equal(limits_interval(&l, &s), 0);
	assert_int_equal(limits_summary(&l, &s), 0);
	assert_shown(
		view_summary, &s, &l,
		"\nlimit drive nvme0 499900000 500000000 0 1  # within 90 % of its limit over the "
		"whole run: 100.0 %\n",
		true);
	limits_free(&l);
	stats_free(&s);
}

/* A fair sample is scaled to all commands. One that is not fair counts for nothing. */
static void commands_that_are_only_counted_count(void **state)
{
	struct limits l = {.drive = 500 * MB};
	struct stats s = stats_make();

	s.sample = 10;
	s.counted = true;
	transfer(&s, "nvme0", NT_OP_WRITE, 490, 490);
	assert_int_equal(limits_interval(&l, &s), 0);
	assert_shown(view_interval, &s, &l, "drive nvme0, 490 of 500 MB/s", true);
	s.counted = false;
	assert_int_equal(limits_interval(&l, &s), 0);
	assert_shown(view_interval, &s, &l, "near its limit", false);
	limits_free(&l);
	stats_free(&s);
}

static void json_has_a_row_for_each_group_where_there_are_limits(void **state)
{
	struct limits l = {.network = 1000 * MB};
	struct stats s = stats_make();
	char *text;

	transfer(&s, "nvme0", NT_OP_READ, 950, 950);
	assert_int_equal(limits_interval(&l, &s), 0);
	text = render(view_interval, &s, &l, FORMAT_JSON);
	if (!strstr(text, "limits"))
		fail_msg("%s", text);
	assert_non_null(strstr(text, "\"limits\":[{\"limit\":\"network\",\"group\":\"reads\","
				     "\"throughput\":950000000,\"most\":1000000000,"
				     "\"share\":0.95,\"near\":true,\"times_near\":1,"
				     "\"intervals\":1}]"));
	free(text);
	text = render(view_interval, &s, NULL, FORMAT_JSON);
	assert_null(strstr(text, "limits"));
	free(text);
	limits_free(&l);
	stats_free(&s);
}

/* Adds a command that transferred @mb MB, @second seconds after the recording began. */
static void recorded(struct groups *g, const char *ctrl, enum nt_op op, unsigned int second,
		     unsigned int mb)
{
	const struct group_command c = {
		.after_ns = second * 1000000000ull, .bytes = (uint32_t)(mb * MB), .stands_for = 1};
	struct group_name name;

	memset(&name, 0, sizeof(name));
	name.op = (uint8_t)op;
	strcpy(name.ctrl, ctrl);
	assert_int_equal(groups_add(g, &name, &c), 0);
}

static struct groups *recording(void)
{
	const struct grouping how = {.by = {.nr = 2, .key = {GROUP_CTRL, GROUP_OP}},
				     .every_ns = 1000000000};
	struct groups *g = groups_new(&how);

	assert_non_null(g);
	return g;
}

static const struct limit_row *limit_of(const struct limits *l, const char *limit,
					const char *group)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->row[i].limit, limit) && !strcmp(l->row[i].group, group))
			return &l->row[i];
	fail_msg("no limit %s of %s", limit, group);
	return NULL;
}

static void assert_limit(const struct limits *l, const char *limit, const char *group,
			 unsigned int mb_per_second, unsigned int times)
{
	const struct limit_row *r = limit_of(l, limit, group);

	assert_int_equal((uint64_t)(r->throughput + 0.5), mb_per_second * MB);
	assert_int_equal(r->times, times);
	assert_int_equal(r->intervals, l->intervals);
}

/* Each second of a recording is an interval, and its rates are those of all of its time. */
static void a_recording_is_near_in_some_of_its_seconds(void **state)
{
	struct limits l = {.network = 1000 * MB, .drive = 500 * MB};
	struct groups *g = recording();

	recorded(g, "nvme0", NT_OP_READ, 0, 460);
	recorded(g, "nvme1", NT_OP_READ, 0, 440);
	recorded(g, "nvme0", NT_OP_READ, 1, 10);
	recorded(g, "nvme1", NT_OP_FLUSH, 1, 890);
	recorded(g, "nvme0", NT_OP_WRITE, 3, 1000);
	recorded(g, "", NT_OP_WRITE, 3, 100);
	assert_int_equal(groups_finish(g, 0, 5000000000, 0), 0);
	assert_int_equal(limits_groups(&l, g), 0);
	assert_int_equal(l.intervals, 4);
	assert_limit(&l, "network", "reads", 182, 1);
	assert_limit(&l, "network", "writes", 398, 1);
	assert_limit(&l, "drive", "nvme0", 294, 2);
	assert_limit(&l, "drive", "nvme1", 266, 1);
	assert_limit(&l, "drive", "all", 20, 0);
	assert_int_equal(l.nr, 5);
	limits_free(&l);
	groups_free(g);
}

static void a_recording_of_less_than_a_second_is_one_second(void **state)
{
	struct limits l = {.drive = 500 * MB};
	struct groups *g = recording();

	recorded(g, "nvme0", NT_OP_READ, 0, 100);
	assert_int_equal(groups_finish(g, 0, 200000000, 0), 0);
	assert_int_equal(limits_groups(&l, g), 0);
	assert_limit(&l, "drive", "nvme0", 100, 0);
	assert_false(limit_of(&l, "drive", "nvme0")->near);
	limits_free(&l);
	groups_free(g);
}

/* That a recording is near as a whole adds nothing to the number of seconds in which it was. */
static void the_whole_is_no_interval(void **state)
{
	struct limits l = {.drive = 100 * MB};
	struct groups *g = recording();

	recorded(g, "nvme0", NT_OP_READ, 0, 89);
	recorded(g, "nvme0", NT_OP_READ, 1, 98);
	assert_int_equal(groups_finish(g, 0, 2000000000, 0), 0);
	assert_int_equal(limits_groups(&l, g), 0);
	assert_int_equal(limit_of(&l, "drive", "nvme0")->times, 1);
	assert_true(limit_of(&l, "drive", "nvme0")->near);
	assert_int_equal(l.intervals, 2);
	limits_free(&l);
	groups_free(g);
}

static void without_a_limit_nothing_is_counted(void **state)
{
	struct limits l = {.network = 0};
	struct stats s = stats_make();

	transfer(&s, "nvme0", NT_OP_READ, 460, 460);
	assert_int_equal(limits_interval(&l, &s), 0);
	assert_int_equal(limits_summary(&l, &s), 0);
	assert_int_equal(l.nr, 0);
	assert_int_equal(l.intervals, 0);
	stats_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_is_marked_from_90_percent_on),
		cmocka_unit_test(of_a_run_that_is_near_as_a_whole_the_summary_says_so),
		cmocka_unit_test(commands_that_are_only_counted_count),
		cmocka_unit_test(json_has_a_row_for_each_group_where_there_are_limits),
		cmocka_unit_test(a_recording_is_near_in_some_of_its_seconds),
		cmocka_unit_test(a_recording_of_less_than_a_second_is_one_second),
		cmocka_unit_test(the_whole_is_no_interval),
		cmocka_unit_test(without_a_limit_nothing_is_counted),
	};

	return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
