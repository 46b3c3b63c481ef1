/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The columns of groups (--by): their keys, what there is of every group, and the figures of latency that somebody has
 * chosen (--stats). A table is made for what was asked; every output reads it.
 */
#ifndef NTPROF_VIEW_COLUMNS_GROUPS_H
#define NTPROF_VIEW_COLUMNS_GROUPS_H

#include "core/group.h"
#include "merge/groups.h"
#include "view/columns_queues.h"
#include "view/scale.h"
#include "view/tally.h"

/* More figures than a line has room for. */
#define FIGURES_MAX 12u
/* "p99_99999", and its 0. */
#define FIGURE_NAME_LEN 24

enum figure_kind { FIGURE_MEAN, FIGURE_MIN, FIGURE_MAX, FIGURE_PERCENTILE };

/**
 * struct figures - figures of latency, @nr of them
 * @parts: of HIST_PARTS, of a percentile
 * @name, @title: "p99_9" and "p99.9"
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
 * figures_parse() - read the argument of --stats: mean, min, max and pN, with commas; they are added
 *
 * Return: NULL, or why it is none, in words that follow it.
 */
const char *figures_parse(struct figures *f, const char *text);

typedef void (*figure_getter)(const void *row, const struct column *c, struct value *v);

/** figures_columns() - @column is filled with one for each figure; @get: by enum figure_kind; Return: how many */
unsigned int figures_columns(struct column *column, const struct figures *f,
			     const figure_getter get[FIGURE_PERCENTILE + 1]);

/** figures_usual() - where none were asked for */
void figures_usual(struct figures *f);

/* What a table of groups is for. */
enum groups_for {
	GROUPS_FOR_LIVE_TEXT,
	GROUPS_FOR_LIVE,
	GROUPS_FOR_REPORT_TEXT,
	GROUPS_FOR_REPORT,
};

/* The kind of row, the interval, the keys, ten of every group, the figures. */
#define GROUP_COLUMNS_MAX (2 + GROUP_KEYS_NR + 10 + FIGURES_MAX)

/**
 * struct group_table - @columns, of struct queue_row with a @group
 * @figures: what @column points to
 * @first_key: where keys begin
 * @dispensable: what a line can do without, in this order, @nr_dispensable of them
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
 * struct group_choice - what somebody wants to see: groups, and figures of them; without @figures the usual ones, and
 * where @scale is on also histograms
 * @tally: of a live view: what its commands' records have told, where its histograms do not tell the groups; else NULL
 */
struct group_choice {
	struct grouping grouping;
	struct figures figures;
	struct scale scale;
	const struct tally *tally;
};

/**
 * group_table_make() - @t is filled
 * @summary: of live views, of the whole run
 * @none_failed: of recordings: no command did, which need not be said
 */
void group_table_make(struct group_table *t, const struct group_choice *c, enum groups_for what,
		      bool summary, bool none_failed);

/** columns_groups_row() - fill @q with a row of recorded groups, whose histogram @h is filled as well */
void columns_groups_row(struct queue_row *q, struct hist *h, const struct group_row *r);

#endif /* NTPROF_VIEW_COLUMNS_GROUPS_H */
