/* SPDX-License-Identifier: GPL-2.0-only */
/* What is told of peers that start, line by line, before the screen is drawn: they may ask for a password. */
#ifndef NTPROF_VIEW_PEERS_START_H
#define NTPROF_VIEW_PEERS_START_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "peer/live_merge.h"

/**
 * struct peers_told - what has been told so far; zeroed at first
 * @waiting: that a peer is waited for
 * @messages: so many lines that it wrote on its standard error
 */
struct peers_told {
	bool waiting[PEERS_MAX];
	uint64_t messages[PEERS_MAX];
};

/**
 * peers_print_messages() - lines that came since the last time
 *
 * While a peer has the terminal only its own, for they belong to what it asks.
 */
void peers_print_messages(const struct live_merge *p, struct peers_told *told, FILE *f);

/**
 * peers_print_waiting() - which peers are waited for, each once; nothing while one has the terminal
 * @skip: say that the return key ends that
 */
void peers_print_waiting(const struct live_merge *p, struct peers_told *told, bool skip, FILE *f);

#endif /* NTPROF_VIEW_PEERS_START_H */
