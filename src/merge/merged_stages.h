/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ten stages of a matched command. They only use differences of times of one machine's own
 * clock, never of times of both.
 */
#ifndef NTPROF_MERGE_MERGED_STAGES_H
#define NTPROF_MERGE_MERGED_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/segments.h"
#include "shared/points.h"
#include "shared/record.h"

/* Their names, in the order of ntprof: on the host, on the target, and back. */
#define NT_MERGED_STAGES(X)                                \
	X(MS_BLK_SUBMISSION, "blk_submission")             \
	X(MS_NVME_TCP_SUBMISSION, "nvme_tcp_submission")   \
	X(MS_NSTACK_SUBMISSION, "nstack_submission")       \
	X(MS_NVMET_TCP_SUBMISSION, "nvmet_tcp_submission") \
	X(MS_TARGET_SUBSYSTEM, "target_subsystem")         \
	X(MS_NVMET_TCP_COMPLETION, "nvmet_tcp_completion") \
	X(MS_NETWORK_TRANSMISSION, "network_transmission") \
	X(MS_NSTACK_COMPLETION, "nstack_completion")       \
	X(MS_NVME_TCP_COMPLETION, "nvme_tcp_completion")   \
	X(MS_BLK_COMPLETION, "blk_completion")

enum merged_stage { NT_MERGED_STAGES(NT_ENUM_STAGE) NT_MERGED_STAGES_NR };

/*
 * The parts of stages where finer points and waits are known: X(identifier, name, stage). They add
 * up to their stage, and stand in its place in totals, which number them behind the ten. The last
 * part of a stage, and the wire, is what the others leave of it.
 */
#define NT_STAGE_PARTS(X)                                                       \
	X(SP_HOST_SEND_WAKEUP, "host_send_wakeup", MS_NVME_TCP_SUBMISSION)      \
	X(SP_HOST_SEND_WORKER, "host_send_worker", MS_NVME_TCP_SUBMISSION)      \
	X(SP_TARGET_STACK, "target_stack", MS_NSTACK_SUBMISSION)                \
	X(SP_TARGET_WAKEUP, "target_wakeup", MS_NSTACK_SUBMISSION)              \
	X(SP_TARGET_WORKER, "target_worker", MS_NSTACK_SUBMISSION)              \
	X(SP_TARGET_BLOCK_LAYER, "target_block_layer", MS_TARGET_SUBSYSTEM)     \
	X(SP_DEVICE, "device", MS_TARGET_SUBSYSTEM)                             \
	X(SP_TARGET_BLOCK_DONE, "target_block_done", MS_TARGET_SUBSYSTEM)       \
	X(SP_TARGET_FILE_WAIT, "target_file_wait", MS_TARGET_SUBSYSTEM)         \
	X(SP_TARGET_FILE_IO, "target_file_io", MS_TARGET_SUBSYSTEM)             \
	X(SP_TARGET_PAGE_CACHE, "target_page_cache", MS_TARGET_SUBSYSTEM)       \
	X(SP_TARGET_SEND_WAKEUP, "target_send_wakeup", MS_NVMET_TCP_COMPLETION) \
	X(SP_TARGET_SEND_WORKER, "target_send_worker", MS_NVMET_TCP_COMPLETION) \
	X(SP_HOST_SEND_QUEUE, "host_send_queue", MS_NETWORK_TRANSMISSION)       \
	X(SP_WIRE, "wire", MS_NETWORK_TRANSMISSION)                             \
	X(SP_TARGET_SEND_QUEUE, "target_send_queue", MS_NETWORK_TRANSMISSION)   \
	X(SP_HOST_STACK, "host_stack", MS_NSTACK_COMPLETION)                    \
	X(SP_HOST_WAKEUP, "host_wakeup", MS_NSTACK_COMPLETION)                  \
	X(SP_HOST_WORKER, "host_worker", MS_NSTACK_COMPLETION)

#define NT_ENUM_PART(id, name, stage) NT_##id,
enum stage_part { NT_STAGE_PARTS(NT_ENUM_PART) NT_STAGE_PARTS_NR };

/** stage_part_name() - static string */
const char *stage_part_name(enum stage_part part);

/** stage_of_part() - the stage that it is a part of */
enum merged_stage stage_of_part(enum stage_part part);

/** stages_of_parts() - bits of the stages that parts, bits as well, are parts of */
uint32_t stages_of_parts(uint32_t parts);

/** merged_stage_name() - static string */
const char *merged_stage_name(unsigned int stage);

/* In place of a stage: time that is in no stage. */
#define NT_MERGED_NOWHERE NT_MERGED_STAGES_NR

/*
 * The parts of one side's time, in one shape: each is from one point to another, and belongs to
 * stage @at.
 */
