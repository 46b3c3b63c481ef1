/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints a row as a line of text: values of its columns, and the words between them. */
#ifndef NTPROF_VIEW_LINES_H
#define NTPROF_VIEW_LINES_H

#include <stddef.h>
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
 * @width: least number of characters of the value; negative: aligned to the left. A missing value
 *         is "-" then
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

/* A table: headings, and a line for each row. Columns of names are aligned to the left. */

/* Enough for any table; those of groups have the most columns. */
#define TABLE_COLUMNS_MAX 43u

/**
 * struct table - a table of @columns
 * @dispensable: @nr_dispensable columns that a narrow line leaves out, in this order
 * @column: @nr columns, as table_add() takes them
 * @widest: width of the widest cell of each
 * @phrase: @shown of them, as table_lay_out() lays them out
 * @gap: what is between them
 * @brief: headings are the brief ones
 * @sorted: name of the column whose heading is followed by @mark, one character; or NULL
 */
struct table {
	const struct columns *columns;
	const unsigned char *dispensable;
	unsigned int nr_dispensable;
	unsigned int nr;
	struct phrase column[TABLE_COLUMNS_MAX];
	size_t widest[TABLE_COLUMNS_MAX];
	unsigned int shown;
	struct phrase phrase[TABLE_COLUMNS_MAX];
	const char *gap;
	bool brief;
	const char *sorted;
	const char *mark;
};

/**
 * table_add() - add a column
 * @column: its number
 * @before: text between it and the column before; NULL: the gap
 * @width: its width; 0: that of its heading, or of the widest cell that table_measure() has seen
 */
void table_add(struct table *t, unsigned int column, const char *before, int width);

/** table_measure() - make room for the cells of a row */
void table_measure(struct table *t, const void *row);

/* Layouts from the widest on. After TABLE_BRIEF, each one leaves out one more column. */
enum table_layout { TABLE_WIDE, TABLE_CLOSE, TABLE_BRIEF };

/**
 * table_lay_out() - lay out the columns; @layout: enum table_layout or more
 *
 * Return: width of a line, in columns of the terminal.
 */
unsigned int table_lay_out(struct table *t, unsigned int layout);

/** table_heading() - print the headings; no newline */
void table_heading(const struct table *t, FILE *f);

/** table_titles() - the same with a newline */
void table_titles(const struct table *t, FILE *f);

/** table_line() - print the cells of a row; no newline, as a bar may follow */
void table_line(const struct table *t, const void *row, FILE *f);

/** table_row() - the same with a newline */
void table_row(const struct table *t, const void *row, FILE *f);

/*
 * Items of one line, separated by two spaces. If the line is full, they continue on an indented
 * line.
 */

/* The line may have any length, so all items stay in one line. */
#define WRAP_NEVER (~0u)
/* The same on a screen, which cuts the line: what is zero is not worth its place. */
#define WRAP_CUT (WRAP_NEVER >> 1)

/**
 * struct wrap - position in the line
 * @f: output
 * @width: columns of the terminal
 * @used: columns that are taken
 * @more: past the first line
 */
struct wrap {
	FILE *f;
	unsigned int width;
	unsigned int used;
	bool more;
};

/** wrap_text() - print one more item */
void wrap_text(struct wrap *w, const char *text);

/**
 * wrap_words() - print text that continues the line. It is broken at blanks, or within a word that
 * is longer than a line
 */
void wrap_words(struct wrap *w, const char *text);

/** wrap_line() - wrap_text() of a row, see line_format() */
void wrap_line(struct wrap *w, const struct columns *t, const struct phrase *p, size_t nr,
	       const void *row);

/** WRAP_LINE() - wrap_line() of an array of phrases */
#define WRAP_LINE(w, t, p, row) wrap_line(w, t, p, ARRAY_SIZE(p), row)

/* Values of columns as text: readable, by their units, or exactly as they are. */

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

/* Durations and other numbers in a readable form: three significant digits. */

/**
 * duration_format() - format a duration
 * @buf: filled with at most 8 characters, e.g. "870ns", "12.3us", "4.56ms", "1.20s", and a sign if
 *       negative
 * @size: of @buf, at least 2
 * @ns: nanoseconds
 *
 * Return: @buf.
 */
char *duration_format(char *buf, size_t size, double ns);

#endif /* NTPROF_VIEW_LINES_H */
