/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The series of rows. Rows with the same labels are a group, which has a series for each operation.
 * The number of series is bounded; a row without a series of its own is counted in that of the
 * others. A series adds up what was collected since it began, so it never falls when rows go.
 */
#ifndef NTPROF_SERVE_SERIES_H
#define NTPROF_SERVE_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/stats.h"
#include "core/turnover.h"
#include "serve/exposition.h"

/* The default number of series, and the most. A scraper keeps 30 samples of each histogram. */
#define SERIES_DEFAULT 256
#define SERIES_MAX 10000

/* Most statuses of a series that are counted separately; later ones are counted as ERRORS_OTHER. */
#define SERIES_STATUSES_MAX 32

/*
 * The most bytes of a page that the series of rows take, and those of all stages. SERIES_MAX of
 * them have room for labels of 175 bytes, such as those of a target with two NQNs of 68. Names are
 * chosen by others: they may be 223 bytes, each of which is shown as three.
 */
#define SERIES_BYTES_MAX (112u << 20)

/*
 * Values of labels for the group of rows without series of their own, and for the group of series
 * that gave way.
 */
#define SERIES_OTHER "other"
#define SERIES_GONE "gone"

/**
 * series_own_name() - the label of a subsystem or a host
 *
 * It may be called as a group that takes the rows of several others is. Rules and dashboards leave
 * those out, so it is called "(other)" or "(gone)" then.
 */
const char *series_own_name(const char *nqn);

struct series_table;

/** struct series_status - number of commands that ended with a status */
struct series_status {
	uint16_t status;
	uint64_t n;
};

/**
 * struct series - what was counted
 * @created_ms: when it began, milliseconds since 1970
 * @used: something was counted
 * @line_bytes: bytes of a line of the page at most
 * @told: a scraper has seen @errors. Before that @errors is 0 and errors wait in @held, because
 *        Prometheus computes no rate from a counter that begins with its first error.
 * @now: values of the last collection
 */
struct series {
	uint64_t created_ms;
	uint32_t line_bytes;
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
 * struct series_group - rows with the same labels
 * @labels: from exposition_label(), without the operation
 * @id: unique in the table, and not used again; 0: that of the others or of the gone
 * @seen: operations of which something was counted, as bits
 * @lived: number of the last collection that had such a row
 * @of: [operation] its series; NULL: none of its own
 */
struct series_group {
	char *labels;
	uint32_t id;
	uint32_t seen;
	uint64_t lived;
	struct series *of[NT_OPS_NR];
};

/**
 * series_new() - an empty table
 * @max: most series of all groups together
 * @bytes: most bytes of a page that these take
 * @others, @gone: labels of the group for rows without series of their own, and of the group for
 *                 series that gave way
 * @now_ms: milliseconds since 1970
 *
 * Return: NULL if memory ran out.
 */
struct series_table *series_new(unsigned int max, uint64_t bytes, const char *others,
				const char *gone, uint64_t now_ms);

/**
 * series_begin() - call before a collection: clears the values of the last one, and frees groups
 * without rows and series
 */
void series_begin(struct series_table *t, uint64_t now_ms);

/** series_others() - the group for rows without series of their own */
struct series_group *series_others(struct series_table *t);

/**
 * series_group() - find the group with these labels, or make it; it has a row in this collection
 * @ops: operations that get a series at once if there is room, as bits
 * @at: set for series_group_at()
 *
 * A row may have the labels of the others or of the gone, as a target takes any NQN. It is counted
 * there, and @id of that group is 0.
 *
 * Return: NULL if memory ran out.
 */
struct series_group *series_group(struct series_table *t, const char *labels, uint32_t ops,
				  uint32_t *at);

/** series_group_at() - find a group by @at and @id, without its labels; NULL if it was freed */
struct series_group *series_group_at(struct series_table *t, uint32_t at, uint32_t id);

/**
 * series_count() - the series in which an operation of a group is counted
 *
 * If there is no room, a series of less worth gives way, and what it counted is added to the group
 * of those that are gone. A series is used if something was counted in it. From the least worth:
 * - of groups without rows, all but used reads and writes; then these
 * - unused series of operations other than reads and writes
 * - admin and fabrics commands; then other operations
 * - unused reads and writes; then used ones
 * The result is the series of the others if none is worth less, or if as many have given way as may
 * in an hour (struct turnover). For used reads and writes that is a limit of its own.
 *
 * Return: never NULL, as the series of the others are always there; also if memory ran out.
 */
struct series *series_count(struct series_table *t, struct series_group *g, enum nt_op op);

/**
 * series_error() - count errors in a series, with ERRORS_OTHER if there is no room for their status
 *
 * Return: 0 or -ENOMEM.
 */
int series_error(struct series_table *t, struct series *s, uint16_t status, uint64_t n);

/** series_folded() - number of operations without a series of their own, in groups with rows */
size_t series_folded(const struct series_table *t);

/**
 * series_next() - iterate over the groups; those of the others and of the gone are last
 * @at: 0 at first
 *
 * Return: NULL after the last one.
 */
const struct series_group *series_next(const struct series_table *t, size_t *at);

/** series_free() - release; NULL is fine */
void series_free(struct series_table *t);

#endif /* NTPROF_SERVE_SERIES_H */
