/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Full-size histograms of every controller, queue and operation. All have the same buckets, which
 * are powers of two.
 */
#ifndef NTPROF_VIEW_HISTOGRAMS_H
#define NTPROF_VIEW_HISTOGRAMS_H

#include <stdbool.h>
#include <stdio.h>

#include "core/hist.h"
#include "core/stats.h"
#include "view/columns.h"
#include "view/columns_groups.h"
#include "view/columns_queues.h"
#include "view/json.h"

/* A block: what the view shows of an interval or of the whole run, and in which form. */

/**
 * struct block - contents and form of a block
 * @s: the statistics to show
 * @summary: show the whole run; otherwise the last interval
 * @unicode: draw bars with Unicode blocks
 * @width: columns of the terminal
 * @low, @high: octaves from the shortest to the longest latency of the run, @high exclusive. All
 *              rows use the same ones, so that the user can compare them, and all blocks, so that
 *              the scale does not jump. Equal if there was no command yet.
 */
struct block {
	const struct stats *s;
	bool summary;
	bool unicode;
	unsigned int width;
	unsigned int low;
	unsigned int high;
};

/** block_init() - fill @b, see struct block */
void block_init(struct block *b, const struct stats *s, bool summary, bool unicode,
		unsigned int width);

/** histograms_print() - print a histogram of every row that had commands */
void histograms_print(const struct block *b, FILE *f);

/** histogram_print() - print the histogram of one row, with its name and its mean above */
void histogram_print(const struct block *b, const struct queue_row *row, FILE *f);

/*
 * Bars and small histograms made of characters: Unicode blocks or ASCII. Each character takes one
 * column of the terminal.
 */

/**
 * bar_draw() - draw a horizontal bar
 * @f: output
 * @share: 0 to 1
 * @width: columns for a share of 1
 * @unicode: draw eighths of a column, at least one eighth if @share is not 0; otherwise whole
 *           columns
 *
 * Return: columns drawn.
 */
unsigned int bar_draw(FILE *f, double share, unsigned int width, bool unicode);

/**
 * bar_width() - columns for the longest bar of a line
 * @columns: width of the line
 * @used: columns that the other contents of the line take
 * @least, @most: bounds of the result: a shorter bar cannot be read, a longer one adds no
 *                information
 */
unsigned int bar_width(unsigned int columns, unsigned int used, unsigned int least,
		       unsigned int most);

/**
 * bar_level() - one character with a height that shows a share
 * @share: 0 to 1; only 0 gives a space
 * @unicode: U+2581 to U+2588, otherwise one of ".:-=+*#@"
 *
 * Return: static string.
 */
const char *bar_level(double share, bool unicode);

/* A histogram's buckets by powers of two, which fit on a screen. */

/* Powers of two that the buckets of a histogram cover; the last one has no upper bound. */
#define OCTAVES_NR (NT_MAX_BITS + 1)

/** octaves_of() - the power of two that a bucket is in; also 0 for 0 ns */
static inline unsigned int octaves_of(unsigned int bucket)
{
	return 63 - (unsigned int)__builtin_clzll(nt_bucket_low(bucket) | 1);
}

/** octaves_count() - sum up a histogram's buckets by powers of two; element 0 also counts 0 ns */
void octaves_count(const struct hist *h, uint64_t counts[OCTAVES_NR]);

/**
 * octaves_row() - the bucket from the power of two @low to the power of two @high, exclusive;
 * OCTAVES_NR: no upper bound
 */
struct scale_row octaves_row(unsigned int low, unsigned int high, uint64_t commands);

/*
 * The histogram of a group, in the buckets that the user has asked for (--min-latency,
 * --bucket-shift).
 */

/**
 * struct canvas - where a histogram is drawn: the output, its columns, and whether bars are Unicode
 * blocks
 */
struct canvas {
	FILE *f;
	unsigned int width;
	bool unicode;
};

/**
 * group_histogram_print() - print a group's name and its histogram; nothing if it has no commands
 */
void group_histogram_print(const struct queue_row *q, const struct group_table *t,
			   const struct group_choice *c, const struct canvas *canvas);

/** json_bucket() - append [from, to, commands] to @buckets, unless the bucket is empty */
void json_bucket(struct json_object *buckets, const struct scale_row *row);

/**
 * group_histogram_json() - an array with [from, to, commands] for every bucket that is not empty
 */
struct json_object *group_histogram_json(const struct hist *h, const struct scale *s);

#endif /* NTPROF_VIEW_HISTOGRAMS_H */
