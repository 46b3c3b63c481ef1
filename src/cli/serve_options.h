/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of serve. */
#ifndef NTPROF_CLI_SERVE_OPTIONS_H
#define NTPROF_CLI_SERVE_OPTIONS_H

#include <stdbool.h>

#include "cli/flight_options.h"
#include "cli/options.h"
#include "cli/peer_options.h"

/* Where nobody says otherwise: this machine only, and apart for its two sides. */
#define LISTEN_HOST "127.0.0.1:10998"
#define LISTEN_TARGET "127.0.0.1:10999"

/**
 * struct serve_options - what the verb serve was asked
 * @run: side, selection and what else every run has
 * @flight: what is kept, and when it is written
 * @peers: who brings targets' streams
 * @listen: where; NULL: as usual
 * @by_queue: series are apart by queue
 * @series: how many rows have series of their own at most
 */
struct serve_options {
	struct run_options run;
	struct flight_options flight;
	struct peer_options peers;
	const char *listen;
	bool by_queue;
	unsigned int series;
};

extern const struct argp serve_argp;

/** serve_parse() - read a command line into @o; one that is wrong ends the process, see options_parse() */
void serve_parse(int argc, char **argv, struct serve_options *o);

#endif /* NTPROF_CLI_SERVE_OPTIONS_H */
