/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of stages, of one side or of both: where the time of the commands of each operation goes. */
#ifndef NTPROF_VIEW_STAGES_H
#define NTPROF_VIEW_STAGES_H

#include <stdio.h>

#include "core/stats.h"
#include "merge/totals.h"
#include "view/columns_groups.h"

/**
 * stages_print_side() - of one side: for each operation and stage figures, its share and a bar
 * @s: what was seen
 * @summary: of the whole run, else of the last interval
 * @figures: NULL or none: mean, p50, p99 and max
 * @f: where to
 * @width: columns there are; bars take what is left, within reason
 * @unicode: bars of Unicode blocks
 *
 * Prints nothing when there was no command.
 */
void stages_print_side(const struct stats *s, bool summary, const struct figures *figures, FILE *f,
		       unsigned int width, bool unicode);

/** stages_print_merged() - the same of the ten stages of merged commands */
void stages_print_merged(const struct totals *m, const struct figures *figures, FILE *f,
			 unsigned int width, bool unicode);

/**
 * stages_print_op() - of an interval, the stages of one operation, or of all where it is NT_OPS_NR
 * @m: merged commands; NULL: of the side's
 */
void stages_print_op(const struct stats *s, const struct totals *m, enum nt_op op,
		     const struct figures *figures, FILE *f, unsigned int width, bool unicode);

#endif /* NTPROF_VIEW_STAGES_H */
