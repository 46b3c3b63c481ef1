// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands that wait, and commands that a sample leaves out: rows of commands that were not
 * measured.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/stats.h"
#include "merge/unmatched.h"
#include "view/view.h"

#define MS 1000000ull
#define SECOND (1000 * MS)

/* Statistics of one second. */
static struct stats stats_make(enum nt_side side)
{
	return (struct stats){
		.side = side,
		.kernel = "6.1",
		.driver = "driver",
		.source = "stock",
		.seconds = 1,
		.elapsed = 10,
		.waiting_at_device = side == NT_TARGET,
	};
}

static struct stats_row *row_make(struct stats *s, uint16_t qid)
{
	struct stats_row *row = stats_row(s, s->side == NT_HOST ? "nvme0" : "cntlid 1", "nqn", qid,
					  NT_OP_READ, false);

	assert_non_null(row);
	return row;
}

static void measure(struct stats_row *row, uint64_t ns, uint64_t times)
{
	for (uint64_t i = 0; i < times; i++) {
		hist_count(&row->interval, ns);
		hist_count(&row->total, ns);
	}
}

static void leave_out(struct stats_row *row, uint64_t commands, uint64_t bytes)
{
	row->others_interval = row->others_total = (struct workload){commands, bytes};
}

static char *render_raw(int (*show)(const struct stats *s, struct view_options *o),
			const struct stats *s, unsigned int columns)
{
	struct view_options o = {.columns = columns};
	char *text = NULL;
	size_t size = 0;

	o.out = open_memstream(&text, &size);
	assert_non_null(o.out);
	assert_int_equal(show(s, &o), 0);
	assert_int_equal(fclose(o.out), 0);
	return text;
}

/* Reduces blanks to one, so that a row is found by its words. */
static char *render(int (*show)(const struct stats *s, struct view_options *o),
		    const struct stats *s, unsigned int columns)
{
	char *text = render_raw(show, s, columns), *to = text;

	for (const char *from = text; *from; from++)
		if (*from != ' ' || (to > text && to[-1] != ' '))
			*to++ = *from;
	*to = '\0';
	return text;
}

static void assert_contains(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("\"%s\" is not in:\n%s", what, text);
}

static void assert_lacks(const char *text, const char *what)
{
	if (strstr(text, what))
		fail_msg("\"%s\" is in:\n%s", what, text);
}

static void a_queue_on_which_nothing_ends_has_its_row(void **state)
{
	struct stats s = stats_make(NT_HOST);
	char *text;

	row_make(&s, 1)->waiting =
		(struct waiting){.commands = 16, .oldest_ns = 3210 * MS, .at_device = 0};
	row_make(&s, 2);
	text = render(view_interval, &s, 132);
	assert_contains(text, "\ncontroller queue op IOPS MB/s inflight oldest p50 p90");
	assert_contains(text, "\nnvme0 1 read 0 0 16 3.21s - - - - - \n");
	assert_lacks(text, "nvme0 2");
	assert_lacks(text, "no commands");
	free(text);
	text = render(view_summary, &s, 132);
	assert_contains(text, "commands IOPS MB/s inflight left oldest p50");
	assert_contains(text, "\nnvme0 1 read 0 0 0 0 16 3.21s - ");
	free(text);
	stats_begin_interval(&s);
	text = render(view_interval, &s, 132);
	assert_contains(text, "no commands");
	free(text);
	stats_free(&s);
}

static void a_target_tells_what_its_device_owes(void **state)
{
	struct stats s = stats_make(NT_TARGET);
	struct stats_row *row = row_make(&s, 3);
	char *text;

	measure(row, 1 * MS, 100);
	row->waiting = (struct waiting){.commands = 16, .oldest_ns = 2 * SECOND, .at_device = 12};
	text = render(view_interval, &s, 132);
	assert_contains(text, "IOPS MB/s inflight oldest at device p50");
	assert_contains(text, "\ncntlid 1 3 read 100 0 16 2.00s 12 ");
	free(text);
	/* It is unknown which commands are at the device. */
	s.waiting_at_device = false;
	text = render(view_interval, &s, 132);
	assert_contains(text, "IOPS MB/s inflight oldest p50");
	assert_contains(text, "\ncntlid 1 3 read 100 0 16 2.00s ");
	free(text);
	stats_free(&s);
}

static void columns_that_one_can_do_without_go_first(void **state)
{
	struct stats s = stats_make(NT_TARGET);
	struct stats_row *row = stats_row(&s, "cntlid 1023", "nqn", 127, NT_OP_WRITE_ZEROES, false);
	char *text, *line;

	assert_non_null(row);
	measure(row, 12 * MS, 12345);
	leave_out(row, 100000, 999999999);
	row->waiting =
		(struct waiting){.commands = 128, .oldest_ns = 12 * SECOND, .at_device = 128};
	text = render(view_interval, &s, 132);
	assert_contains(text, "inflight oldest at device p50 p90 p99 p99.9 max");
	free(text);
	text = render(view_interval, &s, 85);
	assert_contains(text, "infl oldest dev p50 p99 max");
	free(text);
	text = render_raw(view_interval, &s, 85);
	line = strstr(text, "\ncntlid 1023");
	assert_non_null(line);
	assert_true(strcspn(line + 1, "\n") <= 85);
	free(text);
	stats_free(&s);
}

