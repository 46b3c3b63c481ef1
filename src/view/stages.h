/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of stages, of one side or of both: where the time of the commands of each operation
 * goes.
 */
#ifndef NTPROF_VIEW_STAGES_H
#define NTPROF_VIEW_STAGES_H

#include <stdio.h>

#include "core/stats.h"
#include "merge/totals.h"
#include "view/columns_groups.h"

/**
 * stages_print_side() - print for each operation and stage of one side its figures, its share and a
 * bar
 * @s: the statistics
 * @summary: of the whole run; otherwise of the last interval
 * @figures: NULL or empty: mean, p50, p99 and max
 * @f: output
 * @width: columns of the terminal; bars take the remaining columns, within bounds
 * @unicode: draw bars with Unicode blocks
 *
 * Prints nothing if there was no command.
 */
void stages_print_side(const struct stats *s, bool summary, const struct figures *figures, FILE *f,
		       unsigned int width, bool unicode);

/** stages_print_merged() - print the same for the ten stages of merged commands */
void stages_print_merged(const struct totals *m, const struct figures *figures, FILE *f,
			 unsigned int width, bool unicode);

/**
 * stages_print_op() - print the stages of one operation in an interval; if @op is NT_OPS_NR, of all
 * operations
 * @m: merged commands; NULL: the side's own stages
 */
void stages_print_op(const struct stats *s, const struct totals *m, enum nt_op op,
		     const struct figures *figures, FILE *f, unsigned int width, bool unicode);

#endif /* NTPROF_VIEW_STAGES_H */
