/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The output of a live view: turns struct stats into text, JSON or CSV. On a terminal it redraws in
 * place; otherwise it writes one block after the other.
 */
#ifndef NTPROF_VIEW_VIEW_H
#define NTPROF_VIEW_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "core/controllers.h"
#include "core/output.h"
#include "core/stats.h"
#include "peer/live_merge.h"
#include "view/columns_groups.h"
#include "view/limits.h"
#include "view/stages.h"
#include "view/view_state.h"

/* Formats of the output. */

enum output_format {
	FORMAT_TEXT,
	/* JSON Lines: an object in each line; docs/output.schema.json describes them */
	FORMAT_JSON,
	FORMAT_CSV, /* RFC 4180, with a header */
	/* Only report has these two: lines for scripts, and text with such lines behind it. */
	FORMAT_LINES,
	FORMAT_TEXT_AND_LINES,
};

/**
 * struct view_options - how to draw
 * @out: output; if there is an @output, only the size and kind of @out count
 * @output: takes whole blocks without waiting, or NULL
 * @format: text, JSON or CSV; @unicode, @redraw, @columns and @lines are for text only
 * @begun: for FORMAT_CSV: the header has been written
 * @histogram: also print full-size histograms of every queue and operation
 * @unicode: draw bars with Unicode blocks; otherwise with ASCII
 * @redraw: redraw in place (a terminal); otherwise print one block after the other
 * @alternate: redraw on the terminal's other screen, so that what was there before is there
 * afterwards
 * @entered: it shows that screen now; view_interval() enters it, view_summary() leaves it
 * @peers: peers with merged commands to show as well, or NULL; if any command is merged, an
 *         interval's own table of stages is left out
 * @colour: the terminal has bold, reverse and coloured text, and NO_COLOR is not set
 * @choice: groups to show, and their figures; NULL: queues and operations
 * @state: which rows and which page to show on a terminal, or NULL: all rows, sorted by IOPS
 * @limits: groups, and how near they are to the limits that the user gave for them; or NULL
 * @memory: of a screen: of a side's stages, and of those of merged commands; or NULL
 * @controllers: their states, as the machine has them, or NULL
 * @stalls: of the run so far, or NULL
 * @again: the interval was shown before, and live_merge_interval() has been called
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
	bool alternate;
	bool entered;
	const struct live_merge *peers;
	bool colour;
	const struct group_choice *choice;
	struct view_state *state;
	const struct limits *limits;
	const struct controllers *controllers;
	const struct stalls *stalls;
	struct stage_memory *memory;
	bool again;
	unsigned int columns;
	unsigned int lines;
};

/**
 * view_interval() - show the last interval
 * @s: the statistics
 * @o: how to draw it
 *
 * Return: 0, -EIO if writing failed (closed pipe, full disk), or -ENOMEM. With an @output, the
 * result of output_put(): -EAGAIN if the block is left out. On a terminal it is left out as long as
 * the previous one is not written.
 */
int view_interval(const struct stats *s, struct view_options *o);

/**
 * view_summary() - show the whole run, once, at its end; parameters and result as for
 * view_interval()
 */
int view_summary(const struct stats *s, struct view_options *o);

/**
 * view_setup() - find out about a stream: terminal or pipe, its size, and whether the locale has
 * Unicode (nl_langinfo(CODESET) is UTF-8; the caller has called setlocale())
 * @o: filled; no full-size histograms, no peers
 * @out: the stream
 */
void view_setup(struct view_options *o, FILE *out);

/** view_format() - set another format than text, which is never redrawn in place */
void view_format(struct view_options *o, enum output_format format);

/** view_resize() - read the terminal's size again (SIGWINCH) */
void view_resize(struct view_options *o);

#endif /* NTPROF_VIEW_VIEW_H */
