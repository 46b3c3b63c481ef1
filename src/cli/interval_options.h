/* SPDX-License-Identifier: GPL-2.0-only */
/* What live and serve collect at each interval besides latencies: --stages, --tcp. */
#ifndef NTPROF_CLI_INTERVAL_OPTIONS_H
#define NTPROF_CLI_INTERVAL_OPTIONS_H

#include <argp.h>

#include "cli/run.h"

extern const struct argp interval_argp; /* struct run_options: @stages, @tcp */

#endif /* NTPROF_CLI_INTERVAL_OPTIONS_H */
