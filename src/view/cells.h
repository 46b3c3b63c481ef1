/* SPDX-License-Identifier: GPL-2.0-only */
/* Values of columns as text: for people, by their units, or exactly as they are. */
#ifndef NTPROF_VIEW_CELLS_H
#define NTPROF_VIEW_CELLS_H

#include "view/columns.h"

/* Room for the longest of this program's own words, names of stages that are one, and its 0. */
#define CELL_LEN 256

/**
 * cell_format() - for people: "12.3us", "4.56", "57.6 %"; "-" where there is none
 * @buf: filled; a text of others is escaped, and cut where @buf ends
 * @size: of @buf
 *
 * Return: @buf.
 */
char *cell_format(char *buf, size_t size, const struct column *c, const struct value *v);

/**
 * cell_exact() - the number itself, in the column's unit
 * @digits: decimals of a number that is not whole
 *
 * Otherwise as cell_format(), also where there is none: 0.
 */
char *cell_exact(char *buf, size_t size, const struct column *c, const struct value *v,
		 unsigned int digits);

/** cell_is_left() - whether the cells of a column begin at its left edge: words do */
static inline bool cell_is_left(const struct column *c)
{
	return c->unit == UNIT_NAME || c->unit == UNIT_TEXT;
}

#endif /* NTPROF_VIEW_CELLS_H */
