/* SPDX-License-Identifier: GPL-2.0-only */
/* The story of a merged command: both sides' points on one axis of time, and the ten stages. */
#ifndef NTPROF_VIEW_STORY_H
#define NTPROF_VIEW_STORY_H

#include <stdio.h>

#include "merge/totals.h"

/**
 * story_print() - what it was; then each point (on the host's clock; the target's points are placed by the
 * middle of the offset's bounds) with the stage that it ends; then the ten stages
 */
void story_print(const struct slow_command *c, FILE *f);

#endif /* NTPROF_VIEW_STORY_H */
