/* SPDX-License-Identifier: GPL-2.0-only */
/* The head of a block: what is traced, where, how, and since when. */
#ifndef NTPROF_VIEW_HEAD_H
#define NTPROF_VIEW_HEAD_H

#include <stdbool.h>
#include <stdio.h>

#include "core/stats.h"

/**
 * head_print() - print the head in as many lines as it needs
 * @s: the statistics
 * @summary: of the whole run; otherwise of the last interval
 * @f: output
 * @width: columns of the terminal, or WRAP_NEVER
 */
void head_print(const struct stats *s, bool summary, FILE *f, unsigned int width);

#endif /* NTPROF_VIEW_HEAD_H */
