// SPDX-License-Identifier: GPL-2.0-only
/* The options that say what rows are of, and which figures they have. They are the same in each verb that has them. */
#include "cli/group_options.h"

#include "cli/options.h"

enum { KEY_BY = 0x100, KEY_STATS };

static const struct argp_option group_options[] = {
	{"by", KEY_BY, "KEYS", 0,
	 "A row for each group of commands that have these in common, with commas: ctrl, nqn, host, queue, op and "
	 "source, and in a report also size, nsid and status",
	 SECTION_RUN},
	{"stats", KEY_STATS, "FIGURES", 0,
	 "Figures of latency that these rows have, with commas: mean, min, max and percentiles such as p99.9 (default "
	 "mean,p50,p99,max)",
	 SECTION_RUN},
	{0},
};

static error_t parse_group(int key, char *arg, struct argp_state *state)
{
	struct group_options *o = state->input;
	char why[GROUP_WRONG_LEN] = "";
	const char *wrong;

	switch (key) {
	case KEY_BY:
		o->by = true;
		if (!group_by_parse(&o->choice.grouping.by, arg, o->who, why))
			options_error(state, "--by %s: %s", arg, why);
		return 0;
	case KEY_STATS:
		o->stats = true;
		wrong = figures_parse(&o->choice.figures, arg);
		if (wrong)
			options_error(state, "--stats %s: %s", arg, wrong);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp group_argp = {.options = group_options, .parser = parse_group};

void group_options_end(struct group_options *o)
{
	char wrong[GROUP_WRONG_LEN] = "";

	if (o->stats && !o->by && !o->choice.grouping.every_ns)
		group_by_parse(&o->choice.grouping.by,
			       o->who == GROUP_LIVE ? "ctrl,queue,op" : "op", o->who, wrong);
}
