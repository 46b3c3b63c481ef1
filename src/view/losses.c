// SPDX-License-Identifier: GPL-2.0-only
#include "view/losses.h"

#include <string.h>

#include "core/names.h"
#include "view/lines.h"

#define FIELD(member) COLUMN_FIELD(struct loss_row, member)

static const struct column loss[] = {
	[LOSS_LOSS] = COLUMN("loss", NAME, FIELD(counter), .words = WORD_COUNTER),
	[LOSS_TOTAL] = COLUMN("total", COUNT, FIELD(total)),
	[LOSS_ADDED] = COLUMN("added", COUNT, FIELD(added), .least = 1),
	[LOSS_QUEUES] = COLUMN("queues", COUNT, FIELD(queues), .least = 1),
	[LOSS_MEANING] = COLUMN("meaning", NAME, FIELD(counter), .words = WORD_COUNTER_MEANING),
};

const struct columns loss_columns = COLUMNS("losses", loss);

/*
 * Commands at the edge of a burst are shown only if there are bursts, and names only if any are
 * gone.
 */
static bool applies(const struct stats *s, unsigned int counter)
{
	if (counter == COUNTER_BURST_EDGE && burst_any(&s->burst))
		return true;
	return (counter != COUNTER_BURST_EDGE && counter != COUNTER_NAMES_GONE) ||
	       s->counters_total[counter];
}

static const struct phrase item[] = {
	PHRASE(NULL, LOSS_LOSS),
	PHRASE("=", LOSS_TOTAL),
	PHRASE("(+", LOSS_ADDED, .after = ")"),
	PHRASE(" of ", LOSS_QUEUES, .after = " queue", .plural = true),
};

void losses_print_interval(const struct stats *s, FILE *f, unsigned int width)
{
	struct wrap w = {.f = f, .width = width};

	wrap_text(&w, "losses:");
	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		const struct loss_row row = columns_losses_row(s, c);

		/* The number of commands in flight is known only when the run ends. */
		if (c != COUNTER_IN_FLIGHT && applies(s, c))
			WRAP_LINE(&w, &loss_columns, item, &row);
	}
	fputs("\n", f);
}

bool losses_print_brief(const struct stats *s, FILE *f, unsigned int width)
{
	static const char more[] = "  and more";
	char line[CELL_LEN] = "losses:", text[CELL_LEN] = "  ";
	size_t used = strlen(line), room = width < sizeof(line) ? width : sizeof(line) - 1;
	bool any = false, cut = false;

	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		const struct loss_row row = columns_losses_row(s, c);
		size_t len;

		if (!row.total || c == COUNTER_IN_FLIGHT)
			continue;
		/* Without any other loss, the counts agree, and it did no harm. */
		any |= counter_is_loss(c) && c != COUNTER_PROBE_MISSED;
		line_format(text + 2, sizeof(text) - 2, &loss_columns, item, ARRAY_SIZE(item),
			    &row);
		len = strlen(text);
		cut |= used + len + strlen(more) > room;
		if (!cut)
			memcpy(line + used, text, len + 1);
		used += cut ? 0 : len;
	}
	if (!cut && used == strlen("losses:"))
		fputs("no losses\n", f);
	else
		fprintf(f, "%s%s\n", line, cut ? more : "");
	return any;
}

void losses_print_advice(const struct stats *s, FILE *f, unsigned int width)
{
	static const struct phrase line[] = {
		PHRASE(NULL, LOSS_LOSS),
		PHRASE(" ", LOSS_TOTAL),
		PHRASE(" (+", LOSS_ADDED, .after = ")"),
		PHRASE(" of ", LOSS_QUEUES, .after = " queue", .plural = true),
		PHRASE(": ", LOSS_MEANING, .after = "."),
	};
	struct wrap none = {.f = f, .width = width};
	unsigned int zeros = 0;

	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		const struct loss_row row = columns_losses_row(s, c);
		struct wrap w = {.f = f, .width = width};
		char text[CELL_LEN];

		zeros += !row.total;
		if (!row.total || c == COUNTER_IN_FLIGHT)
			continue;
		wrap_words(&w, line_format(text, sizeof(text), &loss_columns, line,
					   ARRAY_SIZE(line), &row));
		wrap_words(&w, " ");
		wrap_words(&w, counter_advice(c));
		fputs("\n", f);
	}
	if (!zeros)
		return;
	wrap_words(&none, "Zero:");
	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		if (s->counters_total[c] || c == COUNTER_IN_FLIGHT)
			continue;
		wrap_words(&none, " ");
		wrap_words(&none, counter_name(c));
	}
	fputs("\n", f);
}

