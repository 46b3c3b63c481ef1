/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of controllers, queues and operations, with a small histogram in each row. */
#ifndef NTPROF_VIEW_ROWS_H
#define NTPROF_VIEW_ROWS_H

#include <stdio.h>

#include "view/block.h"

/**
 * rows_print() - one row a controller, queue and operation that had commands
 * @b: what to show
 * @f: where the rows go
 * @legend: where to explain the histograms in the rows and give the controllers' NQNs
 */
void rows_print(const struct block *b, FILE *f, FILE *legend);

#endif /* NTPROF_VIEW_ROWS_H */
