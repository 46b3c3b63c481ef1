/* SPDX-License-Identifier: GPL-2.0-only */
/* A block: what the view shows of an interval or of the whole run, and in which form. */
#ifndef NTPROF_VIEW_BLOCK_H
#define NTPROF_VIEW_BLOCK_H

#include <stdbool.h>

#include "core/stats.h"

/**
 * struct block - contents and form of a block
 * @s: the statistics to show
 * @summary: show the whole run; otherwise the last interval
 * @unicode: draw bars with Unicode blocks
 * @width: columns of the terminal
 * @low, @high: octaves from the shortest to the longest latency of the run, @high exclusive. All
 *              rows use the same ones, so that the user can compare them, and all blocks, so that
 *              the scale does not jump. Equal if there was no command yet.
 */
struct block {
	const struct stats *s;
	bool summary;
	bool unicode;
	unsigned int width;
	unsigned int low;
	unsigned int high;
};

/** block_init() - fill @b, see struct block */
void block_init(struct block *b, const struct stats *s, bool summary, bool unicode,
		unsigned int width);

#endif /* NTPROF_VIEW_BLOCK_H */
