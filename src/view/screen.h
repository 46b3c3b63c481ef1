/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A screenful: text in named parts, composed in memory first and then written at once, as it is or
 * fitted into a terminal. Knows nothing of what the parts say.
 */
#ifndef NTPROF_VIEW_SCREEN_H
#define NTPROF_VIEW_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What becomes of a part where there are more lines than the screen has. */
enum screen_room {
	SCREEN_WHOLE, /* it is never cut: the head says what one is looking at, and losses must not get lost */
	SCREEN_SHARE, /* gets its share of the room */
	SCREEN_SPARE, /* gets what others leave, which may be nothing */
};

/*
 * X(identifier, what a line of it is, its room, title lines), from top to bottom. The last part is at the
 * bottom of the screen.
 */
#define SCREEN_PARTS(X)                  \
	X(HEAD, NULL, WHOLE, 0)          \
	X(ROWS, "rows", SHARE, 2)        \
	X(LEGEND, "lines", SPARE, 0)     \
	X(STAGES, "rows", SHARE, 1)      \
	X(MERGED, "rows", SHARE, 2)      \
	X(CONNECTIONS, "rows", SPARE, 1) \
	X(HISTOGRAMS, "lines", SHARE, 0) \
	X(PAGE, "lines", SHARE, 1)       \
	X(PEERS, NULL, WHOLE, 0)         \
	X(LOSSES, NULL, WHOLE, 0)        \
	X(KEYS, NULL, WHOLE, 0)

#define SCREEN_ENUM(id, word, room, titles) SCREEN_##id,
enum screen_part { SCREEN_PARTS(SCREEN_ENUM) SCREEN_PARTS_NR };

/* Nothing is marked. */
#define SCREEN_NO_MARK SIZE_MAX

/**
 * struct screen - the parts
 * @part: streams to write to, between screen_open() and screen_close()
 * @text: what has been written, @size bytes, after screen_close(); whole lines, or nothing
 * @colour: the terminal has bold, reverse and coloured text
 * @alarm: the losses have something to tell
 * @marked: line of SCREEN_ROWS, behind its titles, that has to be seen
 * @top: lines of SCREEN_PAGE, behind its titles, that are above what is seen; screen_redraw() corrects it
 */
struct screen {
	FILE *part[SCREEN_PARTS_NR];
	char *text[SCREEN_PARTS_NR];
	size_t size[SCREEN_PARTS_NR];
	bool colour;
	bool alarm;
	size_t marked;
	size_t top;
};

/** screen_open() - make the streams, without colour or mark; 0 or -ENOMEM. screen_free() is due in either case. */
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
 *                   than @lines (unless that is 0), parts have the room that enum screen_room says, and
 *                   those that share it say how much of them is not seen.
 */
void screen_redraw(struct screen *s, FILE *out, unsigned int columns, unsigned int lines);

#endif /* NTPROF_VIEW_SCREEN_H */
