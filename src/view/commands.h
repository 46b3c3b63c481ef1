/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns of single commands, of their points, and of their stages. */
#ifndef NTPROF_VIEW_COMMANDS_H
#define NTPROF_VIEW_COMMANDS_H

#include <stdbool.h>
#include <stdio.h>

#include "core/segments.h"
#include "core/time.h"
#include "merge/blocked.h"
#include "merge/merge.h"
#include "merge/merged_stages.h"
#include "merge/places.h"
#include "merge/totals.h"
#include "shared/record.h"
#include "view/columns.h"

/**
 * struct command_row - a command with the record of one side or of both
 * @r: the record that describes the command: the host's record, or else the target's
 * @seen: "merged", "ambiguous", "host_only" or "target_only"; the side where only one side is
 *        traced
 * @controller: the machine's name for it. In merged streams it is in @name: the host's name for it,
 *              or else the controller id
 * @c: its connection; NULL where one side is traced
 * @other_flags: NT_F_* of the target's record, if @r is the host's
 * @first: its first point
 * @wall_ns: the same by CLOCK_REALTIME; 0 if that is not known
 * @latency: nanoseconds; for a command that has not ended, its age
 */
struct command_row {
	const struct nt_record *r;
	const char *seen;
	const char *controller;
	const struct merge_connection *c;
	uint32_t other_flags;
	uint32_t disk;
	uint64_t first;
	int64_t wall_ns;
	uint64_t latency;
	char name[24];
};

enum command_column {
	COMMAND_TIME,	   /* RFC 3339; no value if the wall clock is not known */
	COMMAND_MONOTONIC, /* the recorder's CLOCK_MONOTONIC */
	COMMAND_SEEN,
	COMMAND_CONTROLLER,
	COMMAND_SUBSYSTEM,
	COMMAND_CNTLID,
	COMMAND_QUEUE,
	COMMAND_CID,
	COMMAND_OP,
	COMMAND_OPCODE,
	COMMAND_SHAPE,
	COMMAND_NSID,
	COMMAND_SLBA,
	COMMAND_LENGTH,
	COMMAND_STATUS,
	COMMAND_ERROR, /* name of the status; no value for success */
	COMMAND_REQUEUED,
	COMMAND_NO_CQE,
	COMMAND_CANCELLED,
	COMMAND_ARRIVAL_JOINED,
	COMMAND_RETRANSMITTED,
	COMMAND_PAGE_CACHE,  /* the target's page cache answered it */
	COMMAND_DISK_QUEUE,  /* what it was for the target's disk, if that is one of NVMe: queue */
	COMMAND_DISK_CID,    /* and command id */
	COMMAND_QUEUED,	     /* requests that it found to be sent on its connection */
	COMMAND_SEND_MUTEX,  /* and the lock for sending was held or free */
	COMMAND_WAS_OVERDUE, /* it was reported while it was in flight */
	COMMAND_LATENCY,     /* from the first point to the last */
};

/* Rows are struct command_row. */
extern const struct columns command_columns;

/** columns_command_of_side() - fill @row where one side is traced */
void columns_command_of_side(struct command_row *row, const char *controller,
			     const struct nt_record *r);

/**
 * columns_command_merged() - fill @row where streams are merged
 * @c: the connection
 * @host, @target: the records of the command; one may be NULL
 * @ambiguous: a record without a pair, because more than one record of the other side fits
 */
void columns_command_merged(struct command_row *row, const struct merge_connection *c,
			    const struct nt_record *host, const struct nt_record *target,
			    bool ambiguous);

/**
 * struct point_row - a point of a command
 * @at: nanoseconds after the first point
 * @since: nanoseconds after the previous point, if @first is false
 * @stage: the stage that ends here, "" if none does
 * @has_took: its beginning is known: the part of @stage that ends here took @took nanoseconds
 * @crosses: @stage is a wait for the other machine
 * @cpu: on which it was taken, or RECORD_NO_CPU
 */
struct point_row {
	enum nt_side side;
	unsigned int point;
	int64_t at;
	int64_t since;
	bool first;
	const char *stage;
	bool has_took;
	int64_t took;
	bool crosses;
	unsigned int cpu;
};

enum origin_column {
	ORIGIN_CPU,
	ORIGIN_PID,
	ORIGIN_COMM,
	ORIGIN_CGROUP,
};

/* Rows are struct origin; NULL: nothing is known. */
extern const struct columns origin_columns;

/** origin_print() - print an origin in a line: " from cpu=1 pid=..." */
void origin_print(const struct origin *o, FILE *f);

enum point_column {
	POINT_AT,
	POINT_SINCE,
	POINT_SIDE,
	POINT_POINT,
	POINT_STAGE,
	POINT_TOOK, /* no value if no stage ends here, or if its beginning is not known */
	POINT_CPU,
};

/* Rows are struct point_row. */
extern const struct columns point_columns;

/**
 * columns_points() - the points of a record, as times since the first of them
 * @rows: filled; @stage and @since stay empty
 *
 * Return: number of points.
 */
unsigned int columns_points(struct point_row rows[NT_POINTS_MAX], const struct nt_record *r);

/**
 * columns_point() - one of them
 * @at: filled with the time since the first point of the record
 *
 * Return: whether the record has it.
 */
bool columns_point(const struct nt_record *r, unsigned int point, int64_t *at);

/** struct command_stage_row - time of a stage in a command of @latency nanoseconds */
struct command_stage_row {
	const char *stage;
	int64_t ns;
	uint64_t latency;
};

enum command_stage_column {
	COMMAND_STAGE_STAGE,
	COMMAND_STAGE_TIME,
	COMMAND_STAGE_SHARE,
};

