/* SPDX-License-Identifier: GPL-2.0-only */
/* What live and serve collect at each interval besides latencies: --stages, --tcp, --disks. */
#ifndef NTPROF_CLI_INTERVAL_OPTIONS_H
#define NTPROF_CLI_INTERVAL_OPTIONS_H

#include <argp.h>

#include "cli/run.h"

extern const struct argp interval_argp; /* struct run_options: @stages, @tcp, @disks */

/**
 * interval_options_end() - call at the end of the command line, after run_argp's parser has done so
 */
void interval_options_end(const struct argp_state *state, const struct run_options *o);

#endif /* NTPROF_CLI_INTERVAL_OPTIONS_H */
