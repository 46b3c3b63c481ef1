/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns of the controllers' queues: latencies and rates of each queue and operation. */
#ifndef NTPROF_VIEW_COLUMNS_QUEUES_H
#define NTPROF_VIEW_COLUMNS_QUEUES_H

#include "view/columns_hist.h"

/**
 * struct queue_row - a controller, queue and operation
 * @base: its latencies; without any, @base.h->count is 0
 * @s: whose rows, sorted by controller and peer
 * @index: of the row
 * @per_second: what a count is multiplied by to make a rate
 */
struct queue_row {
	struct hist_row base;
	const struct stats *s;
	size_t index;
	double per_second;
};

enum queue_column {
	QUEUE_CONTROLLER, /* with "#2" where one of that name had another peer before */
	QUEUE_PEER,
	QUEUE_QUEUE, /* "all" where queues share a histogram */
	QUEUE_OP,
	QUEUE_COMMANDS,
	QUEUE_IOPS,
	QUEUE_THROUGHPUT,
	QUEUE_IN_FLIGHT,
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

#endif /* NTPROF_VIEW_COLUMNS_QUEUES_H */
