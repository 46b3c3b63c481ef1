/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the user says that network and drives can carry, and how near the traffic comes to that. The
 * network has two directions, so its limit applies to all reads together and to all writes
 * together. A drive's limit applies to each controller.
 */
#ifndef NTPROF_VIEW_LIMITS_H
#define NTPROF_VIEW_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/group.h"
#include "core/stats.h"
#include "merge/groups.h"
#include "view/columns.h"
#include "view/json.h"

/* A group is near its limit from this share on. */
#define LIMIT_NEAR 0.9

/**
 * struct limit_row - a group and its limit
 * @limit: "network" or "drive"
 * @group: "reads", "writes", or the controller
 * @throughput: bytes a second, of the last interval or of the whole run
 * @most: the limit, bytes a second
 * @share: @throughput as a share of @most
 * @near: the share is LIMIT_NEAR or more
 * @times: number of intervals in which it was near
 * @intervals: number of intervals
 */
struct limit_row {
	const char *limit;
	char group[GROUP_CTRL_LEN];
	double throughput;
	double most;
	double share;
	uint8_t near;
	uint64_t times;
	uint64_t intervals;
};

/**
 * struct limits - all zeroes: there are no limits
 * @network, @drive: limits, bytes a second; 0: none
 * @row: groups, @nr of them; the first two are the network's, if that has a limit
 * @intervals: number of intervals that have ended
 */
struct limits {
	double network;
	double drive;
	struct limit_row *row;
	size_t nr;
	uint64_t intervals;
};

enum limit_column {
	LIMIT_LIMIT,
	LIMIT_GROUP,
	LIMIT_THROUGHPUT,
	LIMIT_MOST,
	LIMIT_SHARE,
	LIMIT_IS_NEAR,
	LIMIT_TIMES,
	LIMIT_INTERVALS,
};

/* Columns of struct limit_row. */
extern const struct columns limit_columns;

static inline bool limits_any(const struct limits *l)
{
	return l->network > 0 || l->drive > 0;
}

/** limits_interval() - add an interval that has ended. Return: 0 or -ENOMEM */
int limits_interval(struct limits *l, const struct stats *s);

/**
 * limits_summary() - fill the rows for the whole run, without another interval. Return: 0 or
 * -ENOMEM
 */
int limits_summary(struct limits *l, const struct stats *s);

/**
 * limits_groups() - fill all rows from a recording, in groups by controller, operation and interval
 *
 * An interval that the recording has only a part of counts as a whole one.
 *
 * Return: 0 or -ENOMEM.
 */
int limits_groups(struct limits *l, const struct groups *g);

/** limits_print_interval() - print a line for each group that is near its limit, for people */
void limits_print_interval(const struct limits *l, FILE *f);

/**
 * limits_print_summary() - print a line for each group, for scripts
 * - limit LIMIT GROUP THROUGHPUT MOST NEAR-TIMES INTERVALS
 *
 * Words follow on the lines of groups that were near their limits.
 */
void limits_print_summary(const struct limits *l, FILE *f);

/** limits_json() - an array with a row for each group */
struct json_object *limits_json(const struct limits *l);

/** limits_free() - release the rows */
void limits_free(struct limits *l);

#endif /* NTPROF_VIEW_LIMITS_H */
