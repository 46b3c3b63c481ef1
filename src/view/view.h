/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal's face: turns struct stats into text. Redraws in place on a terminal, prints plain
 * blocks into a pipe.
 */
#ifndef NTPROF_VIEW_VIEW_H
#define NTPROF_VIEW_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "core/output.h"
#include "core/stats.h"
#include "peer/live_merge.h"
#include "view/columns_groups.h"
#include "view/format.h"
#include "view/limits.h"
#include "view/look.h"

/**
 * struct view_options - how to draw
 * @out: where to; where there is an @output, only its size and kind count
 * @output: what takes whole blocks without waiting, or NULL
 * @format: what it looks like; of text alone: @unicode, @redraw, @columns, @lines
 * @begun: of FORMAT_CSV: the header has been written
 * @histogram: also print full-size histograms of every queue and operation
 * @unicode: bars of Unicode blocks; else ASCII
 * @redraw: redraw in place (a terminal); else one block after the other
 * @peers: whose merged commands to show as well, or NULL; where there are any, an interval's own table of
 *         stages is left out
 * @colour: the terminal has bold, reverse and coloured text, and nobody has said that it is not wanted (NO_COLOR)
 * @choice: groups that rows are of, and their figures; NULL: queues and operations
 * @look: which rows and which page of it to show on a terminal, or NULL: all rows, sorted by IOPS
 * @limits: groups, and how near they come to what somebody says that they can carry; or NULL
 * @again: an interval is shown that was shown before: live_merge_interval() has been called
 * @columns, @lines: size of the terminal; @lines of 0: do not cut (a pipe)
 */
struct view_options {
	FILE *out;
	struct output *output;
	enum output_format format;
	bool begun;
	bool histogram;
	bool unicode;
	bool redraw;
	const struct live_merge *peers;
	bool colour;
	const struct group_choice *choice;
	struct look *look;
	const struct limits *limits;
	bool again;
	unsigned int columns;
	unsigned int lines;
};

/**
 * view_interval() - show the last interval
 * @s: what was seen
 * @o: how to draw it
 *
 * Return: 0, -EIO when writing failed (closed pipe, full disk), or -ENOMEM; with an @output what output_put()
 * returns: -EAGAIN if the block is left out. On a terminal it is, as long as the one before is not shown.
 */
int view_interval(const struct stats *s, struct view_options *o);

/** view_summary() - show the whole run, once, at its end; takes and returns what view_interval() does */
int view_summary(const struct stats *s, struct view_options *o);

/**
 * view_setup() - find out about a stream: terminal or pipe, its size, and whether the locale takes
 * Unicode (nl_langinfo(CODESET) is UTF-8; setlocale() has been called)
 * @o: filled; no full-size histograms, no peers
 * @out: the stream
 */
void view_setup(struct view_options *o, FILE *out);

/** view_format() - another format than text, which is never redrawn in place */
void view_format(struct view_options *o, enum output_format format);

/** view_resize() - take the terminal's size anew (SIGWINCH) */
void view_resize(struct view_options *o);

#endif /* NTPROF_VIEW_VIEW_H */