static void rates_are_those_of_all_commands_whatever_is_measured(void **state)
{
	struct stats s = stats_make(NT_HOST);
	struct stats_row *row = row_make(&s, 1);
	char *text;

	s.sample = 100;
	s.counted = true;
	measure(row, 2 * MS, 20);
	row->interval.bytes = row->total.bytes = 1000000;
	leave_out(row, 1980, 99000000);
	leave_out(row_make(&s, 2), 10, 40960);
	text = render(view_interval, &s, 132);
	assert_contains(text, "\nnvme0 1 read 2000 100 0 - 2.00ms");
	/* Their latency is unknown. */
	assert_contains(text, "\nnvme0 2 read 10.0 0.04 0 - - - - - - \n");
	assert_lacks(text, "sample too small");
	free(text);
	text = render(view_summary, &s, 132);
	assert_contains(text, "op commands measured IOPS MB/s inflight p50");
	assert_contains(text, "\nnvme0 1 read 2000 20 200 10.0 0.40 2.00ms");
	assert_contains(text, "\nnvme0 2 read 10 0 1.00 0.00 - - ");
	assert_contains(text, "\ncommands read 2010\nmeasured read 20\n");
	free(text);
	stats_free(&s);
}

static void a_sample_that_is_not_fair_says_so(void **state)
{
	struct stats s = stats_make(NT_HOST);
	char *text;

	s.sample = 100;
	s.counted = true;
	leave_out(row_make(&s, 1), 60000, 1);
	text = render(view_interval, &s, 132);
	assert_contains(text, "sample of 1 command in 100 "
			      "sample too small (too few distinct commands): 0 of 60000 ");
	assert_contains(text, "\nnvme0 1 read 60000 ");
	free(text);
	text = render(view_summary, &s, 132);
	assert_contains(text, "commands): 0 of 60000\n");
	assert_contains(text, "\ncommands read 60000\nmeasured read 0\n");
	free(text);
	stats_free(&s);
}

/*
 * The summary of a recorded sample of one in 100: @distinct commands, each @times times, in a
 * second.
 */
static char *recorded(unsigned int distinct, unsigned int times)
{
	const struct queue_info q = {.slot = 1, .gen = 1, .qid = 1, .subsysnqn = "nqn"};
	struct one_side *o = one_side_new(NT_HOST);
	uint64_t losses[COUNTERS_NR] = {0};
	char *text;

	assert_non_null(o);
	assert_int_equal(one_side_queue(o, &q), 0);
	for (unsigned int i = 0; i < distinct * times; i++) {
		const struct nt_record r = {
			.side = NT_HOST,
			.op = NT_OP_READ,
			.cid = (uint16_t)(i % distinct),
			.qid = 1,
			.slot = 1,
			.gen = 1,
			.length = 4096,
			.slba = 8ull * (i % distinct),
			.points = {[NT_H_SUBMIT] = SECOND, [NT_H_COMPLETE] = SECOND + MS},
		};

		assert_int_equal(one_side_record(o, &r, 0), 0);
	}
	text = render(view_summary, one_side_stats(o, "6.1", 100, losses, 1), 132);
	one_side_free(o);
	return text;
}

static void a_recorded_sample_is_scaled_only_where_it_is_fair(void **state)
{
	char *text = recorded(1000, 1);

	assert_contains(text, "op commands IOPS MB/s inflight p50");
	assert_contains(text, "\nnvme0 1 read 1000 100000 410 100 ");
	assert_lacks(text, "sample too small");
	free(text);
	text = recorded(1, 1000);
	assert_contains(text, "sample too small (too few distinct commands): 1000\n");
	assert_contains(text, "\nnvme0 1 read 1000 - - - ");
	free(text);
	text = recorded(16, 100);
	assert_contains(text, "sample too small");
	free(text);
	text = recorded(64, 100);
	assert_lacks(text, "sample too small");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_on_which_nothing_ends_has_its_row),
		cmocka_unit_test(a_target_tells_what_its_device_owes),
		cmocka_unit_test(columns_that_one_can_do_without_go_first),
		cmocka_unit_test(rates_are_those_of_all_commands_whatever_is_measured),
		cmocka_unit_test(a_sample_that_is_not_fair_says_so),
		cmocka_unit_test(a_recorded_sample_is_scaled_only_where_it_is_fair),
	};

	return cmocka_run_group_tests_name("waiting", tests, NULL, NULL);
}
