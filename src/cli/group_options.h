/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options for the groups that rows are made of, and for their figures: a child of a verb's argp
 * table.
 */
#ifndef NTPROF_CLI_GROUP_OPTIONS_H
#define NTPROF_CLI_GROUP_OPTIONS_H

#include <argp.h>

#include "view/columns_groups.h"

extern const struct argp group_argp; /* struct group_options */

/**
 * struct group_options - the groups and figures that were asked for
 * @who: GROUP_LIVE or GROUP_REPORT
 * @by, @stats: --by and --stats were given
 */
struct group_options {
	unsigned int who;
	bool by;
	bool stats;
	struct group_choice choice;
};

/**
 * group_options_end() - call at the end of the command line: if figures were asked for without
 * groups, sets the default groups, which are ctrl,queue,op for live and op for report
 */
void group_options_end(struct group_options *o);

#endif /* NTPROF_CLI_GROUP_OPTIONS_H */
