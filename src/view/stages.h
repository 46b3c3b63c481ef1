/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of stages, of one side or of both: where the time of the commands of each operation
 * goes.
 */
#ifndef NTPROF_VIEW_STAGES_H
#define NTPROF_VIEW_STAGES_H

#include <stdio.h>

#include "core/recent.h"
#include "core/segments.h"
#include "core/stats.h"
#include "merge/totals.h"
#include "shared/points.h"
#include "view/columns.h"
#include "view/columns_groups.h"
#include "view/json.h"

/* Bits of the form of a table. */
enum {
	STAGES_ANY_OP = 1, /* room for the name of any operation, so that tables are alike */
	STAGES_WHERE = 2,  /* with the column "where" */
};

/* Whose stages are shown for some rows. */
enum stages_scope {
	STAGES_OF_ROWS,
	STAGES_OF_CONTROLLERS, /* of all queues and operations of their controllers that have them
				*/
	STAGES_OF_ALL,	       /* of all commands: those of the rows alone are not known */
	STAGES_OF_NONE,	       /* no command of the rows has ended */
};

#define STAGES_NONE_ENDED "no command of these rows has ended in this block\n"

/**
 * struct stages_sum - stages of some rows, of an interval or of the run
 * @commands: those of the rows, by operation; 0: the operation is not shown
 * @stage: [operation][stage of the side]; not filled for STAGES_OF_ALL and STAGES_OF_NONE
 */
struct stages_sum {
	enum stages_scope scope;
	uint64_t commands[NT_OPS_NR];
	struct hist stage[NT_OPS_NR][NT_STAGES_MAX];
};

/**
 * stages_print_side() - print for each operation and stage of one side its figures, its share and a
 * bar
 * @s: the statistics
 * @summary: of the whole run; otherwise of the last interval
 * @form: STAGES_*
 * @figures: NULL or empty: mean, p50, p99 and max
 * @f: output
 * @width: columns of the terminal; bars take the remaining columns, within bounds
 * @unicode: draw bars with Unicode blocks
 *
 * Prints nothing if there was no command.
 */
void stages_print_side(const struct stats *s, bool summary, unsigned int form,
		       const struct figures *figures, FILE *f, unsigned int width, bool unicode);

/** stages_print_merged() - print the same for the ten stages of merged commands */
void stages_print_merged(const struct totals *m, unsigned int form, const struct figures *figures,
			 FILE *f, unsigned int width, bool unicode);

/**
 * stages_print_op() - print the stages of one operation in an interval; if @op is NT_OPS_NR, of all
 * operations
 * @m: merged commands; NULL: the side's own stages
 * @sum: of some rows; NULL, or STAGES_OF_ALL: of all
 */
void stages_print_op(const struct stats *s, const struct totals *m, const struct stages_sum *sum,
		     enum nt_op op, const struct figures *figures, FILE *f, unsigned int width,
		     bool unicode);

/**
 * struct stage_memory - the last ten seconds of the stages on a screen; all zeroes: none
 * @stage: @nr stages of operations
 * @ns: length of the next interval to be added; 0: it has been added, and is shown again
 */
struct stage_memory {
	struct remembered_stage {
		unsigned int op;
		char name[STAGE_NAME_LEN];
		struct recent *recent;
		bool added;
	} * stage;
	size_t nr;
	uint64_t ns;
};

/** stage_memory_free() - release */
void stage_memory_free(struct stage_memory *m);

/**
 * stages_show_side() - print the stages of an interval for a screen: a line a stage, the figures of
 * each operation beside each other
 * @sum: of some rows, and the heading says of which; NULL: of all
 * @most: so many stages; if there are more, those with the largest shares
 * @figures: NULL or empty: mean and p99
 * @memory: where percentiles come from if the interval has too few commands, or NULL
 * @width: of the screen; places, figures and operations that find no room are left out
 *
 * Prints nothing if there was no command.
 *
 * Return: 0 or -ENOMEM.
 */
int stages_show_side(const struct stats *s, const struct stages_sum *sum, unsigned int most,
		     const struct figures *figures, struct stage_memory *memory, FILE *f,
		     unsigned int width, bool unicode);

/**
 * stages_show_merged() - the same for the ten stages of merged commands
 * @scope: of which rows they are; NULL: of all commands, which is not said
 */
int stages_show_merged(const struct totals *m, const enum stages_scope *scope, unsigned int most,
		       const struct figures *figures, struct stage_memory *memory, FILE *f,
		       unsigned int width, bool unicode);

/*
 * The columns of the stages: where the time of an operation's commands goes, for one side or for
 * both.
 */

/* Where a stage spends its time; a stage that is joined of several may have several bits. */
enum {
	STAGE_AT_HOST = 1,
	STAGE_AT_NETWORK = 2,
	STAGE_AT_TARGET = 4,
	STAGE_AT_DEVICE = 8, /* or a target, behind another transport than TCP */
};

/**
 * stages_where() - where a stage spends its time
 * @of: whose stage, see struct blocks
 * @into: how its stages are joined
 *
 * Return: STAGE_AT_*.
 */
