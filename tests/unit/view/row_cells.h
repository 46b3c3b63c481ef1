/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares all cells of a row. */
#ifndef NTPROF_VIEW_ROW_CELLS_H
#define NTPROF_VIEW_ROW_CELLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "view/columns.h"
#include "view/lines.h"

/* @cells: the name of each column, a blank, and its exact value; "-": there is none */
static inline void assert_cells(const struct columns *t, const void *row, const char *const *cells)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		const char *name = t->column[i].name;
		char cell[CELL_LEN];
		struct value v;

		memset(&v, 0xff, sizeof(v));
		columns_get(t, i, row, &v);
		if (v.none)
			cell_format(cell, sizeof(cell), &t->column[i], &v);
		else
			cell_exact(cell, sizeof(cell), &t->column[i], &v, 3);
		if (strncmp(cells[i], name, strlen(name)) != 0 ||
		    strcmp(cells[i] + strlen(name) + 1, cell) != 0)
			fail_msg("%s %s, not %s", name, cell, cells[i]);
	}
}

#endif /* NTPROF_VIEW_ROW_CELLS_H */
