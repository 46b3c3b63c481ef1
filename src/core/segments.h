/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How points make stages, by the tables of points.h; also where a point is missing because nothing on
 * this kernel gives it: the two stages that it parts are one, shown under both names. Points are given as
 * bits; bit N is point N of the side.
 */
#ifndef NTPROF_CORE_SEGMENTS_H
#define NTPROF_CORE_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/points.h"
#include "core/record.h"

/**
 * struct segment - a row of a side's table of segments, see points.h
 * @stage: what it is a part of
 * @shapes: bits of the shapes that pass it
 * @from, @to: the points that bound it
 */
struct segment {
	uint8_t stage, shapes, from, to;
};

/** segments_of() - a side's table; @nr is filled with its length */
const struct segment *segments_of(enum nt_side side, size_t *nr);

/** segments_points() - bits of the points that bound a stage of @side; others only go into records */
uint32_t segments_points(enum nt_side side);

/** segments_stages_at() - bits of the stages that @point bounds, in any shape */
uint32_t segments_stages_at(enum nt_side side, unsigned int point);

/** segments_stage_ending() - the stage that ends with @point in @shape; -1 if none does */
int segments_stage_ending(enum nt_side side, unsigned int point, unsigned int shape);

/**
 * record_stage_under_way() - the stage that a command is in that has not ended
 * @r: its record so far
 *
 * Where it may go two ways from where it is, and they are two stages, the first of them.
 * Return: the side's stage, or -1 if the last of the points that bound stages has been passed, or none.
 */
int record_stage_under_way(const struct nt_record *r);

/** stage_may_be_absent() - whether there are shapes that do not pass a stage */
bool stage_may_be_absent(enum nt_side side, unsigned int stage);

/**
 * record_stages() - split one record into its side's stages, by the table of segments
 * @r: record
 * @stage: filled with nanoseconds, indexed by the side's stages; NT_STAGES_MAX entries
 *
 * Return: true when every point that the record's shape needs is there and in order; the stages
 * then add up to last point - first point. False: @stage is zeroed. A host record may lack submit
 * (iostats are off): it begins with queue_rq, and its blk_submission is 0.
 */
bool record_stages(const struct nt_record *r, uint64_t stage[NT_STAGES_MAX]);

/* In place of a stage: it begins at a missing point that nothing comes before, so nobody knows it. */
#define STAGE_UNKNOWN 0xff

/* All stages of a side under one name, with its terminating 0. */
#define STAGE_NAME_LEN 256

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

/* Segments of a shape: at most one for each point but the first. */
#define SEGMENTS_OF_SHAPE_MAX (NT_POINTS_MAX - 1)

/**
 * struct stage_split - how records of one machine's side are split, worked out once for many of them
 * @missing: bits of the points that nothing gives there
 * @into: which stages are one, as stages_join() has it
 * @shape: for each, from which point that is there to which, and the stage that this is a part of
 */
struct stage_split {
	enum nt_side side;
	uint32_t missing;
	uint8_t into[NT_STAGES_MAX];
	struct stage_shape {
		uint8_t nr;
		struct {
			uint8_t from, to, at;
		} part[SEGMENTS_OF_SHAPE_MAX];
	} shape[NT_SHAPES_NR];
};

/**
 * record_lacks() - the arrivals of a side, where one that a record needs is not known; 0 mostly
 *
 * Those of a connection with TLS are not. What is split by these, besides what its machine lacks, has the time until it was
 * read in the stage of the network.
 * Return: bits of points, as a machine's missing ones.
 */
uint32_t record_lacks(const struct nt_record *r);

/** stage_split_init() - fill @s for a side of a machine that lacks these points */
void stage_split_init(struct stage_split *s, enum nt_side side, uint32_t missing);

/**
 * stage_split() - record_stages() where points are missing
 * @s: of the machine and side that the record is of
 * @r: record
 * @stage: filled with nanoseconds; only stages that are into themselves have a time
 *
 * Return: true when every other point that the record's shape needs is there and in order.
 */
bool stage_split(const struct stage_split *s, const struct nt_record *r,
		 uint64_t stage[NT_STAGES_MAX]);

/**
 * record_stages_joined() - stage_split() of a single record; @into is filled by stages_join()
 */
bool record_stages_joined(const struct nt_record *r, uint32_t missing, uint8_t into[NT_STAGES_MAX],
			  uint64_t stage[NT_STAGES_MAX]);

#endif /* NTPROF_CORE_SEGMENTS_H */
