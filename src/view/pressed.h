/* SPDX-License-Identifier: GPL-2.0-only */
/* Applies the keys that the user presses to the choices of view/view_state.h. */
#ifndef NTPROF_VIEW_PRESSED_H
#define NTPROF_VIEW_PRESSED_H

#include "view/view_state.h"

/* What the caller has to do after a key. */
enum pressed_wish { PRESSED_NOTHING, PRESSED_DRAW, PRESSED_QUIT };

/**
 * pressed() - a key was pressed
 * @l: changed
 * @key: as keys_next() returns it
 * @s: the statistics on the screen; NULL: nothing is on the screen yet
 */
enum pressed_wish pressed(struct view_state *l, int key, const struct stats *s);

#endif /* NTPROF_VIEW_PRESSED_H */
