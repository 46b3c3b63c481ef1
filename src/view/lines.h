/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints a row as a line of text: values of its columns, and the words between them. */
#ifndef NTPROF_VIEW_LINES_H
#define NTPROF_VIEW_LINES_H

#include <stdio.h>

#include "view/columns.h"

/*
 * How a value is shown. If there is no value, the whole phrase is left out, except with LINE_CELL.
 */
enum line_style {
	LINE_EXACT,	   /* the number, see cell_exact() */
	LINE_NEEDED,	   /* the number, with as many decimals as it needs, at most nine */
	LINE_CELL,	   /* a readable form, see cell_format() */
	LINE_MICROSECONDS, /* nanoseconds as microseconds, with three decimals */
};

/**
 * struct phrase - a value and the words around it
 * @before, @after: the words; may be NULL
 * @column: which column of the line's table
 * @style: form of the value
 * @digits: decimals of LINE_EXACT, least number of decimals of LINE_NEEDED
 * @plural: append "s" to @after unless the value is 1
 * @width: least number of characters of the value; negative: aligned to the left
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

/**
 * PHRASE() - initialize a struct phrase: the words before, the column, and any other members by
 * name
 */
#define PHRASE(before_, column_, ...)                             \
	{                                                         \
		.before = before_, .column = column_, __VA_ARGS__ \
	}

/**
 * line_print() - print phrases one after the other; text from outside the program is cut only if it
 * has a width
 */
void line_print(FILE *f, const struct columns *t, const struct phrase *p, size_t nr,
		const void *row);

/** LINE_PRINT() - line_print() of an array of phrases */
#define LINE_PRINT(f, t, p, row) line_print(f, t, p, ARRAY_SIZE(p), row)

/**
 * line_format() - the same into @buf of @size bytes; the line is cut at the end of @buf
 *
 * Return: @buf.
 */
char *line_format(char *buf, size_t size, const struct columns *t, const struct phrase *p,
		  size_t nr, const void *row);

/**
 * line_titles() - print the headings for lines of these phrases; @brief: the short ones if there
 * are any; no newline
 */
void line_titles(FILE *f, const struct columns *t, const struct phrase *p, size_t nr, bool brief);

/**
 * line_values() - print a line for scripts: a word, then the exact values, each after a blank, or
 * "-" if there is no value, and a newline
 * @columns: @nr columns to print; a number that is not whole is rounded to a whole one
 */
void line_values(FILE *f, const char *word, const struct columns *t, const unsigned char *columns,
		 size_t nr, const void *row);

#endif /* NTPROF_VIEW_LINES_H */
