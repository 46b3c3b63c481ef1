/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How points make stages, by the tables of points.h. If nothing on this kernel gives a point, the
 * two stages that it separates are joined: they are one stage, shown under both names. Sets of
 * points are bits; bit N is point N of the side.
 */
#ifndef NTPROF_CORE_SEGMENTS_H
#define NTPROF_CORE_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/points.h"
#include "shared/record.h"

/**
 * struct segment - a row of a side's table of segments, see points.h
 * @stage: the stage that the segment is a part of
 * @shapes: bits of the shapes that pass it
 * @from, @to: the points that bound it
 */
struct segment {
	uint8_t stage, shapes, from, to;
};

/** segments_of() - a side's table; @nr is filled with its length */
const struct segment *segments_of(enum nt_side side, size_t *nr);

/**
 * segments_points() - bits of the points that bound a stage of @side; other points are only in
 * records
 */
uint32_t segments_points(enum nt_side side);

/**
 * segments_ends() - bits of the points at the ends of a command that --points ends keeps: from
 * submit and queue_rq to complete on the host, from cmd to done on the target
 */
uint32_t segments_ends(enum nt_side side);

/** segments_only_ends() - whether these @missing points are all others */
bool segments_only_ends(enum nt_side side, uint32_t missing);

/** segments_stages_at() - bits of the stages that @point bounds, in any shape */
uint32_t segments_stages_at(enum nt_side side, unsigned int point);

/** segments_stage_ending() - the stage that ends with @point in @shape; -1 if none does */
int segments_stage_ending(enum nt_side side, unsigned int point, unsigned int shape);

/**
 * record_stage_under_way() - the stage that a command is in that has not ended
 * @r: its record so far
 *
 * If the command may continue in one of two stages, this is the first of them.
 * Return: the side's stage, or -1 if the command has passed no point that bounds a stage, or the
 * last of them.
 */
int record_stage_under_way(const struct nt_record *r);

/** stage_may_be_absent() - whether some shapes do not pass a stage */
bool stage_may_be_absent(enum nt_side side, unsigned int stage);

/*
 * Replaces a stage that is not known: it begins or ends at a missing point, with no stage on the
 * other side of the point to join.
 */
#define STAGE_UNKNOWN 0xff
/* Replaces a stage that no command passes: of a transport whose commands were not seen. */
#define STAGE_ABSENT 0xfe

/* Room for the names of all stages of a side, joined, with the terminating 0. */
#define STAGE_NAME_LEN 256

/**
 * stages_join() - which stages are joined into one
 * @side: host or target
 * @missing: bits of the points that nothing gives, and whose commands were seen; 0 joins nothing
 * @into: filled, for each stage, with the first of the stages that it is joined with (mostly
 *        itself), STAGE_UNKNOWN or STAGE_ABSENT, which are both not less than NT_STAGES_MAX
 */
void stages_join(enum nt_side side, uint32_t missing, uint8_t into[NT_STAGES_MAX]);

/**
 * stage_joined_name() - the name of a stage and of the stages that are joined with it, "a+b"
 * @side: host or target
 * @into: from stages_join()
 * @stage: the first of the joined stages
 * @buf: filled; @size bytes
 *
 * Return: @buf.
 */
const char *stage_joined_name(enum nt_side side, const uint8_t into[NT_STAGES_MAX],
			      unsigned int stage, char *buf, size_t size);

/** fine_name() - the name of a side's finer point, see NT_HOST_FINE; NULL if it has no such one */
const char *fine_name(enum nt_side side, unsigned int fine);

/** wait_name() - the name of a wait, see NT_WAITS */
const char *wait_name(enum nt_wait wait);

/** record_fine_ns() - when finer point @fine of @r was, as its other points; 0 if it is not known
 */
uint64_t record_fine_ns(const struct nt_record *r, unsigned int fine);

/* In place of a CPU: it is not known. */
#define RECORD_NO_CPU (~0u)

/**
 * record_cpu() - the CPU on which a point of @r was taken
 * @point: enum nt_host_point, nt_target_point or nt_disk_point, or one of a file
 *
 * Return: RECORD_NO_CPU if that is not known. So it is of points that are packets' time stamps.
 */
unsigned int record_cpu(const struct nt_record *r, unsigned int point);

