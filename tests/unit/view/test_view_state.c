// SPDX-License-Identifier: GPL-2.0-only
/* What each key changes in the user's choices, without a screen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "view/view_state.h"
#include "view/visible_rows.h"

#define MS 1000000ULL
#define S (1000 * MS)
#define ROWS 30

static struct stats stats;

/* Rows of 30 queues; the last queue has most commands, and is the first row. */
static int set_up(void **state)
{
	stats = (struct stats){.side = NT_HOST, .seconds = 1, .elapsed = 1};
	for (uint16_t qid = 1; qid <= ROWS; qid++) {
		struct stats_row *row = stats_row(&stats, "nvme0", "nqn.x", qid, NT_OP_READ, false);

		if (!row)
			return -1;
		for (unsigned int i = 0; i < qid; i++)
			hist_count(&row->interval, MS);
	}
	return 0;
}

static int tear_down(void **state)
{
	stats_free(&stats);
	return 0;
}

static void press(struct view_state *l, int key)
{
	assert_int_equal(pressed(l, key, &stats), PRESSED_DRAW);
}

static void type(struct view_state *l, const char *text)
{
	for (; *text; text++)
		press(l, (unsigned char)*text);
}

static void an_interval_goes_to_the_next_usual_one(void **state)
{
	static const struct {
		uint64_t from, shorter, longer;
	} cases[] = {
		{0, 0, 0},
		{50 * MS, 50 * MS, 100 * MS},
		{100 * MS, 100 * MS, 200 * MS},
		{150 * MS, 100 * MS, 200 * MS},
		{200 * MS, 100 * MS, 500 * MS},
		{500 * MS, 200 * MS, S},
		{S, 500 * MS, 2 * S},
		{2 * S, S, 5 * S},
		{3 * S, 2 * S, 5 * S},
		{5 * S, 2 * S, 10 * S},
		{10 * S, 5 * S, 30 * S},
		{30 * S, 10 * S, 60 * S},
		{60 * S, 30 * S, 60 * S},
		{90 * S, 60 * S, 90 * S},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct view_state l = {.interval_ns = cases[i].from};

		press(&l, '-');
		assert_int_equal(l.interval_ns, cases[i].shorter);
		l.interval_ns = cases[i].from;
		press(&l, '+');
		assert_int_equal(l.interval_ns, cases[i].longer);
	}
}

static void the_mark_stays_on_the_rows(void **state)
{
	struct view_state l = {.keys = true};

	press(&l, KEY_UP);
	assert_int_equal(l.cursor, 0);
	press(&l, KEY_DOWN);
	press(&l, 'j');
	assert_int_equal(l.cursor, 2);
	press(&l, 'k');
	assert_int_equal(l.cursor, 1);
	press(&l, KEY_PAGE_DOWN);
	assert_int_equal(l.cursor, 11);
	press(&l, KEY_PAGE_UP);
	assert_int_equal(l.cursor, 1);
	press(&l, KEY_PAGE_UP);
	assert_int_equal(l.cursor, 0);
	press(&l, ' ');
	press(&l, ' ');
	press(&l, ' ');
	assert_int_equal(l.cursor, ROWS - 1);
	press(&l, KEY_DOWN);
	assert_int_equal(l.cursor, ROWS - 1);
	press(&l, KEY_HOME);
	assert_int_equal(l.cursor, 0);
	press(&l, KEY_END);
	assert_int_equal(l.cursor, ROWS - 1);
	assert_int_equal(l.top, 0);
}

static void without_rows_the_mark_is_at_0(void **state)
{
	struct view_state l = {.filter = "no such row", .cursor = 3};

	press(&l, KEY_DOWN);
	assert_int_equal(l.cursor, 0);
	press(&l, KEY_ENTER);
	assert_int_equal(l.page, VIEW_TABLE);
	l = (struct view_state){.cursor = 3};
	assert_int_equal(pressed(&l, KEY_DOWN, NULL), PRESSED_DRAW);
	assert_int_equal(l.cursor, 0);
	assert_int_equal(pressed(&l, KEY_ENTER, NULL), PRESSED_DRAW);
	assert_int_equal(l.page, VIEW_TABLE);
}

/* A page has lines instead of rows; the mark waits where it was. */
static void a_page_is_scrolled_and_the_mark_is_not(void **state)
{
	struct view_state l = {.cursor = 5, .page = VIEW_HELP};

	press(&l, KEY_DOWN);
	press(&l, KEY_PAGE_DOWN);
	assert_int_equal(l.top, 11);
	press(&l, KEY_UP);
	assert_int_equal(l.top, 10);
	press(&l, KEY_PAGE_UP);
	press(&l, KEY_PAGE_UP);
	assert_int_equal(l.top, 0);
	press(&l, KEY_END);
	assert_true(l.top > 1000000);
	press(&l, KEY_HOME);
	assert_int_equal(l.top, 0);
	assert_int_equal(l.cursor, 5);
}

static void a_page_is_opened_and_closed(void **state)
{
	static const struct {
		int key;
		enum view_page page;
	} cases[] = {{'l', VIEW_LOSSES}, {'h', VIEW_HELP}, {'?', VIEW_HELP}};
	static const int back[] = {KEY_ESCAPE, KEY_LEFT, KEY_BACKSPACE, KEY_DELETE};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct view_state l = {.top = 9};

		press(&l, cases[i].key);
		assert_int_equal(l.page, cases[i].page);
		assert_int_equal(l.top, 0);
		press(&l, cases[i].key);
		assert_int_equal(l.page, VIEW_TABLE);
		for (unsigned int k = 0; k < ARRAY_SIZE(back); k++) {
			press(&l, cases[i].key);
			press(&l, back[k]);
			assert_int_equal(l.page, VIEW_TABLE);
		}
		l.page = VIEW_ROW;
		press(&l, cases[i].key);
		assert_int_equal(l.page, cases[i].page);
	}
}

