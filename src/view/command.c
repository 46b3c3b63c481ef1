// SPDX-License-Identifier: GPL-2.0-only
#include "view/command.h"

#include "core/names.h"
#include "core/segments.h"
#include "view/columns_commands.h"
#include "view/lines.h"

static void print_what(FILE *f, const struct command_row *row)
{
	static const struct phrase how_long[] = {
		PHRASE(" was_overdue", COMMAND_WAS_OVERDUE),
		PHRASE(" latency=", COMMAND_LATENCY),
	};
	static const struct phrase how_long_so_far[] = {
		PHRASE(" still in flight after ", COMMAND_LATENCY),
	};
	static const struct phrase what[] = {
		PHRASE(NULL, COMMAND_TIME),
		PHRASE(" ", COMMAND_SEEN),
		PHRASE(" ", COMMAND_CONTROLLER),
		PHRASE(" ", COMMAND_SUBSYSTEM),
		PHRASE(" cntlid=", COMMAND_CNTLID),
		PHRASE(" q", COMMAND_QUEUE),
		PHRASE(" cid=", COMMAND_CID),
		PHRASE(" op=", COMMAND_OP),
		PHRASE(" opcode=", COMMAND_OPCODE),
		PHRASE(" shape=", COMMAND_SHAPE),
		PHRASE(" nsid=", COMMAND_NSID),
		PHRASE(" slba=", COMMAND_SLBA),
		PHRASE(" length=", COMMAND_LENGTH),
		PHRASE(" status=", COMMAND_STATUS),
		PHRASE(" error=", COMMAND_ERROR),
		PHRASE(" requeued", COMMAND_REQUEUED),
		PHRASE(" no_cqe", COMMAND_NO_CQE),
		PHRASE(" cancelled", COMMAND_CANCELLED),
		PHRASE(" arrival_joined", COMMAND_ARRIVAL_JOINED),
	};
	LINE_PRINT(f, &command_columns, what, row);
	if (row->r->flags & NT_F_IN_FLIGHT)
		LINE_PRINT(f, &command_columns, how_long_so_far, row);
	else
		LINE_PRINT(f, &command_columns, how_long, row);
}

static void print_points(FILE *f, const struct nt_record *r)
{
	static const struct phrase pair[] = {PHRASE(" ", POINT_POINT), PHRASE("=", POINT_AT)};
	struct point_row rows[NT_POINTS_MAX];
	unsigned int nr = columns_points(rows, r);

	for (unsigned int i = 0; i < nr; i++)
		LINE_PRINT(f, &point_columns, pair, &rows[i]);
}

static void print_stages(FILE *f, const char *before, const struct command_stages *s)
{
	static const struct phrase pair[] = {
		PHRASE(" ", COMMAND_STAGE_STAGE),
		PHRASE("=", COMMAND_STAGE_TIME),
	};

	fputs(s->split ? before : " unsplit", f);
	for (unsigned int i = 0; i < s->nr; i++)
		LINE_PRINT(f, &command_stage_columns, pair, &s->row[i]);
}

void command_print_stages(FILE *f, const struct nt_record *r, uint32_t missing, uint64_t latency)
{
	struct command_stages stages;

	fputs(" |", f);
	columns_stages_of_command(&stages, r, missing, latency);
	print_stages(f, "", &stages);
}

void command_print_side(FILE *f, const char *controller, const struct nt_record *r,
			uint32_t missing)
{
	struct command_row row;

	columns_command_of_side(&row, controller, r);
	print_what(f, &row);
	fputs(" |", f);
	print_points(f, r);
	command_print_stages(f, r, missing, row.latency);
	fputs("\n", f);
}

void command_print_in_flight(FILE *f, const char *controller, const struct nt_record *r,
			     uint32_t missing, uint64_t now)
{
	char name[STAGE_NAME_LEN];
	struct command_row row;

	columns_command_of_side(&row, controller, r);
	row.latency = now - row.first;
	print_what(f, &row);
	fputs(" |", f);
	print_points(f, r);
	if (columns_stage_under_way(r, missing, name, sizeof(name)))
		fprintf(f, " | in %s", name);
	fputs("\n", f);
}

void command_print_merged(FILE *f, const struct machines *m, const struct merge_connection *c,
			  const struct nt_record *host, const struct nt_record *target,
			  bool ambiguous)
{
	struct command_stages stages;
	struct command_row row;

	columns_command_merged(&row, c, host, target, ambiguous);
	/*
	 * A command that the target has seen is identified by the controller id, which both sides
	 * know. It is printed next.
	 */
	if (target)
		row.controller = NULL;
	print_what(f, &row);
	if (host) {
		fputs(" | host", f);
		print_points(f, host);
	}
	if (target) {
		fputs(" | target", f);
		print_points(f, target);
	}
	columns_stages_of_streams(&stages, m, c, host, target, row.latency);
	fputs(" |", f);
	print_stages(f, " stages", &stages);
	fputs("\n", f);
}
