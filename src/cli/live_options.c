// SPDX-License-Identifier: GPL-2.0-only
#include "cli/live_options.h"

/* The shortest interval, in nanoseconds and as users write it. */
#define INTERVAL_MIN_NS 100000000ULL
#define INTERVAL_MIN "100ms"

enum {
	CHILD_RUN,
	CHILD_BLOCKS,
	CHILD_HISTOGRAM,
	CHILD_FORMAT,
	CHILD_SELECT,
	CHILD_LIMITS,
	CHILD_GROUP,
	CHILD_PEER
};

/* Refuses group keys that only a host knows of a command. */
static void check_groups(const struct argp_state *state, const struct live_options *o)
{
	enum group_key key = group_by_needs(&o->groups.choice.grouping.by, GROUP_OF_HOST);

	if (o->run.side == NT_TARGET && key != GROUP_KEYS_NR)
		options_error(state,
			      "--by %s: only the host knows it, where the same works: ntprof-bpf "
			      "--host --by %s",
			      group_key_name(key), group_key_name(key));
}

static error_t parse_live(int key, char *arg, struct argp_state *state)
{
	struct live_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_RUN] = &o->run;
		state->child_inputs[CHILD_BLOCKS] = &o->count;
		state->child_inputs[CHILD_HISTOGRAM] = &o->histogram;
		state->child_inputs[CHILD_FORMAT] = &o->format;
		state->child_inputs[CHILD_SELECT] = &o->run.only;
		state->child_inputs[CHILD_LIMITS] = &o->limits;
		o->groups.who = GROUP_LIVE;
		state->child_inputs[CHILD_GROUP] = &o->groups;
		state->child_inputs[CHILD_PEER] = &o->peers;
		break;
	case 'i':
		o->interval = true;
		o->run.interval_ns =
			options_time(state, "--interval", arg, INTERVAL_MIN_NS, INTERVAL_MIN);
		break;
	case ARGP_KEY_END:
		group_options_end(&o->groups);
		o->run.by_other = group_has(&o->groups.choice.grouping.by, GROUP_CTRL) ||
				  group_has(&o->groups.choice.grouping.by, GROUP_NQN) ||
				  group_has(&o->groups.choice.grouping.by, GROUP_HOST);
		if (o->interval && burst_any(&o->run.burst))
			options_error(state,
				      "--interval and --burst: with bursts, each has a block");
		check_groups(state, o);
		peer_options_end(state, &o->peers, o->run.side,
				 "the live view of the host: ntprof-bpf --host");
		if (o->format == FORMAT_CSV && o->peers.nr)
			options_error(state, "--format csv is of the queues of this machine: with "
					     "--peer take json");
		if (o->format == FORMAT_CSV && limits_any(&o->limits))
			options_error(state, "--network-limit and --drive-limit are for --format "
					     "text and json");
		if (o->format == FORMAT_CSV && o->histogram)
			options_error(state, "--histogram is for --format text and json");
		if (o->format == FORMAT_CSV && o->groups.choice.scale.on)
			options_error(state,
				      "--min-latency and --bucket-shift are for --format text "
				      "and json");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option live_options[] = {
	{"interval", 'i', "TIME", 0, "Show a block every TIME (default 1s)", SECTION_RUN},
	{0},
};

static const struct argp_child live_children[] = {
	[CHILD_RUN] = {.argp = &run_argp},
	[CHILD_BLOCKS] = {.argp = &blocks_argp},
	[CHILD_HISTOGRAM] = {.argp = &histogram_argp},
	[CHILD_FORMAT] = {.argp = &format_argp},
	[CHILD_SELECT] = {.argp = &select_argp},
	[CHILD_LIMITS] = {.argp = &limits_argp},
	[CHILD_GROUP] = {.argp = &group_argp},
	[CHILD_PEER] = {.argp = &peer_argp},
	{0},
};

const struct argp live_argp = {
	.options = live_options,
	.parser = parse_live,
	.children = live_children,
	.doc = "Show latency histograms per queue, and the stages that latencies are made of, block "
	       "after block until Ctrl-C; then those of the whole run. The verb's name can be left "
	       "out.\n"
	       "\v"
	       "Examples:\n"
	       "  ntprof-bpf --host                 the commands this machine sends\n"
	       "  ntprof-bpf --target               the commands this machine serves\n"
	       "  ntprof-bpf --host -i 5 -n 12      a block every 5 seconds, for a minute\n"
	       "  ntprof-bpf --host -d 30 --histogram >report.txt\n"
	       "                                    30 seconds, with full-size histograms,\n"
	       "                                    into a file\n"
	       "  ntprof-bpf --host --sample 100    one command in a hundred; all are counted\n"
	       "  ntprof-bpf --host --burst 1s/60s  for one second a minute\n"
	       "  ntprof-bpf --target --by host     a row for each host that is connected\n"
	       "  ntprof-bpf --host --peer 'ssh root@target ntprof-bpf record --target -o -'\n"
	       "                                    both machines together, in ten stages",
};
