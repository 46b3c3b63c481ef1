/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that say what rows are of, and which figures they have: to be a child of a verb's table. */
#ifndef NTPROF_CLI_GROUP_OPTIONS_H
#define NTPROF_CLI_GROUP_OPTIONS_H

#include <argp.h>

#include "view/columns_groups.h"

extern const struct argp group_argp; /* struct group_options */

/**
 * struct group_options - what rows are of
 * @who: GROUP_LIVE or GROUP_REPORT
 * @by, @stats: --by and --stats were given
 */
struct group_options {
	unsigned int who;
	bool by;
	bool stats;
	struct group_choice choice;
};

/** group_options_end() - at the end of the command line: figures have to be of something */
void group_options_end(struct group_options *o);

#endif /* NTPROF_CLI_GROUP_OPTIONS_H */