struct merged_parts {
	uint8_t nr;
	struct {
		uint8_t from, to, at;
	} part[SEGMENTS_OF_SHAPE_MAX];
};

/**
 * struct merged_split - how the commands of two machines are split
 * @made: it was filled; zeroed memory is none yet
 * @missing: [side] bits of the points that no probe gives there
 * @parts: [side][shape] the parts of each record
 * @into: for each of the ten stages the first of those that it is joined with (itself, mostly), or
 *        STAGE_UNKNOWN
 *
 * A stage that a side cannot separate from its wait is joined with the network stage, which is what
 * is left of the wait.
 */
struct merged_split {
	bool made;
	uint32_t missing[NT_SIDES];
	struct merged_parts parts[NT_SIDES][NT_SHAPES_NR];
	uint8_t into[NT_MERGED_STAGES_NR];
};

/** merged_split_init() - fill @s for a host and a target that lack these points */
void merged_split_init(struct merged_split *s, uint32_t host_missing, uint32_t target_missing);

/** merged_split_renew() - merged_split_init() if @s is not yet of these; Return: whether it was not
 */
bool merged_split_renew(struct merged_split *s, uint32_t host_missing, uint32_t target_missing);

/**
 * merged_split() - the ten stages of one command
 * @s: how commands of these two machines are split
 * @host, @target: its two records
 * @stage: filled with nanoseconds; only stages with into[stage] == stage have a time. The network
 *         stage is the time that the host saw as network and target, minus the time that the target
 *         spent. Clocks that drift can make it negative, by their drift over one command.
 *
 * Return: true when both records have all points that their shapes need and that the machines do
 * not lack, and agree on whether there was an R2T; then the stages add up to host submit (or else
 * queue_rq) to complete. False: @stage is zeroed.
 */
bool merged_split(const struct merged_split *s, const struct nt_record *host,
		  const struct nt_record *target, int64_t stage[NT_MERGED_STAGES_NR]);

/**
 * stage_parts() - the parts of a command's stages
 * @how, @host, @target: as merged_split() has split them
 * @stage: filled by it
 * @part: filled with nanoseconds, for stages whose parts are known. None is negative, except for
 *        the wire, by what clocks drift apart while the command runs
 *
 * Return: bits of the parts that the command has. They are those of stages that have all finer
 * points or waits that the shape of the command passes, and are not joined with others.
 */
uint32_t stage_parts(const struct merged_split *how, const struct nt_record *host,
		     const struct nt_record *target, const int64_t stage[NT_MERGED_STAGES_NR],
		     int64_t part[NT_STAGE_PARTS_NR]);

/** may_have_parts() - whether a command has any finer point or wait, or points of a disk or file
 */
static inline bool may_have_parts(const struct nt_record *host, const struct nt_record *target)
{
	return target->points[NT_TD_DONE] || target->flags & NT_F_FILE ||
	       host->fine[NT_HF_OUT] | host->wait[NT_W_STACK] | host->wait[NT_W_SEND_WAKEUP] |
		       target->wait[NT_W_STACK] | target->wait[NT_W_SEND_WAKEUP];
}

/**
 * merged_joined_name() - "a+b" of the stages that are joined into @stage; Return: @buf, of @size
 * bytes
 */
const char *merged_joined_name(const uint8_t into[NT_MERGED_STAGES_NR], unsigned int stage,
			       char *buf, size_t size);

/*
 * Splits a command with all points into the ten stages. The compiler computes all that does not
 * depend on the record. Only for files of merge/.
 */

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
			[NT_HS_DEVICE] =
				NT_MS_NETWORK_TRANSMISSION, /* in no command of both sides */
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

/* Modulo 2^64: a damaged stream may have stages of centuries. */
static inline void add_time(int64_t *stage, uint64_t ns)
{
	*stage = (int64_t)((uint64_t)*stage + ns);
}

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
		ADD(id, to - at);                   \
		at = to;                            \
	}

static inline __attribute__((always_inline)) bool
walk_host(const struct nt_record *r, unsigned int shape, int64_t stage[NT_MERGED_STAGES_NR])
{
	/* iostats of the disk may be off: then submit is missing. */
	uint64_t at = r->points[NT_H_SUBMIT] ?: r->points[NT_H_QUEUE_RQ];

	if (!at)
		return false;
#define ADD(id, ns) add_time(&stage[merged_of[NT_HOST][NT_##id]], ns)
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
		add_time(&stage[merged_of[NT_TARGET][NT_##id]], ns);             \
		add_time(&stage[NT_MS_NETWORK_TRANSMISSION], -(ns));             \
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
	if (host->side != NT_HOST || target->side != NT_TARGET || target->shape >= NT_SHAPE_CORE)
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

#endif /* NTPROF_MERGE_MERGED_STAGES_H */
