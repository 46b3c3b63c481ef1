// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups in each format, live and recorded, with names that a terminal or a parser might misread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <json-c/json_tokener.h>

#include "core/array.h"
#include "merge/places.h"
#include "view/groups.h"
#include "view/view.h"

#define MS 1000000ULL
/*
 * A quote, a backslash, a comma, an end of line, a sequence that clears a terminal, a character of
 * two bytes, and an invalid byte.
 */
#define HOSTILE "nqn.\"\\,\r\n\033[2J\xc3\xa4\x9b"

static struct group_choice choice_of(const char *keys, const char *figures, uint64_t every_ns)
{
	struct group_choice c = {.grouping = {.every_ns = every_ns}};
	char wrong[GROUP_WRONG_LEN] = "";

	if (keys[0] && !group_by_parse(&c.grouping.by, keys, wrong))
		fail_msg("%s", wrong);
	if (figures[0])
		assert_null(figures_parse(&c.figures, figures));
	return c;
}

static struct groups *recorded(const struct group_choice *c)
{
	struct groups *g = groups_new(&c->grouping);

	for (unsigned int i = 0; i < 200; i++) {
		const struct group_recorder who = {.source = {"tracepoints", "stock"}};
		struct merge_connection m = {.qid = (uint16_t)(i % 64 + 1), .host_instance = i % 3};
		struct nt_record r = {
			.side = NT_HOST,
			.op = i % 2 ? NT_OP_WRITE_ZEROES : NT_OP_READ,
			.length = 1u << 31,
			.nsid = UINT32_MAX,
			.status = i % 50 ? 0 : 0x281,
		};
		struct group_name name;

		snprintf(m.subsysnqn, sizeof(m.subsysnqn), HOSTILE "%u", i % 3);
		snprintf(m.hostnqn, sizeof(m.hostnqn), "%s", HOSTILE);
		r.points[NT_H_SUBMIT] = 1 + i * MS;
		r.points[NT_H_COMPLETE] = r.points[NT_H_SUBMIT] + 123456789;
		group_name_merged(&name, &c->grouping.by, &m, &r, &who);
		assert_int_equal(groups_add_record(g, &name, &r, &who), 0);
	}
	assert_int_equal(groups_finish(g, 0, 200 * MS, 0), 0);
	return g;
}

static void assert_lines(const char *text, size_t width)
{
	for (const char *l = text, *end; (end = strchr(l, '\n')); l = end + 1)
		if ((size_t)(end - l) > width && strncmp(l, "losses:", 7) != 0 &&
		    strncmp(l, "ntprof-bpf ", 11) != 0)
			fail_msg("%zu columns: %.*s", (size_t)(end - l), (int)(end - l), l);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if ((*c < ' ' && *c != '\n') || *c >= 0x7f)
			fail_msg("byte %02x in:\n%s", *c, text);
}

static void tables_fit_80_columns(void **state)
{
	static const char *const keys[] = {"",	   "op",	 "op,size", "ctrl,queue,op",
					   "host", "nqn,status", "nsid",    "queue,op,size"};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(keys); i++) {
		const struct group_choice c = choice_of(keys[i / 2], "", i % 2 ? 10 * MS : 0);
		struct groups *g = recorded(&c);
		char *text = NULL;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		groups_print(g, &c, f, 80, false, NULL);
		fclose(f);
		assert_lines(text, 80);
		assert_non_null(strstr(text, "total"));
		free(text);
		groups_free(g);
	}
}

static void names_are_whole_in_csv_and_json(void **state)
{
	const struct group_choice c = choice_of("nqn,host,status,source", "p50,min", 0);
	struct json_object *o, *rows, *member;
	struct groups *g = recorded(&c);
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	groups_csv_header(&c, f);
	groups_csv(g, &c, "a,b", f);
	fclose(f);
	assert_ptr_equal(strstr(text, "input,row,nqn,host,status,source,commands,failed,iops,"),
			 text);
	assert_non_null(strstr(
		text, "\"a,b\",group,\"nqn.\"\"\\,\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd[2J\xc3\xa4"
		      "\xef\xbf\xbd"
		      "0\","));
	assert_non_null(strstr(text, ",success,tracepoints/stock,"));
	free(text);
	o = groups_json(g, &c);
	text = strdup(json_object_to_json_string(o));
	json_object_put(o);
	o = json_tokener_parse(text);
	assert_non_null(o);
	assert_true(json_object_object_get_ex(o, "rows", &rows));
	assert_int_equal(json_object_array_length(rows), groups_rows(g));
	assert_true(json_object_object_get_ex(json_object_array_get_idx(rows, 0), "host", &member));
	assert_string_equal(json_object_get_string(member),
			    "nqn.\"\\,\r\n\033[2J\xc3\xa4\xef\xbf\xbd");
	json_object_put(o);
	free(text);
	groups_free(g);
}

