/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The figures of one stream alone: the histograms and stages that its live view would have shown,
 * computed from records.
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

/** one_side_new() - no records yet; NULL when memory ran out */
struct one_side *one_side_new(enum nt_side side);

/**
 * one_side_lacks() - bits of the points that no probe gives there; call it before the first command
 */
void one_side_lacks(struct one_side *o, uint32_t missing);

/**
 * one_side_filter() - count only these commands; call it before the first queue
 * @f: valid until one_side_free(); NULL: all commands
 */
void one_side_filter(struct one_side *o, const struct filter *f);

/** one_side_places() - the side's names of places; NULL: none. Valid until one_side_free() */
void one_side_places(struct one_side *o, const struct places *p);

/**
 * one_side_groups() - count commands in groups as well; call it before the first queue
 * @source: where the points come from
 * @sample: one command in this many was measured
 *
 * Return: 0 or -ENOMEM.
 */
int one_side_groups(struct one_side *o, const struct grouping *how, const char *source,
		    uint32_t sample);

/**
 * one_side_details() - keep intervals as well; call it before the first command; Return: 0 or
 * -ENOMEM
 */
int one_side_details(struct one_side *o);

/** one_side_detailed() - the intervals, NULL if not kept; valid until one_side_free() */
const struct details *one_side_detailed(const struct one_side *o);

/** one_side_grouped() - the groups, NULL if there are none; valid until one_side_free() */
struct groups *one_side_grouped(struct one_side *o);

/** one_side_queue() - add a queue of the stream; Return: 0 or -ENOMEM */
int one_side_queue(struct one_side *o, const struct queue_info *info);

/**
 * one_side_record() - add a record of the stream
 * @began_ns: when its recording began
 *
 * Return: 0 or -ENOMEM.
 */
int one_side_record(struct one_side *o, const struct nt_record *r, uint64_t began_ns);

/** one_side_taken() - how many commands the filter took, with a latency or without */
uint64_t one_side_taken(const struct one_side *o);

/**
 * one_side_stats() - all figures as totals
 * @o: one side
 * @kernel: release of the kernel that was traced
 * @sample: one command in this many was measured; 0 and 1: every one
 * @losses: [counter] as the stream gives them
 * @seconds: from the first command to the last
 *
 * Return: valid until one_side_free().
 */
const struct stats *one_side_stats(struct one_side *o, const char *kernel, uint32_t sample,
				   const uint64_t losses[COUNTERS_NR], double seconds);

/** one_side_free() - release; NULL is fine */
void one_side_free(struct one_side *o);

#endif /* NTPROF_MERGE_ONE_SIDE_H */
