/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contents of the rows of a table, described once for all outputs: the name of each column, its
 * heading, its unit, and how to get its value from a row. How a value is printed is not here.
 */
#ifndef NTPROF_VIEW_COLUMNS_H
#define NTPROF_VIEW_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/hash.h"
#include "core/hist.h"
#include "core/stats.h"

/* X(identifier, name): units of values. */
#define UNITS(X)                                                                       \
	X(NAME, "name")	    /* a word that the program has chosen */                   \
	X(TEXT, "text")	    /* comes from outside the program: may contain any byte */ \
	X(FLAG, "flag")	    /* 1, or no value */                                       \
	X(NUMBER, "number") /* identifies something: a queue, a controller */          \
	X(CODE, "code")	    /* the same, from a specification that writes it in hex */ \
	X(COUNT, "count")                                                              \
	X(BYTES, "bytes")                                                              \
	X(NANOSECONDS, "nanoseconds")                                                  \
	X(SECONDS, "seconds")                                                          \
	X(INSTANT, "instant") /* nanoseconds of CLOCK_MONOTONIC of the recorder */     \
	X(SHARE, "share")     /* 1 is the whole */                                     \
	X(PER_SECOND, "per_second")                                                    \
	X(BYTES_PER_SECOND, "bytes_per_second")                                        \
	X(PPM, "ppm")

#define UNIT_ENUM(id, name) UNIT_##id,
enum unit { UNITS(UNIT_ENUM) UNITS_NR };

/* Room for a text that is composed of other texts, and its terminating 0. */
#define VALUE_TEXT_LEN 64

enum value_type { VALUE_TEXT, VALUE_NATURAL, VALUE_INTEGER, VALUE_REAL };

/**
 * struct value - value of one column of one row
 * @type: which of the members holds it
 * @none: there is no value; a number is 0 then
 * @text: valid as long as the row, and this value
 * @buf: room where a getter can keep @text
 */
struct value {
	enum value_type type;
	bool none;
	union {
		const char *text;
		uint64_t natural;
		int64_t integer;
		double real;
	};
	char buf[VALUE_TEXT_LEN];
};

/**
 * struct column - what each row of a table shows in one place
 * @name: for programs: lower case and underscores, unique in its table
 * @title: heading
 * @brief: heading for narrow tables; NULL: @title
 * @unit: unit of the value. If there is no number, the value may still be a text ("all" queues)
 * @get: sets the value, from a row of the table's type
 * @arg: for @get: which field, stage or percentile
 * @digits: least number of digits of a code
 */
struct column {
	const char *name;
	const char *title;
	const char *brief;
	enum unit unit;
	void (*get)(const void *row, const struct column *c, struct value *v);
	unsigned int arg;
	unsigned int digits;
};

/** struct columns - a table: its name, and its columns in the order in which they are shown */
struct columns {
	const char *name;
	const struct column *column;
	unsigned int nr;
};

/** COLUMNS() - initialize a struct columns with an array */
#define COLUMNS(name, array)                   \
	{                                      \
		name, array, ARRAY_SIZE(array) \
	}

/**
 * COLUMN_FIELD() - initialize @get and @arg of a column with a value that is a field of the row
 *
 * COLUMN_TEXT_FIELD() does this for an array of characters that holds the text itself.
 */
#define COLUMN_FIELD(type, field)                                  \
	.get = _Generic(((const type *)NULL)->field, unsigned char \
			: columns_field_u8, unsigned short         \
			: columns_field_u16, unsigned int          \
			: columns_field_u32, unsigned long         \
			: columns_field_u64, unsigned long long    \
			: columns_field_u64, long                  \
			: columns_field_s64, double                \
			: columns_field_real),                     \
	.arg = offsetof(type, field)
#define COLUMN_TEXT_FIELD(type, field) .get = columns_field_text, .arg = offsetof(type, field)

void columns_field_u8(const void *row, const struct column *c, struct value *v);
void columns_field_u16(const void *row, const struct column *c, struct value *v);
void columns_field_u32(const void *row, const struct column *c, struct value *v);
void columns_field_u64(const void *row, const struct column *c, struct value *v);
void columns_field_s64(const void *row, const struct column *c, struct value *v);
void columns_field_real(const void *row, const struct column *c, struct value *v);
void columns_field_text(const void *row, const struct column *c, struct value *v);

/** columns_get() - get the value of column @i from @row, which has the type of the table's rows */
static inline void columns_get(const struct columns *t, unsigned int i, const void *row,
			       struct value *v)
{
	v->none = false;
	t->column[i].get(row, &t->column[i], v);
}

/** unit_name() - name of a unit; static string */
const char *unit_name(enum unit unit);

/** value_number() - a numeric value as a double, rounded if needed; 0 for a text */
double value_number(const struct value *v);

static inline void value_text(struct value *v, const char *text)
{
	v->type = VALUE_TEXT;
	v->text = text;
}

static inline void value_natural(struct value *v, uint64_t natural)
{
	v->type = VALUE_NATURAL;
	v->natural = natural;
}

static inline void value_integer(struct value *v, int64_t integer)
{
	v->type = VALUE_INTEGER;
	v->integer = integer;
}

/* Sums may have more than 64 bits; the most that can be shown is what 64 bits have. */
static inline void value_natural_sum(struct value *v, unsigned __int128 sum)
{
	value_natural(v, sum < UINT64_MAX ? (uint64_t)sum : UINT64_MAX);
}

static inline void value_integer_sum(struct value *v, __int128 sum)
{
	value_integer(v, sum > INT64_MAX ? INT64_MAX : sum < INT64_MIN ? INT64_MIN : (int64_t)sum);
}

static inline void value_real(struct value *v, double real)
{
	v->type = VALUE_REAL;
	v->real = real;
}

/*
 * Columns of a latency histogram, which several tables have; and the table of operations, which are
 * sums over all queues.
 */

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

#endif /* NTPROF_VIEW_COLUMNS_H */
