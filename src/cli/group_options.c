// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options for the groups that rows are made of, and for their figures. They are the same in all
 * verbs that have them.
 */
#include "cli/group_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/options.h"

/* A little below the longest latency that histograms can tell apart. */
#define MIN_LATENCY_MAX_NS 60000000000ULL

enum { KEY_BY = 0x100, KEY_STATS, KEY_MIN_LATENCY, KEY_BUCKET_SHIFT };

static const struct argp_option group_options[] = {
	{"by", KEY_BY, "KEYS", 0,
	 "A row for each group of commands that have these in common, with commas: ctrl, nqn, host, queue, op, source, "
	 "size, nsid, status, device, and of a host's commands path, cgroup and cpu. From size on a live view takes the "
	 "record of each command, which costs more",
	 SECTION_RUN},
	{"stats", KEY_STATS, "FIGURES", 0,
	 "Figures of latency that these rows have, with commas: mean, min, max and percentiles such as p99.9 (default "
	 "mean,p50,p99,max)",
	 SECTION_RUN},
	{"min-latency", KEY_MIN_LATENCY, "TIME", 0,
	 "Show a histogram of each of these rows, in fine buckets from TIME on: what is below is in one bucket, and "
	 "each next one ends twice as far from TIME",
	 SECTION_RUN},
	{"bucket-shift", KEY_BUCKET_SHIFT, "N", 0,
	 "The first of these buckets is 2^N microseconds wide (default 0)", SECTION_RUN},
	{0},
};

static unsigned int shift_of(const struct argp_state *state, const char *arg)
{
	size_t digits = strspn(arg, "0123456789");
	unsigned long n = strtoul(arg, NULL, 10);

	if (!digits || digits > 2 || arg[digits] || n > SCALE_SHIFT_MAX)
		options_error(state, "--bucket-shift %s: not a number from 0 to %u", arg,
			      SCALE_SHIFT_MAX);
	return (unsigned int)n;
}

static error_t parse_group(int key, char *arg, struct argp_state *state)
{
	struct group_options *o = state->input;
	char why[GROUP_WRONG_LEN] = "";
	const char *wrong;

	switch (key) {
	case KEY_BY:
		o->by = true;
		if (!group_by_parse(&o->choice.grouping.by, arg, why))
			options_error(state, "--by %s: %s", arg, why);
		return 0;
	case KEY_STATS:
		o->stats = true;
		wrong = figures_parse(&o->choice.figures, arg);
		if (wrong)
			options_error(state, "--stats %s: %s", arg, wrong);
		return 0;
	case KEY_MIN_LATENCY:
		o->choice.scale.on = true;
		o->choice.scale.min_ns = options_time(state, "--min-latency", arg, 0, "0");
		if (o->choice.scale.min_ns > MIN_LATENCY_MAX_NS)
			options_error(state, "--min-latency %s: 60s is the most", arg);
		return 0;
	case KEY_BUCKET_SHIFT:
		o->choice.scale.on = true;
		o->choice.scale.shift = shift_of(state, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp group_argp = {.options = group_options, .parser = parse_group};

void group_options_end(struct group_options *o)
{
	char wrong[GROUP_WRONG_LEN] = "";

	if ((o->stats || o->choice.scale.on) && !o->by && !o->choice.grouping.every_ns)
		group_by_parse(&o->choice.grouping.by,
			       o->who == GROUP_LIVE ? "ctrl,queue,op" : "op", wrong);
}
