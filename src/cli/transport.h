/* SPDX-License-Identifier: GPL-2.0-only */
/* Which of a host's controllers are watched, by their transport: --transport. */
#ifndef NTPROF_CLI_TRANSPORT_H
#define NTPROF_CLI_TRANSPORT_H

#include <argp.h>

#include "cli/run.h"

extern const struct argp transport_argp; /* struct run_options: @transports */

/**
 * transport_options_end() - call at the end of the command line, when the device is known that
 * commands are selected by: it decides where --transport was not given
 */
void transport_options_end(const struct argp_state *state, struct run_options *o);

/**
 * transports_now() - the transports to trace
 *
 * Where none was asked for, that is TCP, whether or not its driver is loaded yet; but of a machine
 * that has only controllers of other transports, these, unless &run_options.awaits_tcp.
 *
 * Return: bits of enum nt_transport.
 */
unsigned int transports_now(const struct run_options *o);

/**
 * transports_lack() - why something that was asked for cannot be done with these transports, in
 * words for a message; NULL if it can
 */
const char *transports_lack(const struct run_options *o, unsigned int transports);

#endif /* NTPROF_CLI_TRANSPORT_H */
