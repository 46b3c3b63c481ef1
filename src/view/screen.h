/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A screenful: text in named parts, composed in memory first and then written at once, as it is or
 * fitted into a terminal. Knows nothing of what the parts say.
 */
#ifndef NTPROF_VIEW_SCREEN_H
#define NTPROF_VIEW_SCREEN_H

#include <stddef.h>
#include <stdio.h>

/*
 * X(identifier, what a line of it is, title lines), from top to bottom. Parts without a word are
 * never cut: the head says what one is looking at, and losses must not get lost.
 */
#define SCREEN_PARTS(X)           \
	X(HEAD, NULL, 0)          \
	X(ROWS, "rows", 1)        \
	X(LEGEND, "lines", 0)     \
	X(STAGES, "rows", 1)      \
	X(MERGED, "rows", 2)      \
	X(CONNECTIONS, "rows", 1) \
	X(HISTOGRAMS, "lines", 0) \
	X(PEERS, NULL, 0)         \
	X(LOSSES, NULL, 0)

#define SCREEN_ENUM(id, word, titles) SCREEN_##id,
enum screen_part { SCREEN_PARTS(SCREEN_ENUM) SCREEN_PARTS_NR };

/**
 * struct screen - the parts
 * @part: streams to write to, between screen_open() and screen_close()
 * @text: what has been written, @size bytes, after screen_close(); whole lines, or nothing
 */
struct screen {
	FILE *part[SCREEN_PARTS_NR];
	char *text[SCREEN_PARTS_NR];
	size_t size[SCREEN_PARTS_NR];
};

/** screen_open() - make the streams; 0 or -ENOMEM. screen_free() is due in either case. */
int screen_open(struct screen *s);

/** screen_close() - end writing to the parts; 0 or -ENOMEM */
int screen_close(struct screen *s);

/** screen_free() - release everything */
void screen_free(struct screen *s);

/** screen_print() - write all parts as they are to @out, without flushing it */
void screen_print(const struct screen *s, FILE *out);

/**
 * screen_redraw() - write the parts to @out so that a terminal shows them in place of what it showed
 * @columns, @lines: size of the terminal; lines longer than @columns are cut. Where there are more
 *                   than @lines (unless that is 0), the parts that may be cut share the room, and
 *                   each says how much of it was left out.
 */
void screen_redraw(const struct screen *s, FILE *out, unsigned int columns, unsigned int lines);

#endif /* NTPROF_VIEW_SCREEN_H */
