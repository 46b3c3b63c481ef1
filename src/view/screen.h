/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A screenful: text in named parts. It is composed in memory first, and then written at once, as it
 * is or fitted into a terminal. This module does not know what the parts contain.
 */
#ifndef NTPROF_VIEW_SCREEN_H
#define NTPROF_VIEW_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "merge/totals.h"
#include "peer/live_merge.h"
#include "view/histograms.h"
#include "view/visible_rows.h"

/* What happens to a part if there are more lines than the screen has. */
enum screen_room {
	/* it is never cut: the user must always see the head, and must not miss losses */
	SCREEN_WHOLE,
	SCREEN_SHARE, /* it gets its share of the room */
	SCREEN_SPARE, /* it gets the room that others leave, which may be none */
};

/*
 * X(identifier, name of its lines, its room, title lines), from top to bottom. The last part is at
 * the bottom of the screen.
 */
#define SCREEN_PARTS(X)                  \
	X(HEAD, NULL, WHOLE, 0)          \
	X(ALARMS, NULL, WHOLE, 0)        \
	X(ROWS, "rows", SHARE, 2)        \
	X(LEGEND, "lines", SPARE, 0)     \
	X(STAGES, "rows", SHARE, 2)      \
	X(MERGED, "rows", SHARE, 2)      \
	X(CONNECTIONS, "rows", SPARE, 1) \
	X(HISTOGRAMS, "lines", SHARE, 0) \
	X(PAGE, "lines", SHARE, 1)       \
	X(PEERS, NULL, WHOLE, 0)         \
	X(EVENTS, "events", SPARE, 0)    \
	X(LOSSES, NULL, WHOLE, 0)        \
	X(KEYS, NULL, WHOLE, 0)

#define SCREEN_ENUM(id, word, room, titles) SCREEN_##id,
enum screen_part { SCREEN_PARTS(SCREEN_ENUM) SCREEN_PARTS_NR };

/* No line is marked. */
#define SCREEN_NO_MARK SIZE_MAX

/**
 * struct screen - the parts
 * @part: streams to write to, between screen_open() and screen_close()
 * @text: what has been written, @size bytes and a 0, after screen_close(); complete lines, or
 *        nothing: then @at may be NULL
 * @colour: the terminal has bold, reverse and coloured text
 * @alarm: there are real losses, so they are shown in red
 * @stalled: so many lines of SCREEN_ROWS, after its titles, are of stalled commands: also in red
 * @marked: line of SCREEN_ROWS, counted after its titles, that has to be visible
 * @focus: the part that keys scroll; it gets room before others do
 * @top: lines of it, counted after its titles, that are scrolled off the top; screen_redraw()
 *       corrects it
 */
struct screen {
	FILE *part[SCREEN_PARTS_NR];
	struct screen_text {
		char *at;
		size_t size;
	} text[SCREEN_PARTS_NR];
	bool colour;
	bool alarm;
	size_t stalled;
	size_t marked;
	enum screen_part focus;
	size_t top;
};

/**
 * screen_open() - make the streams, without colour or mark
 *
 * Return: 0 or -ENOMEM. In both cases the caller calls screen_free().
 */
int screen_open(struct screen *s);

/** screen_close() - end writing to the parts; Return: 0 or -ENOMEM */
int screen_close(struct screen *s);

/** screen_free() - release everything */
void screen_free(struct screen *s);

/** screen_print() - write all parts as they are to @out, without flushing it */
void screen_print(const struct screen *s, FILE *out);

/**
 * screen_redraw() - write the parts to @out so that they replace what the terminal shows
 * @columns, @lines: size of the terminal; longer lines are cut. If there are more lines than @lines
 *                   (unless that is 0), parts get the room that enum screen_room describes. Parts
 *                   that are cut end with a line that counts the hidden lines.
 */
void screen_redraw(struct screen *s, FILE *out, unsigned int columns, unsigned int lines);

/* The pages of the screen besides its tables: a single row, the meaning of losses, the keys. */

/**
 * page_row_print() - print a single row: its figures, its stages and its whole histogram
 * @p: the rows of its table
 * @m: merged commands of the same interval, or NULL
 *
 * Return: 0 or -ENOMEM.
 */
int page_row_print(const struct block *b, const struct visible_rows *p, const struct view_state *l,
		   const struct totals *m, FILE *f);

/** page_losses_print() - print the losses, what they mean and what the user can do about them */
void page_losses_print(const struct block *b, FILE *f);

/** page_tcp_print() - print the state of the queues' TCP connections, or how to have it read */
void page_tcp_print(const struct block *b, FILE *f);

/** page_why_print() - print where slow commands come from, or what it takes to know; @l: or NULL */
void page_why_print(const struct live_merge *l, unsigned int width, FILE *f);

/** page_help_print() - print all keys */
void page_help_print(FILE *f, unsigned int width);

/** keys_print() - print one line: the keys that matter on this page, and the current choices */
void keys_print(const struct view_state *l, FILE *f);

#endif /* NTPROF_VIEW_SCREEN_H */
