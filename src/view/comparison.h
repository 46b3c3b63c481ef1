/* SPDX-License-Identifier: GPL-2.0-only */
/* Two recordings compared, as text and as JSON. */
#ifndef NTPROF_VIEW_COMPARISON_H
#define NTPROF_VIEW_COMPARISON_H

#include <stdbool.h>
#include <stdio.h>

#include "merge/compare.h"
#include "merge/places.h"
#include "merge/unmatched.h"
#include "stream/reader.h"
#include "view/columns.h"
#include "view/json.h"

/**
 * struct comparison - what is shown
 * @c: the comparison, solved
 * @of: [before, after] the files of each recording
 * @why: why they cannot be compared at all; NULL: they can be
 * @verbose: all stages, not only those that have shifted
 */
struct comparison {
	const struct compare *c;
	struct comparison_recording {
		struct input *inputs;
		unsigned int nr;
		const struct machines *machines;
	} of[COMPARE_WHENS];
	const char *why;
	bool verbose;
};

/* Exit statuses of a comparison, besides that of a wrong command line. */
enum { COMPARISON_NO_REGRESSION, COMPARISON_REGRESSION, COMPARISON_FAILED };

/** comparison_status() - the exit status */
int comparison_status(const struct comparison *v);

/**
 * comparison_print() - print it for people; @width: columns, or WRAP_NEVER. The first line is the
 * answer
 */
void comparison_print(const struct comparison *v, FILE *f, unsigned int width);

/** comparison_json() - an object of type "comparison" */
struct json_object *comparison_json(const struct comparison *v);

/* A recording's load. */

/** struct load_row - of the recording @when; @load: of it, @seconds long */
struct load_row {
	const char *when;
	double seconds;
	uint64_t commands;
	double load[COMPARE_LOADS_NR];
};

enum load_column {
	LOAD_WHEN,
	LOAD_SECONDS,
	LOAD_COMMANDS,
	LOAD_RATE,
	LOAD_BYTES,
	LOAD_DEPTH,
	LOAD_SIZE,
	LOAD_READS,
};

/* Rows are struct load_row. */
extern const struct columns load_columns;

/* An operation and size. */

#define KIND_SIZE_LEN 32

/** struct kind_row - @size: of its commands, in words; @why: why nothing is said of it */
struct kind_row {
	const struct compare_kind *k;
	enum nt_op op;
	char size[KIND_SIZE_LEN];
	const char *why;
};

enum kind_column {
	KIND_OP,
	KIND_SIZE,
	KIND_COMMANDS_BEFORE,
	KIND_COMMANDS_AFTER,
	KIND_COMPARED,
	KIND_STRETCH_BEFORE,
	KIND_STRETCH_AFTER,
	KIND_WHY,
};

/* Rows are struct kind_row. */
extern const struct columns kind_columns;

/* A figure of a latency or a stage. */

/**
 * struct shift_row - a figure before and after
 * @duration: "latency", or the name of a stage
 * @where: where the stage is; "" for latency
 * @machine: the machine in which it has shifted most; "" if that is not known
 * @finding: in words
 * @share: of the figure before: the shift, and the bounds of its interval
 * @greater: P(after > before)
 */
struct shift_row {
	enum nt_op op;
	char size[KIND_SIZE_LEN];
	char duration[STAGE_NAME_LEN];
	const char *where;
	const char *machine;
	const char *figure;
	const char *finding;
	const struct compare_shift *s;
	double shift;
	double share[3];
	double greater;
};

enum shift_column {
	SHIFT_OP,
	SHIFT_SIZE,
	SHIFT_DURATION,
	SHIFT_WHERE,
	SHIFT_MACHINE,
	SHIFT_FIGURE,
	SHIFT_FINDING,
	SHIFT_BEFORE,
	SHIFT_AFTER,
	SHIFT_SHIFT,
	SHIFT_LOW,
	SHIFT_HIGH,
	SHIFT_SHARE,
	SHIFT_SHARE_LOW,
	SHIFT_SHARE_HIGH,
	SHIFT_GREATER,
};

/* Rows are struct shift_row. */
extern const struct columns shift_columns;

/* For documents that are made of the same. */

#define COMPARISON_LINE_LEN 2048

/** comparison_when() - "before" or "after" */
const char *comparison_when(unsigned int when);

/** comparison_verdict() - the answer, in one line; Return: @line */
char *comparison_verdict(const struct comparison *v, char line[COMPARISON_LINE_LEN]);

/** comparison_notes() - call @line for each line that follows the answer */
void comparison_notes(const struct comparison *v, void (*line)(void *context, const char *text),
		      void *context);

/** comparison_duration() - the name of a latency or a stage; Return: @buf */
char *comparison_duration(char *buf, size_t size, const struct compare *c, unsigned int duration);

/** comparison_load(), comparison_kind() - fill a row */
void comparison_load(struct load_row *row, const struct compare *c, unsigned int when);
void comparison_kind(struct kind_row *row, const struct compare_kind *k);

/** comparison_shifts() - call @put for each row */
void comparison_shifts(const struct comparison *v,
		       void (*put)(void *context, const struct shift_row *row), void *context);

#endif /* NTPROF_VIEW_COMPARISON_H */
