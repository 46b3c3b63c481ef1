/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of serve. */
#ifndef NTPROF_CLI_SERVE_OPTIONS_H
#define NTPROF_CLI_SERVE_OPTIONS_H

#include <stdbool.h>

#include "cli/flight_options.h"
#include "cli/options.h"
#include "cli/peer_options.h"

/* The defaults: this machine only, and a port for each side. */
#define LISTEN_HOST "127.0.0.1:10998"
#define LISTEN_TARGET "127.0.0.1:10999"

/**
 * struct serve_options - the options of the verb serve
 * @run: side, selection and the other options of each run
 * @flight: the flight recorder
 * @peers: the commands that bring targets' streams
 * @listen: address; NULL: LISTEN_HOST or LISTEN_TARGET
 * @by_queue: each queue has its own series
 * @series: most rows with series of their own
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

/**
 * serve_parse() - parse a command line into @o; a wrong one ends the process, see options_parse()
 */
void serve_parse(int argc, char **argv, struct serve_options *o);

#endif /* NTPROF_CLI_SERVE_OPTIONS_H */
