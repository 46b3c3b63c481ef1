/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Items of one line, separated by two spaces. If the line is full, they continue on an indented
 * line.
 */
#ifndef NTPROF_VIEW_WRAP_H
#define NTPROF_VIEW_WRAP_H

#include <stdio.h>

#include "view/lines.h"

/* The line may have any length, so all items stay in one line. */
#define WRAP_NEVER (~0u)

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

#endif /* NTPROF_VIEW_WRAP_H */