/* The meaning follows if the count is not zero. */
static void line_of_loss(const struct loss_row *row, FILE *f)
{
	static const struct phrase line[] = {PHRASE(NULL, LOSS_LOSS), PHRASE(" ", LOSS_TOTAL)};
	static const struct phrase meaning[] = {
		PHRASE("  # ", LOSS_MEANING),
		PHRASE(", of ", LOSS_QUEUES, .after = " queue", .plural = true),
	};

	LINE_PRINT(f, &loss_columns, line, row);
	if (row->total)
		LINE_PRINT(f, &loss_columns, meaning, row);
	fputs("\n", f);
}

void losses_print_run(const struct stats *s, FILE *f)
{
	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		const struct loss_row row = columns_losses_row(s, c);

		fputs("loss ", f);
		line_of_loss(&row, f);
	}
}

bool losses_print_some(const struct stats *s, FILE *f)
{
	bool any = false;

	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		const struct loss_row row = columns_losses_row(s, c);

		if (row.total)
			line_of_loss(&row, f);
		any |= row.total != 0;
	}
	return any;
}

static bool is_other(const struct error_count *e)
{
	return e->status == ERRORS_OTHER;
}

static void get_status(const void *row, const struct column *c, struct value *v)
{
	const struct error_count *e = row;

	value_natural(v, is_other(e) ? 0 : e->status);
	v->none = is_other(e);
}

static void get_name(const void *row, const struct column *c, struct value *v)
{
	const struct error_count *e = row;

	value_text(v, is_other(e) ? "others" : status_name(e->op, e->status));
}

static bool of_several_queues(const void *row)
{
	return !((const struct error_count *)row)->controller[0];
}

#define ERROR(member) COLUMN_FIELD(struct error_count, member)

static const struct column error[] = {
	[ERROR_CONTROLLER] = COLUMN("controller", NAME, ERROR(controller), .least = 1),
	[ERROR_PEER] = COLUMN("peer", TEXT, ERROR(peer), .least = 1),
	[ERROR_QUEUE] = COLUMN("queue", NUMBER, ERROR(qid), .none = of_several_queues),
	[ERROR_STATUS] = COLUMN("status", CODE, .get = get_status, .digits = 3),
	[ERROR_OP] = COLUMN("op", NAME, ERROR(op), .words = WORD_OP),
	[ERROR_NAME] = COLUMN("name", NAME, .get = get_name),
	[ERROR_TOTAL] = COLUMN("total", COUNT, ERROR(total)),
	[ERROR_ADDED] = COLUMN("added", COUNT, ERROR(interval), .least = 1),
};

const struct columns error_columns = COLUMNS("errors", error);

void errors_print_interval(const struct errors *e, FILE *f, unsigned int width)
{
	static const struct phrase item[] = {
		PHRASE(NULL, ERROR_CONTROLLER, .after = " "),
		PHRASE("q", ERROR_QUEUE, .after = " "),
		PHRASE(NULL, ERROR_OP, .after = " "),
		PHRASE(NULL, ERROR_NAME),
		PHRASE("=", ERROR_TOTAL),
		PHRASE("(+", ERROR_ADDED, .after = ")"),
	};
	struct wrap w = {.f = f, .width = width};

	if (!e->nr)
		return;
	wrap_text(&w, "errors, in no histogram:");
	for (size_t i = 0; i < e->nr; i++)
		if (e->row[i].total)
			WRAP_LINE(&w, &error_columns, item, &e->row[i]);
	fputs("\n", f);
}

void errors_print_run(const struct errors *e, const char *word, FILE *f)
{
	static const struct phrase line[] = {
		PHRASE(" ", ERROR_OP),	   PHRASE(" ", ERROR_NAME),
		PHRASE(" ", ERROR_TOTAL),  PHRASE(" status=", ERROR_STATUS),
		PHRASE(" q", ERROR_QUEUE), PHRASE(" ", ERROR_CONTROLLER),
		PHRASE(" ", ERROR_PEER),
	};

	for (size_t i = 0; i < e->nr; i++) {
		if (!e->row[i].total)
			continue;
		fputs(word, f);
		LINE_PRINT(f, &error_columns, line, &e->row[i]);
		fputs(i ? "\n" : "  # errors are in no histogram\n", f);
	}
}
