/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bars and small histograms out of characters, Unicode blocks or ASCII, and the width of text that
 * has them in it. Every character drawn takes one column.
 */
#ifndef NTPROF_VIEW_BARS_H
#define NTPROF_VIEW_BARS_H

#include <stdbool.h>
#include <stddef.h>
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
 * bar_level() - one character whose height tells a share
 * @share: 0 to 1; only 0 gives a space
 * @unicode: U+2581 to U+2588, else one of ".:-=+*#@"
 *
 * Return: static string.
 */
const char *bar_level(double share, bool unicode);

/** text_columns() - columns that @len bytes of UTF-8 take, one a character */
size_t text_columns(const char *text, size_t len);

/** text_cut() - bytes of the longest beginning of @text that takes at most @columns */
size_t text_cut(const char *text, size_t len, size_t columns);

#endif /* NTPROF_VIEW_BARS_H */
