/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Splits a command with all points into the ten stages. What does not depend on the record is
 * computed at compile time. Private to this folder: see merge/merged_stages.h.
 */
#ifndef NTPROF_MERGE_SPLIT_WHOLE_H
#define NTPROF_MERGE_SPLIT_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"
#include "merge/ten_stages.h"

/*
 * The stage of the ten that a side's own stage is, or is part of. The host's wait is the network's,
 * less the time that the target spent. The target's own wait, and what it does while the network
 * works, are not subtracted.
 */
static const uint8_t merged_of[NT_SIDES][NT_STAGES_MAX] = {
	[NT_HOST] =
		{
			[NT_HS_BLK_SUBMISSION] = NT_MS_BLK_SUBMISSION,
			[NT_HS_NVME_TCP_SUBMISSION] = NT_MS_NVME_TCP_SUBMISSION,
			[NT_HS_NETWORK_AND_TARGET] = NT_MS_NETWORK_TRANSMISSION,
			[NT_HS_NSTACK_COMPLETION] = NT_MS_NSTACK_COMPLETION,
			[NT_HS_NVME_TCP_COMPLETION] = NT_MS_NVME_TCP_COMPLETION,
			[NT_HS_BLK_COMPLETION] = NT_MS_BLK_COMPLETION,
		},
	[NT_TARGET] =
		{
			[NT_TS_NSTACK_SUBMISSION] = NT_MS_NSTACK_SUBMISSION,
			[NT_TS_NVMET_TCP_SUBMISSION] = NT_MS_NVMET_TCP_SUBMISSION,
			[NT_TS_NETWORK_AND_HOST] = NT_MS_NETWORK_TRANSMISSION,
			[NT_TS_TARGET_SUBSYSTEM] = NT_MS_TARGET_SUBSYSTEM,
			[NT_TS_NVMET_TCP_COMPLETION] = NT_MS_NVMET_TCP_COMPLETION,
			[NT_TS_SEND_RESPONSE] = NT_MS_NETWORK_TRANSMISSION,
		},
};

/*
 * With no point missing, all is known at compile time: the segments of a shape, a constant, form
 * one chain, and each belongs to a fixed stage. So the stages always add up to the latency. As in
 * add_parts(), all points have to be there and in order.
 */
#define WALK(id, shapes, begins, ends)              \
	if ((shapes)&1u << shape) {                 \
		uint64_t to = r->points[NT_##ends]; \
                                                    \
		if (to < at)                        \
			return false;               \
		ADD(id, (int64_t)(to - at));        \
		at = to;                            \
	}

static inline __attribute__((always_inline)) bool
walk_host(const struct nt_record *r, unsigned int shape, int64_t stage[NT_MERGED_STAGES_NR])
{
	/* iostats of the disk may be off: then submit is missing. */
	uint64_t at = r->points[NT_H_SUBMIT] ?: r->points[NT_H_QUEUE_RQ];

	if (!at)
		return false;
#define ADD(id, ns) stage[merged_of[NT_HOST][NT_##id]] += (ns)
	NT_HOST_SEGMENTS(WALK)
#undef ADD
	return true;
}

/*
 * Network time of the target is not subtracted: it is part of the host's wait, and that wait less
 * all other time of the target is the network stage.
 */
static inline __attribute__((always_inline)) bool
walk_target(const struct nt_record *r, unsigned int shape, int64_t stage[NT_MERGED_STAGES_NR])
{
	uint64_t at = r->points[NT_T_RX];

	if (!at)
		return false;
#define ADD(id, ns)                                                              \
	do {                                                                     \
		if (merged_of[NT_TARGET][NT_##id] == NT_MS_NETWORK_TRANSMISSION) \
			break;                                                   \
		stage[merged_of[NT_TARGET][NT_##id]] += (ns);                    \
		stage[NT_MS_NETWORK_TRANSMISSION] -= (ns);                       \
	} while (0)
	NT_TARGET_SEGMENTS(WALK)
#undef ADD
	return true;
}

/**
 * split_whole() - merged_split() for machines that lack no point, inlined for callers that split
 * every command
 *
 * Return: as merged_split(); if false, @stage is of no use.
 */
static inline __attribute__((always_inline)) bool split_whole(const struct nt_record *host,
							      const struct nt_record *target,
							      int64_t stage[NT_MERGED_STAGES_NR])
{
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		stage[i] = 0;
	/* A damaged stream may say anything. */
	if (host->side != NT_HOST || target->side != NT_TARGET || target->shape >= NT_SHAPES_NR)
		return false;
	switch (host->shape) {
	case NT_SHAPE_READ:
		return target->shape != NT_SHAPE_R2T_WRITE &&
		       walk_host(host, NT_SHAPE_READ, stage) &&
		       walk_target(target, NT_SHAPE_READ, stage);
	case NT_SHAPE_INLINE_WRITE:
	case NT_SHAPE_NO_DATA:
		return target->shape != NT_SHAPE_R2T_WRITE &&
		       walk_host(host, NT_SHAPE_NO_DATA, stage) &&
		       walk_target(target, NT_SHAPE_NO_DATA, stage);
	case NT_SHAPE_R2T_WRITE:
		return target->shape == NT_SHAPE_R2T_WRITE &&
		       walk_host(host, NT_SHAPE_R2T_WRITE, stage) &&
		       walk_target(target, NT_SHAPE_R2T_WRITE, stage);
	default:
		return false;
	}
}

#undef WALK

#endif /* NTPROF_MERGE_SPLIT_WHOLE_H */