static struct stats live;

static void live_add(const char *controller, const char *peer, const char *other, uint16_t qid,
		     enum nt_op op, unsigned int nr)
{
	struct stats_row *row = stats_row_of(&live, controller, peer, other, qid, op, false);

	for (unsigned int i = 0; i < nr; i++) {
		hist_count(&row->interval, MS + i);
		hist_count(&row->total, MS + i);
	}
	row->waiting.commands = 2;
	row->waiting.oldest_ns = qid * MS;
}

static int live_setup(void **state)
{
	live = (struct stats){.side = NT_TARGET,
			      .driver = "nvmet_tcp",
			      .source = "stock",
			      .seconds = 1,
			      .elapsed = 1,
			      .by_other = true};
	live_add("cntlid 1", HOSTILE, "nqn.a", 1, NT_OP_READ, 30);
	live_add("cntlid 1", HOSTILE, "nqn.b", 1, NT_OP_READ, 7);
	live_add("cntlid 1", "nqn.other", "nqn.a", 1, NT_OP_WRITE, 20);
	live_add("cntlid 2", "nqn.other", "nqn.a", 2, NT_OP_WRITE, 10);
	return 0;
}

static int live_teardown(void **state)
{
	stats_free(&live);
	return 0;
}

static char *shown(const struct group_choice *c, enum output_format format, bool redraw,
		   bool summary)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct view_options o = {
		.out = f, .choice = c, .redraw = redraw, .columns = 80, .lines = 40};

	view_format(&o, format);
	assert_int_equal(summary ? view_summary(&live, &o) : view_interval(&live, &o), 0);
	fclose(f);
	return text;
}

static void live_groups_add_up_by_every_key(void **state)
{
	static const struct {
		const char *keys;
		unsigned int rows;
	} by[] = {
		{"ctrl", 4},
		{"nqn", 2},
		{"host", 2},
		{"queue", 2},
		{"op", 2},
		{"source", 1},
		{"host,nqn,queue,op,ctrl,source", 4},
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(by); i++) {
		const struct group_choice c = choice_of(by[i / 2].keys, "mean,p99.9", 0);
		char *text = shown(&c, FORMAT_JSON, false, i % 2);
		struct json_object *o = json_tokener_parse(text), *groups, *rows, *n;
		int64_t sum = 0;

		assert_true(json_object_object_get_ex(o, "groups", &groups));
		assert_true(json_object_object_get_ex(groups, "rows", &rows));
		assert_int_equal(json_object_array_length(rows), by[i / 2].rows);
		for (size_t k = 0; k < json_object_array_length(rows); k++) {
			json_object_object_get_ex(json_object_array_get_idx(rows, k), "commands",
						  &n);
			sum += json_object_get_int64(n);
		}
		assert_int_equal(sum, 67);
		json_object_put(o);
		free(text);
	}
}

static void live_groups_are_shown_in_text(void **state)
{
	const struct group_choice c = choice_of("host,op", "min,p50,p99.9", 0);
	char *text;

	for (unsigned int i = 0; i < 2; i++) {
		text = shown(&c, FORMAT_TEXT, false, i);
		assert_lines(text, 80);
		assert_non_null(strstr(text, "host"));
		assert_non_null(strstr(text, "p99.9"));
		assert_null(strstr(text, "p90"));
		assert_non_null(strstr(text, "\ntotal"));
		assert_non_null(strstr(text, "\nnqn.other "));
		assert_non_null(strstr(text, "(host NQN)\n"));
		free(text);
	}
	text = shown(&c, FORMAT_TEXT, true, false);
	assert_non_null(strstr(text, "nqn.other "));
	free(text);
}

static void live_groups_are_lines_of_csv(void **state)
{
	const struct group_choice c = choice_of("nqn", "", 0);
	char *text = shown(&c, FORMAT_CSV, false, true);

	assert_ptr_equal(strstr(text, "time,type,nqn,commands,measured,iops,throughput,"), text);
	assert_non_null(strstr(text, ",summary,nqn.a,60,60,60,0,"));
	assert_non_null(strstr(text, ",summary,nqn.b,7,7,7,0,"));
	free(text);
}

