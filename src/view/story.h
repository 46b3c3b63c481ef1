/* SPDX-License-Identifier: GPL-2.0-only */
/* The story of a merged command: both sides' points on one axis of time, and the ten stages. */
#ifndef NTPROF_VIEW_STORY_H
#define NTPROF_VIEW_STORY_H

#include <stdio.h>

#include "merge/totals.h"
#include "view/columns_commands.h"

/** struct story_side - a side's stages, under the names of those that are one */
struct story_side {
	uint8_t into[NT_STAGES_MAX];
	char name[NT_STAGES_MAX][STAGE_NAME_LEN];
};

struct story_names {
	struct story_side side[NT_SIDES];
};

#define STORY_POINTS_MAX (2 * NT_POINTS_MAX)

/**
 * story_points() - all points of a command in the order of time, after the first point of the host
 * @names: filled, and needed as long as @points are
 * @points: filled; the target's are placed by the middle of the offset's bounds
 *
 * Return: how many there are.
 */
unsigned int story_points(const struct slow_command *c, struct story_names *names,
			  struct point_row points[STORY_POINTS_MAX]);

/**
 * story_print() - what it was; then each point (on the host's clock; the target's points are placed by the
 * middle of the offset's bounds) with the stage that it ends; then the ten stages
 */
void story_print(const struct slow_command *c, FILE *f);

#endif /* NTPROF_VIEW_STORY_H */
