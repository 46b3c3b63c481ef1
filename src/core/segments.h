/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stages where a point is missing because nothing on this kernel gives it: the two that it parts are
 * one, shown under both names. Points are given as bits; bit N is point N of the side.
 */
#ifndef NTPROF_CORE_SEGMENTS_H
#define NTPROF_CORE_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/points.h"
#include "core/record.h"

/* In place of a stage: it begins at a missing point that nothing comes before, so nobody knows it. */
#define STAGE_UNKNOWN 0xff

/**
 * stages_join() - which stages are one
 * @side: host or target
 * @missing: bits of the points that nothing gives; 0 joins nothing
 * @into: filled, for each stage, with the first of those that it is one with (itself, mostly), or
 *        STAGE_UNKNOWN
 */
void stages_join(enum nt_side side, uint32_t missing, uint8_t into[NT_STAGES_MAX]);

/**
 * stage_joined_name() - the name of a stage and of those that are one with it, "a+b"
 * @side: host or target
 * @into: from stages_join()
 * @stage: one that is into itself
 * @buf: filled; @size bytes
 *
 * Return: @buf.
 */
const char *stage_joined_name(enum nt_side side, const uint8_t into[NT_STAGES_MAX],
			      unsigned int stage, char *buf, size_t size);

/**
 * record_stages_joined() - record_stages() where points are missing
 * @r: record
 * @missing: bits of the points that nothing gave where it was made
 * @into: filled as by stages_join(); only stages that are into themselves have a time
 * @stage: filled with nanoseconds
 *
 * Return: true when every other point that the record's shape needs is there and in order.
 */
bool record_stages_joined(const struct nt_record *r, uint32_t missing, uint8_t into[NT_STAGES_MAX],
			  uint64_t stage[NT_STAGES_MAX]);

#endif /* NTPROF_CORE_SEGMENTS_H */
