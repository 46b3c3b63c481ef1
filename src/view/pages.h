/* SPDX-License-Identifier: GPL-2.0-only */
/* The pages of the screen besides its tables: a single row, the meaning of losses, the keys. */
#ifndef NTPROF_VIEW_PAGES_H
#define NTPROF_VIEW_PAGES_H

#include <stdio.h>

#include "merge/totals.h"
#include "view/block.h"
#include "view/visible_rows.h"

/**
 * page_row_print() - print a single row: its figures, its stages and its whole histogram
 * @p: the rows of its table
 * @m: merged commands of the same interval, or NULL
 *
 * Return: 0 or -ENOMEM.
 */
int page_row_print(const struct block *b, const struct visible_rows *p, const struct view_state *l,
		   const struct totals *m, FILE *f);

/** page_losses_print() - print the losses, what they mean and what the user can do about them */
void page_losses_print(const struct block *b, FILE *f);

/** page_help_print() - print all keys */
void page_help_print(FILE *f, unsigned int width);

/** keys_print() - print one line: the keys that matter on this page, and the current choices */
void keys_print(const struct view_state *l, FILE *f);

#endif /* NTPROF_VIEW_PAGES_H */