unsigned int stages_where(enum nt_side of, const uint8_t *into, unsigned int stage);

/** stages_where_name() - in words; "" if that cannot be told */
const char *stages_where_name(unsigned int where);

/**
 * struct stage_row - a stage of an operation
 * @base: durations of the stage; @base.h->count is 0 if no command could be split
 * @stage: its name, or the names of the joined stages
 * @where: STAGE_AT_*; 0 if that cannot be told
 * @stages: bits of the stages of the ten that it is; 0 of one side
 * @recent: the durations of the last ten seconds, if the interval has too few for a p99; or NULL
 * @unknown: the stage is not known, see STAGE_UNKNOWN
 * @sum: sum of the durations in nanoseconds; clock drift can make it negative
 * @whole: nanoseconds of all stages of the operation together
 */
struct stage_row {
	struct hist_row base;
	const char *stage;
	unsigned int where;
	uint32_t stages;
	const struct recent *recent;
	bool unknown;
	__int128 sum;
	double whole;
};

enum stage_column {
	STAGE_OP,
	STAGE_STAGE,
	STAGE_WHERE, /* no value for commands that cannot be split */
	STAGE_COMMANDS,
	STAGE_MEAN,
	STAGE_P50,
	STAGE_P99,
	STAGE_MAX,
	STAGE_SHARE,
	STAGE_SUM,
};

/* Rows are struct stage_row. */
extern const struct columns stage_columns;

/*
 * Operation, stage, where it is, and share, and the figures before the share. The default figures
 * are mean, p50, p99 and max.
 */
#define STAGE_TABLE_MAX (4 + FIGURES_MAX)

/**
 * struct stage_table - @columns, with rows of struct stage_row; @figures: strings to which @column
 * points
 */
struct stage_table {
	struct columns columns;
	struct column column[STAGE_TABLE_MAX];
	struct figures figures;
};

/** stage_table_make() - fill @t; @figures: NULL or empty: the default figures */
void stage_table_make(struct stage_table *t, const struct figures *figures);

enum population_column {
	POPULATION_SPLIT,
	POPULATION_COMMANDS,
};

/* For struct stage_rows of one side, as a single row. */
extern const struct columns population_columns;

_Static_assert(TOTALS_STAGES_MAX >= NT_STAGES_MAX, "room for either's stages");
/* Merged commands also have a row for unsplit commands. */
#define STAGE_ROWS_MAX (NT_OPS_NR * (TOTALS_STAGES_MAX + 1))
/**
 * struct stage_rows - the stages of every operation that had commands, one operation after the
 * other
 * @nr: number of rows in @row
 * @joined: the names of a side's joined stages
 * @commands: for one side: commands of all these operations
 * @split: for one side: how many of them are in the stages
 */
struct stage_rows {
	unsigned int nr;
	uint64_t commands;
	uint64_t split;
	struct stage_row row[STAGE_ROWS_MAX];
	char joined[NT_STAGES_MAX][STAGE_NAME_LEN];
};

/**
 * columns_stages_of_side() - fill @rows with the figures of the whole run or else of the last
 * interval
 */
void columns_stages_of_side(struct stage_rows *rows, const struct stats *s, bool summary);

/** columns_stages_of_controller() - the same, of one controller and operation */
void columns_stages_of_controller(struct stage_rows *rows, const struct stats *s,
				  const struct stats_stages *of, bool summary);

/**
 * columns_stages_merged() - fill @rows with the stages of merged commands
 *
 * Commands that cannot be split into all stages have a row of their own, "unsplit". So the rows of
 * an operation cover all its merged commands and add up to their latency.
 */
void columns_stages_merged(struct stage_rows *rows, const struct totals *m);

/*
 * The stages in which commands in flight are.
 */

/**
 * struct waiting_row - commands of an operation that are in a stage now
 * @stage: its name, or the names of the joined stages
 * @where: STAGE_AT_*
 */
struct waiting_row {
	enum nt_op op;
	const char *stage;
	unsigned int where;
	struct waiting_stage in;
};

enum waiting_column {
	WAITING_OP,
	WAITING_STAGE,
	WAITING_WHERE,
	WAITING_COMMANDS,
	WAITING_OLDEST,
};

/* Rows are struct waiting_row. */
extern const struct columns waiting_columns;

/** struct waiting_rows - @nr rows, those with the oldest commands first; @joined: names */
struct waiting_rows {
	unsigned int nr;
	struct waiting_row row[NT_OPS_NR * NT_STAGES_MAX];
	char joined[NT_STAGES_MAX][STAGE_NAME_LEN];
};

/** columns_waiting() - fill @rows with what was in flight when the interval ended */
void columns_waiting(struct waiting_rows *rows, const struct stats *s);

/** stages_print_waiting() - print them as a table; nothing if no command is in a stage */
void stages_print_waiting(const struct stats *s, FILE *f);

/** stages_waiting_json() - an array with a row for each */
struct json_object *stages_waiting_json(const struct stats *s);

#endif /* NTPROF_VIEW_STAGES_H */
