/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns of the controllers' queues: latencies and rates of each queue and operation. */
#ifndef NTPROF_VIEW_COLUMNS_QUEUES_H
#define NTPROF_VIEW_COLUMNS_QUEUES_H

#include "core/group.h"
#include "merge/flights.h"
#include "view/columns_hist.h"

#define QUEUE_ROW_OWN SIZE_MAX

/**
 * struct queue_row - a controller, queue and operation
 * @base: its latencies; without any, @base.h->count is 0
 * @all: its commands, whether they were measured or not; estimates, where only a sample of them is known
 * @unknown: the sample is not one to estimate @all from
 * @s: whose rows, sorted by controller and peer
 * @row: the row
 * @index: where it is in these, or QUEUE_ROW_OWN: it is none of them
 * @per_second: what a count is multiplied by to make a rate
 * @group: where it is a group of --by, its name; NULL otherwise
 * @seen: of groups that are made of records, how many commands they saw in flight; NULL where that is not known
 * @min: the shortest, 0 where only the histogram tells
 * @failed: commands that are in nothing else
 * @from_ns: when its interval begins, where it @has_from
 */
struct queue_row {
	struct hist_row base;
	struct workload all;
	bool unknown;
	const struct stats *s;
	const struct stats_row *row;
	size_t index;
	double per_second;
	const struct group_name *group;
	const struct flights_seen *seen;
	uint64_t min;
	uint64_t failed;
	uint64_t from_ns;
	bool has_from;
};

enum queue_column {
	QUEUE_CONTROLLER, /* with "#2" where one of that name had another peer before */
	QUEUE_PEER,
	QUEUE_QUEUE, /* "all" where queues share a histogram */
	QUEUE_OP,
	QUEUE_COMMANDS, /* all, whatever is measured of them */
	QUEUE_MEASURED,
	QUEUE_IOPS, /* this and the next two: none where a sample does not tell */
	QUEUE_THROUGHPUT,
	QUEUE_IN_FLIGHT, /* on average */
	QUEUE_WAITING,	 /* in flight when the interval ended */
	QUEUE_LEFT,	 /* in flight when the run ended */
	QUEUE_OLDEST,	 /* for how long the oldest of these has been; none where there are none */
	QUEUE_AT_DEVICE, /* target: how many of these the device has not answered */
	QUEUE_MEAN,
	QUEUE_P50,
	QUEUE_P90,
	QUEUE_P99,
	QUEUE_P99_9,
	QUEUE_MAX,
	QUEUE_COLUMNS_NR
};

/* Of struct queue_row. */
extern const struct columns queue_columns;

/** columns_queues_row() - fill @r for row @index, of the whole run or else of the last interval */
void columns_queues_row(struct queue_row *r, const struct stats *s, size_t index, bool summary);

/** columns_queues_own() - the same of @row, which somebody has added up from several; its op may be NT_OPS_NR: all */
void columns_queues_own(struct queue_row *r, const struct stats *s, const struct stats_row *row,
			bool summary);

/** columns_queues_any() - whether a row has something to tell: commands that ended, or that wait */
bool columns_queues_any(const struct queue_row *r);

#endif /* NTPROF_VIEW_COLUMNS_QUEUES_H */
