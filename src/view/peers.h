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
 * Prints messages of peers that start, line by line, before the screen is drawn. Peers may ask for
 * a password then.
 */

/**
 * struct peers_told - what has been printed so far; zeroed at first
 * @waiting: the user knows that this peer is waited for
 * @messages: number of printed lines of its standard error
 */
struct peers_told {
	bool waiting[PEERS_MAX];
	uint64_t messages[PEERS_MAX];
};

/**
 * peers_print_messages() - print lines that have come since the last call
 *
 * While a peer has the terminal, only its own lines are printed, because they belong to its
 * question.
 */
void peers_print_messages(const struct live_merge *p, struct peers_told *told, FILE *f);

/**
 * peers_print_waiting() - print which peers are waited for, each once; nothing while a peer has the
 * terminal
 * @skip: say that Enter ends the wait
 */
void peers_print_waiting(const struct live_merge *p, struct peers_told *told, bool skip, FILE *f);

#endif /* NTPROF_VIEW_PEERS_H */
