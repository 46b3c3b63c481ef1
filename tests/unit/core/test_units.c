// SPDX-License-Identifier: GPL-2.0-only
/* How times and sizes are parsed. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/text.h"

static void times_with_and_without_unit(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} known[] = {
		{"1", 1000000000},
		{"0.5", 500000000},
		{"7ns", 7},
		{"250us", 250000},
		{"2ms", 2000000},
		{"1.5s", 1500000000},
		{"2m", 120000000000},
		{"1h", 3600000000000},
		{"0", 0},
		{".25", 250000000},
		{"100000h", 360000000000000000},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		uint64_t ns = 1;

		assert_int_equal(parse_seconds(known[i].text, &ns), 0);
		assert_int_equal(ns, known[i].ns);
	}
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const wrong[] = {"",	   "soon", "-1",  "1x", "1 s",	 "0x10", "inf",
					    "nan", ".",	   "1..", "ms", "1e999", "1msx", " 1"};
	uint64_t ns;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_not_equal(parse_seconds(wrong[i], &ns), 0);
	assert_int_equal(parse_seconds("9999999999999h", &ns), -ERANGE);
}

static void sizes_with_and_without_unit(void **state)
{
	uint64_t bytes;

	assert_int_equal(parse_size("4096", &bytes), 0);
	assert_int_equal(bytes, 4096);
	assert_int_equal(parse_size("3K", &bytes), 0);
	assert_int_equal(bytes, 3072);
	assert_int_equal(parse_size("2G", &bytes), 0);
	assert_int_equal(bytes, 2147483648);
	assert_int_equal(parse_size("17179869183G", &bytes), 0);
	assert_int_equal(parse_size("4k", &bytes), 0);
	assert_int_equal(bytes, 4096);
	assert_int_equal(parse_size("4KiB", &bytes), 0);
	assert_int_equal(bytes, 4096);
	assert_int_equal(parse_size("2gib", &bytes), -EINVAL);
	assert_int_equal(parse_size("2MiB", &bytes), 0);
	assert_int_equal(bytes, 2 << 20);
}

static void what_is_no_size_is_refused(void **state)
{
	static const char *const wrong[] = {"",	    "K",  "1KB", "1kB",	 "1Ki",
					    "1.5M", "-1", " 1",	 "0x10", "1T"};
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse_size(wrong[i], &bytes), -EINVAL);
	assert_int_equal(parse_size("17179869184G", &bytes), -ERANGE);
	assert_int_equal(parse_size("99999999999999999999", &bytes), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_with_and_without_unit),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(sizes_with_and_without_unit),
		cmocka_unit_test(what_is_no_size_is_refused),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
