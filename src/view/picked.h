/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows that somebody wants to see (view/look.h): some of those that there are, or sums of them, and all together. */
#ifndef NTPROF_VIEW_PICKED_H
#define NTPROF_VIEW_PICKED_H

#include "view/columns_queues.h"
#include "view/look.h"

/**
 * struct picked - rows of an interval
 * @row: @nr of them, in the order in which they are wanted
 * @total: of what they are made of, "total" by name
 * @own: rows that were added up, @nr_own of them; they and @total_row are what the others point to
 * @from: how many rows had something to tell, whatever the filter
 */
struct picked {
	struct queue_row *row;
	size_t nr;
	struct queue_row total;
	struct stats_row *total_row;
	struct stats_row **own;
	size_t nr_own;
	size_t from;
};

/**
 * picked_make() - @p is filled
 * @s: valid as long as @p
 * @l: what is wanted
 *
 * Return: 0 or -ENOMEM; picked_free() is due in either case.
 */
int picked_make(struct picked *p, const struct stats *s, const struct look *l);

/** picked_name() - what identifies a row; @k is filled */
void picked_name(struct look_row *k, const struct stats_row *row);

/** picked_find() - the row of &look.row, or NULL if it has nothing to tell */
const struct queue_row *picked_find(const struct picked *p, const struct look *l);

/** picked_free() - release */
void picked_free(struct picked *p);

#endif /* NTPROF_VIEW_PICKED_H */
