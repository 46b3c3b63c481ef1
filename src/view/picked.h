/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows that somebody wants to see (view/look.h): some of those that there are, or sums of them, and all together. */
#ifndef NTPROF_VIEW_PICKED_H
#define NTPROF_VIEW_PICKED_H

#include "view/columns_groups.h"
#include "view/columns_queues.h"
#include "view/look.h"

/* A group of --by, and what its rows add up to; @seen: as &queue_row.seen */
struct picked_group {
	struct group_name name;
	struct stats_row row;
	uint64_t failed;
	const struct flights_seen *seen;
};

/**
 * struct picked - rows of an interval, or of the run
 * @row: @nr of them, in the order in which they are wanted
 * @total: of what they are made of, "total" by name
 * @own: rows that were added up; they and @total_row are what the others point to
 * @group: of &look.choice, @nr_groups of them, sorted; what it is made of are the rows of @s, or a tally of records
 * @table: the columns of these; NULL where there are none
 * @from: how many rows had something to tell, whatever the filter
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
 * picked_make() - @p is filled
 * @s: valid as long as @p
 * @l: what is wanted
 * @summary: of the whole run, else of the last interval
 *
 * Return: 0 or -ENOMEM; picked_free() is due in either case.
 */
int picked_make(struct picked *p, const struct stats *s, const struct look *l, bool summary);

/** picked_name() - what identifies a row; @k is filled */
void picked_name(struct look_row *k, const struct stats_row *row);

/** picked_find() - the row of &look.row, or NULL if it has nothing to tell */
const struct queue_row *picked_find(const struct picked *p, const struct look *l);

/** picked_free() - release */
void picked_free(struct picked *p);

#endif /* NTPROF_VIEW_PICKED_H */
