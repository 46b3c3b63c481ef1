/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The choices of the user at the screen: which rows, in which order, which page. Keys change them.
 * They have no influence on what is measured.
 */
#ifndef NTPROF_VIEW_VIEW_STATE_H
#define NTPROF_VIEW_VIEW_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/stats.h"

/* Room for a filter. Names may be longer, but users do not type so much of one. */
#define VIEW_FILTER_LEN 48

/* X(identifier, name): the order of rows, the largest first, or by the alphabet. */
#define VIEW_SORTS(X)             \
	X(IOPS, "IOPS")           \
	X(P99, "p99")             \
	X(IN_FLIGHT, "in flight") \
	X(OLDEST, "oldest")       \
	X(THROUGHPUT, "MB/s")     \
	X(NAME, "name")

/* X(identifier, name): what rows must have in common to be added up to one row. */
#define VIEW_GROUPS(X)    \
	X(EACH, "none")   \
	X(CTRL, "ctrl")   \
	X(QUEUE, "queue") \
	X(OP, "op")       \
	X(NQN, "nqn")

/* X(identifier, name): the table that has the keys. */
#define VIEW_FOCUSES(X)               \
	X(ROWS, "rows")               \
	X(STAGES, "stages")           \
	X(CONNECTIONS, "connections") \
	X(HISTOGRAMS, "histograms")

#define VIEW_FOCUS_ENUM(id, name) VIEW_FOCUS_##id,
enum view_focus { VIEW_FOCUSES(VIEW_FOCUS_ENUM) VIEW_FOCUS_NR };
#define VIEW_SORT_ENUM(id, name) VIEW_SORT_##id,
enum view_sort { VIEW_SORTS(VIEW_SORT_ENUM) VIEW_SORTS_NR };
#define VIEW_GROUP_ENUM(id, name) VIEW_GROUP_##id,
enum view_group { VIEW_GROUPS(VIEW_GROUP_ENUM) VIEW_GROUPS_NR };

/* At least as many columns as any table has. */
#define VIEW_COLUMNS_MAX 64

struct group_choice;
struct controllers;

enum view_page { VIEW_TABLE, VIEW_ROW, VIEW_LOSSES, VIEW_TCP, VIEW_WHY, VIEW_HELP };

/* Identifies a row, or a group of rows: as in struct stats_row. */
struct view_row {
	char controller[sizeof(((struct stats_row *)0)->controller)];
	char peer[sizeof(((struct stats_row *)0)->peer)];
	uint16_t qid;
	bool shared;
	enum nt_op op;
};

/**
 * struct view_state - choices of the user
 * @choice: groups of the command line, which are shown unless the user has pressed the key for
 *          other ones; NULL: each row by itself
 * @controllers: what the machine knows of them, or NULL
 * @keys: the user can press keys, so the screen shows them
 * @page: the page that is shown
 * @sort, @reverse, @group: of the table
 * @filter: words that each row has to match, all of them; "" matches all rows
 * @typing: the user is typing the filter
 * @before: the filter before that
 * @cursor: index of the marked row, in the order on the screen
 * @row: the row of the page VIEW_ROW
 * @focus: the table that has the keys; if it is not there, the code that draws takes another
 * @top: number of lines of a page, or of a table that is not that of the rows, that are scrolled
 * off the top; the code that draws corrects it
 * @widest: widths that the columns of the table have had so far, by their numbers, for
 *          @widest_columns on a terminal of @widest_width: they do not get narrower again
 * @paused: no new blocks are shown
 * @interval_ns: from one block to the next; 0: it cannot be changed
 */
struct view_state {
	const struct group_choice *choice;
	const struct controllers *controllers;
	bool keys;
	enum view_page page;
	enum view_sort sort;
	bool reverse;
	enum view_group group;
	char filter[VIEW_FILTER_LEN];
	bool typing;
	char before[VIEW_FILTER_LEN];
	size_t cursor;
	struct view_row row;
	enum view_focus focus;
	size_t top;
	size_t widest[VIEW_COLUMNS_MAX];
	const void *widest_columns;
	unsigned int widest_width;
	bool paused;
	uint64_t interval_ns;
};

const char *view_sort_name(enum view_sort sort);
const char *view_group_name(enum view_group group);
const char *view_focus_name(enum view_focus focus);

/*
 * Turns what a terminal sends into keys. A key is a character, or a sequence that begins with an
 * escape.
 */

/* Bytes that wait to be read as keys. Bytes that do not fit are lost. */
#define KEYS_MAX 256

/*
 * xterm's sequences for the terminal's other screen. The Linux console does not know them. There
 * the last line is cleared, and output goes on below the others.
 */
#define SCREEN_ENTER "\033[?1049h"
#define SCREEN_LEAVE "\033[?1049l\r\033[J"

/* A key is its character, or one of these. */
enum key {
	KEY_NONE = 0,
	KEY_BACKSPACE = 8,
	KEY_ENTER = '\n',
	KEY_ESCAPE = 27,
	KEY_DELETE = 127, /* most terminals send this for the backspace key */
	KEY_UP = 256,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
};

/** struct keys - @nr bytes that have come and are not read as keys yet; {0} is empty */
struct keys {
	char byte[KEYS_MAX];
	size_t nr;
};

/** keys_put() - append @n bytes that have come */
void keys_put(struct keys *k, const char *bytes, size_t n);

/**
 * keys_next() - take the next key
 *
 * Return: the key; KEY_NONE if there is none, or only the beginning of a sequence. Sequences of
 * other keys are skipped.
 */
int keys_next(struct keys *k);

/** keys_partial() - after KEY_NONE: whether the beginning of a sequence waits */
static inline bool keys_partial(const struct keys *k)
{
	return k->nr != 0;
}

/**
 * keys_give_up() - drop the beginning of a sequence, because the rest has not come
 *
 * Return: KEY_ESCAPE if an escape is all that has come, otherwise KEY_NONE.
 */
int keys_give_up(struct keys *k);

#endif /* NTPROF_VIEW_VIEW_STATE_H */
