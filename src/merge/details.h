/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every interval between consecutive points of the commands of a shape, one by one; stages are sums
 * of these. For merged commands also the network's share of each round trip. Knows neither files
 * nor screens.
 */
#ifndef NTPROF_MERGE_DETAILS_H
#define NTPROF_MERGE_DETAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/hist.h"
#include "shared/points.h"
#include "shared/record.h"

/*
 * Where an interval lies: on one side, or between the two (a round trip of the host less the
 * target's time).
 */
enum detail_of { DETAIL_HOST = NT_HOST, DETAIL_TARGET = NT_TARGET, DETAIL_NETWORK, DETAILS_OF };

/**
 * struct detail - an interval
 * @of, @shape: side and shape of the commands
 * @from, @to: the points that bound it, those of files by their own numbers; for the network, the
 *             host's points
 * @beside: no part of the latency: other points of the same command lie in between, or come before
 * @time: how long it took; a negative time, which the network gets from drifting clocks, is counted
 *        as 0
 * @below: sum of the negative times, of 128 bits as that of @time
 */
struct detail {
	enum detail_of of;
	enum nt_shape shape;
	unsigned int from;
	unsigned int to;
	bool beside;
	struct hist time;
	__int128 below;
};

struct details;

/** details_new() - no intervals yet; NULL when memory ran out */
struct details *details_new(void);

/**
 * details_add() - count the intervals of a command that ended well
 * @host, @target: its records; one of them may be NULL
 *
 * Return: 0 or -ENOMEM.
 */
int details_add(struct details *d, const struct nt_record *host, const struct nt_record *target);

/**
 * details_get() - interval @i, by shape and then in the order of a command's life, that of a disk
 * last; NULL past the last
 */
const struct detail *details_get(const struct details *d, size_t i);

/** details_unordered() - records with points out of order; they are in no interval */
uint64_t details_unordered(const struct details *d);

/** details_free() - release; NULL is fine */
void details_free(struct details *d);

#endif /* NTPROF_MERGE_DETAILS_H */
