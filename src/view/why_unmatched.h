/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints why nothing of a stream is matched. */
#ifndef NTPROF_VIEW_WHY_UNMATCHED_H
#define NTPROF_VIEW_WHY_UNMATCHED_H

#include <stdio.h>

#include "merge/unmatched.h"
#include "merge/machines.h"

/**
 * unmatched_print() - print "nothing of it is matched, with target NAME: REASON" for a stream; no
 * newline
 */
void unmatched_print(const struct unmatched *a, unsigned int stream, const struct machines *m,
		     FILE *f);

#endif /* NTPROF_VIEW_WHY_UNMATCHED_H */
