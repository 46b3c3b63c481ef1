// SPDX-License-Identifier: GPL-2.0-only
/* Names of functions, from a file in the kernel's format. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/paths.h"

static char path[] = "/tmp/test_symbols.XXXXXX";

static struct symbols *read_text(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fputs(text, f) < 0, 0);
	assert_int_equal(fclose(f), 0);
	return symbols_read(path);
}

static void an_address_is_in_the_function_that_begins_last_before_it(void **state)
{
	struct symbols *s = read_text("ffffffff81000200 t second\n"
				      "ffffffff81000100 T first\n"
				      "ffffffff81000180 d not_a_function\n"
				      "ffffffffc0000000 t of_a_module\t[nvme_tcp]\n"
				      "ffffffff81000300 W weak\n"
				      "nonsense\n");

	assert_non_null(s);
	assert_int_equal(symbols_check(path), 0);
	assert_null(symbols_find(s, 0xffffffff810000ff));
	assert_string_equal(symbols_find(s, 0xffffffff81000100), "first");
	assert_string_equal(symbols_find(s, 0xffffffff810001ff), "first");
	assert_string_equal(symbols_find(s, 0xffffffff81000200), "second");
	assert_string_equal(symbols_find(s, 0xffffffff81000301), "weak");
	assert_string_equal(symbols_find(s, UINT64_MAX), "of_a_module");
	symbols_free(s);
}

static void addresses_that_are_kept_back_are_told(void **state)
{
	assert_null(read_text("0000000000000000 T first\n0000000000000000 t second\n"));
	assert_int_equal(errno, EPERM);
	assert_int_equal(symbols_check(path), -EPERM);
	assert_null(read_text("ffffffff81000180 d not_a_function\n"));
	assert_int_equal(errno, ENODATA);
	assert_null(symbols_read("/nowhere"));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(symbols_check("/nowhere"), -ENOENT);
}

static void thousands_are_found(void **state)
{
	struct symbols *s;
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (unsigned int i = 0; i < 20000; i++)
		fprintf(f, "%llx t f%u\n", 0xffffffff81000000ULL + 16 * ((i * 7919ULL) % 20000),
			(i * 7919) % 20000);
	assert_int_equal(fclose(f), 0);
	s = symbols_read(path);
	assert_non_null(s);
	for (unsigned int i = 0; i < 20000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		assert_string_equal(symbols_find(s, 0xffffffff81000000ULL + 16ULL * i + 15), name);
	}
	symbols_free(s);
}

static int make(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int clean(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_in_the_function_that_begins_last_before_it),
		cmocka_unit_test(addresses_that_are_kept_back_are_told),
		cmocka_unit_test(thousands_are_found),
	};

	return cmocka_run_group_tests(tests, make, clean);
}
