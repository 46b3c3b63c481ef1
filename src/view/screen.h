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
#define FRAME_PARTS(X)            \
	X(HEAD, NULL, 0)          \
	X(ROWS, "rows", 1)        \
	X(LEGEND, "lines", 0)     \
	X(STAGES, "rows", 1)      \
	X(MERGED, "rows", 1)      \
	X(CONNECTIONS, "rows", 1) \
	X(HISTOGRAMS, "lines", 0) \
	X(PEERS, NULL, 0)         \
	X(LOSSES, NULL, 0)

#define FRAME_ENUM(id, word, titles) FRAME_##id,
enum frame_part { FRAME_PARTS(FRAME_ENUM) FRAME_PARTS_NR };

/**
 * struct frame - the parts
 * @part: streams to write to, between frame_open() and frame_close()
 * @text: what has been written, @size bytes, after frame_close(); whole lines, or nothing
 */
struct frame {
	FILE *part[FRAME_PARTS_NR];
	char *text[FRAME_PARTS_NR];
	size_t size[FRAME_PARTS_NR];
};

/** frame_open() - make the streams; 0 or -ENOMEM. frame_free() is due in either case. */
int frame_open(struct frame *f);

/** frame_close() - end writing to the parts; 0 or -ENOMEM */
int frame_close(struct frame *f);

/** frame_free() - release everything */
void frame_free(struct frame *f);

/** frame_print() - write all parts as they are to @out, without flushing it */
void frame_print(const struct frame *f, FILE *out);

/**
 * frame_redraw() - write the parts to @out so that a terminal shows them in place of what it showed
 * @columns, @lines: size of the terminal; lines longer than @columns are cut. Where there are more
 *                   than @lines (unless that is 0), the parts that may be cut share the room, and
 *                   each says how much of it was left out.
 */
void frame_redraw(const struct frame *f, FILE *out, unsigned int columns, unsigned int lines);

#endif /* NTPROF_VIEW_SCREEN_H */
