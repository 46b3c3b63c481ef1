/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of serve that SIGHUP changes. */
#ifndef NTPROF_CLI_SERVE_RELOAD_H
#define NTPROF_CLI_SERVE_RELOAD_H

#include <limits.h>

#include "cli/serve_options.h"

/**
 * struct serve_change - options that can change without a restart
 * @flight: all of it can, except whether there is a recorder
 * @folder: its folder points here
 */
struct serve_change {
	uint64_t interval_ns;
	struct flight_options flight;
	char folder[PATH_MAX];
};

/**
 * serve_reload() - read the command line and the file of --config again
 * @o: the options with which the process began
 * @c: filled
 *
 * Options that have changed but need a restart are named in a message, and stay as they were.
 *
 * Return: 0, or a negative errno with a message printed: all options stay as they were.
 */
int serve_reload(const struct serve_options *o, struct serve_change *c);

#endif /* NTPROF_CLI_SERVE_RELOAD_H */
