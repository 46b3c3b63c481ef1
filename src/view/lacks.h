/* SPDX-License-Identifier: GPL-2.0-only */
/* Which points the kernel of a stream's machine lacks, in words. */
#ifndef NTPROF_VIEW_LACKS_H
#define NTPROF_VIEW_LACKS_H

#include <stdint.h>
#include <stdio.h>

#include "core/points.h"

/**
 * lacks_print() - "lacks the points a, b"
 * @before, @after: around it
 * @missing: bits of points, of which those that bound stages are told; prints nothing where none do
 */
void lacks_print(FILE *f, const char *before, enum nt_side side, uint32_t missing,
		 const char *after);

#endif /* NTPROF_VIEW_LACKS_H */
