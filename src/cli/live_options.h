/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of the verb live. */
#ifndef NTPROF_CLI_LIVE_OPTIONS_H
#define NTPROF_CLI_LIVE_OPTIONS_H

#include "cli/group_options.h"
#include "cli/options.h"
#include "cli/peer_options.h"
#include "view/limits.h"

/**
 * struct live_options - the options of the verb live
 * @run: side, interval and the other options of each run
 * @count: end after this many blocks; 0: never
 * @histogram: print full-size histograms
 * @groups: the groups that rows are made of
 * @format: format of the blocks
 * @peers: the commands that bring targets' streams
 * @interval: --interval was given
 * @limits: the rates that network and drives can carry
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
