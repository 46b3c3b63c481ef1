/* SPDX-License-Identifier: GPL-2.0-only */
/* What SIGHUP changes of serve. */
#ifndef NTPROF_CLI_SERVE_AGAIN_H
#define NTPROF_CLI_SERVE_AGAIN_H

#include <limits.h>

#include "cli/serve_options.h"

/**
 * struct serve_change - what can be another without a restart
 * @flight: all of it, but whether there is a recorder
 * @folder: what its folder points to
 */
struct serve_change {
	uint64_t interval_ns;
	struct flight_options flight;
	char folder[PATH_MAX];
};

/**
 * serve_again() - read the command line and the file of --config again
 * @o: what was asked when the process began
 * @c: filled
 *
 * What has changed and cannot be another now is told by name, and stays.
 *
 * Return: 0, or a negative errno with a message told: all stays.
 */
int serve_again(const struct serve_options *o, struct serve_change *c);

#endif /* NTPROF_CLI_SERVE_AGAIN_H */
