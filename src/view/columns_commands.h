/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns of single commands, of their points, and of their stages. */
#ifndef NTPROF_VIEW_COLUMNS_COMMANDS_H
#define NTPROF_VIEW_COLUMNS_COMMANDS_H

#include "core/record.h"
#include "merge/merge.h"
#include "view/columns.h"

/**
 * struct command_row - a command of which one or both sides are known
 * @r: what tells what it was: the host's record, or else the target's
 * @seen: "merged", "ambiguous", "host_only" or "target_only"; the side where only one is traced
 * @controller: as the machine that traces calls it; NULL where streams are merged
 * @c: its connection; NULL where one side is traced
 * @first: its first point
 * @latency: nanoseconds; of a command that has not ended, its age
 */
struct command_row {
	const struct nt_record *r;
	const char *seen;
	const char *controller;
	const struct merge_connection *c;
	uint64_t first;
	uint64_t latency;
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
	COMMAND_REQUEUED,
	COMMAND_NO_CQE,
	COMMAND_CANCELLED,
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

#endif /* NTPROF_VIEW_COLUMNS_COMMANDS_H */
