/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one side's stream tells by itself: the histograms and stages that its live view would have
 * shown, made from records.
 */
#ifndef NTPROF_MERGE_ONE_SIDE_H
#define NTPROF_MERGE_ONE_SIDE_H

#include "core/queue.h"
#include "core/stats.h"
#include "merge/details.h"
#include "merge/filter.h"
#include "merge/groups.h"
#include "merge/places.h"

struct one_side;

/** one_side_new() - begin; NULL when memory ran out */
struct one_side *one_side_new(enum nt_side side);

/** one_side_lacks() - before the first command: bits of the points that nothing gives there */
void one_side_lacks(struct one_side *o, uint32_t missing);

/**
 * one_side_filter() - before the first queue: only these commands count
 * @f: valid until one_side_free(); NULL: all of them
 */
void one_side_filter(struct one_side *o, const struct filter *f);

/** one_side_places() - what the side calls places; NULL: nothing. Valid until one_side_free() */
void one_side_places(struct one_side *o, const struct places *p);

/**
 * one_side_groups() - before the first queue: its commands are counted in groups as well
 * @source: where its points are from
 * @sample: one command in so many was measured
 *
 * Return: 0 or -ENOMEM.
 */
int one_side_groups(struct one_side *o, const struct grouping *how, const char *source,
		    uint32_t sample);

/** one_side_details() - before the first command: keep its intervals as well; Return: 0 or -ENOMEM */
int one_side_details(struct one_side *o);

/** one_side_detailed() - these, NULL without; valid until one_side_free() */
const struct details *one_side_detailed(const struct one_side *o);

/** one_side_grouped() - these groups, NULL without; they are valid until one_side_free() */
struct groups *one_side_grouped(struct one_side *o);

/** one_side_queue() - the stream tells of a queue; Return: 0 or -ENOMEM */
int one_side_queue(struct one_side *o, const struct queue_info *info);

/**
 * one_side_record() - the stream tells of a command
 * @began_ns: when its recording began
 *
 * Return: 0 or -ENOMEM.
 */
int one_side_record(struct one_side *o, const struct nt_record *r, uint64_t began_ns);

/** one_side_taken() - how many of these commands count by the filter, whether they have a latency or not */
uint64_t one_side_taken(const struct one_side *o);

/**
 * one_side_stats() - all that was told, as totals
 * @o: one side
 * @kernel: release of the kernel that was traced
 * @sample: one command in so many was measured; 0 and 1: every one
 * @losses: [counter] as the stream tells them
 * @seconds: from the first command to the last
 *
 * Return: valid until one_side_free().
 */
const struct stats *one_side_stats(struct one_side *o, const char *kernel, uint32_t sample,
				   const uint64_t losses[COUNTERS_NR], double seconds);

/** one_side_free() - release; NULL is fine */
void one_side_free(struct one_side *o);

#endif /* NTPROF_MERGE_ONE_SIDE_H */
