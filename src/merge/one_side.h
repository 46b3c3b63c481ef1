/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one side's stream tells by itself: the histograms and stages that its live view would have
 * shown, made from records.
 */
#ifndef NTPROF_MERGE_ONE_SIDE_H
#define NTPROF_MERGE_ONE_SIDE_H

#include "core/stats.h"
#include "stream/stream.h"

struct recorded;

/** recorded_new() - begin; NULL when memory ran out */
struct recorded *recorded_new(void);

/** recorded_queue() - the stream tells of a queue; Return: 0 or -ENOMEM */
int recorded_queue(struct recorded *d, enum nt_side side, const struct stream_queue *q);

/** recorded_record() - the stream tells of a command; Return: 0 or -ENOMEM */
int recorded_record(struct recorded *d, const struct nt_record *r);

/**
 * recorded_stats() - all that was told, as totals
 * @d: recorded
 * @h: of the stream
 * @losses: of the stream
 * @seconds: from the first command to the last
 *
 * Return: valid until recorded_free().
 */
const struct stats *recorded_stats(struct recorded *d, const struct stream_header *h,
				   const struct stream_losses *losses, double seconds);

/** recorded_free() - release; NULL is fine */
void recorded_free(struct recorded *d);

#endif /* NTPROF_MERGE_ONE_SIDE_H */
