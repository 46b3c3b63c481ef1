/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a command began and ended, as the side that saw it tells: every latency is the difference of
 * these two. Times are CLOCK_MONOTONIC nanoseconds of that side's machine.
 */
#ifndef NTPROF_CORE_SPAN_H
#define NTPROF_CORE_SPAN_H

#include <stdint.h>

#include "core/record.h"

/**
 * record_begin_ns() - when the command began
 * @r: record, its side is one
 *
 * Return: on the host submit, or else queue_rq (iostats are off); on the target the arrival of the
 * command, or else when the driver had it; 0 when neither is there.
 */
static inline uint64_t record_begin_ns(const struct nt_record *r)
{
	if (r->side == NT_HOST)
		return r->points[NT_H_SUBMIT] ?: r->points[NT_H_QUEUE_RQ];
	return r->points[NT_T_RX] ?: r->points[NT_T_CMD];
}

/**
 * record_end_ns() - when the command ended
 * @r: record, its side is one
 *
 * Return: complete on the host, sent on the target; 0 when it is missing.
 */
static inline uint64_t record_end_ns(const struct nt_record *r)
{
	return r->side == NT_HOST ? r->points[NT_H_COMPLETE] : r->points[NT_T_SENT];
}

/** record_latency_ns() - from its beginning to its end, nanoseconds; 0 where either is missing or wrong */
static inline uint64_t record_latency_ns(const struct nt_record *r)
{
	uint64_t begin = record_begin_ns(r), end = record_end_ns(r);

	return begin && end > begin ? end - begin : 0;
}

/**
 * record_last_ns() - the last that is known of the command
 *
 * Return: its last point that is there, which is record_end_ns() where that is; 0 when none is.
 */
static inline uint64_t record_last_ns(const struct nt_record *r)
{
	_Static_assert(NT_H_COMPLETE == NT_POINTS_MAX - 1 && NT_H_CQE == NT_H_COMPLETE - 1 &&
			       NT_T_SENT == NT_H_CQE - 1,
		       "these are the last ones");
	/* Mostly it is the host's last one, or the target's. */
	uint64_t last = r->points[NT_H_COMPLETE] ?: r->points[NT_H_CQE] ?: r->points[NT_T_SENT];

	for (unsigned int i = NT_T_SENT; !last && i-- > 0;)
		last = r->points[i];
	return last;
}

#endif /* NTPROF_CORE_SPAN_H */
