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

#include "core/array.h"
#include "core/hist.h"
#include "core/stats.h"

/* Units of values. docs/output.schema.json has their names. */
enum unit {
	UNIT_NAME,   /* a word that the program has chosen */
	UNIT_TEXT,   /* comes from outside the program: may contain any byte */
	UNIT_FLAG,   /* 1, or no value */
	UNIT_NUMBER, /* identifies something: a queue, a controller */
	UNIT_CODE,   /* the same, from a specification that writes it in hex */
	UNIT_COUNT,
	UNIT_BYTES,
	UNIT_NANOSECONDS,
	UNIT_SECONDS,
	UNIT_INSTANT, /* nanoseconds of CLOCK_MONOTONIC of the recorder */
	UNIT_SHARE,   /* 1 is the whole */
	UNIT_PER_SECOND,
	UNIT_BYTES_PER_SECOND,
	UNIT_PPM,
	UNITS_NR
};

/* Room for a text that is composed of other texts, and its terminating 0. */
#define VALUE_TEXT_LEN 80

enum value_type { VALUE_TEXT, VALUE_NATURAL, VALUE_INTEGER, VALUE_REAL };

/**
 * struct value - value of one column of one row
 * @type: which of the members holds it
 * @none: there is no value; a number is 0 then
 * @zero: there is none to show to people, because it is a count of 0; to programs it is 0
 * @text: valid as long as the row, and this value
 * @buf: room where a getter can keep @text
 */
struct value {
	enum value_type type;
	bool none;
	bool zero;
	union {
		const char *text;
		uint64_t natural;
		int64_t integer;
		double real;
	};
	char buf[VALUE_TEXT_LEN];
};

/* Types of a member that a column shows as it is. */
enum member_type {
	MEMBER_NONE, /* the value is computed */
	MEMBER_U8,
	MEMBER_U16,
	MEMBER_U32,
	MEMBER_U64,
	MEMBER_U128, /* this and MEMBER_S128: the most that is shown is what 64 bits have */
	MEMBER_S32,
	MEMBER_S64,
	MEMBER_S128,
	MEMBER_BOOL,
	MEMBER_REAL,
	MEMBER_TEXT,	/* an array of characters */
	MEMBER_POINTER, /* to a text; no value if it is NULL */
};

/* X(identifier, text of the number n): what a number may be the name of. */
#define COLUMN_WORDS(X)                     \
	X(SIDE, side_name(n))               \
	X(OP, op_name(n))                   \
	X(SHAPE, shape_name(n))             \
	X(COUNTER, counter_name(n))         \
	X(COUNTER_MEANING, counter_help(n)) \
	X(DISK_USER, disk_user_name(n))     \
	X(PATH_KIND, path_kind_name(n))     \
	X(PATH_LOSS, path_loss_name(n))     \
	X(PATH_LOSS_MEANING, path_loss_meaning(n))

#define WORD_ENUM(id, word) WORD_##id,
enum column_words { WORD_NONE, COLUMN_WORDS(WORD_ENUM) };

/**
 * struct column - what each row of a table shows in one place
 * @name: for programs: lower case and underscores, unique in its table
 * @title: heading
 * @brief: heading for narrow tables; NULL: @title
 * @unit: unit of the value. If there is no number, the value may still be a text ("all" queues)
 * @get: computes the value, from a row of the table's type; NULL: it is a member of the row
 * @arg: for @get: which stage or percentile; for a member that is a flag: its bits, 0: any
 * @digits: least number of digits of a code
 *
 * The rest is of a member, see COLUMN_FIELD() and COLUMN_AT(). A whole number of UNIT_SECONDS
 * counts nanoseconds.
 *
 * @type: its type
 * @follow: it is not in the row, but in what the pointer at @pointer points to; no value if that is
 *          NULL
 * @offset: its offset there, in bytes
 * @words: what its number is the name of
 * @least: no value if the number is below; 1: no value if it is 0, or if the text is empty
 * @none: whether a row has no value; NULL: each row has one
 */
struct column {
	const char *name;
	const char *title;
	const char *brief;
	enum unit unit;
	void (*get)(const void *row, const struct column *c, struct value *v);
	unsigned int arg;
	unsigned int digits;
	enum member_type type;
	bool follow;
	size_t pointer;
	size_t offset;
	enum column_words words;
	unsigned int least;
	bool (*none)(const void *row);
};

