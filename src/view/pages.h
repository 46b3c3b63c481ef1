/* SPDX-License-Identifier: GPL-2.0-only */
/* What the screen shows besides its tables: a row's page, what losses mean, the keys. */
#ifndef NTPROF_VIEW_PAGES_H
#define NTPROF_VIEW_PAGES_H

#include <stdio.h>

#include "merge/totals.h"
#include "view/block.h"
#include "view/picked.h"

/**
 * page_row_print() - a row by itself: its figures, its stages and its whole histogram
 * @p: the rows of the table that it is of
 * @m: merged commands of the same interval, or NULL
 *
 * Return: 0 or -ENOMEM.
 */
int page_row_print(const struct block *b, const struct picked *p, const struct look *l,
		   const struct totals *m, FILE *f);

/** page_losses_print() - what was counted beside the figures, what it means and what to do about it */
void page_losses_print(const struct block *b, FILE *f);

/** page_help_print() - every key */
void page_help_print(FILE *f, unsigned int width);

/** keys_print() - one line, the keys that matter on this page, and what they have chosen */
void keys_print(const struct look *l, FILE *f);

#endif /* NTPROF_VIEW_PAGES_H */
