// SPDX-License-Identifier: GPL-2.0-only
#include "view/command.h"

#include "core/names.h"
#include "core/segments.h"
#include "merge/merged_stages.h"
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
		PHRASE(" requeued", COMMAND_REQUEUED),
		PHRASE(" no_cqe", COMMAND_NO_CQE),
		PHRASE(" cancelled", COMMAND_CANCELLED),
	};

	LINE_PRINT(f, &command_columns, what, row);
	if (row->r->flags & NT_F_IN_FLIGHT)
		LINE_PRINT(f, &command_columns, how_long_so_far, row);
	else
		LINE_PRINT(f, &command_columns, how_long, row);
}

static void print_points(FILE *f, const struct nt_record *r, enum nt_side side)
{
	static const struct phrase pair[] = {PHRASE(" ", POINT_POINT), PHRASE("=", POINT_AT)};
	uint64_t first = 0;

	for (unsigned int i = 0; i < points_nr(side); i++) {
		if (!r->points[i])
			continue;
		if (!first)
			first = r->points[i];
		/* A damaged stream may have them in any order. */
		const struct point_row row = {
			.side = side,
			.point = i,
			.at = (int64_t)(r->points[i] - first),
			.stage = "",
		};

		LINE_PRINT(f, &point_columns, pair, &row);
	}
}

static void print_stage(FILE *f, const char *stage, int64_t ns, uint64_t latency)
{
	static const struct phrase pair[] = {
		PHRASE(" ", COMMAND_STAGE_STAGE),
		PHRASE("=", COMMAND_STAGE_TIME),
	};
	const struct command_stage_row row = {stage, ns, latency};

	LINE_PRINT(f, &command_stage_columns, pair, &row);
}

void command_print_side(FILE *f, const char *controller, const struct nt_record *r,
			uint32_t missing)
{
	uint64_t stage[NT_STAGES_MAX];
	uint8_t into[NT_STAGES_MAX];
	char name[STAGE_NAME_LEN];
	struct command_row row;

	columns_command_of_side(&row, controller, r);
	print_what(f, &row);
	fputs(" |", f);
	print_points(f, r, r->side);
	fputs(" |", f);
	if (record_stages_joined(r, missing, into, stage)) {
		for (unsigned int i = 0; i < stages_nr(r->side); i++)
			if (into[i] == i)
				print_stage(f,
					    stage_joined_name(r->side, into, i, name, sizeof(name)),
					    (int64_t)stage[i], row.latency);
	} else {
		fputs(" unsplit", f);
	}
	fputs("\n", f);
}

static void print_merged_stages(FILE *f, const struct merged_split *how,
				const int64_t stage[NT_MERGED_STAGES_NR], uint64_t latency)
{
	char name[STAGE_NAME_LEN];

	fputs(" | stages", f);
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		if (how->into[i] == i)
			print_stage(f, merged_joined_name(how->into, i, name, sizeof(name)),
				    stage[i], latency);
}

void command_print_in_flight(FILE *f, const char *controller, const struct nt_record *r,
			     uint32_t missing, uint64_t now)
{
	uint8_t into[NT_STAGES_MAX];
	char name[STAGE_NAME_LEN];
	struct command_row row;
	int stage;

	columns_command_of_side(&row, controller, r);
	row.latency = now - row.first;
	print_what(f, &row);
	fputs(" |", f);
	print_points(f, r, r->side);
	stages_join(r->side, missing, into);
	stage = record_stage_under_way(r);
	if (stage >= 0 && into[stage] != STAGE_UNKNOWN)
		fprintf(f, " | in %s",
			stage_joined_name(r->side, into, into[stage], name, sizeof(name)));
	fputs("\n", f);
}

void command_print_merged(FILE *f, const struct machines *m, const struct merge_connection *c,
			  const struct nt_record *host, const struct nt_record *target,
			  bool ambiguous)
{
	int64_t stage[NT_MERGED_STAGES_NR];
	struct merged_split how;
	struct command_row row;

	columns_command_merged(&row, c, host, target, ambiguous);
	print_what(f, &row);
	if (host) {
		fputs(" | host", f);
		print_points(f, host, NT_HOST);
	}
	if (target) {
		fputs(" | target", f);
		print_points(f, target, NT_TARGET);
	}
	if (host && target) {
		merged_split_init(&how, machines_get(m, c->host_stream)->missing,
				  machines_get(m, c->target_stream)->missing);
		if (merged_split(&how, host, target, stage))
			print_merged_stages(f, &how, stage, row.latency);
		else
			fputs(" | unsplit", f);
	}
	fputs("\n", f);
}
