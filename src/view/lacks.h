/* SPDX-License-Identifier: GPL-2.0-only */
/* Names the points that the kernel of a stream's machine lacks. */
#ifndef NTPROF_VIEW_LACKS_H
#define NTPROF_VIEW_LACKS_H

#include <stdint.h>
#include <stdio.h>

#include "core/points.h"

/**
 * lacks_print() - print "lacks the points a, b", with @before and @after around it
 * @missing: bits of points. Only points that bound stages are printed; without any of them nothing
 *           is printed
 */
void lacks_print(FILE *f, const char *before, enum nt_side side, uint32_t missing,
		 const char *after);

#endif /* NTPROF_VIEW_LACKS_H */
