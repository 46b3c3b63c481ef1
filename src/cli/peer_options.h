/* SPDX-License-Identifier: GPL-2.0-only */
/* The options for peers: a child of a verb's argp table. */
#ifndef NTPROF_CLI_PEER_OPTIONS_H
#define NTPROF_CLI_PEER_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "core/points.h"
#include "peer/live_merge.h"

/**
 * struct peer_options - the peers
 * @source: @nr commands that bring a target's stream, or files
 * @as_root: run the commands as root also if another user called sudo
 */
struct peer_options {
	char *source[PEERS_MAX];
	unsigned int nr;
	bool as_root;
};

extern const struct argp peer_argp; /* struct peer_options */

/**
 * peer_options_end() - call at the end of the command line: peers are targets
 * @of: what can have peers, and its command line: "the live view of the host: ntprof-bpf --host"
 */
void peer_options_end(const struct argp_state *state, const struct peer_options *o,
		      enum nt_side side, const char *of);

#endif /* NTPROF_CLI_PEER_OPTIONS_H */
