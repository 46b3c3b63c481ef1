/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints why nothing of a stream is matched. */
#ifndef NTPROF_VIEW_APART_H
#define NTPROF_VIEW_APART_H

#include <stdio.h>

#include "merge/apart.h"
#include "merge/machines.h"

/**
 * apart_print() - print "nothing of it is matched, with target NAME: REASON" for a stream; no
 * newline
 */
void apart_print(const struct apart *a, unsigned int stream, const struct machines *m, FILE *f);

#endif /* NTPROF_VIEW_APART_H */