/** COLUMN() - initialize a struct column whose heading is its name: unit, and members by name */
#define COLUMN(name_, unit_, ...)                                                \
	{                                                                        \
		.name = name_, .title = name_, .unit = UNIT_##unit_, __VA_ARGS__ \
	}

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

/* An array of characters, or a pointer to them. */
#define MEMBER_CHARACTERS(member)                                                       \
	__builtin_choose_expr(                                                          \
		__builtin_types_compatible_p(__typeof__(member), char[]) ||             \
			__builtin_types_compatible_p(__typeof__(member), const char[]), \
		MEMBER_TEXT, MEMBER_POINTER)

/* clang-format off */
/* A type that is not in this list does not compile. */
#define MEMBER_TYPE(member)                               \
	_Generic((member),                                \
		unsigned char: MEMBER_U8,                 \
		unsigned short: MEMBER_U16,               \
		unsigned int: MEMBER_U32,                 \
		unsigned long: MEMBER_U64,                \
		unsigned long long: MEMBER_U64,           \
		unsigned __int128: MEMBER_U128,           \
		int: MEMBER_S32,                          \
		long: MEMBER_S64,                         \
		__int128: MEMBER_S128,                    \
		_Bool: MEMBER_BOOL,                       \
		double: MEMBER_REAL,                      \
		char *: MEMBER_CHARACTERS(member),        \
		const char *: MEMBER_CHARACTERS(member))
/* clang-format on */

/** COLUMN_FIELD() - initialize a column with a value that is a member of the row */
#define COLUMN_FIELD(row, member) \
	.type = MEMBER_TYPE(((row *)NULL)->member), .offset = offsetof(row, member)

/** COLUMN_AT() - the same for a member of a struct to which a pointer in the row points */
#define COLUMN_AT(row, pointer_, member)                                             \
	.type = MEMBER_TYPE(((__typeof__(*((row *)NULL)->pointer_) *)NULL)->member), \
	.follow = true, .pointer = offsetof(row, pointer_),                          \
	.offset = offsetof(__typeof__(*((row *)NULL)->pointer_), member)

/** columns_copy() - get the value of a column that is a member of the row */
void columns_copy(const void *row, const struct column *c, struct value *v);

/** columns_get() - get the value of column @i from @row, which has the type of the table's rows */
static inline void columns_get(const struct columns *t, unsigned int i, const void *row,
			       struct value *v)
{
	v->none = v->zero = false;
	(t->column[i].get ?: columns_copy)(row, &t->column[i], v);
}

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

/** value_time() - a time of CLOCK_REALTIME in nanoseconds, as RFC 3339 has it; 0: none */
void value_time(struct value *v, int64_t realtime_ns);

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
void columns_hist_mean(const void *row, const struct column *c, struct value *v);
void columns_hist_max(const void *row, const struct column *c, struct value *v);
void columns_hist_min(const void *row, const struct column *c, struct value *v);

/**
 * columns_hist_percentile() - @arg of the column is in parts of HIST_PARTS; no value unless
 * hist_tells()
 */
void columns_hist_percentile(const void *row, const struct column *c, struct value *v);

#define COLUMN_OP COLUMN("op", NAME, .get = columns_hist_op)
#define COLUMN_COMMANDS COLUMN("commands", COUNT, .brief = "cmds", .get = columns_hist_all)
#define COLUMN_MEASURED \
	COLUMN("measured", COUNT, .brief = "meas", COLUMN_AT(struct hist_row, h, count))
#define COLUMN_MEAN COLUMN("mean", NANOSECONDS, .get = columns_hist_mean)
#define HIST_PARTS_OF_TENTH 1000000u
#define COLUMN_PERCENTILE(name_, title_, tenths)                                    \
	{                                                                           \
		.name = name_, .title = title_, .unit = UNIT_NANOSECONDS,           \
		.get = columns_hist_percentile, .arg = (tenths)*HIST_PARTS_OF_TENTH \
	}
#define COLUMN_P50 COLUMN_PERCENTILE("p50", "p50", 500)
#define COLUMN_P90 COLUMN_PERCENTILE("p90", "p90", 900)
#define COLUMN_P99 COLUMN_PERCENTILE("p99", "p99", 990)
#define COLUMN_P99_9 COLUMN_PERCENTILE("p99_9", "p99.9", 999)
#define COLUMN_MAX COLUMN("max", NANOSECONDS, .get = columns_hist_max)
#define COLUMN_SUM COLUMN("sum", NANOSECONDS, COLUMN_AT(struct hist_row, h, sum))

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
