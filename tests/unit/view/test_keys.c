// SPDX-License-Identifier: GPL-2.0-only
/* Keys from the bytes that a terminal sends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "view/view_state.h"

static void put(struct keys *k, const char *text)
{
	keys_put(k, text, strlen(text));
}

static void characters_are_keys(void **state)
{
	struct keys k = {.nr = 0};

	assert_int_equal(keys_next(&k), KEY_NONE);
	put(&k, "q?\n\303\244");
	assert_int_equal(keys_next(&k), 'q');
	assert_int_equal(keys_next(&k), '?');
	assert_int_equal(keys_next(&k), KEY_ENTER);
	assert_int_equal(keys_next(&k), 0xc3);
	assert_int_equal(keys_next(&k), 0xa4);
	assert_int_equal(keys_next(&k), KEY_NONE);
	assert_false(keys_partial(&k));
}

static const struct {
	const char *sequence;
	int key;
} known[] = {
	{"\033[A", KEY_UP},	  {"\033OB", KEY_DOWN},	      {"\033[C", KEY_RIGHT},
	{"\033[D", KEY_LEFT},	  {"\033[H", KEY_HOME},	      {"\033[4~", KEY_END},
	{"\033[5~", KEY_PAGE_UP}, {"\033[6~", KEY_PAGE_DOWN},
};

static void sequences_are_keys_however_they_come(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct keys k = {.nr = 0};
		size_t n = strlen(known[i].sequence);

		put(&k, known[i].sequence);
		assert_int_equal(keys_next(&k), known[i].key);
		for (size_t at = 0; at < n; at++) {
			assert_int_equal(keys_next(&k), KEY_NONE);
			assert_int_equal(keys_partial(&k), at != 0);
			keys_put(&k, known[i].sequence + at, 1);
		}
		assert_int_equal(keys_next(&k), known[i].key);
		assert_false(keys_partial(&k));
	}
}

static void keys_without_a_name_are_skipped(void **state)
{
	struct keys k = {.nr = 0};

	/* F5, Shift-Up, F1, and a report of the cursor's position. */
	put(&k, "\033[15~a\033[1;2Ab\033OPc\033[24;80Rd");
	for (int key = 'a'; key <= 'd'; key++)
		assert_int_equal(keys_next(&k), key);
	assert_int_equal(keys_next(&k), KEY_NONE);
	assert_false(keys_partial(&k));
}

static void escape_is_a_key_where_nothing_follows_or_something_else(void **state)
{
	struct keys k = {.nr = 0};

	put(&k, "\033");
	assert_int_equal(keys_next(&k), KEY_NONE);
	assert_true(keys_partial(&k));
	assert_int_equal(keys_give_up(&k), KEY_ESCAPE);
	assert_false(keys_partial(&k));
	put(&k, "\033q\033\033[A");
	assert_int_equal(keys_next(&k), KEY_ESCAPE);
	assert_int_equal(keys_next(&k), 'q');
	assert_int_equal(keys_next(&k), KEY_ESCAPE);
	assert_int_equal(keys_next(&k), KEY_UP);
	/* A sequence without its end is neither a key nor a character. */
	put(&k, "\033[1");
	assert_int_equal(keys_next(&k), KEY_NONE);
	assert_int_equal(keys_give_up(&k), KEY_NONE);
	put(&k, "x");
	assert_int_equal(keys_next(&k), 'x');
}

static void a_sequence_without_end_ends(void **state)
{
	struct keys k = {.nr = 0};

	put(&k, "\033[");
	for (int i = 0; i < 3 * KEYS_MAX; i++)
		put(&k, "1");
	assert_int_equal(keys_next(&k), KEY_NONE);
	assert_false(keys_partial(&k));
	put(&k, "\033[1\nq");
	assert_int_equal(keys_next(&k), KEY_ENTER);
	assert_int_equal(keys_next(&k), 'q');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_are_keys),
		cmocka_unit_test(sequences_are_keys_however_they_come),
		cmocka_unit_test(keys_without_a_name_are_skipped),
		cmocka_unit_test(escape_is_a_key_where_nothing_follows_or_something_else),
		cmocka_unit_test(a_sequence_without_end_ends),
	};

	return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
