// SPDX-License-Identifier: GPL-2.0-only
#include "view/verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "core/text.h"
#include "view/lines.h"
#include "view/stages.h"

/* More lines are a table, which is below. */
#define LINES_MAX 2u
#define LINE_LEN 2048
/* A maximum of at least so many times p99: a few commands hung, which no percentile shows. */
#define MAX_BESIDE_P99 10
/* A smaller share of the stage is not worth a word. */
#define JOINED_SHARE_MIN 0.05

/* What a verdict is about: merged commands, or those of one side. */
struct source {
	const struct totals *merged;
	const struct stats *side;
	const char *machine;
	const struct stage_rows *stages;
	const struct hist *latency;
};

static bool is_io(unsigned int op)
{
	return op != NT_OP_ADMIN && op != NT_OP_FABRICS;
}

static bool enough(const struct hist *h)
{
	return h->count >= VERDICT_COMMANDS_MIN;
}

/*
 * Sorts the operations by their time, the longest first. Admin commands are left out beside I/O.
 * Return: their number.
 */
static unsigned int operations(const struct hist *latency, unsigned char op[NT_OPS_NR])
{
	unsigned int nr = 0;
	bool io = false;

	for (unsigned int i = 0; i < NT_OPS_NR; i++)
		io |= is_io(i) && latency[i].count;
	for (unsigned int i = 0; i < NT_OPS_NR; i++) {
		unsigned int at = nr;

		if (!latency[i].count || (io && !is_io(i)))
			continue;
		for (; at && latency[op[at - 1]].sum < latency[i].sum; at--)
			op[at] = op[at - 1];
		op[at] = (unsigned char)i;
		nr++;
	}
	return nr;
}

/* The time of some of the ten stages of a connection, or of a part of one. */
static double time_of(const struct totals_row *row, uint32_t stages)
{
	double ns = 0;

	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		ns += stages & 1u << i && row->how.into[i] == i ? (double)row->sum[i] : 0;
	for (unsigned int i = 0; i < NT_STAGE_PARTS_NR; i++)
		ns += stages & TOTALS_PART_BIT(i) ? (double)row->part[i] : 0;
	return ns;
}

/*
 * Appends the name of the machine that has the most of a stage's time, and how much if it has not
 * all of it. Return: 0 or -ENOMEM.
 */
static int add_busiest(char *text, size_t size, const struct totals *m, unsigned int op,
		       const struct stage_row *stage)
{
	unsigned int nr = m->machines ? m->machines->nr : 0, most = 0, used = 0;
	double *ns = calloc(nr + 1, sizeof(*ns)), all = 0;
	size_t at;

	if (!ns)
		return -ENOMEM;
	for (unsigned int i = 0; i < m->nr_rows; i++) {
		const struct totals_row *row = m->row[i];
		unsigned int stream;

		if (!row || !row->commands || row->op != op)
			continue;
		stream = stage->where == STAGE_AT_HOST ? row->connection->host_stream
						       : row->connection->target_stream;
		if (stream >= nr)
			continue;
		used += !ns[stream];
		ns[stream] += time_of(row, stage->stages);
		all += time_of(row, stage->stages);
		if (ns[stream] > ns[most])
			most = stream;
	}
	at = strlen(text);
	if (used == 1 || ns[most] * 2 >= all) {
		snprintf(text + at, size - at, " ");
		at = strlen(text);
		if (nr)
			text_copy(text + at, size - at, machines_get(m->machines, most)->name,
				  TEXT_HEX);
		at = strlen(text);
		if (used > 1)
			snprintf(text + at, size - at, ", %.1f %% of it", ns[most] / all * 100);
	} else {
		snprintf(text + at, size - at, "s, %u of them", used);
	}
	free(ns);
	return 0;
}

/* Appends " (target NAME)". Return: 0 or -ENOMEM. */
static int add_where(char *text, size_t size, const struct source *s, unsigned int op,
		     const struct stage_row *stage)
{
	enum nt_side side = stage->where == STAGE_AT_HOST ? NT_HOST : NT_TARGET;
	size_t at = strlen(text);
	struct value v;
	int err = 0;

	columns_get(&stage_columns, STAGE_WHERE, stage, &v);
	if (v.none)
		return 0;
	snprintf(text + at, size - at, " (%s", v.text);
	at = strlen(text);
	if (stage->where == STAGE_AT_HOST || stage->where == STAGE_AT_TARGET) {
		if (s->merged)
			err = add_busiest(text, size, s->merged, op, stage);
		else if (s->side->side == side && at + 1 < size) {
			text[at] = ' ';
			text_copy(text + at + 1, size - at - 1, s->machine, TEXT_HEX);
		}
	}
	at = strlen(text);
	snprintf(text + at, size - at, ")");
	return err;
}

/*
 * The stages of an operation, by where they are: one that is long does not show that another place
 * has more in all. Return: that place, STAGE_AT_*, or 0.
 */
static unsigned int elsewhere(const struct stage_rows *rows, const struct stage_row *longest,
			      double *share)
{
	double at[STAGE_AT_HOST + STAGE_AT_NETWORK + STAGE_AT_TARGET + 1] = {0};
	unsigned int most = longest->where;

	for (unsigned int i = 0; i < rows->nr; i++)
		if (rows->row[i].base.op == longest->base.op)
			at[rows->row[i].where] += (double)rows->row[i].sum;
	for (unsigned int i = 1; i < ARRAY_SIZE(at); i++)
		if (at[i] > at[most])
			most = i;
	*share = longest->whole > 0 ? at[most] / longest->whole : 0;
	return most != longest->where ? most : 0;
}

