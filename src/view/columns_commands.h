/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns of single commands, of their points, and of their stages. */
#ifndef NTPROF_VIEW_COLUMNS_COMMANDS_H
#define NTPROF_VIEW_COLUMNS_COMMANDS_H

#include "core/record.h"
#include "core/segments.h"
#include "merge/machines.h"
#include "merge/merge.h"
#include "merge/merged_stages.h"
#include "view/columns.h"

/**
 * struct command_row - a command of which one or both sides are known
 * @r: what tells what it was: the host's record, or else the target's
 * @seen: "merged", "ambiguous", "host_only" or "target_only"; the side where only one is traced
 * @controller: as its machine calls it: of merged streams the host's, or else the target's, which is then in @name
 * @c: its connection; NULL where one side is traced
 * @other_flags: NT_F_* of the target's record, where @r is the host's
 * @first: its first point
 * @latency: nanoseconds; of a command that has not ended, its age
 */
struct command_row {
	const struct nt_record *r;
	const char *seen;
	const char *controller;
	const struct merge_connection *c;
	uint32_t other_flags;
	uint64_t first;
	uint64_t latency;
	char name[24];
};

enum command_column {
	COMMAND_TIME,
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
	COMMAND_ERROR, /* what the status is called; none where it is success */
	COMMAND_REQUEUED,
	COMMAND_NO_CQE,
	COMMAND_CANCELLED,
	COMMAND_ARRIVAL_JOINED,
	COMMAND_WAS_OVERDUE, /* it has been told while it was in flight */
	COMMAND_LATENCY,     /* from the first point to the last */
};

/* Of struct command_row. */
extern const struct columns command_columns;

/** columns_command_of_side() - fill @row where one side is traced */
void columns_command_of_side(struct command_row *row, const char *controller,
			     const struct nt_record *r);

/**
 * columns_command_merged() - fill @row where streams are merged
 * @c: the connection
 * @host, @target: what is known of it; one may be NULL
 * @ambiguous: a single record that more than one of the other side might belong to
 */
void columns_command_merged(struct command_row *row, const struct merge_connection *c,
			    const struct nt_record *host, const struct nt_record *target,
			    bool ambiguous);

/**
 * struct point_row - a point of a command
 * @at: nanoseconds after the first one
 * @since: nanoseconds after the one before, where @first is false
 * @stage: the stage that ends here, "" if none does
 */
struct point_row {
	enum nt_side side;
	unsigned int point;
	int64_t at;
	int64_t since;
	bool first;
	const char *stage;
};

enum point_column {
	POINT_AT,
	POINT_SINCE,
	POINT_SIDE,
	POINT_POINT,
	POINT_STAGE,
};

/* Of struct point_row. */
extern const struct columns point_columns;

/**
 * columns_points() - the points that a record has, after the first of them
 * @rows: filled; @stage and @since stay empty
 *
 * Return: how many there are.
 */
unsigned int columns_points(struct point_row rows[NT_POINTS_MAX], const struct nt_record *r);

/** struct command_stage_row - what a stage took of a command of @latency nanoseconds */
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

/* Of struct command_stage_row. */
extern const struct columns command_stage_columns;

/* A command of one side has fewer. */
#define COMMAND_STAGES_MAX NT_MERGED_STAGES_NR
_Static_assert(COMMAND_STAGES_MAX >= NT_STAGES_MAX, "room for either's stages");

/**
 * struct command_stages - what the stages took of a command
 * @split: all of its stages can be told; else there is no row
 * @row: @nr of them, in the order of the stages; those that are one have a single row
 * @name: of the rows' stages
 * @stage: the first stage of each row, as its side or the ten have it
 */
struct command_stages {
	bool split;
	unsigned int nr;
	struct command_stage_row row[COMMAND_STAGES_MAX];
	char name[COMMAND_STAGES_MAX][STAGE_NAME_LEN];
	unsigned char stage[COMMAND_STAGES_MAX];
};

/**
 * columns_stages_of_command() - @s is filled, for a record of the side that is traced
 * @missing: bits of the points that nothing gives, see core/segments.h
 * @latency: of the command
 */
void columns_stages_of_command(struct command_stages *s, const struct nt_record *r,
			       uint32_t missing, uint64_t latency);

/**
 * columns_stage_under_way() - the name of the stage that a command is in, which has not ended
 * @buf: filled; @size of it, STAGE_NAME_LEN is enough
 *
 * Return: false if that is not known.
 */
bool columns_stage_under_way(const struct nt_record *r, uint32_t missing, char *buf, size_t size);

/**
 * columns_stages_of_merged() - @s is filled, for a command of which both sides are known
 * @missing: [side] bits of the points that its machine lacks
 */
void columns_stages_of_merged(struct command_stages *s, const struct nt_record *host,
			      const struct nt_record *target, const uint32_t missing[NT_SIDES],
			      uint64_t latency);

/** columns_stages_of_streams() - the same of a command of recorded streams; its side's stages where the other's record is NULL */
void columns_stages_of_streams(struct command_stages *s, const struct machines *m,
			       const struct merge_connection *c, const struct nt_record *host,
			       const struct nt_record *target, uint64_t latency);

#endif /* NTPROF_VIEW_COLUMNS_COMMANDS_H */
