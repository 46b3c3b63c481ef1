/* SPDX-License-Identifier: GPL-2.0-only */
/* Says in a few sentences, and in JSON, where slow commands come from: see merge/causes.h. */
#ifndef NTPROF_VIEW_WHY_H
#define NTPROF_VIEW_WHY_H

#include <stdio.h>

#include "core/time.h"
#include "merge/apart.h"
#include "merge/causes.h"
#include "merge/places.h"
#include "peer/live_merge.h"
#include "view/json.h"

/**
 * struct why_view - what is described
 * @host, @target: the sides that were recorded
 * @machines: of the streams
 * @matched: part of the host's commands that were matched; 1 for one side alone
 * @files: of the recordings, @nr_files; for the command to look further. None: there is no such
 *         command
 * @clock: the clock of the commands' times, and a wall clock, at one instant; all zero: not known
 * @clock_of: the side with that wall clock
 * @one_clock: a single recording has that wall clock, or all have the same
 * @selected: the options by which the user has selected commands, which the command needs as well;
 *            NULL: he has not
 */
struct why_view {
	const struct why *why;
	bool host, target;
	const struct machines *machines;
	double matched;
	char *const *files;
	unsigned int nr_files;
	struct instant clock;
	enum nt_side clock_of;
	bool one_clock;
	const char *selected;
};

/**
 * why_print() - print what is known of each operation's slow commands, in about eight lines each
 * @width: columns of the terminal
 */
void why_print(const struct why_view *v, FILE *f, unsigned int width);

/** why_print_brief() - the same of one operation in one line; nothing if too little is known */
void why_print_brief(const struct why_view *v, FILE *f, unsigned int width);

/**
 * why_print_live() - the same of a merge that is under way; nothing of a lasting one
 * @brief: in one line, as why_print_brief() has it
 */
void why_print_live(const struct live_merge *l, FILE *f, unsigned int width, bool brief);

/** why_json() - an array with an object for each operation */
struct json_object *why_json(const struct why_view *v);

#endif /* NTPROF_VIEW_WHY_H */
