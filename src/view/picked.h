/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows that the user wants to see (view/look.h): a part of all rows, or sums of them, and the
 * total.
 */
#ifndef NTPROF_VIEW_PICKED_H
#define NTPROF_VIEW_PICKED_H

#include "view/columns_groups.h"
#include "view/columns_queues.h"
#include "view/look.h"

/* A group of --by, and the sum of its rows; @seen: as &queue_row.seen. */
struct picked_group {
	struct group_name name;
	struct stats_row row;
	uint64_t failed;
	const struct flights_seen *seen;
};

/**
 * struct picked - rows of an interval, or of the run
 * @row: @nr rows, in the wanted order
 * @total: the sum of the rows that they are made of; its name is "total"
 * @total_row, @own: the rows to which @total and sums in @row point
 * @group: @nr_groups groups of &look.choice, sorted; they are sums of the rows of @s, or come from
 *         a tally of records
 * @table: the columns of these groups; NULL if there are no such groups
 * @from: number of rows that have figures, before the filter
 */
struct picked {
	struct queue_row *row;
	size_t nr;
	struct queue_row total;
	struct stats_row *total_row;
	struct stats own;
	struct picked_group **group;
	size_t nr_groups;
	struct group_table *table;
	size_t from;
};

/**
 * picked_make() - fill @p
 * @s: has to stay valid as long as @p
 * @l: the user's choices
 * @summary: of the whole run; otherwise of the last interval
 *
 * Return: 0 or -ENOMEM; in both cases the caller calls picked_free().
 */
int picked_make(struct picked *p, const struct stats *s, const struct look *l, bool summary);

/** picked_name() - fill @k with the identity of a row */
void picked_name(struct look_row *k, const struct stats_row *row);

/** picked_find() - the row of &look.row, or NULL if it has no figures */
const struct queue_row *picked_find(const struct picked *p, const struct look *l);

/** picked_free() - release */
void picked_free(struct picked *p);

#endif /* NTPROF_VIEW_PICKED_H */
