// SPDX-License-Identifier: GPL-2.0-only
#include "merge/counts.h"
#include "view/connections.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/columns_connections.h"
#include "view/lines.h"

/* Width of names such as "nvme123" and "write_zeroes". */
#define HOST_WIDTH 8
#define OP_WIDTH 12
#define DURATION_WIDTH 8

/* Width of the column with the names of the hosts, or of the targets. */
static int names_width(const struct merged_row *rows, unsigned int nr, enum merged_column column)
{
	size_t width = strlen(merged_columns.column[column].title);

	for (unsigned int i = 0; i < nr; i++) {
		struct value v;

		columns_get(&merged_columns, column, &rows[i], &v);
		if (strlen(v.text) > width)
			width = strlen(v.text);
	}
	return (int)width;
}

int connections_print_stages(const struct totals *m, FILE *f)
{
	static const struct phrase who[] = {
		PHRASE(NULL, MERGED_HOST, .width = -HOST_WIDTH),
		PHRASE(" ", MERGED_CNTLID, .width = 6),
		PHRASE(" ", MERGED_QUEUE, .width = 5),
		PHRASE("  ", MERGED_OP, .width = -OP_WIDTH),
		PHRASE(" ", MERGED_COMMANDS, .width = 9),
		PHRASE(" ", MERGED_MEAN, .style = LINE_CELL, .width = DURATION_WIDTH),
		PHRASE(" ", MERGED_UNSPLIT, .width = 8),
	};
	struct phrase machines[2], means[NT_MERGED_STAGES_NR];
	/* With one host and one target, the line above the table has their names. */
	bool several = m->machines && m->machines->nr > 2;
	struct merged_row *rows;
	unsigned int nr;

	for (unsigned int i = 0; i < ARRAY_SIZE(means); i++)
		means[i] = (struct phrase)PHRASE(" ", (unsigned char)(MERGED_MEANS + i),
						 .style = LINE_CELL, .width = DURATION_WIDTH);
	rows = columns_merged_rows(m, &nr);
	if (!rows)
		return -ENOMEM;
	machines[0] = (struct phrase)PHRASE(NULL, MERGED_HOST_MACHINE, .after = "  ",
					    .width = -names_width(rows, nr, MERGED_HOST_MACHINE));
	machines[1] = (struct phrase)PHRASE(NULL, MERGED_TARGET_MACHINE, .after = "  ",
					    .width = -names_width(rows, nr, MERGED_TARGET_MACHINE));
	if (nr && several)
		fprintf(f, "%*s  %*s  ", machines[0].width,
			merged_columns.column[MERGED_HOST_MACHINE].title, machines[1].width,
			merged_columns.column[MERGED_TARGET_MACHINE].title);
	if (nr) {
		line_titles(f, &merged_columns, who, ARRAY_SIZE(who), false);
		line_titles(f, &merged_columns, means, ARRAY_SIZE(means), false);
		fputs("\n", f);
	}
	for (unsigned int r = 0; r < nr; r++) {
		if (several)
			LINE_PRINT(f, &merged_columns, machines, &rows[r]);
		LINE_PRINT(f, &merged_columns, who, &rows[r]);
		LINE_PRINT(f, &merged_columns, means, &rows[r]);
		fputs("\n", f);
	}
	free(rows);
	return 0;
}

static void connection_print(const struct merge_connection *c, const struct machines *m, FILE *f)
{
	static const struct phrase machines[] = {
		PHRASE("; host ", PAIR_HOST),
		PHRASE(", target ", PAIR_TARGET),
	};
	static const struct phrase target[] = {PHRASE("; target ", PAIR_TARGET)};
	const struct pair_row pair = {
		machines_get(m, c->host_stream),
		machines_get(m, c->target_stream),
	};
	static const struct phrase line[] = {
		PHRASE("connection ", CONNECTION_SUBSYSTEM),
		PHRASE(" cntlid ", CONNECTION_CNTLID),
		PHRASE(" queue ", CONNECTION_QUEUE),
		PHRASE(": matched ", CONNECTION_MATCHED),
		PHRASE(", host only ", CONNECTION_HOST_ONLY),
		PHRASE(", target only ", CONNECTION_TARGET_ONLY),
		PHRASE(", ambiguous ", CONNECTION_AMBIGUOUS),
		PHRASE(", clock offset ", CONNECTION_CLOCK_OFFSET, .after = " ns"),
		PHRASE(" +- ", CONNECTION_CLOCK_OFFSET_ERROR, .after = " ns"),
		PHRASE(", drift ", CONNECTION_DRIFT, .after = " ppm", .digits = 1),
		PHRASE(", clock jumps ", CONNECTION_CLOCK_JUMPS),
	};

	if (!columns_connection_any(c))
		return;
	LINE_PRINT(f, &connection_columns, line, c);
	if (pair.host->known)
		LINE_PRINT(f, &pair_columns, machines, &pair);
	else
		LINE_PRINT(f, &pair_columns, target, &pair);
	fputs("\n", f);
}

static int by_name(const void *a, const void *b)
{
	const struct merge_connection *const *x = a, *const *y = b;

	return merge_connection_order(*x, *y);
}

int connections_print(const struct merge *m, const struct machines *machines, FILE *f)
{
	unsigned int nr = merge_connections(m);
	const struct merge_connection **c = calloc(nr + 1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++)
		c[i] = merge_connection(m, i);
	qsort(c, nr, sizeof(*c), by_name);
	for (unsigned int i = 0; i < nr; i++)
		connection_print(c[i], machines, f);
	free(c);
	return 0;
}

void connections_print_strays(const struct merge *m, FILE *f)
{
	static const struct phrase line[] = {
		PHRASE("records of queues that no stream told of: ", STRAY_RECORDS, .after = "\n"),
		PHRASE("records of queues past the limits of connections or slots: ",
		       STRAY_PAST_LIMITS, .after = "\n"),
		PHRASE("records of queues of which too many have one name to be told apart: ",
		       STRAY_IN_CROWD, .after = "\n"),
		PHRASE("records given up because too many waited: ", STRAY_CROWDED_OUT,
		       .after = "\n"),
	};

	LINE_PRINT(f, &stray_columns, line, m);
}
