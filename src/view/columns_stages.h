/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns of the stages: where the time of an operation's commands goes, of one side or of both. */
#ifndef NTPROF_VIEW_COLUMNS_STAGES_H
#define NTPROF_VIEW_COLUMNS_STAGES_H

#include "core/segments.h"
#include "core/points.h"
#include "merge/totals.h"
#include "view/columns_groups.h"
#include "view/columns_hist.h"

/**
 * struct stage_row - a stage of an operation
 * @base: what it took; @base.h->count is 0 where no command could be split
 * @stage: its name, or the names of those that are one
 * @unknown: a point that bounds it is missing, and nothing comes before
 * @sum: nanoseconds of all of them, which drift of clocks can make negative
 * @whole: nanoseconds that all stages of the operation took
 */
struct stage_row {
	struct hist_row base;
	const char *stage;
	bool unknown;
	int64_t sum;
	double whole;
};

enum stage_column {
	STAGE_OP,
	STAGE_STAGE,
	STAGE_COMMANDS,
	STAGE_MEAN,
	STAGE_P50,
	STAGE_P99,
	STAGE_MAX,
	STAGE_SHARE,
	STAGE_SUM,
};

/* Of struct stage_row. */
extern const struct columns stage_columns;

/* Operation, stage and share, and the figures between them; the usual ones are mean, p50, p99 and max. */
#define STAGE_TABLE_MAX (3 + FIGURES_MAX)

/** struct stage_table - @columns, of struct stage_row; @figures: what @column points to */
struct stage_table {
	struct columns columns;
	struct column column[STAGE_TABLE_MAX];
	struct figures figures;
};

/** stage_table_make() - @t is filled; @figures: NULL or none: the usual ones */
void stage_table_make(struct stage_table *t, const struct figures *figures);

enum population_column {
	POPULATION_SPLIT,
	POPULATION_COMMANDS,
};

/* Of struct stage_rows of one side, a single row. */
extern const struct columns population_columns;

_Static_assert(TOTALS_STAGES_MAX >= NT_STAGES_MAX, "room for either's stages");
/* Of merged commands also those that are unsplit. */
#define STAGE_ROWS_MAX (NT_OPS_NR * (TOTALS_STAGES_MAX + 1))
/**
 * struct stage_rows - the stages of every operation that had commands, one operation after the other
 * @nr: how many @row there are
 * @joined: the names of a side's stages that are one
 * @commands: of a side, all of these operations; @split: those of them that are in the stages
 */
struct stage_rows {
	unsigned int nr;
	uint64_t commands;
	uint64_t split;
	struct stage_row row[STAGE_ROWS_MAX];
	char joined[NT_STAGES_MAX][STAGE_NAME_LEN];
};

/** columns_stages_of_side() - @rows are filled, of the whole run or else of the last interval */
void columns_stages_of_side(struct stage_rows *rows, const struct stats *s, bool summary);

/**
 * columns_stages_merged() - the stages of merged commands; @rows are filled
 *
 * Commands of which not all stages can be told have a row of their own, "unsplit", so that the rows of an
 * operation are of all its merged commands and add up to their latency.
 */
void columns_stages_merged(struct stage_rows *rows, const struct totals *m);

#endif /* NTPROF_VIEW_COLUMNS_STAGES_H */
