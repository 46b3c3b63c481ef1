/* SPDX-License-Identifier: GPL-2.0-only */
/* A line of text of a row: values of its columns, and the words between them. */
#ifndef NTPROF_VIEW_LINES_H
#define NTPROF_VIEW_LINES_H

#include <stdio.h>

#include "view/columns.h"

/* How a value is shown. Where there is none, the whole phrase is left out, but for LINE_CELL. */
enum line_style {
	LINE_EXACT,	   /* the number, see cell_exact() */
	LINE_NEEDED,	   /* the number, with as many decimals as it has, to the ninth */
	LINE_CELL,	   /* for people, see cell_format() */
	LINE_MICROSECONDS, /* nanoseconds as microseconds, to the nanosecond */
};

/**
 * struct phrase - a value and the words around it
 * @before, @after: the words; may be NULL
 * @column: which value, of the table that the line is of
 * @style: how
 * @digits: decimals of LINE_EXACT, and of LINE_NEEDED at least
 * @plural: an "s" comes after @after unless the value is 1
 * @width: characters that the value takes at least; negative: it begins at the left
 */
struct phrase {
	const char *before;
	unsigned char column;
	const char *after;
	enum line_style style;
	unsigned char digits;
	bool plural;
	int width;
};

/** PHRASE() - initialize a struct phrase: what comes before, the column, and any other members by name */
#define PHRASE(before_, column_, ...)                             \
	{                                                         \
		.before = before_, .column = column_, __VA_ARGS__ \
	}

/** line_print() - phrases one after the other; a text of others is never cut unless it has a width */
void line_print(FILE *f, const struct columns *t, const struct phrase *p, size_t nr,
		const void *row);

/** LINE_PRINT() - line_print() of an array of phrases */
#define LINE_PRINT(f, t, p, row) line_print(f, t, p, ARRAY_SIZE(p), row)

/** line_format() - the same into @buf of @size bytes, cut where it ends; Return: @buf */
char *line_format(char *buf, size_t size, const struct columns *t, const struct phrase *p,
		  size_t nr, const void *row);

/** line_titles() - the headings over lines of these phrases, @brief ones where there are; no newline */
void line_titles(FILE *f, const struct columns *t, const struct phrase *p, size_t nr, bool brief);

/**
 * line_values() - for scripts: a word, then the exact values, each after a blank, or "-" where there is none, and a
 *		   newline
 * @columns: of which columns, @nr of them; of numbers that are not whole, the nearest whole one
 */
void line_values(FILE *f, const char *word, const struct columns *t, const unsigned char *columns,
		 size_t nr, const void *row);

#endif /* NTPROF_VIEW_LINES_H */
