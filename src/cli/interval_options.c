// SPDX-License-Identifier: GPL-2.0-only
#include "cli/interval_options.h"

#include <stdbool.h>

#include "cli/options.h"
#include "cli/verbs.h"
#include "core/time.h"

enum { KEY_STAGES = 0x100, KEY_TCP, KEY_DISKS };

static error_t parse_interval(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;
	const char *wrong;

	switch (key) {
	case KEY_TCP:
		o->tcp = true;
		break;
	case KEY_DISKS:
		o->disks = true;
		break;
	case KEY_STAGES:
		wrong = burst_parse(arg, &o->stages);
		if (wrong)
			options_error(state, "--stages %s: %s", arg, wrong);
		break;
	case ARGP_KEY_END:
		if (!burst_any(&o->stages))
			break;
		if (burst_any(&o->burst))
			options_error(state,
				      "--stages and --burst: between bursts nothing is traced");
		if (o->points && !o->ends)
			options_error(state,
				      "--stages is for --points ends: all points give all stages");
		o->ends = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option interval_options[] = {
	{"stages", KEY_STAGES, "ON/EVERY", 0,
	 "With --points ends, all points for ON out of every EVERY, such as 1s/15s: stages are of the commands that begin "
	 "and end then, all else is of all commands",
	 SECTION_TIME},
	{"tcp", KEY_TCP, NULL, 0,
	 "Also read the state of each queue's TCP connection at each interval: round trip time, congestion window, what was "
	 "sent again, what waits to be sent, and what limited it",
	 SECTION_SHOW},
	{"disks", KEY_DISKS, NULL, 0,
	 "Also show who uses the disks behind a target: which hosts, and which cgroups of the target itself, with each one's "
	 "share of the disk's time",
	 SECTION_SHOW},
	{0},
};

const struct argp interval_argp = {.options = interval_options, .parser = parse_interval};

void interval_options_end(const struct argp_state *state, const struct run_options *o)
{
	if (!o->disks)
		return;
	if (o->side == NT_HOST)
		options_error(state, "--disks is for --target: a host does not see the disks "
				     "behind its namespaces");
	if (burst_any(&o->burst))
		options_error(state, "--disks and --burst: who used a disk between bursts would "
				     "be left out");
}