static double share_of(const struct stage_row *row)
{
	return row->whole > 0 ? (double)row->sum / row->whole : 0;
}

static const struct stage_row *longest_of(const struct stage_rows *rows, unsigned int op)
{
	const struct stage_row *longest = NULL;

	for (unsigned int i = 0; i < rows->nr; i++) {
		const struct stage_row *row = &rows->row[i];

		if (row->base.op == op && !row->unknown && (!longest || row->sum > longest->sum))
			longest = row;
	}
	return longest;
}

static void print_line(const char *text, FILE *f, unsigned int width)
{
	struct wrap w = {.f = f, .width = width};

	wrap_words(&w, text);
	fputs("\n", f);
}

static bool is_far(const struct hist *h)
{
	return h->max / MAX_BESIDE_P99 >= hist_percentile(h, 99);
}

/* "read: p50 1.20ms, p99 8.10ms; 67.6 % of the time in target_subsystem (target stor)" */
static int print_operation(const struct source *s, unsigned int op, FILE *f, unsigned int width)
{
	static const struct phrase figures[] = {
		PHRASE(NULL, OPERATION_OP),
		PHRASE(": p50 ", OPERATION_P50, .style = LINE_CELL),
		PHRASE(", p99 ", OPERATION_P99, .style = LINE_CELL),
		PHRASE(", max ", OPERATION_MAX, .style = LINE_CELL),
	};
	unsigned int nr_figures = ARRAY_SIZE(figures) - !is_far(&s->latency[op]);
	const struct hist_row row = {.h = &s->latency[op], .op = op};
	const struct stage_row *stage = longest_of(s->stages, op);
	struct stage_row place = {.where = 0};
	char text[LINE_LEN];
	double share;
	struct value v;
	size_t at;
	int err;

	line_format(text, sizeof(text), &operation_columns, figures, nr_figures, &row);
	at = strlen(text);
	snprintf(text + at, sizeof(text) - at, "; ");
	at = strlen(text);
	if (!stage || share_of(stage) <= 0) {
		snprintf(text + at, sizeof(text) - at, "no command could be split into stages");
		print_line(text, f, width);
		return 0;
	}
	if (!stage->where)
		snprintf(text + at, sizeof(text) - at,
			 "%.1f %% of the time is of commands that could not be split into stages",
			 share_of(stage) * 100);
	else if (share_of(stage) < 0.5)
		snprintf(text + at, sizeof(text) - at,
			 "the longest stage has %.1f %% of the time: %s", share_of(stage) * 100,
			 stage->stage);
	else
		snprintf(text + at, sizeof(text) - at, "%.1f %% of the time in %s",
			 share_of(stage) * 100, stage->stage);
	err = add_where(text, sizeof(text), s, op, stage);
	place.where = elsewhere(s->stages, stage, &share);
	at = strlen(text);
	if (place.where) {
		columns_get(&stage_columns, STAGE_WHERE, &place, &v);
		snprintf(text + at, sizeof(text) - at, "; all stages of %s have %.1f %%", v.text,
			 share * 100);
	}
	at = strlen(text);
	share = s->merged && s->merged->network_ns > 0
			? (double)s->merged->joined_network_ns / (double)s->merged->network_ns
			: 0;
	if (stage->where == STAGE_AT_NETWORK && share >= JOINED_SHARE_MIN)
		snprintf(text + at, sizeof(text) - at,
			 "; %.1f %% of that may be a wait for the reader instead", share * 100);
	print_line(text, f, width);
	return err;
}

/* Says how many commands there are if they are too few. */
static void print_thin(const struct source *s, const unsigned char *op, unsigned int nr, FILE *f,
		       unsigned int width)
{
	char text[LINE_LEN];
	size_t at;

	snprintf(text, sizeof(text),
		 "too few commands for a verdict, which takes %u of an operation:",
		 VERDICT_COMMANDS_MIN);
	for (unsigned int i = 0; i < nr; i++) {
		at = strlen(text);
		snprintf(text + at, sizeof(text) - at, "%s %" PRIu64 " %s", i ? "," : "",
			 s->latency[op[i]].count, op_name(op[i]));
	}
	print_line(text, f, width);
}

static int print(const struct source *s, FILE *f, unsigned int width)
{
	unsigned char op[NT_OPS_NR];
	unsigned int nr = operations(s->latency, op), told = 0, thin = 0;
	int err = 0;

	if (!nr)
		fputs("no command ended well\n", f);
	while (thin < nr && !enough(&s->latency[op[thin]]))
		thin++;
	if (nr && thin == nr)
		print_thin(s, op, nr, f, width);
	for (unsigned int i = 0; !err && i < nr && told < LINES_MAX; i++) {
		if (!enough(&s->latency[op[i]]))
			continue;
		err = print_operation(s, op[i], f, width);
		told++;
	}
	return err;
}

int verdict_print_merged(const struct totals *m, FILE *f, unsigned int width)
{
	struct stage_rows stages;
	const struct source s = {.merged = m, .stages = &stages, .latency = m->latency};

	columns_stages_merged(&stages, m);
	return print(&s, f, width);
}

int verdict_print_side(const struct stats *s, const char *machine, FILE *f, unsigned int width)
{
	struct hist latency[NT_OPS_NR];
	struct stage_rows stages;
	const struct source source = {
		.side = s, .machine = machine, .stages = &stages, .latency = latency};

	columns_stages_of_side(&stages, s, true);
	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		columns_hist_add_up(s, true, op, &latency[op]);
	return print(&source, f, width);
}
