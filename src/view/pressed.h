/* SPDX-License-Identifier: GPL-2.0-only */
/* What keys that are pressed at the screen change of what is wanted there (view/look.h). */
#ifndef NTPROF_VIEW_PRESSED_H
#define NTPROF_VIEW_PRESSED_H

#include "view/look.h"

/* What a key asks of who has the screen. */
enum pressed_wish { PRESSED_NOTHING, PRESSED_DRAW, PRESSED_QUIT };

/**
 * pressed() - a key was pressed
 * @l: changed
 * @key: as keys_next() returns it
 * @s: what is on the screen; NULL: nothing yet
 */
enum pressed_wish pressed(struct look *l, int key, const struct stats *s);

#endif /* NTPROF_VIEW_PRESSED_H */
