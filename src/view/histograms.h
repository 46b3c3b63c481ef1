/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Full-size histograms of every controller, queue and operation. All have the same buckets, which
 * are powers of two.
 */
#ifndef NTPROF_VIEW_HISTOGRAMS_H
#define NTPROF_VIEW_HISTOGRAMS_H

#include <stdio.h>

#include "view/block.h"
#include "view/columns_queues.h"

/** histograms_print() - print a histogram of every row that had commands */
void histograms_print(const struct block *b, FILE *f);

/** histogram_print() - print the histogram of one row, with its name and its mean above */
void histogram_print(const struct block *b, const struct queue_row *row, FILE *f);

#endif /* NTPROF_VIEW_HISTOGRAMS_H */
