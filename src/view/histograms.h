/* SPDX-License-Identifier: GPL-2.0-only */
/* Full-size histograms of every controller, queue and operation, in the same powers of two. */
#ifndef NTPROF_VIEW_HISTOGRAMS_H
#define NTPROF_VIEW_HISTOGRAMS_H

#include <stdio.h>

#include "view/block.h"

/** histograms_print() - of every row that had commands */
void histograms_print(const struct block *b, FILE *f);

#endif /* NTPROF_VIEW_HISTOGRAMS_H */
