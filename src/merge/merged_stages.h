/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ten stages of a matched command. They only use differences of times of one machine's own
 * clock, never of times of both.
 */
#ifndef NTPROF_MERGE_MERGED_STAGES_H
#define NTPROF_MERGE_MERGED_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"
#include "core/segments.h"
#include "merge/ten_stages.h"

/** merged_stage_name() - static string */
const char *merged_stage_name(unsigned int stage);

/**
 * merged_stages() - the ten stages of one command
 * @host, @target: its two records
 * @stage: filled with nanoseconds. The network stage is the time that the host saw as network and
 *         target, minus the time that the target spent. Clocks that drift can make it negative, by
 *         their drift over one command.
 *
 * Return: true when both records have all points that their shapes need, and agree on whether there
 * was an R2T; then the ten add up to host submit (or else queue_rq) to complete. False: @stage is
 * zeroed.
 */
bool merged_stages(const struct nt_record *host, const struct nt_record *target,
		   int64_t stage[NT_MERGED_STAGES_NR]);

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
 * @missing: [side] bits of the points that no probe gives there
 * @parts: [side][shape] the parts of each record
 * @into: for each of the ten stages the first of those that it is joined with (itself, mostly), or
 *        STAGE_UNKNOWN
 *
 * A stage that a side cannot separate from its wait is joined with the network stage, which is what
 * is left of the wait.
 */
struct merged_split {
	uint32_t missing[NT_SIDES];
	struct merged_parts parts[NT_SIDES][NT_SHAPES_NR];
	uint8_t into[NT_MERGED_STAGES_NR];
};

/** merged_split_init() - fill @s for a host and a target that lack these points */
void merged_split_init(struct merged_split *s, uint32_t host_missing, uint32_t target_missing);

/**
 * merged_split() - merged_stages() where points are missing
 * @s: how commands of these two machines are split
 * @host, @target: the two records of a command
 * @stage: filled; only stages with into[stage] == stage have a time
 *
 * Return: as merged_stages(), but points that the machines lack are not needed. If true, the stages
 * add up to the latency.
 */
bool merged_split(const struct merged_split *s, const struct nt_record *host,
		  const struct nt_record *target, int64_t stage[NT_MERGED_STAGES_NR]);

/**
 * merged_joined_name() - "a+b" of the stages that are joined into @stage; Return: @buf, of @size
 * bytes
 */
const char *merged_joined_name(const uint8_t into[NT_MERGED_STAGES_NR], unsigned int stage,
			       char *buf, size_t size);

#endif /* NTPROF_MERGE_MERGED_STAGES_H */
