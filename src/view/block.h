/* SPDX-License-Identifier: GPL-2.0-only */
/* A block: what the view shows of an interval or of the whole run, and how. */
#ifndef NTPROF_VIEW_BLOCK_H
#define NTPROF_VIEW_BLOCK_H

#include <stdbool.h>

#include "core/stats.h"

/**
 * struct block - what is shown, and how
 * @s: what was seen
 * @summary: of the whole run, else of the last interval
 * @unicode: bars of Unicode blocks
 * @width: columns there are
 * @low, @high: octaves from the shortest to the longest latency of the run, @high exclusive; common
 *              to all rows, so that one can compare them, and to all blocks, so that none jumps.
 *              Equal if there was no command yet.
 */
struct block {
	const struct stats *s;
	bool summary;
	bool unicode;
	unsigned int width;
	unsigned int low;
	unsigned int high;
};

/** block_init() - @b is filled, see struct block */
void block_init(struct block *b, const struct stats *s, bool summary, bool unicode,
		unsigned int width);

#endif /* NTPROF_VIEW_BLOCK_H */
