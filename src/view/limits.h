/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What network and drives can carry, as somebody says it, and how near to that the traffic comes: of reads and of all
 * that is written together for the network, whose directions are two; of each controller for its drive.
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

/* A group is near its limit from this share of it on. */
#define LIMIT_NEAR 0.9

/**
 * struct limit_row - a group, and its limit
 * @limit: "network" or "drive"
 * @group: "reads", "writes", or the controller
 * @throughput, @most: bytes a second, of the last interval or of the whole run
 * @share: of @most
 * @near: it is so near; @times: in how many of @intervals it was
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
 * struct limits - all zeroes: there are none
 * @network, @drive: bytes a second; 0: without
 * @row: groups, @nr of them; the first two are the network's, if that has a limit
 * @intervals: that are over
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

/* Of struct limit_row. */
extern const struct columns limit_columns;

static inline bool limits_any(const struct limits *l)
{
	return l->network > 0 || l->drive > 0;
}

/** limits_interval() - an interval is over. Return: 0 or -ENOMEM */
int limits_interval(struct limits *l, const struct stats *s);

/** limits_summary() - the run is: rows are of all of it, intervals stay as they were. Return: 0 or -ENOMEM */
int limits_summary(struct limits *l, const struct stats *s);

/**
 * limits_groups() - a recording, in groups by controller and operation and in intervals: all rows are filled
 *
 * An interval that the recording has only in part counts as a whole one.
 * Return: 0 or -ENOMEM.
 */
int limits_groups(struct limits *l, const struct groups *g);

/** limits_print_interval() - a line for each group that is near its limit, for people */
void limits_print_interval(const struct limits *l, FILE *f);

/**
 * limits_print_summary() - a line for each group, for scripts, with words behind those that were near their limits:
 *   limit LIMIT GROUP THROUGHPUT MOST NEAR-TIMES INTERVALS
 */
void limits_print_summary(const struct limits *l, FILE *f);

/** limits_json() - a row for each group */
struct json_object *limits_json(const struct limits *l);

/** limits_free() - release the rows */
void limits_free(struct limits *l);

#endif /* NTPROF_VIEW_LIMITS_H */
