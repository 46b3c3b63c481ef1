/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The columns of groups (--by): their keys, figures that every group has, and the figures of
 * latency that the user has chosen (--stats). A table is made for each choice, and every output
 * reads it.
 */
#ifndef NTPROF_VIEW_COLUMNS_GROUPS_H
#define NTPROF_VIEW_COLUMNS_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/group.h"
#include "core/hist.h"
#include "merge/groups.h"
#include "view/columns.h"
#include "view/columns_queues.h"
#include "view/lines.h"

/*
 * A histogram's buckets for the latencies that the user wants to see. The first bucket is below a
 * minimum. The second one begins at the minimum and is 2^shift microseconds wide. Each further one
 * ends twice as far from the minimum as the one before.
 */

/*
 * With doubling widths, these buckets reach from one microsecond to beyond the longest latency that
 * histograms distinguish.
 */
#define SCALE_BUCKETS 32u
#define SCALE_SHIFT_MAX 24u

/**
 * struct scale - if all zero: buckets from 1 us on; @on: the user has asked for it, otherwise
 * powers of two are shown
 */
struct scale {
	bool on;
	uint64_t min_ns;
	unsigned int shift;
};

/**
 * struct scale_row - a bucket; the last one has no upper bound
 * @cumulative: share of the commands that are in this bucket or below it, see scale_accumulate()
 */
struct scale_row {
	uint64_t from;
	uint64_t to;
	bool endless;
	uint64_t commands;
	double cumulative;
};

enum scale_column {
	SCALE_FROM,
	SCALE_TO, /* "inf" if there is no upper bound */
	SCALE_COMMANDS,
	SCALE_CUMULATIVE,
};

/* Rows are struct scale_row. */
extern const struct columns scale_columns;

/**
 * scale_count() - fill @row, from the first bucket that is not empty to the last one
 *
 * The buckets of a histogram have their own bounds. A bucket that overlaps two buckets of the scale
 * is counted where its middle is, so bounds are exact to 1/64.
 * Return: number of rows.
 */
unsigned int scale_count(const struct scale *s, const struct hist *h,
			 struct scale_row row[SCALE_BUCKETS]);

/**
 * scale_accumulate() - fill @cumulative of @nr buckets, which hold all commands of a histogram
 *
 * It is rounded down to 0.1 %, so that 100 % means every command. All are 0 if there is no command.
 */
void scale_accumulate(struct scale_row *row, unsigned int nr);

/* More figures than fit into a line. */
#define FIGURES_MAX 12u
/* Room for "p99_99999", and its terminating 0. */
#define FIGURE_NAME_LEN 24

/* FIGURE_LOW is no latency, but the rate of group_lows_rate(). */
enum figure_kind { FIGURE_MEAN, FIGURE_MIN, FIGURE_MAX, FIGURE_PERCENTILE, FIGURE_LOW };
#define FIGURE_KINDS (FIGURE_LOW + 1)

/**
 * struct figures - @nr figures of groups
 * @parts: which percentile, in parts of HIST_PARTS
 * @name, @title: such as "p99_9" and "p99.9"
 */
struct figures {
	unsigned int nr;
	struct figure {
		enum figure_kind kind;
		uint32_t parts;
		char name[FIGURE_NAME_LEN];
		char title[FIGURE_NAME_LEN];
	} figure[FIGURES_MAX];
};

/**
 * figures_parse() - add the figures of the argument of --stats: mean, min, max, pN and iops-pN,
 * separated by commas
 *
 * Return: NULL, or why the text is wrong, in words that follow the text in a message.
 */
const char *figures_parse(struct figures *f, const char *text);

typedef void (*figure_getter)(const void *row, const struct column *c, struct value *v);

/**
 * figures_columns() - fill @column with one column for each figure; @get: by enum figure_kind
 *
 * Return: number of columns.
 */
unsigned int figures_columns(struct column *column, const struct figures *f,
			     const figure_getter get[FIGURE_KINDS]);

/** figures_usual() - the default figures, if @f has none */
void figures_usual(struct figures *f);

/** figures_low() - the first FIGURE_LOW, NULL: there is none */
const struct figure *figures_low(const struct figures *f);

/** figures_of_latency() - leave out all FIGURE_LOW; the default figures, if none is left */
void figures_of_latency(struct figures *f);

/* The output for which a table of groups is made. */
enum groups_for {
	GROUPS_FOR_LIVE_TEXT,
	GROUPS_FOR_LIVE,
	GROUPS_FOR_REPORT_TEXT,
	GROUPS_FOR_REPORT,
};

/* The kind of row, the interval, the keys, twelve columns that every group has, and the figures. */
#define GROUP_COLUMNS_MAX (2 + GROUP_KEYS_NR + 12 + FIGURES_MAX)
_Static_assert(GROUP_COLUMNS_MAX <= TABLE_COLUMNS_MAX, "all fit into a table");

/**
 * struct group_table - @columns, with rows of struct queue_row that have a @group
 * @figures: strings to which @column points
 * @first_key: index of the first key
 * @dispensable: @nr_dispensable columns that a narrow line leaves out, in this order
 */
struct group_table {
	struct columns columns;
	struct column column[GROUP_COLUMNS_MAX];
	struct figures figures;
	unsigned int first_key;
	unsigned char dispensable[GROUP_COLUMNS_MAX];
	unsigned int nr_dispensable;
};

/**
 * struct group_choice - what the user wants to see: groups, and figures of them. Without @figures
 * the default ones are shown; if @scale is on, also histograms
 * @live_groups: for a live view: groups that are made from records, where its histograms cannot
 * make the groups; otherwise NULL
 */
struct group_choice {
	struct grouping grouping;
	struct figures figures;
	struct scale scale;
	const struct live_groups *live_groups;
};

/**
 * group_table_make() - fill @t
 * @summary: for live views: of the whole run
 * @none_failed: for recordings: no command failed, so a narrow line can leave out that column
 */
void group_table_make(struct group_table *t, const struct group_choice *c, enum groups_for what,
		      bool summary, bool none_failed);

/* The last columns of a table for a report. Text leaves them out where no group has a stage. */
#define GROUP_STAGE_COLUMNS 2u

/** group_table_show() - fill @shown with all columns of @t, for text */
void group_table_show(struct table *shown, const struct group_table *t);

/** columns_groups_row() - fill @q with a row of recorded groups, and @h with its histogram */
void columns_groups_row(struct queue_row *q, struct hist *h, const struct group_row *r);

#endif /* NTPROF_VIEW_COLUMNS_GROUPS_H */
