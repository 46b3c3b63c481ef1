// SPDX-License-Identifier: GPL-2.0-only
#include "cli/peer_options.h"

#include "cli/options.h"

enum { KEY_PEER = 0x100, KEY_PEER_AS_ROOT };

static error_t parse_peer(int key, char *arg, struct argp_state *state)
{
	struct peer_options *o = state->input;

	switch (key) {
	case KEY_PEER:
		if (!arg[0])
			options_error(state, "--peer needs a command, a file or a FIFO");
		if (o->nr == PEERS_MAX)
			options_error(state, "at most %u times --peer", PEERS_MAX);
		o->source[o->nr++] = arg;
		break;
	case KEY_PEER_AS_ROOT:
		o->as_root = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option peer_options[] = {
	{"peer", KEY_PEER, "COMMAND", 0,
	 "With --host: run COMMAND, which brings the target's stream, and tell where the time goes in "
	 "ten stages; a file or a FIFO will do as well. Can be given for several targets. What "
	 "becomes of a peer is told; the host's own figures and the exit status do not depend on it. "
	 "Under sudo, COMMAND runs as the user who called it",
	 SECTION_RUN},
	{"peer-as-root", KEY_PEER_AS_ROOT, NULL, 0,
	 "Run the commands of --peer as root also under sudo; those of serve with its capabilities",
	 SECTION_RUN},
	{0},
};

const struct argp peer_argp = {.options = peer_options, .parser = parse_peer};

void peer_options_end(const struct argp_state *state, const struct peer_options *o,
		      enum nt_side side, const char *of)
{
	if (o->as_root && !o->nr)
		options_error(state, "--peer-as-root is for --peer");
	if (o->nr && side == NT_TARGET)
		options_error(state, "--peer is for %s --peer ...", of);
}
