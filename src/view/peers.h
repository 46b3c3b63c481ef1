/* SPDX-License-Identifier: GPL-2.0-only */
/* The peers of the live view as text: their states, and how their records matched. */
#ifndef NTPROF_VIEW_PEERS_H
#define NTPROF_VIEW_PEERS_H

#include <stdbool.h>
#include <stdio.h>

#include "peer/live_merge.h"

/**
 * peers_print() - print for each peer its state and the reason, the machine and side of its stream,
 * its losses and its command; then the last lines of its standard error; after all peers a line
 * about how all records matched
 * @summary: of the whole run: losses have lines of their own
 * @width: longer lines are broken, except the command, which may be cut by the screen; or
 *         WRAP_NEVER
 */
void peers_print(const struct live_merge *p, bool summary, FILE *f, unsigned int width);

#endif /* NTPROF_VIEW_PEERS_H */
