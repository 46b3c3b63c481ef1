/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bars and small histograms out of characters, Unicode blocks or ASCII. Every character drawn takes one
 * column.
 */
#ifndef NTPROF_VIEW_BARS_H
#define NTPROF_VIEW_BARS_H

#include <stdbool.h>
#include <stdio.h>

/**
 * bar_draw() - a horizontal bar
 * @f: where to
 * @share: 0 to 1
 * @width: columns of a share of 1
 * @unicode: in eighths of a column, at least one where @share is not 0; else whole columns
 *
 * Return: columns drawn.
 */
unsigned int bar_draw(FILE *f, double share, unsigned int width, bool unicode);

/**
 * bar_width() - columns for the longest bar of a line
 * @columns: there are in the line
 * @used: taken by what else is in it
 * @least, @most: of a bar that can be read; longer ones tell no more
 */
unsigned int bar_width(unsigned int columns, unsigned int used, unsigned int least,
		       unsigned int most);

/**
 * bar_level() - one character whose height tells a share
 * @share: 0 to 1; only 0 gives a space
 * @unicode: U+2581 to U+2588, else one of ".:-=+*#@"
 *
 * Return: static string.
 */
const char *bar_level(double share, bool unicode);

#endif /* NTPROF_VIEW_BARS_H */
