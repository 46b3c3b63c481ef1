/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints messages of peers that start, line by line, before the screen is drawn. Peers may ask for
 * a password then.
 */
#ifndef NTPROF_VIEW_PEERS_START_H
#define NTPROF_VIEW_PEERS_START_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "peer/live_merge.h"

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

#endif /* NTPROF_VIEW_PEERS_START_H */
