/* SPDX-License-Identifier: GPL-2.0-only */
/* The live view's peers as text: their states, and how their records matched. */
#ifndef NTPROF_VIEW_PEERS_H
#define NTPROF_VIEW_PEERS_H

#include <stdbool.h>
#include <stdio.h>

#include "peer/live_merge.h"

/**
 * peers_print() - each peer: what it does and why, whose stream it is, what was lost, its command; then the last
 * lines that it wrote on its standard error; and at last a line on what became of all records
 * @summary: of the whole run: losses have lines of their own
 * @width: lines that are longer are broken, but for the command, which may be cut there; or WRAP_NEVER
 */
void peers_print(const struct live_merge *p, bool summary, FILE *f, unsigned int width);

#endif /* NTPROF_VIEW_PEERS_H */
