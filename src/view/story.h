/* SPDX-License-Identifier: GPL-2.0-only */
/* The story of a merged command: both sides' points on one axis of time, and the ten stages. */
#ifndef NTPROF_VIEW_STORY_H
#define NTPROF_VIEW_STORY_H

#include <stdio.h>

#include "merge/totals.h"
#include "view/columns_commands.h"

/** struct story_side - which of a side's stages are joined, and their names */
struct story_side {
	uint8_t into[NT_STAGES_MAX];
	char name[NT_STAGES_MAX][STAGE_NAME_LEN];
};

struct story_names {
	struct story_side side[NT_SIDES];
};

#define STORY_POINTS_MAX (2 * NT_POINTS_MAX)

/**
 * story_points() - all points of a command in the order of time, as times since the first point of
 * the host
 * @names: filled; it must stay valid as long as @points
 * @points: filled; the target's points are placed by the middle of the offset's bounds
 *
 * Return: number of points.
 */
unsigned int story_points(const struct slow_command *c, struct story_names *names,
			  struct point_row points[STORY_POINTS_MAX]);

/**
 * story_print() - print a description of the command; then each point with the stage that it ends;
 * then the ten stages. Times are on the host's clock; the target's points are placed by the middle
 * of the offset's bounds
 */
void story_print(const struct slow_command *c, FILE *f);

#endif /* NTPROF_VIEW_STORY_H */
