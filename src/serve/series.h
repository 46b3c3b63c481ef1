/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The series of rows. Rows of the same labels are a group, which has a series for each operation. The number of series is
 * bounded: what has none of its own is counted in that of the others. A series is a sum of what was collected since it
 * began, so it never falls, whatever becomes of its rows.
 */
#ifndef NTPROF_SERVE_SERIES_H
#define NTPROF_SERVE_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/errors.h"
#include "core/stats.h"
#include "serve/exposition.h"

/* Series where nothing else is asked for, and the most: of a histogram a scraper keeps 30 samples. */
#define SERIES_DEFAULT 256
#define SERIES_MAX 10000

/* Statuses of a series that are apart; those that come later are counted as ERRORS_OTHER. */
#define SERIES_STATUSES_MAX 32

/* In place of what labels tell: several that have no series of their own; and those whose series gave way. */
#define SERIES_OTHER "other"
#define SERIES_GONE "gone"

struct series_table;

/** struct series_status - how many commands ended with a status */
struct series_status {
	uint16_t status;
	uint64_t n;
};

/**
 * struct series - what was counted
 * @created_ms: since when: milliseconds since 1970
 * @used: anything was
 * @told: a scraper has seen @errors; before that it is 0, and errors wait in @held: a counter that begins with its first
 *        error has no rate
 * @now: as of the last collection
 */
struct series {
	uint64_t created_ms;
	bool used;
	bool told;
	struct exposition_hist hist;
	struct workload all;
	uint64_t errors;
	uint64_t held;
	struct series_status *status;
	unsigned int nr_status;
	struct {
		struct waiting waiting;
		struct exposition_exemplar slow;
	} now;
};

/**
 * struct series_group - rows of the same labels
 * @labels: of exposition_label(), all but the operation
 * @id: no other group of the table ever has it
 * @seen: bits of the operations that something was counted of
 * @lived: the last collection that had such a row
 * @of: by operation; NULL: it has no series of its own
 */
struct series_group {
	char *labels;
	uint32_t id;
	uint32_t seen;
	uint64_t lived;
	struct series *of[NT_OPS_NR];
};

/**
 * series_new() - none yet
 * @max: how many series groups have together
 * @others, @gone: labels of the group of what has no series of its own, and of that whose series gave way
 * @now_ms: milliseconds since 1970
 *
 * Return: NULL when memory ran out.
 */
struct series_table *series_new(unsigned int max, const char *others, const char *gone,
				uint64_t now_ms);

/** series_begin() - before a collection: what is as of the last one is zeroed, and groups without rows or series are freed */
void series_begin(struct series_table *t, uint64_t now_ms);

/** series_others() - the group of what has no labels of its own */
struct series_group *series_others(struct series_table *t);

/**
 * series_group() - the group of labels, made when it is new; it has a row in this collection
 * @ops: bits of the operations that it is to have a series of from the beginning, while there is room
 * @at: set for series_group_at()
 *
 * Return: NULL when memory ran out.
 */
struct series_group *series_group(struct series_table *t, const char *labels, uint32_t ops,
				  uint32_t *at);

/** series_group_at() - the same group again by its @at and @id, without its labels; NULL if it is not there any more */
struct series_group *series_group_at(struct series_table *t, uint32_t at, uint32_t id);

/**
 * series_count() - the series in which an operation of a group is counted
 *
 * Where there are too many, one that is worth less gives way: first groups without rows, then operations that nothing was
 * counted of, then admin and fabrics commands, then all but reads and writes. What it counted goes to the group of those that
 * are gone. If all are worth as much, it is that of the others.
 *
 * Return: NULL when memory ran out.
 */
struct series *series_count(struct series_table *t, struct series_group *g, enum nt_op op);

/** series_error() - count errors in a series; Return: 0 or -ENOMEM */
int series_error(struct series *s, uint16_t status, uint64_t n);

/** series_folded() - operations of groups with rows that have no series of their own */
size_t series_folded(const struct series_table *t);

/**
 * series_next() - one group after the other; the others and those that are gone are last
 * @at: 0 at first
 *
 * Return: NULL after the last one.
 */
const struct series_group *series_next(const struct series_table *t, size_t *at);

/** series_free() - release; NULL is fine */
void series_free(struct series_table *t);

#endif /* NTPROF_SERVE_SERIES_H */
