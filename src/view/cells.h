/* SPDX-License-Identifier: GPL-2.0-only */
/* Values of columns as text: readable, by their units, or exactly as they are. */
#ifndef NTPROF_VIEW_CELLS_H
#define NTPROF_VIEW_CELLS_H

#include "view/columns.h"

/*
 * Room for the longest text that the program itself makes, the names of joined stages, with the
 * terminating 0.
 */
#define CELL_LEN 256

/**
 * cell_format() - a readable form: "12.3us", "4.56", "57.6 %"; "-" if there is no value
 * @buf: filled; text from outside the program is escaped, and cut where @buf ends
 * @size: of @buf
 *
 * Return: @buf.
 */
char *cell_format(char *buf, size_t size, const struct column *c, const struct value *v);

/**
 * cell_exact() - the number itself, in the column's unit
 * @digits: decimals of a number that is not whole
 *
 * Otherwise as cell_format(), but if there is no value it writes 0.
 */
char *cell_exact(char *buf, size_t size, const struct column *c, const struct value *v,
		 unsigned int digits);

/** cell_is_left() - whether the cells of a column are aligned to the left: text is */
static inline bool cell_is_left(const struct column *c)
{
	return c->unit == UNIT_NAME || c->unit == UNIT_TEXT;
}

#endif /* NTPROF_VIEW_CELLS_H */