static void buckets_begin_at_the_latency_that_is_asked_for(void **state)
{
	const struct scale s = {.on = true, .min_ns = 100000, .shift = 2};
	static const struct {
		uint64_t ns, from, to;
	} known[] = {
		{0, 0, 100000},
		{99000, 0, 100000},
		{102000, 100000, 104000},
		{105900, 104000, 108000},
		{110000, 108000, 116000},
		{130000, 116000, 132000},
		{1ULL << 40, 34359838468000, UINT64_MAX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct scale_row row[SCALE_BUCKETS];
		static struct hist h;

		memset(&h, 0, sizeof(h));
		hist_count(&h, known[i].ns);
		assert_int_equal(scale_count(&s, &h, row), 1);
		assert_int_equal(row[0].commands, 1);
		/* The last bucket of a histogram has no middle. */
		if (known[i].ns >> NT_MAX_BITS)
			continue;
		assert_int_equal(row[0].from, known[i].from);
		assert_int_equal(row[0].to, known[i].to);
	}
}

static void histograms_of_groups_hold_all_commands(void **state)
{
	struct group_choice c = choice_of("op", "", 0);
	struct json_object *rows, *histogram, *n, *o;
	struct groups *g = recorded(&c);
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	c.scale = (struct scale){.on = true, .min_ns = 100 * MS, .shift = 14};
	groups_print(g, &c, f, 80, false, NULL);
	fclose(f);
	assert_lines(text, 80);
	assert_non_null(strstr(text, "\nop write_zeroes: "));
	assert_non_null(strstr(text, "\n[   116ms,    133ms) "));
	free(text);
	o = groups_json(g, &c);
	assert_true(json_object_object_get_ex(o, "rows", &rows));
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		int64_t sum = 0;

		assert_true(json_object_object_get_ex(row, "histogram", &histogram));
		for (size_t k = 0; k < json_object_array_length(histogram); k++)
			sum += json_object_get_int64(json_object_array_get_idx(
				json_object_array_get_idx(histogram, k), 2));
		assert_true(json_object_object_get_ex(row, "commands", &n));
		assert_int_equal(sum, json_object_get_int64(n));
	}
	json_object_put(o);
	groups_free(g);
}

static void percentiles_have_one_name(void **state)
{
	static const struct {
		const char *text, *name, *title;
	} right[] = {
		{"p50", "p50", "p50"},
		{"p99.9", "p99_9", "p99.9"},
		{"p99.900", "p99_9", "p99.9"},
		{"p05", "p5", "p5"},
		{"p0.01", "p0_01", "p0.01"},
		{"p99.05", "p99_05", "p99.05"},
		{"p99.9999999", "p99_9999999", "p99.9999999"},
	};
	static const char *const wrong[] = {"p",   "p0",  "p100", "p0.0",	  "p.5",
					    "p5.", "p-1", "50",	  "p99.99999999", "p9 9",
					    "",	   ",",	  "p50,", "p1e1"};

	for (size_t i = 0; i < ARRAY_SIZE(right); i++) {
		struct figures f = {.nr = 0};

		assert_null(figures_parse(&f, right[i].text));
		assert_string_equal(f.figure[0].name, right[i].name);
		assert_string_equal(f.figure[0].title, right[i].title);
		assert_non_null(figures_parse(&f, right[i].text));
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct figures f = {.nr = 0};

		if (!figures_parse(&f, wrong[i]))
			fail_msg("%s", wrong[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_fit_80_columns),
		cmocka_unit_test(names_are_whole_in_csv_and_json),
		cmocka_unit_test_setup_teardown(live_groups_add_up_by_every_key, live_setup,
						live_teardown),
		cmocka_unit_test_setup_teardown(live_groups_are_shown_in_text, live_setup,
						live_teardown),
		cmocka_unit_test_setup_teardown(live_groups_are_lines_of_csv, live_setup,
						live_teardown),
		cmocka_unit_test(buckets_begin_at_the_latency_that_is_asked_for),
		cmocka_unit_test(histograms_of_groups_hold_all_commands),
		cmocka_unit_test(percentiles_have_one_name),
	};

	return cmocka_run_group_tests_name("groups in each format", tests, NULL, NULL);
}