/* Rows are struct command_stage_row. */
extern const struct columns command_stage_columns;

/* Merged commands have the most stages. */
#define COMMAND_STAGES_MAX NT_MERGED_STAGES_NR
_Static_assert(COMMAND_STAGES_MAX >= NT_STAGES_MAX, "room for either's stages");

/**
 * struct command_stages - times of the stages of a command
 * @split: the command could be split into stages; otherwise there is no row
 * @row: @nr rows, in the order of the stages; joined stages have a single row
 * @name: names of the rows' stages; those of the ten are kept elsewhere, for the next command
 * @stage: the first stage of each row, by its number on the side or among the ten merged stages
 */
struct command_stages {
	bool split;
	unsigned int nr;
	struct command_stage_row row[COMMAND_STAGES_MAX];
	char name[COMMAND_STAGES_MAX][STAGE_NAME_LEN];
	unsigned char stage[COMMAND_STAGES_MAX];
};

/**
 * columns_stages_of_command() - fill @s for a record of the side that is traced
 * @missing: bits of the points that nothing gives, see core/segments.h
 * @latency: latency of the command
 */
void columns_stages_of_command(struct command_stages *s, const struct nt_record *r,
			       uint32_t missing, uint64_t latency);

/*
 * What an output shows of a command: its description and latency, its points, and its stages. The
 * text has one line for each command, in key=value pairs. Times and points are nanoseconds of the
 * side's own clock; points are distances from the side's first point.
 */

/**
 * struct command_line - a command, from which each format makes its line
 * @row: its description
 * @record: [side] records whose points are shown, or NULL
 * @in_flight: it has not ended: its latency is its age, and it has no @stages
 * @stages: its stages: of @stages_of, NT_SIDES: the ten
 * @under_way: for a command in flight: the stage that it is in, "" if that is not known
 * @origin: where it comes from, set by the caller; NULL: not known
 * @has_origin: lines have room for that, set by the caller
 */
struct command_line {
	struct command_row row;
	const struct origin *origin;
	bool has_origin;
	const struct nt_record *record[NT_SIDES];
	bool in_flight;
	enum nt_side stages_of;
	struct command_stages stages;
	char under_way[STAGE_NAME_LEN];
};

/**
 * command_line_of_side() - fill @l for a command of the side that is traced
 * @controller: name of its controller
 * @r: its record; with NT_F_IN_FLIGHT, so far
 * @missing: bits of the points that nothing gives, see core/segments.h
 * @now: for the age of a command in flight, and for its time by the wall clock
 */
void command_line_of_side(struct command_line *l, const char *controller, const struct nt_record *r,
			  uint32_t missing, const struct instant *now);

/**
 * command_line_merged() - fill @l for a command of recorded streams
 * @m: the machines of the streams
 * @c: its connection
 * @host, @target: the records of the command; one may be NULL
 * @ambiguous: a record without a pair, because more than one record of the other side fits
 * @clock: both clocks of the host, or else of the target, at some instant; see instant_wall()
 *
 * A command with both records is "merged" and has the ten stages; some of them are joined if its
 * machines lack points. Otherwise it is "host_only", "target_only" or "ambiguous".
 */
void command_line_merged(struct command_line *l, const struct machines *m,
			 const struct merge_connection *c, const struct nt_record *host,
			 const struct nt_record *target, bool ambiguous,
			 const struct instant *clock);

/** command_line_slow() - fill @l for one of the slowest commands; @clock: of its host */
void command_line_slow(struct command_line *l, const struct slow_command *c,
		       const struct instant *clock);

/** command_line_print() - print the line */
void command_line_print(const struct command_line *l, FILE *f);

/** command_stages_print() - print the end of such a line: " |", @before, and the stages */
void command_stages_print(const struct command_stages *s, const char *before, FILE *f);

/* The story of a merged command: both sides' points on one axis of time, and the ten stages. */

/** struct story_side - how a side's record is split, and the names of its stages */
struct story_side {
	struct stage_split how;
	char name[NT_STAGES_MAX][STAGE_NAME_LEN];
};

struct story_names {
	struct story_side side[NT_SIDES];
};

#define STORY_POINTS_MAX (2 * NT_POINTS_MAX)

/**
 * story_points() - all points of a command in the order of time, as times since the first point of
 * the host
 * @names: filled; it must stay valid as long as @points
 * @points: filled; the target's points are placed by the middle of the offset's bounds
 *
 * Return: number of points.
 */
unsigned int story_points(const struct slow_command *c, struct story_names *names,
			  struct point_row points[STORY_POINTS_MAX]);

/**
 * story_points_of_side() - the same for a record of one side alone
 * @missing: bits of the points that its machine lacks
 */
unsigned int story_points_of_side(const struct nt_record *r, uint32_t missing,
				  struct story_names *names,
				  struct point_row points[NT_POINTS_MAX]);

/**
 * story_print() - print a description of the command, with its time by @clock, see
 * command_line_slow(); then each point with the stage that it ends;
 * then the ten stages. Times are on the host's clock; the target's points are placed by the middle
 * of the offset's bounds
 */
void story_print(const struct slow_command *c, const struct instant *clock, FILE *f,
		 unsigned int width);

/* Rows are struct blocked. */
extern const struct columns blocked_columns;

/**
 * story_print_blocked() - print a line of what others did while this command waited
 * @b: NULL: nothing is printed
 * @target: the target's recording has it
 */
void story_print_blocked(const struct blocked *b, bool target, FILE *f);

#endif /* NTPROF_VIEW_COMMANDS_H */
