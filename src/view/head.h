/* SPDX-License-Identifier: GPL-2.0-only */
/* The head of a block: what is traced, where, by what, and since when. */
#ifndef NTPROF_VIEW_HEAD_H
#define NTPROF_VIEW_HEAD_H

#include <stdbool.h>
#include <stdio.h>

#include "core/stats.h"

/**
 * head_print() - a line, or as many as it takes
 * @s: what was seen
 * @summary: of the whole run, else of the last interval
 * @f: where to
 * @width: columns there are, or WRAP_NEVER
 */
void head_print(const struct stats *s, bool summary, FILE *f, unsigned int width);

#endif /* NTPROF_VIEW_HEAD_H */
