// SPDX-License-Identifier: GPL-2.0-only
/* Rows of a made-up table as JSON and as CSV: every value comes out as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "view/csv.h"
#include "view/json.h"

struct thing {
	const char *text;
	uint64_t count;
	int64_t offset;
	double mean;
	bool none;
	bool flag;
};

static void get_text(const void *row, const struct column *c, struct value *v)
{
	const struct thing *t = row;

	value_text(v, t->text);
	v->none = t->none;
}

static void get_count(const void *row, const struct column *c, struct value *v)
{
	const struct thing *t = row;

	value_natural(v, t->count);
	v->none = t->none;
}

static void get_offset(const void *row, const struct column *c, struct value *v)
{
	const struct thing *t = row;

	value_integer(v, t->offset);
	v->none = t->none;
}

static void get_mean(const void *row, const struct column *c, struct value *v)
{
	const struct thing *t = row;

	value_real(v, t->mean);
	v->none = t->none;
}

static void get_flag(const void *row, const struct column *c, struct value *v)
{
	const struct thing *t = row;

	value_natural(v, t->flag);
	v->none = !t->flag;
}

static const struct column thing[] = {
	{"text", "text", .unit = UNIT_TEXT, .get = get_text},
	{"count", "count", .unit = UNIT_COUNT, .get = get_count},
	{"offset", "offset", .unit = UNIT_NANOSECONDS, .get = get_offset},
	{"mean", "mean", .unit = UNIT_NANOSECONDS, .get = get_mean},
	{"flag", "flag", .unit = UNIT_FLAG, .get = get_flag},
};

static const struct columns things = COLUMNS("things", thing);

static const struct thing plain = {"nqn.a", UINT64_MAX, INT64_MIN, 1234567.125, false, true};
static const struct thing empty = {.text = "", .none = true};

static void assert_json(const struct thing *t, const char *expected)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(json_write(f, json_row(&things, t)), 0);
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
}

static const struct column counted[] = {
	{"lost", "lost", .unit = UNIT_COUNT, COLUMN_FIELD(struct thing, count), .least = 1},
	{"number", "number", .unit = UNIT_NUMBER, COLUMN_FIELD(struct thing, count), .least = 1},
};

/* People are not shown a count of 0; to a program null would mean that it is not known. */
static void a_count_of_0_is_0_to_programs(void **state)
{
	static const struct columns t = COLUMNS("counted", counted);
	const struct thing none = {.text = ""};
	struct value v;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	columns_get(&t, 0, &none, &v);
	assert_true(v.none);
	assert_int_equal(json_write(f, json_row(&t, &none)), 0);
	csv_row(f, &t, &none);
	fclose(f);
	assert_string_equal(text, "{\"lost\":0,\"number\":null}\n0,\r\n");
	free(text);
}

static void assert_csv(const struct thing *t, const char *expected)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	csv_row(f, &things, t);
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
}

static void numbers_are_exact(void **state)
{
	assert_json(&plain,
		    "{\"text\":\"nqn.a\",\"count\":18446744073709551615,"
		    "\"offset\":-9223372036854775808,\"mean\":1234567.125,\"flag\":true}\n");
	assert_csv(&plain, "nqn.a,18446744073709551615,-9223372036854775808,1234567.125,1\r\n");
}

static void what_there_is_not_is_null(void **state)
{
	const struct thing no_number = {"", 0, 0, NAN, false, false};

	assert_json(
		&empty,
		"{\"text\":null,\"count\":null,\"offset\":null,\"mean\":null,\"flag\":false}\n");
	assert_csv(&empty, ",,,,0\r\n");
	assert_json(&no_number,
		    "{\"text\":\"\",\"count\":0,\"offset\":0,\"mean\":null,\"flag\":false}\n");
	assert_csv(&no_number, ",0,0,,0\r\n");
}

/*
 * Quotes, backslashes, separators, control characters, characters of one to four bytes, and invalid
 * bytes.
 */
static void names_come_out_as_they_are(void **state)
{
	static const struct {
		const char *name, *json, *csv;
	} cases[] = {
		{"a\"b\\c/d", "\"a\\\"b\\\\c/d\"", "\"a\"\"b\\c/d\""},
		{"a,b", "\"a,b\"", "\"a,b\""},
		{"a\r\nb\tc", "\"a\\r\\nb\\tc\"",
		 "a\xef\xbf\xbd\xef\xbf\xbd"
		 "b\xef\xbf\xbd"
		 "c"},
		{"\x1b[2J\x7f", "\"\\u001b[2J\\u007f\"", "\xef\xbf\xbd[2J\xef\xbf\xbd"},
		{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"",
		 "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"\xc2\x9b[m", "\"\\u009b[m\"", "\xef\xbf\xbd[m"},
		/* A right-to-left override, a space of no width, and a tag beyond U+FFFF. */
		{"a\xe2\x80\xaetxt.\xe2\x80\x8bz", "\"a\\u202etxt.\\u200bz\"",
		 "a\xef\xbf\xbdtxt.\xef\xbf\xbdz"},
		{"\xf3\xa0\x81\x81", "\"\\udb40\\udc41\"", "\xef\xbf\xbd"},
		/* A spreadsheet would take these for formulas. */
		{"=HYPERLINK(\"x\")", "\"=HYPERLINK(\\\"x\\\")\"", "\"'=HYPERLINK(\"\"x\"\")\""},
		{"+1", "\"+1\"", "\"'+1\""},
		{"-1", "\"-1\"", "\"'-1\""},
		{"@x", "\"@x\"", "\"'@x\""},
		{"\uff1dx", "\"\uff1dx\"", "\"'\uff1dx\""},
		{"\uff0b", "\"\uff0b\"", "\"'\uff0b\""},
		{"a;=x", "\"a;=x\"", "\"a;=x\""},
		{"a=x", "\"a=x\"", "a=x"},
		/*
		 * A sequence that is cut off, an overlong form, half a surrogate pair, a code
		 * beyond the last one, and a byte that begins no sequence.
		 */
		{"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"",
		 "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"",
		 "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xffz", "\"\xef\xbf\xbdz\"", "\xef\xbf\xbdz"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct thing t = {.text = cases[i].name, .count = i};
		char json[256], csv[256];

		snprintf(json, sizeof(json),
			 "{\"text\":%s,\"count\":%zu,\"offset\":0,\"mean\":0,\"flag\":false}\n",
			 cases[i].json, i);
		snprintf(csv, sizeof(csv), "%s,%zu,0,0,0\r\n", cases[i].csv, i);
		assert_json(&t, json);
		assert_csv(&t, csv);
	}
}

static void a_full_disk_is_told(void **state)
{
	FILE *f = fopen("/dev/full", "w");

	setvbuf(f, NULL, _IONBF, 0);
	assert_int_equal(json_write(f, json_row(&things, &plain)), -ENOSPC);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_count_of_0_is_0_to_programs),
		cmocka_unit_test(numbers_are_exact),
		cmocka_unit_test(what_there_is_not_is_null),
		cmocka_unit_test(names_come_out_as_they_are),
		cmocka_unit_test(a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
