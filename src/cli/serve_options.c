// SPDX-License-Identifier: GPL-2.0-only
#include "cli/serve_options.h"

#include <string.h>

#include "cli/http.h"
#include "serve/series.h"

/* The shortest interval, in nanoseconds and as users write it. */
#define INTERVAL_MIN_NS 100000000ULL
#define INTERVAL_MIN "100ms"

enum { KEY_LISTEN = 0x100, KEY_BY, KEY_SERIES };

enum { CHILD_RUN, CHILD_SELECT, CHILD_FLIGHT, CHILD_PEER };

static error_t parse_serve(int key, char *arg, struct argp_state *state)
{
	struct serve_options *o = state->input;
	const char *wrong;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_RUN] = &o->run;
		state->child_inputs[CHILD_SELECT] = &o->run.only;
		state->child_inputs[CHILD_FLIGHT] = &o->flight;
		state->child_inputs[CHILD_PEER] = &o->peers;
		break;
	case 'i':
		o->run.interval_ns =
			options_time(state, "--interval", arg, INTERVAL_MIN_NS, INTERVAL_MIN);
		break;
	case KEY_LISTEN:
		wrong = http_check(arg);
		if (wrong)
			options_error(state, "--listen %s: %s", arg, wrong);
		o->listen = arg;
		break;
	case KEY_BY:
		if (!strcmp(arg, "nsid") || !strcmp(arg, "device"))
			options_error(state,
				      "--by %s: histograms in the kernel are not by namespace; "
				      "--nsid and --device select one, and live and report have "
				      "--by %s",
				      arg, arg);
		if (strcmp(arg, "queue"))
			options_error(state, "--by %s: not queue", arg);
		o->by_queue = true;
		break;
	case KEY_SERIES:
		o->series = (unsigned int)options_count(state, "--series", arg, SERIES_MAX);
		break;
	case ARGP_KEY_END:
		if (o->flight.recorder.keep_ns && burst_any(&o->run.burst))
			options_error(
				state,
				"--keep and --burst: what makes a command slow is mostly between "
				"two bursts, where nothing is recorded");
		peer_options_end(state, &o->peers, o->run.side,
				 "serve of the host: ntprof-bpf serve --host");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option serve_options[] = {
	{"interval", 'i', "TIME", 0,
	 "Collect every TIME (default 1s): what is served is as old as that at most", SECTION_RUN},
	{"listen", KEY_LISTEN, "ADDRESS", 0,
	 "Serve at ADDRESS, which is numbers and a port (127.0.0.1:10998, [::1]:0), or unix:PATH "
	 "(default: " LISTEN_HOST " with --host, " LISTEN_TARGET " with --target)",
	 SECTION_RUN},
	{"by", KEY_BY, "LABEL", 0, "Label series with this as well: queue", SECTION_RUN},
	{"series", KEY_SERIES, "N", 0,
	 "Have series for N label sets at most (default 256): reads and writes come first, and what "
	 "is left is together",
	 SECTION_RUN},
	{0},
};

static const struct argp_child serve_children[] = {
	[CHILD_RUN] = {.argp = &run_argp},
	[CHILD_SELECT] = {.argp = &select_argp},
	[CHILD_FLIGHT] = {.argp = &flight_argp},
	[CHILD_PEER] = {.argp = &peer_argp},
	{0},
};

const struct argp serve_argp = {
	.options = serve_options,
	.parser = parse_serve,
	.children = serve_children,
	.doc = "Serve latencies, stages, errors and losses to Prometheus and others who read "
	       "OpenMetrics, at /metrics, until a signal comes.\n"
	       "\v"
	       "Examples:\n"
	       "  ntprof-bpf serve --host           at http://127.0.0.1:10998/metrics\n"
	       "  ntprof-bpf serve --target --listen unix:/run/ntprof-bpf.sock\n"
	       "                                    through a Unix socket\n"
	       "  ntprof-bpf serve --host --by queue --sample 100\n"
	       "                                    series by queue, one command in 100 is\n"
	       "                                    measured, all are counted\n"
	       "  ntprof-bpf serve --host --keep 30s --dir /var/lib/ntprof-bpf\n"
	       "                                    and the records of 30 seconds before and\n"
	       "                                    5 after SIGUSR1, or what --when says\n"
	       "  ntprof-bpf serve --host --peer 'ssh target ntprof-bpf record --target -o -'\n"
	       "                                    and ten stages of both machines together",
};

void serve_parse(int argc, char **argv, struct serve_options *o)
{
	*o = (struct serve_options){.run = RUN_OPTIONS_DEFAULT,
				    .flight = FLIGHT_OPTIONS_DEFAULT,
				    .series = SERIES_DEFAULT};
	/*
	 * A target's controllers are named by ids, which several subsystems may have. So rows need
	 * both NQNs.
	 */
	o->run.by_other = true;
	options_parse(&serve_argp, argc, argv, o);
}
