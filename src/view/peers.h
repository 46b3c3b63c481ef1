/* SPDX-License-Identifier: GPL-2.0-only */
/* The peers of the live view as text: their states, and how their records matched. */
#ifndef NTPROF_VIEW_PEERS_H
#define NTPROF_VIEW_PEERS_H

#include <stdbool.h>
#include <stdint.h>
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

/*
 * Prints messages of a peer that has the terminal, line by line, before the screen is drawn. It may
 * ask for a password then.
 */

/**
 * peers_print_messages() - print lines that have come since the last call
 * @i: number of the peer, from 0
 * @all: also the last line, if it is incomplete: a question does not end with a newline
 * @told: number of lines that were printed; updated
 */
void peers_print_messages(const struct live_merge *p, unsigned int i, bool all, uint64_t *told,
			  FILE *f);

/** peers_print_waiting() - say that peer @i is waited for */
void peers_print_waiting(const struct live_merge *p, unsigned int i, FILE *f);

#endif /* NTPROF_VIEW_PEERS_H */
