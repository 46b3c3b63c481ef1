/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a command began and ended, as the side that recorded it saw it. Every latency is the
 * difference of these two. Times are CLOCK_MONOTONIC nanoseconds of that side's machine.
 */
#ifndef NTPROF_CORE_SPAN_H
#define NTPROF_CORE_SPAN_H

#include <stdint.h>

#include "core/record.h"

/**
 * record_begin_ns() - when the command began
 * @r: record; its side is valid
 *
 * Return: on the host submit, or else queue_rq (if iostats are off); on the target the arrival of
 * the command, or else the time when the driver had received it; 0 if both are missing.
 */
static inline uint64_t record_begin_ns(const struct nt_record *r)
{
	if (r->side == NT_HOST)
		return r->points[NT_H_SUBMIT] ?: r->points[NT_H_QUEUE_RQ];
	return r->points[NT_T_RX] ?: r->points[NT_T_CMD];
}

/**
 * record_end_ns() - when the command ended
 * @r: record; its side is valid
 *
 * Return: complete on the host, sent on the target; 0 if it is missing.
 */
static inline uint64_t record_end_ns(const struct nt_record *r)
{
	return r->side == NT_HOST ? r->points[NT_H_COMPLETE] : r->points[NT_T_SENT];
}

/**
 * record_latency_ns() - from its beginning to its end, nanoseconds; 0 if either is missing, or if
 * it ends before it begins
 */
static inline uint64_t record_latency_ns(const struct nt_record *r)
{
	uint64_t begin = record_begin_ns(r), end = record_end_ns(r);

	return begin && end > begin ? end - begin : 0;
}

/**
 * record_last_ns() - the time of the latest point of the command
 *
 * Return: the time of the last point that is not missing, which is record_end_ns() if that is
 * known; 0 if all are missing.
 */
static inline uint64_t record_last_ns(const struct nt_record *r)
{
	_Static_assert(NT_H_COMPLETE == NT_POINTS_MAX - 1 && NT_H_CQE == NT_H_COMPLETE - 1 &&
			       NT_T_SENT == NT_H_CQE - 1,
		       "these are the last ones");
	/* In most records one of these points is there. */
	uint64_t last = r->points[NT_H_COMPLETE] ?: r->points[NT_H_CQE] ?: r->points[NT_T_SENT];

	for (unsigned int i = NT_T_SENT; !last && i-- > 0;)
		last = r->points[i];
	return last;
}

#endif /* NTPROF_CORE_SPAN_H */