static void the_marked_row_has_a_page(void **state)
{
	static const int keys[] = {KEY_ENTER, '\r', KEY_RIGHT};

	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
		struct view_state l = {.cursor = i, .top = 9};

		press(&l, keys[i]);
		assert_int_equal(l.page, VIEW_ROW);
		assert_int_equal(l.top, 0);
		assert_int_equal(l.row.qid, ROWS - i);
		assert_string_equal(l.row.controller, "nvme0");
		/* On a page these keys do nothing. */
		l.cursor = 7;
		press(&l, keys[i]);
		assert_int_equal(l.row.qid, ROWS - i);
		l.page = VIEW_HELP;
		press(&l, keys[i]);
		assert_int_equal(l.page, VIEW_HELP);
	}
}

static void order_and_groups_go_round(void **state)
{
	struct view_state l = {.cursor = 5, .page = VIEW_ROW};

	for (unsigned int i = 1; i <= VIEW_SORTS_NR; i++) {
		l.cursor = 5;
		press(&l, 's');
		assert_int_equal(l.sort, i % VIEW_SORTS_NR);
		assert_int_equal(l.cursor, 0);
		assert_int_equal(l.page, VIEW_ROW);
	}
	for (unsigned int i = 1; i <= VIEW_GROUPS_NR; i++) {
		l.cursor = 5;
		l.page = VIEW_ROW;
		press(&l, 'g');
		assert_int_equal(l.group, i % VIEW_GROUPS_NR);
		assert_int_equal(l.cursor, 0);
		assert_int_equal(l.page, VIEW_TABLE);
	}
}

static void a_filter_is_kept_or_given_up(void **state)
{
	struct view_state l = {.page = VIEW_HELP, .filter = "q1"};

	press(&l, '/');
	assert_int_equal(l.page, VIEW_TABLE);
	assert_true(l.typing);
	l.cursor = 3;
	type(&l, "sgl+q");
	assert_string_equal(l.filter, "q1sgl+q");
	assert_int_equal(l.cursor, 0);
	assert_int_equal(l.sort, 0);
	l.cursor = 3;
	press(&l, KEY_ESCAPE);
	assert_false(l.typing);
	assert_string_equal(l.filter, "q1");
	assert_int_equal(l.cursor, 0);
	press(&l, '/');
	type(&l, "2");
	press(&l, KEY_ENTER);
	assert_false(l.typing);
	assert_string_equal(l.filter, "q12");
	press(&l, '/');
	type(&l, "3");
	press(&l, '\r');
	assert_false(l.typing);
	assert_string_equal(l.filter, "q123");
}

static void a_character_of_several_bytes_is_deleted_whole(void **state)
{
	struct view_state l = {.typing = true};

	type(&l, "a\xc3\xa4\xe2\x82\xac~");
	press(&l, KEY_BACKSPACE);
	assert_string_equal(l.filter, "a\xc3\xa4\xe2\x82\xac");
	press(&l, KEY_DELETE);
	assert_string_equal(l.filter, "a\xc3\xa4");
	press(&l, KEY_BACKSPACE);
	assert_string_equal(l.filter, "a");
	press(&l, KEY_BACKSPACE);
	press(&l, KEY_BACKSPACE);
	assert_string_equal(l.filter, "");
	assert_true(l.typing);
}

static void only_characters_that_fit_are_typed(void **state)
{
	static const int others[] = {KEY_UP, KEY_END, KEY_PAGE_DOWN, '\t', 0x1f, 0x100};
	struct view_state l = {.typing = true};

	for (unsigned int i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(pressed(&l, others[i], &stats), PRESSED_NOTHING);
	assert_string_equal(l.filter, "");
	press(&l, ' ');
	press(&l, 0xff);
	assert_string_equal(l.filter, " \xff");
	for (size_t n = 2; n < VIEW_FILTER_LEN - 1; n++)
		press(&l, 'x');
	assert_int_equal(pressed(&l, 'y', &stats), PRESSED_NOTHING);
	assert_int_equal(strlen(l.filter), VIEW_FILTER_LEN - 1);
	assert_null(strchr(l.filter, 'y'));
}

static void other_keys_do_nothing(void **state)
{
	struct view_state l = {.cursor = 1}, before = l;

	assert_int_equal(pressed(&l, 'x', &stats), PRESSED_NOTHING);
	assert_int_equal(pressed(&l, KEY_NONE, &stats), PRESSED_NOTHING);
	assert_memory_equal(&l, &before, sizeof(l));
	assert_int_equal(pressed(&l, 'q', &stats), PRESSED_QUIT);
	press(&l, 'p');
	assert_true(l.paused);
	press(&l, 'p');
	assert_false(l.paused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interval_goes_to_the_next_usual_one),
		cmocka_unit_test(the_mark_stays_on_the_rows),
		cmocka_unit_test(without_rows_the_mark_is_at_0),
		cmocka_unit_test(a_page_is_scrolled_and_the_mark_is_not),
		cmocka_unit_test(a_page_is_opened_and_closed),
		cmocka_unit_test(the_marked_row_has_a_page),
		cmocka_unit_test(order_and_groups_go_round),
		cmocka_unit_test(a_filter_is_kept_or_given_up),
		cmocka_unit_test(a_character_of_several_bytes_is_deleted_whole),
		cmocka_unit_test(only_characters_that_fit_are_typed),
		cmocka_unit_test(other_keys_do_nothing),
	};

	return cmocka_run_group_tests_name("keys and choices", tests, set_up, tear_down);
}
