/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The choices of the user at the screen: which rows, in which order, which page. Keys change them.
 * They have no influence on what is measured.
 */
#ifndef NTPROF_VIEW_LOOK_H
#define NTPROF_VIEW_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/stats.h"

/* Room for a filter. Names may be longer, but users do not type so much of one. */
#define LOOK_FILTER_LEN 48

/* X(identifier, name): the order of rows, the largest first. */
#define LOOK_SORTS(X)             \
	X(IOPS, "IOPS")           \
	X(P99, "p99")             \
	X(IN_FLIGHT, "in flight") \
	X(OLDEST, "oldest")

/* X(identifier, name): what rows must have in common to be added up to one row. */
#define LOOK_GROUPS(X)    \
	X(EACH, "none")   \
	X(CTRL, "ctrl")   \
	X(QUEUE, "queue") \
	X(OP, "op")       \
	X(NQN, "nqn")

#define LOOK_SORT_ENUM(id, name) LOOK_SORT_##id,
enum look_sort { LOOK_SORTS(LOOK_SORT_ENUM) LOOK_SORTS_NR };
#define LOOK_GROUP_ENUM(id, name) LOOK_GROUP_##id,
enum look_group { LOOK_GROUPS(LOOK_GROUP_ENUM) LOOK_GROUPS_NR };

struct group_choice;

enum look_page { LOOK_TABLE, LOOK_ROW, LOOK_LOSSES, LOOK_HELP };

/* Identifies a row, or a group of rows: as in struct stats_row. */
struct look_row {
	char controller[sizeof(((struct stats_row *)0)->controller)];
	char peer[sizeof(((struct stats_row *)0)->peer)];
	uint16_t qid;
	bool shared;
	enum nt_op op;
};

/**
 * struct look - choices of the user
 * @choice: groups of the command line, which are shown unless the user has pressed the key for
 *          other ones; NULL: each row by itself
 * @keys: the user can press keys, so the screen shows them
 * @page: the page that is shown
 * @sort, @group: of the table
 * @filter: words that each row has to match, all of them; "" matches all rows
 * @typing: the user is typing the filter
 * @before: the filter before that
 * @cursor: index of the marked row, in the order on the screen
 * @row: the row of the page LOOK_ROW
 * @top: number of lines of a page that are scrolled off the top; the code that draws corrects it
 * @paused: no new blocks are shown
 * @interval_ns: from one block to the next; 0: it cannot be changed
 */
struct look {
	const struct group_choice *choice;
	bool keys;
	enum look_page page;
	enum look_sort sort;
	enum look_group group;
	char filter[LOOK_FILTER_LEN];
	bool typing;
	char before[LOOK_FILTER_LEN];
	size_t cursor;
	struct look_row row;
	size_t top;
	bool paused;
	uint64_t interval_ns;
};

const char *look_sort_name(enum look_sort sort);
const char *look_group_name(enum look_group group);

#endif /* NTPROF_VIEW_LOOK_H */
