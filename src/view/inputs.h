/* SPDX-License-Identifier: GPL-2.0-only */
/* What a recorded stream says of itself, as text. */
#ifndef NTPROF_VIEW_INPUTS_H
#define NTPROF_VIEW_INPUTS_H

#include <stdio.h>

#include "merge/apart.h"
#include "merge/machines.h"
#include "stream/input.h"

/** inputs_print() - who recorded, how much, and what was lost; in the last line what is wrong with it */
void inputs_print(const struct input *in, FILE *f);

/**
 * inputs_print_apart() - a line on why nothing of an input is matched
 * @in: input
 * @a: what is known of it, @stream its number
 * @m: the machines of all
 */
void inputs_print_apart(const struct input *in, const struct apart *a, unsigned int stream,
			const struct machines *m, FILE *f);

#endif /* NTPROF_VIEW_INPUTS_H */
