/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What somebody who sits at the screen wants to see of it: which rows, in which order, which page. Keys change it;
 * nothing that is measured depends on it.
 */
#ifndef NTPROF_VIEW_LOOK_H
#define NTPROF_VIEW_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/stats.h"

/* A filter's room: names are longer, but who types more of one has it in a shell's history. */
#define LOOK_FILTER_LEN 48

/* X(identifier, name): the order of rows, the largest first. */
#define LOOK_SORTS(X)             \
	X(IOPS, "IOPS")           \
	X(P99, "p99")             \
	X(IN_FLIGHT, "in flight") \
	X(OLDEST, "oldest")

/* X(identifier, name): what rows have in common that are added up to one. */
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

/* What identifies a row, or a group of them: as struct stats_row. */
struct look_row {
	char controller[sizeof(((struct stats_row *)0)->controller)];
	char peer[sizeof(((struct stats_row *)0)->peer)];
	uint16_t qid;
	bool shared;
	enum nt_op op;
};

/**
 * struct look - what is wanted
 * @choice: groups that rows are of where nobody has pressed for others; NULL: each row by itself
 * @keys: somebody can press them, so they are told
 * @page: what is shown
 * @sort, @group: of the table
 * @filter: words that rows have to match, each of them; "" takes all
 * @typing: it is being typed; @before: what it was
 * @cursor: which of the rows is marked, in their order
 * @row: that of LOOK_ROW
 * @top: how many lines of a page, or of a table's rows, are above what is seen; who draws corrects it
 * @paused: blocks wait
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
