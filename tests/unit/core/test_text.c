// SPDX-License-Identifier: GPL-2.0-only
/* Texts that others chose. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie() */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/text.h"

#define LONG 3000

struct written {
	char text[8 * LONG];
	size_t len;
	unsigned int pieces;
};

static ssize_t take(void *cookie, const char *p, size_t n)
{
	struct written *w = cookie;

	memcpy(w->text + w->len, p, n);
	w->len += n;
	w->pieces++;
	return (ssize_t)n;
}

static struct written print(const char *s, enum text_style style)
{
	const cookie_io_functions_t functions = {.write = take};
	struct written w = {.len = 0};
	FILE *f = fopencookie(&w, "w", functions);

	assert_non_null(f);
	setvbuf(f, NULL, _IONBF, 0);
	text_print(f, s, style);
	fclose(f);
	return w;
}

static void a_text_commands_no_terminal(void **state)
{
	static const char text[] = "a\x1b[2J\x9b\xc2\x9b\x07\r\n\x7f\\\"z";

	(void)state;
	assert_string_equal(print(text, TEXT_HEX).text,
			    "a\\x1b[2J\\x9b\\xc2\\x9b\\x07\\x0d\\x0a\\x7f\\x5c\"z");
	assert_string_equal(print(text, TEXT_MARK).text, "a?[2J???????\\\"z");
	assert_string_equal(print("", TEXT_HEX).text, "");
}

static void a_long_text_is_whole(void **state)
{
	char text[LONG + 1] = "", expected[LONG * 4 + 1] = "";
	struct written w;

	(void)state;
	for (unsigned int i = 0; i < LONG; i++) {
		text[i] = i % 3 ? 'a' : '\x1b';
		strcat(expected, i % 3 ? "a" : "\\x1b");
	}
	w = print(text, TEXT_HEX);
	assert_int_equal(w.len, strlen(expected));
	assert_string_equal(w.text, expected);
}

/* Standard error has no buffer, and other processes write to the same terminal. */
static void a_line_is_written_at_once(void **state)
{
	(void)state;
	assert_int_equal(print("Permission denied (publickey).", TEXT_HEX).pieces, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_commands_no_terminal),
		cmocka_unit_test(a_long_text_is_whole),
		cmocka_unit_test(a_line_is_written_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
