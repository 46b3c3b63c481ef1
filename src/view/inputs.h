/* SPDX-License-Identifier: GPL-2.0-only */
/* What a recorded stream says of itself, as text. */
#ifndef NTPROF_VIEW_INPUTS_H
#define NTPROF_VIEW_INPUTS_H

#include <stdio.h>

#include "stream/input.h"

/** inputs_print() - who recorded, how much, and what was lost; in the last line what is wrong with it */
void inputs_print(const struct input *in, FILE *f);

#endif /* NTPROF_VIEW_INPUTS_H */
