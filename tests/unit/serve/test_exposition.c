// SPDX-License-Identifier: GPL-2.0-only
/* Samples as text, line by line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "serve/exposition.h"
#include "shared/record.h"

static char *text;
static size_t size;

static struct exposition to_text(enum exposition_format format)
{
	struct exposition e = {.format = format, .created_ms = 1700000000250};

	free(text);
	text = NULL;
	e.f = open_memstream(&text, &size);
	assert_non_null(e.f);
	return e;
}

static void assert_text(struct exposition *e, const char *expected)
{
	assert_int_equal(fclose(e->f), 0);
	assert_string_equal(text, expected);
}

static void a_counter_has_its_suffix_and_when_it_began(void **state)
{
	struct exposition e = to_text(EXPOSITION_OPENMETRICS);

	exposition_begin(&e, METRIC_BYTES);
	exposition_value(&e, "a=\"b\"", UINT64_MAX);
	exposition_end(&e);
	assert_text(&e, "# TYPE ntprof_command_bytes counter\n"
			"# UNIT ntprof_command_bytes bytes\n"
			"# HELP ntprof_command_bytes Data that these commands transferred\n"
			"ntprof_command_bytes_total{a=\"b\"} 18446744073709551615\n"
			"ntprof_command_bytes_created{a=\"b\"} 1700000000.250\n"
			"# EOF\n");
}

static void the_older_format_calls_a_family_as_its_samples(void **state)
{
	struct exposition e = to_text(EXPOSITION_PROMETHEUS);

	exposition_begin(&e, METRIC_BYTES);
	exposition_value(&e, "", 7);
	exposition_begin(&e, METRIC_FOLDED);
	exposition_value(&e, "", 0);
	exposition_begin(&e, METRIC_BUILD);
	exposition_value(&e, "version=\"1\"", 1);
	exposition_end(&e);
	assert_text(
		&e,
		"# TYPE ntprof_command_bytes_total counter\n"
		"# HELP ntprof_command_bytes_total Data that these commands transferred\n"
		"ntprof_command_bytes_total 7\n"
		"# TYPE ntprof_folded_series gauge\n"
		"# HELP ntprof_folded_series Label sets that are under \"other\", because there are too "
		"many\n"
		"ntprof_folded_series 0\n"
		"# TYPE ntprof_build_info gauge\n"
		"# HELP ntprof_build_info The program\n"
		"ntprof_build_info{version=\"1\"} 1\n");
}

static void quotes_in_a_help_text_are_escaped_where_the_format_has_that(void **state)
{
	struct exposition e = to_text(EXPOSITION_OPENMETRICS);

	exposition_begin(&e, METRIC_FOLDED);
	assert_text(
		&e,
		"# TYPE ntprof_folded_series gauge\n"
		"# HELP ntprof_folded_series Label sets that are under \\\"other\\\", because there are too "
		"many\n");
}

static void seconds_are_exact(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} times[] = {
		{0, "0.0"},	     {1, "0.000000001"},  {1024, "0.000001024"},
		{1500000000, "1.5"}, {2000000000, "2.0"}, {UINT64_MAX, "18446744073.709551615"},
	};
	char expected[256];

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct exposition e = to_text(EXPOSITION_PROMETHEUS);

		e.metric = metric_of(METRIC_OLDEST);
		exposition_ns(&e, "", times[i].ns);
		snprintf(expected, sizeof(expected), "ntprof_oldest_command_seconds %s\n",
			 times[i].text);
		assert_text(&e, expected);
	}
}

static void a_ratio_is_one_of_so_many(void **state)
{
	struct exposition e = to_text(EXPOSITION_PROMETHEUS);

	e.metric = metric_of(METRIC_SAMPLE);
	exposition_ratio(&e, "", 1, 0);
	exposition_ratio(&e, "", 1, 1);
	exposition_ratio(&e, "", 1, 100);
	assert_text(&e, "ntprof_sample_ratio 1\nntprof_sample_ratio 1\nntprof_sample_ratio 0.01\n");
}

static void labels_are_escaped(void **state)
{
	char labels[EXPOSITION_LABELS_LEN] = "";

	exposition_label(labels, "a", "back\\slash");
	exposition_label(labels, "b", "\"quoted\"");
	exposition_label(labels, "c", "two\nlines");
	exposition_label(labels, "d", "caf\xc3\xa9 \xff.");
	exposition_label(labels, "e", "");
	assert_string_equal(labels,
			    "a=\"back\\\\slash\",b=\"\\\"quoted\\\"\",c=\"two\xef\xbf\xbdlines\","
			    "d=\"caf\xc3\xa9 \xef\xbf\xbd.\",e=\"\"");
}

/* Labels behind a name have room, however long a host's name is. */
static void the_longest_names_have_room(void **state)
{
	char labels[EXPOSITION_LABELS_LEN] = "", name[NT_NQN_LEN];

	memset(name, '"', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	exposition_label(labels, "a", name);
	memset(name, '\xff', sizeof(name) - 1);
	exposition_label(labels, "b", name);
	exposition_label(labels, "c", "end");
	assert_int_equal(strlen(labels), strlen("a=\"\",b=\"\",c=\"end\"") + 2 * 223 + 3 * 223);
	assert_non_null(strstr(labels, ",c=\"end\""));
}

static void durations_are_below_their_bound(void **state)
{
	struct exposition_hist h = {.sum = 0};
	struct hist all = {.count = 0};

	hist_count(&all, 0);
	hist_count(&all, 1023);
	hist_count(&all, 1024);
	hist_count(&all, (1ULL << 36) - 1);
	hist_count(&all, 1ULL << 36);
	hist_count(&all, 1ULL << 40);
	exposition_add(&h, &all);
	assert_int_equal(h.below[0], 2);
	assert_int_equal(h.below[1], 3);
	assert_int_equal(h.below[25], 3);
	assert_int_equal(h.below[26], 4);
	assert_int_equal(h.below[27], 6);
	assert_int_equal(h.sum, all.sum);
	exposition_add(&h, &all);
	assert_int_equal(h.below[27], 12);
}

/* Checks every bound against a separate count of each duration. */
static void no_bucket_is_split_by_a_bound(void **state)
{
	for (unsigned int bits = EXPOSITION_LOWEST; bits <= EXPOSITION_HIGHEST; bits++) {
		const uint64_t bound = 1ULL << bits;
		struct exposition_hist h = {.sum = 0};
		struct hist all = {.count = 0};

		hist_count(&all, bound - 1);
		hist_count(&all, bound);
		exposition_add(&h, &all);
		assert_int_equal(h.below[bits - EXPOSITION_LOWEST], 1);
		assert_int_equal(h.below[bits - EXPOSITION_LOWEST + 1], 2);
	}
}

static void a_histogram_ends_with_its_count(void **state)
{
	struct exposition e = to_text(EXPOSITION_OPENMETRICS);
	struct exposition_hist h = {.sum = 0};
	struct hist all = {.count = 0};
	const char *end;

	hist_count(&all, 5000);
	hist_count(&all, 1ULL << 37);
	exposition_add(&h, &all);
	exposition_begin(&e, METRIC_COMMAND_DURATION);
	exposition_hist(&e, "a=\"b\"", &h, NULL);
	assert_int_equal(fclose(e.f), 0);
	assert_non_null(strstr(
		text, "ntprof_command_duration_seconds_bucket{a=\"b\",le=\"0.000004096\"} 0\n"
		      "ntprof_command_duration_seconds_bucket{a=\"b\",le=\"0.000008192\"} 1\n"));
	end = strstr(text, "le=\"68.719476736\"");
	assert_non_null(end);
	assert_string_equal(end,
			    "le=\"68.719476736\"} 1\n"
			    "ntprof_command_duration_seconds_bucket{a=\"b\",le=\"+Inf\"} 2\n"
			    "ntprof_command_duration_seconds_count{a=\"b\"} 2\n"
			    "ntprof_command_duration_seconds_sum{a=\"b\"} 137.438958472\n"
			    "ntprof_command_duration_seconds_created{a=\"b\"} 1700000000.250\n");
}

static void what_was_told_never_falls(void **state)
{
	struct exposition_hist told = {.sum = 0}, now = {.sum = 10};

	now.below[3] = 5;
	exposition_grow(&told, &now);
	now.below[3] = 4;
	now.sum = 9;
	exposition_grow(&told, &now);
	assert_int_equal(told.below[3], 5);
	assert_int_equal(told.sum, 10);
	now.below[3] = 6;
	exposition_grow(&told, &now);
	assert_int_equal(told.below[3], 6);
}

static int end(void **state)
{
	free(text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_counter_has_its_suffix_and_when_it_began),
		cmocka_unit_test(the_older_format_calls_a_family_as_its_samples),
		cmocka_unit_test(quotes_in_a_help_text_are_escaped_where_the_format_has_that),
		cmocka_unit_test(seconds_are_exact),
		cmocka_unit_test(a_ratio_is_one_of_so_many),
		cmocka_unit_test(labels_are_escaped),
		cmocka_unit_test(the_longest_names_have_room),
		cmocka_unit_test(durations_are_below_their_bound),
		cmocka_unit_test(no_bucket_is_split_by_a_bound),
		cmocka_unit_test(a_histogram_ends_with_its_count),
		cmocka_unit_test(what_was_told_never_falls),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
