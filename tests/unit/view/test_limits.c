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

	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_is_marked_from_90_percent_on),
		cmocka_unit_test(of_a_run_that_is_near_as_a_whole_the_summary_says_so),
		cmocka_unit_test(commands_that_are_only_counted_count),
		cmocka_unit_test(json_has_a_row_for_each_group_where_there_are_limits),
	};

	return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
