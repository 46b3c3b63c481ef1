/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bars and small histograms made of characters: Unicode blocks or ASCII. Each character takes one
 * column of the terminal.
 */
#ifndef NTPROF_VIEW_BARS_H
#define NTPROF_VIEW_BARS_H

#include <stdbool.h>
#include <stdio.h>

/**
 * bar_draw() - draw a horizontal bar
 * @f: output
 * @share: 0 to 1
 * @width: columns for a share of 1
 * @unicode: draw eighths of a column, at least one eighth if @share is not 0; otherwise whole
 *           columns
 *
 * Return: columns drawn.
 */
unsigned int bar_draw(FILE *f, double share, unsigned int width, bool unicode);

/**
 * bar_width() - columns for the longest bar of a line
 * @columns: width of the line
 * @used: columns that the other contents of the line take
 * @least, @most: bounds of the result: a shorter bar cannot be read, a longer one adds no
 *                information
 */
unsigned int bar_width(unsigned int columns, unsigned int used, unsigned int least,
		       unsigned int most);

/**
 * bar_level() - one character with a height that shows a share
 * @share: 0 to 1; only 0 gives a space
 * @unicode: U+2581 to U+2588, otherwise one of ".:-=+*#@"
 *
 * Return: static string.
 */
const char *bar_level(double share, bool unicode);

#endif /* NTPROF_VIEW_BARS_H */
