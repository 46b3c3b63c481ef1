// SPDX-License-Identifier: GPL-2.0-only
#include "view/pressed.h"

#include <string.h>

#include "core/array.h"
#include "view/keys.h"
#include "view/visible_rows.h"

/* Lines that a page key moves, for any size of the screen. */
#define PAGE_LINES 10

#define MS 1000000ULL
#define S (1000 * MS)
static const uint64_t intervals[] = {100 * MS, 200 * MS, 500 * MS, S,	  2 * S,
				     5 * S,    10 * S,	 30 * S,   60 * S};

static void interval_change(struct view_state *l, bool longer)
{
	size_t i = 0;

	if (!l->interval_ns)
		return;
	while (i < ARRAY_SIZE(intervals) && intervals[i] < l->interval_ns)
		i++;
	if (longer && i < ARRAY_SIZE(intervals) && intervals[i] == l->interval_ns)
		i++;
	if (longer && i < ARRAY_SIZE(intervals))
		l->interval_ns = intervals[i];
	else if (!longer && i)
		l->interval_ns = intervals[i - 1];
}

/* Bytes after the first of a UTF-8 character are 10xxxxxx (RFC 3629). */
static void filter_shorten(char *filter)
{
	size_t n = strlen(filter);

	while (n && ((unsigned char)filter[--n] & 0xc0) == 0x80)
		;
	filter[n] = '\0';
}

static enum pressed_wish filter_key(struct view_state *l, int key)
{
	size_t n = strlen(l->filter);

	switch (key) {
	case KEY_ESCAPE:
		memcpy(l->filter, l->before, sizeof(l->filter));
		l->typing = false;
		break;
	case '\r':
	case KEY_ENTER:
		l->typing = false;
		break;
	case KEY_BACKSPACE:
	case KEY_DELETE:
		filter_shorten(l->filter);
		break;
	default:
		if (key < ' ' || key > 0xff || n == sizeof(l->filter) - 1)
			return PRESSED_NOTHING;
		l->filter[n] = (char)key;
		l->filter[n + 1] = '\0';
	}
	l->cursor = 0;
	return PRESSED_DRAW;
}

static void filter_begin(struct view_state *l)
{
	memcpy(l->before, l->filter, sizeof(l->before));
	l->typing = true;
}

/* Shows the page of the marked row. */
static void drill_down(struct view_state *l, const struct stats *s)
{
	struct visible_rows p;

	if (s && !visible_rows_make(&p, s, l, false) && l->cursor < p.nr) {
		visible_rows_name(&l->row, p.row[l->cursor].row);
		l->page = VIEW_ROW;
		l->top = 0;
	}
	if (s)
		visible_rows_free(&p);
}

static void move(struct view_state *l, long lines)
{
	size_t *at = l->page == VIEW_TABLE ? &l->cursor : &l->top;

	*at = lines < 0 && *at < (size_t)-lines ? 0 : *at + (size_t)lines;
}

static size_t rows_nr(const struct view_state *l, const struct stats *s)
{
	struct visible_rows p;
	size_t nr = 0;

	if (!s)
		return 0;
	if (!visible_rows_make(&p, s, l, false))
		nr = p.nr;
	visible_rows_free(&p);
	return nr;
}

static void cursor_keep(struct view_state *l, const struct stats *s)
{
	size_t nr = rows_nr(l, s);

	if (l->cursor >= nr)
		l->cursor = nr ? nr - 1 : 0;
}

static void page(struct view_state *l, enum view_page page)
{
	l->page = l->page == page ? VIEW_TABLE : page;
	l->top = 0;
}

static void group(struct view_state *l)
{
	l->group = (l->group + 1) % VIEW_GROUPS_NR;
	l->page = VIEW_TABLE;
	l->cursor = 0;
}

static bool moves(struct view_state *l, int key)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		move(l, -1);
		return true;
	case KEY_DOWN:
	case 'j':
		move(l, 1);
		return true;
	case KEY_PAGE_UP:
		move(l, -PAGE_LINES);
		return true;
	case KEY_PAGE_DOWN:
	case ' ':
		move(l, PAGE_LINES);
		return true;
	case KEY_HOME:
		l->cursor = l->page == VIEW_TABLE ? 0 : l->cursor;
		l->top = 0;
		return true;
	case KEY_END:
		/* Only the code that draws knows where the end is. */
		move(l, INT32_MAX);
		return true;
	default:
		return false;
	}
}

enum pressed_wish pressed(struct view_state *l, int key, const struct stats *s)
{
	if (l->typing)
		return filter_key(l, key);
	if (moves(l, key)) {
		cursor_keep(l, s);
		return PRESSED_DRAW;
	}
	switch (key) {
	case 'q':
		return PRESSED_QUIT;
	case 's':
		l->sort = (l->sort + 1) % VIEW_SORTS_NR;
		l->cursor = 0;
		break;
	case 'g':
		group(l);
		break;
	case '/':
		l->page = VIEW_TABLE;
		filter_begin(l);
		break;
	case 'p':
		l->paused = !l->paused;
		break;
	case 'l':
		page(l, VIEW_LOSSES);
		break;
	case '?':
	case 'h':
		page(l, VIEW_HELP);
		break;
	case '+':
	case '-':
		interval_change(l, key == '+');
		break;
	case '\r':
	case KEY_ENTER:
	case KEY_RIGHT:
		if (l->page == VIEW_TABLE)
			drill_down(l, s);
		break;
	case KEY_ESCAPE:
	case KEY_LEFT:
	case KEY_BACKSPACE:
	case KEY_DELETE:
		l->page = VIEW_TABLE;
		break;
	default:
		return PRESSED_NOTHING;
	}
	return PRESSED_DRAW;
}
