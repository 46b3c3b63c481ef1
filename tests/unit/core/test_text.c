// SPDX-License-Identifier: GPL-2.0-only
/* Texts that come from others and are not trusted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
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

	assert_string_equal(print(text, TEXT_HEX).text,
			    "a\\x1b[2J\\x9b\\xc2\\x9b\\x07\\x0d\\x0a\\x7f\\x5c\"z");
	assert_string_equal(print(text, TEXT_MARK).text, "a?[2J???????\\\"z");
	assert_string_equal(print("", TEXT_HEX).text, "");
}

/* Each begins with one that is hidden, in its first, middle or last range, and ends with one that
 * is not. */
static void hidden_characters_are_seen(void **state)
{
	static const struct {
		const char *text, *seen, *json, *harmless;
	} cases[] = {
		{"\x1b\xc3\xa4", "\xef\xbf\xbd\xc3\xa4", "\x1b\xc3\xa4", "?\xc3\xa4"},
		{"\x7f~", "\xef\xbf\xbd~", "\\u007f~", "?~"},
		{"\xc2\x9f\xc2\xa0", "\xef\xbf\xbd\xc2\xa0", "\\u009f\xc2\xa0", "??\xc2\xa0"},
		{"\xe2\x80\x8f\xe2\x80\x90", "\xef\xbf\xbd\xe2\x80\x90", "\\u200f\xe2\x80\x90",
		 "???\xe2\x80\x90"},
		{"\xe2\x80\xae\xe2\x80\xaf", "\xef\xbf\xbd\xe2\x80\xaf", "\\u202e\xe2\x80\xaf",
		 "???\xe2\x80\xaf"},
		{"\xe2\x81\xa9\xe2\x81\xb0", "\xef\xbf\xbd\xe2\x81\xb0", "\\u2069\xe2\x81\xb0",
		 "???\xe2\x81\xb0"},
		{"\u115f\u1161", "\ufffd\u1161", "\\u115f\u1161", "???\u1161"},
		{"\u3164\u3165", "\ufffd\u3165", "\\u3164\u3165", "???\u3165"},
		{"\ufe0f\ufe10", "\ufffd\ufe10", "\\ufe0f\ufe10", "???\ufe10"},
		{"\uffa0\uffa1", "\ufffd\uffa1", "\\uffa0\uffa1", "???\uffa1"},
		{"\ufff0\uffef", "\ufffd\uffef", "\\ufff0\uffef", "???\uffef"},
		{"\U0001343f\U00013440", "\ufffd\U00013440", "\\ud80d\\udc3f\U00013440",
		 "????\U00013440"},
		{"\U0001bca0\U0001bc9f", "\ufffd\U0001bc9f", "\\ud82f\\udca0\U0001bc9f",
		 "????\U0001bc9f"},
		{"\U0001d17a\U0001d17b", "\ufffd\U0001d17b", "\\ud834\\udd7a\U0001d17b",
		 "????\U0001d17b"},
		{"\U000e0fff\U000e1000", "\ufffd\U000e1000", "\\udb43\\udfff\U000e1000",
		 "????\U000e1000"},
		{"\xef\xbb\xbf\xef\xbc\x80", "\xef\xbf\xbd\xef\xbc\x80", "\\ufeff\xef\xbc\x80",
		 "???\xef\xbc\x80"},
		{"\x9b\xe2\x80z", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz",
		 "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz", "???z"},
	};
	char text[64];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_string_equal(print(cases[i].text, TEXT_SEEN).text, cases[i].seen);
		assert_string_equal(print(cases[i].text, TEXT_JSON).text, cases[i].json);
		strcpy(text, cases[i].text);
		assert_string_equal(text_harmless(text), cases[i].harmless);
	}
}

/* A buffer ends behind a whole character. */
static void no_character_is_cut(void **state)
{
	char text[6];

	assert_string_equal(text_copy(text, sizeof(text), "abcd\xc3\xa4", TEXT_UTF8), "abcd");
	assert_string_equal(text_copy(text, sizeof(text), "abc\xc3\xa4", TEXT_UTF8), "abc\xc3\xa4");
	assert_string_equal(text_copy(text, sizeof(text),
				      "ab\x9b"
				      "c",
				      TEXT_SEEN),
			    "ab\xef\xbf\xbd");
	assert_string_equal(text_copy(text, sizeof(text), "abc\x9b", TEXT_HEX), "abc");
}

static void a_long_text_is_whole(void **state)
{
	char text[LONG + 1] = "", expected[LONG * 4 + 1] = "";
	struct written w;

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
	assert_int_equal(print("Permission denied (publickey).", TEXT_HEX).pieces, 1);
}

static void digits_of_a_number(void **state)
{
	static const uint64_t numbers[] = {0, 7, 10, 1234567890, 9999999999, INT64_MAX, UINT64_MAX};
	char digits[NATURAL_LEN], expected[NATURAL_LEN + 1];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		int nr = snprintf(expected, sizeof(expected), "%llu",
				  (unsigned long long)numbers[i]);

		assert_int_equal(text_natural(digits, numbers[i]), nr);
		assert_memory_equal(digits, expected, nr);
	}
}

/* Each size of the buffer: what fits is there, and no character is half there. */
static void a_copy_ends_between_characters(void **state)
{
	static const char text[] = "ab\xc3\xa4"
				   "cd\x1b"
				   "e";
	static const char seen[] = "ab\xc3\xa4"
				   "cd\xef\xbf\xbd"
				   "e";
	static const size_t whole[] = {0, 0, 1, 2, 2, 4, 5, 6, 6, 6, 9, 10};
	char buf[16];

	for (size_t size = 1; size < sizeof(whole) / sizeof(whole[0]); size++) {
		memset(buf, 'x', sizeof(buf));
		text_copy(buf, size, text, TEXT_SEEN);
		assert_int_equal(strlen(buf), whole[size]);
		assert_memory_equal(buf, seen, whole[size]);
		assert_int_equal(buf[size], 'x');
	}
}

static const char *nearest(const char *word)
{
	static const char *const names[] = {"live", "trace", "record", "report", "stacks", "host"};
	struct nearest n = {.word = word};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		nearest_try(&n, names[i]);
	return n.name ?: "";
}

static void a_name_that_a_word_is_like_is_found(void **state)
{
	char longer[4 * WORD_LEN];

	assert_string_equal(nearest("tarce"), "trace");
	assert_string_equal(nearest("recrod"), "record");
	assert_string_equal(nearest("reprot"), "report");
	assert_string_equal(nearest("hots"), "host");
	assert_string_equal(nearest("sta"), "stacks");
	assert_string_equal(nearest("fio"), "");
	assert_string_equal(nearest("xyzzy"), "");
	assert_string_equal(nearest(""), "");
	memset(longer, 'l', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_string_equal(nearest(longer), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_commands_no_terminal),
		cmocka_unit_test(hidden_characters_are_seen),
		cmocka_unit_test(no_character_is_cut),
		cmocka_unit_test(a_long_text_is_whole),
		cmocka_unit_test(a_line_is_written_at_once),
		cmocka_unit_test(digits_of_a_number),
		cmocka_unit_test(a_copy_ends_between_characters),
		cmocka_unit_test(a_name_that_a_word_is_like_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
