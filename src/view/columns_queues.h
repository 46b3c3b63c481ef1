/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns of the controllers' queues: latencies and rates of each queue and operation. */
#ifndef NTPROF_VIEW_COLUMNS_QUEUES_H
#define NTPROF_VIEW_COLUMNS_QUEUES_H

#include "core/controllers.h"
#include "core/group.h"
#include "merge/groups.h"
#include "view/columns.h"

#define QUEUE_ROW_OWN SIZE_MAX

/**
 * struct queue_row - a controller, queue and operation
 * @base: its latencies; if there are none, @base.h->count is 0
 * @all: its commands, measured or not; estimates if only a sample is known
 * @summary: of the whole run
 * @unknown: @all cannot be estimated from the sample
 * @s: the statistics with the rows, which are sorted by controller and peer
 * @row: the row
 * @index: index of the row, or QUEUE_ROW_OWN: it is not among the rows of @s
 * @number: which of several controllers of that name it is of, from 1; 0: there is one only
 * @per_second: factor that turns a count into a rate
 * @group: its name if it is a group of --by; NULL otherwise
 * @seen: for groups that are made from records: how many commands were in flight when a command
 *        began; NULL if not known
 * @stages: of groups of recorded commands; NULL: not known
 * @latency: nanoseconds of all commands of @stages, and of those that could not be split
 * @min: the shortest latency, 0 if only the histogram knows it
 * @failed: failed commands; no other member counts them
 * @window_ns: how long the latencies were collected for: the interval, or the last ten seconds
 * @controller: what the machine knows of its controller, or NULL
 * @all_paths: see struct group_row
 * @from_ns: when its interval begins, if @has_from
 * @lows: of groups of recorded commands
 */
struct queue_row {
	struct hist_row base;
	struct workload all;
	bool summary;
	bool unknown;
	const struct stats *s;
	const struct stats_row *row;
	size_t index;
	unsigned int number;
	double per_second;
	const struct group_name *group;
	const struct flights_seen *seen;
	const struct group_stages *stages;
	double latency;
	uint64_t min;
	uint64_t failed;
	uint64_t window_ns;
	const struct controller *controller;
	uint64_t all_paths;
	uint64_t from_ns;
	bool has_from;
	struct group_lows lows;
};

enum queue_column {
	QUEUE_CONTROLLER, /* with "#1", "#2" if controllers of that name have different peers */
	QUEUE_PEER,
	QUEUE_QUEUE, /* "all" if queues share a histogram */
	QUEUE_OP,
	QUEUE_COMMANDS, /* all commands, measured or not */
	QUEUE_MEASURED,
	QUEUE_IOPS, /* this and the next two: no value if a sample does not show it */
	QUEUE_THROUGHPUT,
	QUEUE_IN_FLIGHT, /* on average */
	QUEUE_WAITING,	 /* in flight when the interval ended */
	QUEUE_LEFT,	 /* in flight when the run ended */
	QUEUE_OLDEST,	 /* age of the oldest of these; no value if there are none */
	QUEUE_AT_DEVICE, /* target: how many of these wait for the device */
	QUEUE_MEAN,
	QUEUE_P50,
	QUEUE_P90,
	QUEUE_P99,
	QUEUE_P99_9,
	QUEUE_MAX,
	QUEUE_TRANSPORT, /* of a host's controller */
	/* Only for a screen. */
	QUEUE_WINDOW,  /* the time that the latencies are of */
	QUEUE_DEVICES, /* the disks of its controller; this and the next: no value if not known */
	QUEUE_ADDRESS, /* of the other machine */
	QUEUE_COLUMNS_NR
};

/* Rows are struct queue_row. */
extern const struct columns queue_columns;

/** columns_queues_screen() - the same table with the columns that only a screen has */
const struct columns *columns_queues_screen(void);

/**
 * columns_queues_next() - fill @r for the next row of @s, with figures of the whole run or else of
 * the last interval
 * @r: as the last call has filled it; all zeroes before the first row
 *
 * Return: false if there are no more rows.
 */
bool columns_queues_next(struct queue_row *r, const struct stats *s, bool summary);

/**
 * columns_queues_own() - as columns_queues_next(), for a @row that is the sum of several rows; if
 * its op is NT_OPS_NR it is of all operations
 */
void columns_queues_own(struct queue_row *r, const struct stats *s, const struct stats_row *row,
			bool summary);

/**
 * columns_queues_recent() - take the latencies of the last ten seconds if the interval has too few
 * commands for a p99; rates and counts stay those of the interval
 */
void columns_queues_recent(struct queue_row *r);

/** columns_queues_any() - whether a row has anything to show: commands that ended, or that wait, or
 * that ended in the last ten seconds */
bool columns_queues_any(const struct queue_row *r);

#endif /* NTPROF_VIEW_COLUMNS_QUEUES_H */
