/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of the verb live. */
#ifndef NTPROF_CLI_LIVE_OPTIONS_H
#define NTPROF_CLI_LIVE_OPTIONS_H

#include "cli/group_options.h"
#include "cli/options.h"
#include "cli/peer_options.h"
#include "view/limits.h"

/**
 * struct live_options - what the verb live was asked
 * @run: side, interval and what else every run has
 * @count: end after this many blocks; 0 is never
 * @histogram: print full-size histograms
 * @groups: what rows are of
 * @format: what blocks look like
 * @peers: who brings targets' streams
 * @interval: one was given
 * @limits: what network and drives can carry
 */
struct live_options {
	struct run_options run;
	uint64_t count;
	bool histogram;
	struct group_options groups;
	enum output_format format;
	struct peer_options peers;
	bool interval;
	struct limits limits;
};

extern const struct argp live_argp; /* struct live_options */

#endif /* NTPROF_CLI_LIVE_OPTIONS_H */
