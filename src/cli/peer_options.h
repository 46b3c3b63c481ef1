/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that say which peers there are: to be a child of a verb's table. */
#ifndef NTPROF_CLI_PEER_OPTIONS_H
#define NTPROF_CLI_PEER_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "core/points.h"
#include "peer/live_merge.h"

/**
 * struct peer_options - which peers there are
 * @source: commands that bring a target's stream, or files; @nr of them
 * @as_root: also where somebody else called sudo
 */
struct peer_options {
	char *source[PEERS_MAX];
	unsigned int nr;
	bool as_root;
};

extern const struct argp peer_argp; /* struct peer_options */

/**
 * peer_options_end() - at the end of the command line: peers are targets
 * @of: what has peers, with the command line that does: "the live view of the host: ntprof-bpf --host"
 */
void peer_options_end(const struct argp_state *state, const struct peer_options *o,
		      enum nt_side side, const char *of);

#endif /* NTPROF_CLI_PEER_OPTIONS_H */
