/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Columns of a latency histogram, which several tables have; and the table of operations, which are
 * sums over all queues.
 */
#ifndef NTPROF_VIEW_COLUMNS_HIST_H
#define NTPROF_VIEW_COLUMNS_HIST_H

#include "core/hist.h"
#include "core/stats.h"
#include "view/columns.h"

/*
 * First member of rows that have these columns: durations of the commands of an operation, or of
 * all commands if @op is NT_OPS_NR. @others: commands of the same kind that are counted, but not in
 * the sample.
 */
struct hist_row {
	const struct hist *h;
	enum nt_op op;
	uint64_t others;
};

void columns_hist_op(const void *row, const struct column *c, struct value *v);
void columns_hist_all(const void *row, const struct column *c, struct value *v);
void columns_hist_count(const void *row, const struct column *c, struct value *v);
void columns_hist_mean(const void *row, const struct column *c, struct value *v);
void columns_hist_max(const void *row, const struct column *c, struct value *v);
void columns_hist_sum(const void *row, const struct column *c, struct value *v);

/**
 * columns_hist_percentile() - @arg of the column is in parts of HIST_PARTS; no value unless
 * hist_tells()
 */
void columns_hist_percentile(const void *row, const struct column *c, struct value *v);

#define COLUMN_OP                                                  \
	{                                                          \
		"op", "op", NULL, UNIT_NAME, columns_hist_op, 0, 0 \
	}
#define COLUMN_COMMANDS                                                            \
	{                                                                          \
		"commands", "commands", "cmds", UNIT_COUNT, columns_hist_all, 0, 0 \
	}
#define COLUMN_MEASURED                                                              \
	{                                                                            \
		"measured", "measured", "meas", UNIT_COUNT, columns_hist_count, 0, 0 \
	}
#define COLUMN_MEAN                                                             \
	{                                                                       \
		"mean", "mean", NULL, UNIT_NANOSECONDS, columns_hist_mean, 0, 0 \
	}
#define HIST_PARTS_OF_TENTH 1000000u

#define COLUMN_P50                                                             \
	{                                                                      \
		"p50", "p50", NULL, UNIT_NANOSECONDS, columns_hist_percentile, \
			500 * HIST_PARTS_OF_TENTH, 0                           \
	}
#define COLUMN_P90                                                             \
	{                                                                      \
		"p90", "p90", NULL, UNIT_NANOSECONDS, columns_hist_percentile, \
			900 * HIST_PARTS_OF_TENTH, 0                           \
	}
#define COLUMN_P99                                                             \
	{                                                                      \
		"p99", "p99", NULL, UNIT_NANOSECONDS, columns_hist_percentile, \
			990 * HIST_PARTS_OF_TENTH, 0                           \
	}
#define COLUMN_P99_9                                                               \
	{                                                                          \
		"p99_9", "p99.9", NULL, UNIT_NANOSECONDS, columns_hist_percentile, \
			999 * HIST_PARTS_OF_TENTH, 0                               \
	}
#define COLUMN_MAX                                                           \
	{                                                                    \
		"max", "max", NULL, UNIT_NANOSECONDS, columns_hist_max, 0, 0 \
	}
#define COLUMN_SUM                                                           \
	{                                                                    \
		"sum", "sum", NULL, UNIT_NANOSECONDS, columns_hist_sum, 0, 0 \
	}

enum operation_column {
	OPERATION_OP,
	OPERATION_COMMANDS,
	OPERATION_MEASURED, /* the number of these commands that have a duration here */
	OPERATION_MEAN,
	OPERATION_P50,
	OPERATION_P90,
	OPERATION_P99,
	OPERATION_P99_9,
	OPERATION_MAX,
	OPERATION_SUM,
};

/* Rows are struct hist_row. */
extern const struct columns operation_columns;

/** columns_hist_of() - the histogram of the whole run, or else of the last interval */
static inline const struct hist *columns_hist_of(const struct stats_row *row, bool summary)
{
	return summary ? &row->total : &row->interval;
}

/**
 * columns_hist_add_up() - add up all latencies of an operation over all queues
 * @h: filled
 *
 * Return: number of commands that are counted, but not in the sample.
 */
uint64_t columns_hist_add_up(const struct stats *s, bool summary, enum nt_op op, struct hist *h);

#endif /* NTPROF_VIEW_COLUMNS_HIST_H */
