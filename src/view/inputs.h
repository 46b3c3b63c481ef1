/* SPDX-License-Identifier: GPL-2.0-only */
/* Information about a recorded stream, as text. */
#ifndef NTPROF_VIEW_INPUTS_H
#define NTPROF_VIEW_INPUTS_H

#include <stdio.h>

#include "merge/unmatched.h"
#include "merge/machines.h"
#include "stream/input.h"

/**
 * inputs_print() - print who recorded the stream, how many commands it has, and what was lost; the
 * last line says what is wrong with it, if anything
 */
void inputs_print(const struct input *in, FILE *f);

/**
 * inputs_print_unmatched() - print a line that says why nothing of an input is matched
 * @in: input
 * @a: reasons, by stream; @stream is the number of this one
 * @m: the machines of all streams
 */
void inputs_print_unmatched(const struct input *in, const struct unmatched *a, unsigned int stream,
			    const struct machines *m, FILE *f);

#endif /* NTPROF_VIEW_INPUTS_H */
