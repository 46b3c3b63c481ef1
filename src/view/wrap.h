/* SPDX-License-Identifier: GPL-2.0-only */
/* Items of one line, two spaces apart, that go on indented on the next one where it is full. */
#ifndef NTPROF_VIEW_WRAP_H
#define NTPROF_VIEW_WRAP_H

#include <stdio.h>

#include "view/lines.h"

/* A line that cannot be too long: one thing is one line. */
#define WRAP_NEVER (~0u)

/**
 * struct wrap - where the line is
 * @f: where it goes
 * @width: columns there are
 * @used: columns that are taken
 * @more: past the first line
 */
struct wrap {
	FILE *f;
	unsigned int width;
	unsigned int used;
	bool more;
};

/** wrap_text() - one more item */
void wrap_text(struct wrap *w, const char *text);

/**
 * wrap_words() - text that goes on where the line is, and is broken at blanks, or within a word that is longer
 * than a line
 */
void wrap_words(struct wrap *w, const char *text);

/** wrap_line() - wrap_text() of a row, see line_format() */
void wrap_line(struct wrap *w, const struct columns *t, const struct phrase *p, size_t nr,
	       const void *row);

/** WRAP_LINE() - wrap_line() of an array of phrases */
#define WRAP_LINE(w, t, p, row) wrap_line(w, t, p, ARRAY_SIZE(p), row)

#endif /* NTPROF_VIEW_WRAP_H */
