/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns of the losses: counts of the events that keep a command out of the figures. */
#ifndef NTPROF_VIEW_COLUMNS_LOSSES_H
#define NTPROF_VIEW_COLUMNS_LOSSES_H

#include "core/stats.h"
#include "view/columns.h"

/**
 * struct loss_row - one kind of loss
 * @counter: enum nt_counter or COUNTER_*
 * @total: since tracing began
 * @added: in the last interval, if there are intervals
 * @queues: number of queues with commands in @total; 0: not known
 */
struct loss_row {
	unsigned int counter;
	uint64_t total;
	uint64_t added;
	uint32_t queues;
};

enum loss_column {
	LOSS_LOSS,
	LOSS_TOTAL,
	LOSS_ADDED,  /* no value if it is 0 */
	LOSS_QUEUES, /* no value if it is not known */
	LOSS_MEANING,
};

/* Rows are struct loss_row. */
extern const struct columns loss_columns;

/** columns_losses_row() - the row of a counter in @s */
static inline struct loss_row columns_losses_row(const struct stats *s, unsigned int counter)
{
	return (struct loss_row){counter, s->counters_total[counter], s->counters_interval[counter],
				 s->counters_queues[counter]};
}

#endif /* NTPROF_VIEW_COLUMNS_LOSSES_H */