/**
 * record_queued() - what a host's command found queued on its connection
 * @nr: filled: requests in the driver's lists or being sent; NT_QUEUED_MOST: so many or more
 * @mutex: filled: "held" or "free", the lock for sending (send_mutex); NULL: that is not known
 *
 * Return: whether it is known.
 */
bool record_queued(const struct nt_record *r, unsigned int *nr, const char **mutex);

/* Segments of a shape: at most one for each point except the first. */
#define SEGMENTS_OF_SHAPE_MAX (NT_POINTS_MAX - 1)

/**
 * struct stage_split - how to split the records of one side of a machine; computed once for many
 * records
 * @missing: bits of the points that nothing gives there
 * @into: which stages are joined, see stages_join()
 * @shapes: bits of the shapes that commands there have
 * @shape: for each shape, its parts: from which available point to which, and the stage that the
 *         part counts for
 */
struct stage_split {
	enum nt_side side;
	uint32_t missing;
	uint8_t into[NT_STAGES_MAX];
	uint8_t shapes;
	struct stage_shape {
		uint8_t nr;
		struct {
			uint8_t from, to, at;
		} part[SEGMENTS_OF_SHAPE_MAX];
	} shape[NT_SHAPES_NR];
};

/**
 * record_lacks() - all arrivals of a side if an arrival that the record needs is not known; mostly
 * 0
 *
 * With TLS they are not known. The caller splits the record with these points missing, in addition
 * to the points that its machine lacks. The stage of the network then contains the time until the
 * packet was read.
 * Return: bits of points, like the missing points of a machine.
 */
uint32_t record_lacks(const struct nt_record *r);

/**
 * record_missing() - what is missing for one record of a machine
 * @missing: for all records of the machine
 *
 * Return: with record_lacks(), and without the stages of transports that are not the record's.
 */
uint32_t record_missing(const struct nt_record *r, uint32_t missing);

/** stage_split_init() - fill @s for a side of a machine that lacks the points @missing */
void stage_split_init(struct stage_split *s, enum nt_side side, uint32_t missing);

/**
 * stage_split() - split one record into its side's stages, by the table of segments
 * @s: of the machine and side of the record
 * @r: record
 * @stage: filled with nanoseconds, indexed by the side's stages; of joined stages only the first
 *         has a time
 *
 * Return: true if every point that the record's shape needs, and that is not missing, is there and
 * in order; the stages then add up to last point - first point. False: @stage is zeroed. A host
 * record may lack submit (iostats are off): it begins with queue_rq, and its blk_submission is 0.
 */
bool stage_split(const struct stage_split *s, const struct nt_record *r,
		 uint64_t stage[NT_STAGES_MAX]);

/** record_stages_joined() - stage_split() of a single record; @into is filled by stages_join() */
bool record_stages_joined(const struct nt_record *r, uint32_t missing, uint8_t into[NT_STAGES_MAX],
			  uint64_t stage[NT_STAGES_MAX]);

/*
 * When a command began and ended, as the side that recorded it saw it. Every latency is the
 * difference of these two. Times are CLOCK_MONOTONIC nanoseconds of that side's machine.
 */

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
 * Return: complete on the host; sent on the target, or done where nothing gives sent; 0 if it is
 * missing, or if a target's command has no end.
 */
static inline uint64_t record_end_ns(const struct nt_record *r)
{
	if (r->side == NT_HOST)
		return r->points[NT_H_COMPLETE];
	if (r->points[NT_T_SENT] || r->flags & (NT_F_IN_FLIGHT | NT_F_CANCELLED))
		return r->points[NT_T_SENT];
	return r->points[NT_T_DONE];
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
 * known; 0 if all are missing. Points of a disk are not looked at.
 */
static inline uint64_t record_last_ns(const struct nt_record *r)
{
	_Static_assert(NT_H_COMPLETE == NT_POINTS_MAX - 1 && NT_H_CQE == NT_H_COMPLETE - 1 &&
			       NT_T_SENT == NT_H_CQE - 1,
		       "these are the last ones");
	/* In most records one of these points is there. */
	uint64_t last = r->side == NT_HOST ? r->points[NT_H_COMPLETE] ?: r->points[NT_H_CQE] : 0;

	last = last ?: r->points[NT_T_SENT];
	for (unsigned int i = NT_T_SENT; !last && i-- > 0;)
		last = r->points[i];
	return last;
}

#endif /* NTPROF_CORE_SEGMENTS_H */
