/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of controllers, queues and operations, with a small histogram in each row. */
#ifndef NTPROF_VIEW_ROWS_H
#define NTPROF_VIEW_ROWS_H

#include <stdio.h>

#include "view/histograms.h"
#include "view/visible_rows.h"

/**
 * rows_print() - print a row for each controller, queue and operation that had commands
 * @b: what to show
 * @f: output of the rows
 * @legend: output of the explanation of the histograms, and of the controllers' NQNs
 *
 * Return: 0 or -ENOMEM.
 */
int rows_print(const struct block *b, FILE *f, FILE *legend);

/**
 * rows_print_visible() - print the heading, the total, and the rows that the user wants
 * @state: of a screen: with its keys there is a column at the left, in which the marked row has
 *         ">", and a mark at the heading of the sorted column. The widths of columns stay here.
 * NULL otherwise
 *
 * Otherwise as rows_print().
 */
void rows_print_visible(const struct block *b, const struct visible_rows *p,
			struct view_state *state, FILE *f, FILE *legend);

/** legend_print_row() - print the NQNs of one row */
void legend_print_row(const struct block *b, const struct queue_row *row, FILE *f);

#endif /* NTPROF_VIEW_ROWS_H */
