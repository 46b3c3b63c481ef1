/* SPDX-License-Identifier: GPL-2.0-only */
/* The live view's peers as text: their states, and how their records matched. */
#ifndef NTPROF_VIEW_PEERS_H
#define NTPROF_VIEW_PEERS_H

#include <stdbool.h>
#include <stdio.h>

#include "peer/live_merge.h"

/**
 * peers_print() - a line for each peer, and one on what became of all records
 * @summary: of the whole run: losses have lines of their own
 */
void peers_print(const struct live_merge *p, bool summary, FILE *f);

#endif /* NTPROF_VIEW_PEERS_H */
