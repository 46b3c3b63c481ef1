/* SPDX-License-Identifier: GPL-2.0-only */
/* Which of a host's controllers are watched, by their transport: --transport. */
#ifndef NTPROF_CLI_TRANSPORT_H
#define NTPROF_CLI_TRANSPORT_H

#include <argp.h>

#include "cli/run.h"

extern const struct argp transport_argp; /* struct run_options: @transports */

/**
 * transport_options_end() - call at the end of the command line, after run_argp's parser has done
 * so: the disk that commands are selected by decides where --transport was not given
 */
void transport_options_end(const struct argp_state *state, struct run_options *o);

#endif /* NTPROF_CLI_TRANSPORT_H */
