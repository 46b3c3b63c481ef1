// SPDX-License-Identifier: GPL-2.0-only
#include "view/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/columns.h"
#include "view/connections.h"
#include "view/lines.h"
#include "view/losses.h"
#include "view/stages.h"

#define LINE_VALUES(f, word, t, columns, row) \
	line_values(f, word, t, columns, ARRAY_SIZE(columns), row)

static const unsigned char stage_line[] = {
	STAGE_OP, STAGE_STAGE, STAGE_MEAN, STAGE_P50, STAGE_P99, STAGE_MAX, STAGE_SUM,
};

static void stages_of(const struct stage_rows *rows, enum nt_op op, const char *word, FILE *f)
{
	for (unsigned int i = 0; i < rows->nr; i++) {
		const struct stage_row *row = &rows->row[i];

		if (row->base.op == op && !row->unknown)
			LINE_VALUES(f, word, &stage_columns, stage_line, row);
	}
}

void numbers_print_side(const struct stats *s, FILE *f)
{
	static const unsigned char commands[] = {OPERATION_OP, OPERATION_COMMANDS};
	static const unsigned char percentiles[] = {
		OPERATION_OP,  OPERATION_P50,	OPERATION_P90,
		OPERATION_P99, OPERATION_P99_9, OPERATION_MAX,
	};
	static const unsigned char measured[] = {OPERATION_OP, OPERATION_MEASURED};
	struct stage_rows rows;
	struct hist h;

	columns_stages_of_side(&rows, s, true);
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		struct hist_row row = {.h = &h, .op = op};

		row.others = columns_hist_add_up(s, true, op, &h);
		if (!h.count && !row.others)
			continue;
		LINE_VALUES(f, "commands", &operation_columns, commands, &row);
		if (s->sample > 1)
			LINE_VALUES(f, "measured", &operation_columns, measured, &row);
		LINE_VALUES(f, "percentiles", &operation_columns, percentiles, &row);
		stages_of(&rows, op, "stage", f);
	}
}

static int queues_print(const struct totals *m, FILE *f)
{
	static const unsigned char who[] = {
		MERGED_SUBSYSTEM, MERGED_CNTLID, MERGED_QUEUE, MERGED_OP, MERGED_COMMANDS,
	};
	static const unsigned char rest[] = {
		MERGED_UNSPLIT,
		MERGED_UNSPLIT_SUM,
		MERGED_HOST_MACHINE,
		MERGED_TARGET_MACHINE,
	};
	unsigned char line[ARRAY_SIZE(who) + NT_MERGED_STAGES_NR + ARRAY_SIZE(rest)];
	struct merged_row *rows;
	unsigned int nr;

	rows = columns_merged_rows(m, &nr);
	if (!rows)
		return -ENOMEM;
	memcpy(line, who, sizeof(who));
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		line[ARRAY_SIZE(who) + i] = (unsigned char)(MERGED_SUMS + i);
	memcpy(line + ARRAY_SIZE(who) + NT_MERGED_STAGES_NR, rest, sizeof(rest));
	for (unsigned int r = 0; r < nr; r++)
		LINE_VALUES(f, "merged_queue", &merged_columns, line, &rows[r]);
	free(rows);
	return 0;
}

int numbers_print_merged(const struct totals *m, FILE *f)
{
	static const unsigned char merged[] = {
		OPERATION_OP,  OPERATION_COMMANDS, OPERATION_MEAN, OPERATION_P50,
		OPERATION_P99, OPERATION_MAX,	   OPERATION_SUM,
	};
	static const struct phrase rest[] = {
		PHRASE("arrival_joined ", MERGING_JOINED),
		PHRASE(" network ", MERGING_JOINED_NETWORK, .after = "\n"),
		PHRASE("file_reads ", MERGING_FILE_READS),
		PHRASE(" page_cache ", MERGING_PAGE_CACHE, .after = "\n"),
		PHRASE("unsplit ", MERGING_UNSPLIT, .after = "\n"),
		PHRASE("cancelled ", MERGING_CANCELLED, .after = "\n"),
		PHRASE("negative_stages ", MERGING_NEGATIVE_STAGES),
		PHRASE(" worst ", MERGING_WORST_NEGATIVE, .after = "\n"),
	};
	struct stage_rows rows;
	int err;

	columns_stages_merged(&rows, m);
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		const struct hist_row row = {.h = &m->latency[op], .op = op};

		if (!row.h->count)
			continue;
		LINE_VALUES(f, "merged", &operation_columns, merged, &row);
		stages_of(&rows, op, "merged_stage", f);
	}
	err = queues_print(m, f);
	errors_print_run(&m->errors, "merged_error", f);
	LINE_PRINT(f, &merging_columns, rest, m);
	return err;
}
