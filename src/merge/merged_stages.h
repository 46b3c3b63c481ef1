/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ten stages of a command of which both sides' records are known. They need differences of
 * either machine's own clock only, never one between the two.
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
 * @stage: filled with nanoseconds. The network stage is what the host saw as network and target minus
 *         what the target spent; clocks that drift can make it negative, by their drift over one
 *         command.
 *
 * Return: true when both records have all points that their shapes need, and agree on whether there
 * was an R2T; then the ten add up to host submit (or else queue_rq) to complete. False: @stage is
 * zeroed.
 */
bool merged_stages(const struct nt_record *host, const struct nt_record *target,
		   int64_t stage[NT_MERGED_STAGES_NR]);

/* In place of a stage: time that is no stage's. */
#define NT_MERGED_NOWHERE NT_MERGED_STAGES_NR

/* What a side's points are parted into, in one shape: the time from one to another, and whose it is. */
struct merged_parts {
	uint8_t nr;
	struct {
		uint8_t from, to, at;
	} part[SEGMENTS_OF_SHAPE_MAX];
};

/**
 * struct merged_split - how the commands of two machines are split
 * @missing: [side] bits of the points that nothing gives there
 * @parts: [side][shape] what is looked at of each record
 * @into: for each of the ten stages the first of those that it is one with (itself, mostly), or
 *        STAGE_UNKNOWN
 *
 * What a side cannot part from what it waits for is one with the network, of which it is known what is left
 * when all else is taken away.
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
 * @s: of the machines that the records are of
 * @host, @target: the two records of a command
 * @stage: filled; only stages that are into themselves have a time
 *
 * Return: as merged_stages(), without the points that the machines lack. What is true adds up to the latency.
 */
bool merged_split(const struct merged_split *s, const struct nt_record *host,
		  const struct nt_record *target, int64_t stage[NT_MERGED_STAGES_NR]);

/** merged_joined_name() - "a+b" of the stages that are into @stage; Return: @buf, of @size bytes */
const char *merged_joined_name(const uint8_t into[NT_MERGED_STAGES_NR], unsigned int stage,
			       char *buf, size_t size);

#endif /* NTPROF_MERGE_MERGED_STAGES_H */
