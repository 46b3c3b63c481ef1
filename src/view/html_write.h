/* SPDX-License-Identifier: GPL-2.0-only */
/* Text of any origin as HTML, and tables of rows from the columns that all outputs have. */
#ifndef NTPROF_VIEW_HTML_WRITE_H
#define NTPROF_VIEW_HTML_WRITE_H

#include <stddef.h>
#include <stdio.h>

#include "view/columns.h"

/** html_text() - write a text so that a browser shows it, whatever it is */
void html_text(FILE *f, const char *s);

/** struct html_print - @f is for functions that print text */
struct html_print {
	FILE *f;
	char *text;
	size_t size;
};

/** html_print_begin() - Return: 0, and html_print_end() is needed, or -ENOMEM */
int html_print_begin(struct html_print *p);

/** html_print_end() - write a paragraph of this class for each line; Return: 0 or -ENOMEM */
int html_print_end(struct html_print *p, FILE *f, const char *class);

/** html_table_begin() - begin a table with the id "@id-@name"; its headings follow */
void html_table_begin(FILE *f, const char *id, const char *name);

void html_table_end(FILE *f);

/* For html_heads() and html_cells(): all columns of a table. */
#define HTML_ALL(t) NULL, (t)->nr

/** html_heads() - write the headings of @nr columns; @shown: their numbers */
void html_heads(FILE *f, const struct columns *t, const unsigned char *shown, size_t nr);

/** html_cells() - write the cells of a row: as people read them, with the exact value in data-v */
void html_cells(FILE *f, const struct columns *t, const unsigned char *shown, size_t nr,
		const void *row);

/** html_table() - write a table with all columns of @nr rows of @size bytes */
void html_table(FILE *f, const char *id, const char *name, const struct columns *t,
		const char *rows, size_t nr, size_t size);

#endif /* NTPROF_VIEW_HTML_WRITE_H */
