/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows that the user wants to see (view/view_state.h): a part of all rows, or sums of them, and
 * the total.
 */
#ifndef NTPROF_VIEW_VISIBLE_ROWS_H
#define NTPROF_VIEW_VISIBLE_ROWS_H

#include "view/columns_groups.h"
#include "view/columns_queues.h"
#include "view/stages.h"
#include "view/view_state.h"

/*
 * A group of rows, which is shown as one row: their sum. It is a group of --by, which is shown with
 * @name, or one of the key g, which is shown with the names in @row. @seen: as &queue_row.seen.
 * @stages: stages of its reads, writes and other I/O commands; not known if @unstaged is set.
 * @staged_ns: sum of the latencies of these commands.
 */
struct visible_group {
	struct group_name name;
	struct stats_row row;
	struct recent recent;
	uint64_t failed;
	const struct flights_seen *seen;
	struct group_stages stages;
	double staged_ns;
	bool unstaged;
};

/**
 * struct visible_rows - rows of an interval, or of the run
 * @row: @nr rows, in the wanted order
 * @total: the sum of all rows that pass the filter; its name is "total"
 * @total_row: the row to which @total points, and its last ten seconds
 * @groups: struct visible_group, to which the rows in @row point if they are groups. They are sums
 *          of rows of struct stats, or made from the records of commands
 * @table: the columns of groups of --by; NULL if there are no such groups
 * @from: number of rows that have figures, before the filter
 * @total_stages: of all groups; none unless those of each group are known
 * @shown: for each row of the statistics, the row in which it is shown; NULL: it is not shown
 */
struct visible_rows {
	struct queue_row *row;
	size_t nr;
	struct queue_row total;
	struct stats_row *total_row;
	struct recent *total_recent;
	struct group_rows groups;
	struct group_table *table;
	size_t from;
	struct group_stages total_stages;
	struct stats_row **shown;
};

/**
 * visible_rows_make() - fill @p
 * @s: has to stay valid as long as @p
 * @l: the user's choices
 * @summary: of the whole run; otherwise of the last interval
 *
 * Return: 0 or -ENOMEM; in both cases the caller calls visible_rows_free().
 */
int visible_rows_make(struct visible_rows *p, const struct stats *s, const struct view_state *l,
		      bool summary);

/** visible_rows_find() - the row of &state.row, or NULL if it has no figures */
const struct queue_row *visible_rows_find(const struct visible_rows *p, const struct view_state *l);

/** visible_rows_sorted() - the name of the column that rows are sorted by */
const char *visible_rows_sorted(enum view_sort sort);

/** visible_rows_stalled() - whether a command of the row has been in flight for too long */
bool visible_rows_stalled(const struct queue_row *row);

/**
 * visible_rows_stages() - the stages of commands of a row
 * @s: of visible_rows_make()
 * @row: &queue_row.row of one of @p->row; NULL: of all of them
 * @summary: of the whole run; otherwise of the last interval
 *
 * Only whole controllers have stages. Admin and Fabrics commands have none of their own, and are
 * left out if there are others.
 *
 * Return: to be released with free(); NULL: memory ran out.
 */
struct stages_sum *visible_rows_stages(const struct visible_rows *p, const struct stats *s,
				       const struct stats_row *row, bool summary);

/**
 * visible_rows_is_of() - whether the row of a queue is that of a connection, as far as both know
 * its names
 */
bool visible_rows_is_of(const struct stats *s, const struct stats_row *r,
			const struct merge_connection *c);

/** visible_rows_is_ctrl() - the same of the row's controller, whatever the queue */
bool visible_rows_is_ctrl(const struct stats *s, const struct stats_row *r,
			  const struct merge_connection *c);

/** visible_rows_has() - whether a connection's operation is in any row that is shown */
bool visible_rows_has(const struct visible_rows *p, const struct stats *s,
		      const struct totals_row *t);

/**
 * visible_rows_merged() - the merged commands of controllers that have a row, of an interval
 * @s: of visible_rows_make()
 * @row: as for visible_rows_stages()
 * @m: all merged commands; without totals of controllers the result is of all of them
 * @into: zero; filled with stages and latencies, and @m's machines; to be released with
 *        totals_free()
 * @scope: filled
 *
 * Return: 0 or -ENOMEM.
 */
int visible_rows_merged(const struct visible_rows *p, const struct stats *s,
			const struct stats_row *row, const struct totals *m, struct totals *into,
			enum stages_scope *scope);

/** visible_rows_free() - release */
void visible_rows_free(struct visible_rows *p);

/* Applies the keys that the user presses to the choices of view/view_state.h. */

/* The action that a key asks the caller for. */
enum pressed_wish { PRESSED_NOTHING, PRESSED_DRAW, PRESSED_QUIT };

/**
 * pressed() - a key was pressed
 * @l: changed
 * @key: as keys_next() returns it
 * @s: the statistics on the screen; NULL: nothing is on the screen yet
 */
enum pressed_wish pressed(struct view_state *l, int key, const struct stats *s);

#endif /* NTPROF_VIEW_VISIBLE_ROWS_H */
