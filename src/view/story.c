// SPDX-License-Identifier: GPL-2.0-only
#include "view/story.h"

#include <stdlib.h>

#include "core/names.h"
#include "core/segments.h"
#include "view/lines.h"

/* Widths of microseconds with three decimals. */
#define AT_WIDTH 14
#define SINCE_WIDTH 12

static int by_time(const void *a, const void *b)
{
	const struct point_row *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->point < y->point ? -1 : x->point > y->point;
}

static void names_init(struct story_side *n, enum nt_side side, uint32_t missing)
{
	stages_join(side, missing, n->into);
	for (unsigned int i = 0; i < stages_nr(side); i++)
		stage_joined_name(side, n->into, i, n->name[i], sizeof(n->name[i]));
}

/* The stage that ends with a point; "" if none does, or if the stage is not known. */
static const char *stage_ending(const struct story_side *n, enum nt_side side, unsigned int point,
				unsigned int shape)
{
	int stage = segments_stage_ending(side, point, shape);

	return stage < 0 || n->into[stage] == STAGE_UNKNOWN ? "" : n->name[n->into[stage]];
}

/*
 * Adds a side's points to the @nr points that are already there. @zero: the beginning of the axis,
 * on the side's clock.
 */
static unsigned int points_add(struct point_row *points, unsigned int nr,
			       const struct story_side *n, enum nt_side side,
			       const struct nt_record *r, uint64_t zero)
{
	for (unsigned int i = 0; i < points_nr(side); i++) {
		if (!r->points[i])
			continue;
		points[nr++] = (struct point_row){
			.side = side,
			.point = i,
			.at = (int64_t)(r->points[i] - zero),
			.stage = stage_ending(n, side, i, r->shape),
		};
	}
	return nr;
}

static void print_what(const struct slow_command *c, FILE *f)
{
	static const struct phrase what[] = {
		PHRASE(NULL, COMMAND_OP),
		PHRASE(" of ", COMMAND_LENGTH, .after = " bytes"),
		PHRASE(", ", COMMAND_SHAPE),
		PHRASE(", LBA ", COMMAND_SLBA),
		PHRASE(", status ", COMMAND_STATUS),
		PHRASE(", cancelled", COMMAND_CANCELLED),
		PHRASE(", ", COMMAND_SUBSYSTEM),
		PHRASE(" cntlid ", COMMAND_CNTLID),
		PHRASE(" queue ", COMMAND_QUEUE),
		PHRASE(" cid ", COMMAND_CID),
		PHRASE(": ", COMMAND_LATENCY, .after = "\n", .style = LINE_CELL),
	};
	struct command_row row;

	columns_command_merged(&row, &c->connection, &c->host, c->alone ? NULL : &c->target, false);
	row.latency = c->latency;
	LINE_PRINT(f, &command_columns, what, &row);
}

static void print_point(const struct point_row *row, FILE *f)
{
	static const struct phrase at[] = {
		PHRASE("  ", POINT_AT, .after = " us", .style = LINE_MICROSECONDS,
		       .width = AT_WIDTH),
	};
	static const struct phrase since[] = {
		PHRASE("  +", POINT_SINCE, .after = " us", .style = LINE_MICROSECONDS,
		       .width = SINCE_WIDTH),
	};
	static const struct phrase point[] = {
		PHRASE(NULL, POINT_SIDE, .width = -6),
		PHRASE(" ", POINT_POINT, .width = -10),
		PHRASE(" ", POINT_STAGE, .after = "\n"),
	};

	LINE_PRINT(f, &point_columns, at, row);
	if (row->first)
		fprintf(f, "  %*s", (int)sizeof("+ us") - 1 + SINCE_WIDTH, "");
	else
		LINE_PRINT(f, &point_columns, since, row);
	/* Indent the target's points, to distinguish them from the host's. */
	fputs(row->side == NT_HOST ? "  " : "      ", f);
	LINE_PRINT(f, &point_columns, point, row);
}

/* Prints how a command ended that was not answered. */
static void print_end(const struct slow_command *c, FILE *f)
{
	if (!(c->host.flags & NT_F_CANCELLED))
		return;
	fputs("  The host gave it up without an answer (timeout, reset or abort); the target ", f);
	if (c->alone)
		fputs("told nothing\n  of it: it never arrived, or died with its connection.\n", f);
	else if (c->target.flags & NT_F_CANCELLED)
		fputs("had it until its\n  connection closed: it died.\n", f);
	else if (c->target.points[NT_T_SEND])
		fputs("had sent one.\n", f);
	else
		fputs("had sent none.\n", f);
}

static void print_stages(const struct slow_command *c, FILE *f)
{
	static const struct phrase line[] = {
		PHRASE("  ", COMMAND_STAGE_STAGE, .width = -20),
		PHRASE(" ", COMMAND_STAGE_TIME, .after = " us", .style = LINE_MICROSECONDS,
		       .width = AT_WIDTH),
		PHRASE("  ", COMMAND_STAGE_SHARE, .after = "\n", .style = LINE_CELL, .width = 7),
	};
	struct command_stages stages;

	/*
	 * print_end() has explained a cancelled command, and the time that the host waited is not a
	 * stage.
	 */
	if (c->alone || (c->host.flags & NT_F_CANCELLED))
		return;
	columns_stages_of_merged(&stages, &c->host, &c->target, c->missing, c->latency);
	if (!stages.split)
		fputs("  unsplit: not all of its stages can be told\n", f);
	for (unsigned int i = 0; i < stages.nr; i++)
		LINE_PRINT(f, &command_stage_columns, line, &stages.row[i]);
}

unsigned int story_points(const struct slow_command *c, struct story_names *names,
			  struct point_row points[STORY_POINTS_MAX])
{
	uint64_t zero = c->host.points[NT_H_SUBMIT] ?: c->host.points[NT_H_QUEUE_RQ];
	uint64_t offset =
		(uint64_t)c->connection.offset_low +
		((uint64_t)c->connection.offset_high - (uint64_t)c->connection.offset_low) / 2;
	unsigned int nr = 0;

	for (int side = 0; side < NT_SIDES; side++)
		names_init(&names->side[side], (enum nt_side)side, c->missing[side]);
	nr = points_add(points, nr, &names->side[NT_HOST], NT_HOST, &c->host, zero);
	if (!c->alone)
		nr = points_add(points, nr, &names->side[NT_TARGET], NT_TARGET, &c->target,
				zero + offset);
	qsort(points, nr, sizeof(points[0]), by_time);
	for (unsigned int i = 0; i < nr; i++) {
		points[i].first = !i;
		points[i].since =
			i ? (int64_t)((uint64_t)points[i].at - (uint64_t)points[i - 1].at) : 0;
	}
	return nr;
}

void story_print(const struct slow_command *c, FILE *f)
{
	struct point_row points[STORY_POINTS_MAX];
	struct story_names names;
	unsigned int nr = story_points(c, &names, points);

	print_what(c, f);
	for (unsigned int i = 0; i < nr; i++)
		print_point(&points[i], f);
	print_end(c, f);
	print_stages(c, f);
}
