/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every interval between consecutive points of commands of a shape, apart: what stages add up. Of merged commands also the
 * network's, each round trip by itself. Knows neither files nor screens.
 */
#ifndef NTPROF_MERGE_DETAILS_H
#define NTPROF_MERGE_DETAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/hist.h"
#include "core/points.h"
#include "core/record.h"

/* Whose interval it is: a side's, or, between the two, what is left of a round trip on the host without the target. */
enum detail_of { DETAIL_HOST = NT_HOST, DETAIL_TARGET = NT_TARGET, DETAIL_NETWORK, DETAILS_OF };

/**
 * struct detail - an interval
 * @of, @shape: of whose commands, and of which
 * @from, @to: the points that bound it; of the network, the host's
 * @beside: other points of the same command lie in between, or come before: it is no part of the latency
 * @time: what it took; a negative one, which clocks that drift make of the network, is counted as 0
 * @below: the negative ones, added up
 */
struct detail {
	enum detail_of of;
	enum nt_shape shape;
	unsigned int from;
	unsigned int to;
	bool beside;
	struct hist time;
	int64_t below;
};

struct details;

/** details_new() - begin; NULL when memory ran out */
struct details *details_new(void);

/**
 * details_add() - count the intervals of a command that ended well
 * @host, @target: what is known of it; one of them may be NULL
 *
 * Return: 0 or -ENOMEM.
 */
int details_add(struct details *d, const struct nt_record *host, const struct nt_record *target);

/** details_get() - one of them, by shape, and in the order of a command's life; NULL past the last */
const struct detail *details_get(const struct details *d, size_t i);

/** details_unordered() - records whose points are not in their order, which are in no interval */
uint64_t details_unordered(const struct details *d);

/** details_free() - release; NULL is fine */
void details_free(struct details *d);

#endif /* NTPROF_MERGE_DETAILS_H */
