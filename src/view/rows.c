// SPDX-License-Identifier: GPL-2.0-only
/* The table of controllers, queues and operations, with a small histogram in each row. */
#include <string.h>

#include "core/names.h"
#include "core/text.h"
#include "core/array.h"
#include "view/bars.h"
#include "view/view.h"
#include "view/block.h"

/* Room for the widest cell: a controller's name and which one of that name. */
#define CELL 48

/* Columns of the histogram at least, however narrow the terminal. */
#define HISTOGRAM_MIN 4
/* Octaves in one character: at most 2 wherever titles and gaps can give way. */
#define OCTAVES_WANTED 2

enum column_kind {
	COLUMN_CONTROLLER,
	COLUMN_QUEUE,
	COLUMN_OP,
	COLUMN_COMMANDS,
	COLUMN_IOPS,
	COLUMN_THROUGHPUT,
	COLUMN_INFLIGHT,
	COLUMN_PERCENTILE,
	COLUMN_MAX,
};

static const struct column {
	enum column_kind kind;
	const char *title;
	const char *brief; /* title where room is scarce */
	double percent;
} columns[] = {
	{COLUMN_CONTROLLER, "controller", "ctrl", 0},
	{COLUMN_QUEUE, "queue", "qid", 0},
	{COLUMN_OP, "op", "op", 0},
	{COLUMN_COMMANDS, "commands", "cmds", 0},
	{COLUMN_IOPS, "IOPS", "IOPS", 0},
	{COLUMN_THROUGHPUT, "MB/s", "MB/s", 0},
	{COLUMN_INFLIGHT, "inflight", "infl", 0},
	{COLUMN_PERCENTILE, "p50", "p50", 50},
	{COLUMN_PERCENTILE, "p90", "p90", 90},
	{COLUMN_PERCENTILE, "p99", "p99", 99},
	{COLUMN_PERCENTILE, "p99.9", "p99.9", 99.9},
	{COLUMN_MAX, "max", "max", 0},
};

static bool column_has_names(const struct column *c)
{
	return c->kind == COLUMN_CONTROLLER || c->kind == COLUMN_OP;
}

/* The rate says as much in an interval. */
static bool column_is_shown(const struct column *c, const struct block *b)
{
	return c->kind != COLUMN_COMMANDS || b->summary;
}

/* Three significant digits below 100, whole numbers above. */
static void number_format(double v, char cell[CELL])
{
	if (v == 0)
		snprintf(cell, CELL, "0");
	else
		snprintf(cell, CELL, "%.*f", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v);
}

static void cell_format(const struct block *b, size_t index, const struct column *c,
			char cell[CELL])
{
	const struct stats_row *row = b->s->rows[index];
	const struct hist *h = block_hist(b, row);
	double per_second = b->seconds > 0 ? 1 / b->seconds : 0;

	/* A sample's rates are estimates of those of all commands. */
	if (b->s->sample > 1)
		per_second *= b->s->sample;

	switch (c->kind) {
	case COLUMN_CONTROLLER:
		row_label(b->s, index, cell, CELL);
		break;
	case COLUMN_QUEUE:
		row_queue(row, cell, CELL);
		break;
	case COLUMN_OP:
		snprintf(cell, CELL, "%s", op_name(row->op));
		break;
	case COLUMN_COMMANDS:
		snprintf(cell, CELL, "%llu", (unsigned long long)h->count);
		break;
	case COLUMN_IOPS:
		number_format((double)h->count * per_second, cell);
		break;
	case COLUMN_THROUGHPUT:
		number_format((double)h->bytes / 1e6 * per_second, cell);
		break;
	case COLUMN_INFLIGHT:
		/* Little's law: mean number in flight = arrival rate * mean latency. */
		number_format((double)h->sum / 1e9 * per_second, cell);
		break;
	case COLUMN_PERCENTILE:
		view_duration(cell, CELL, (double)hist_percentile(h, c->percent));
		break;
	case COLUMN_MAX:
		view_duration(cell, CELL, (double)h->max);
		break;
	}
}

#define COLUMNS ARRAY_SIZE(columns)

/**
 * struct layout - how the table fits the width
 * @brief: short titles
 * @gap: columns between columns
 * @width: of each column that is shown
 * @octaves: powers of two in one character of the histogram
 */
struct layout {
	bool brief;
	unsigned int gap;
	unsigned int width[COLUMNS];
	unsigned int octaves;
};

static const char *column_title(const struct column *c, bool brief)
{
	return brief ? c->brief : c->title;
}

static unsigned int layout_measure(struct layout *l, const struct block *b)
{
	unsigned int used = 0;
	char cell[CELL];

	for (size_t c = 0; c < COLUMNS; c++) {
		size_t width = strlen(column_title(&columns[c], l->brief));

		l->width[c] = 0;
		if (!column_is_shown(&columns[c], b))
			continue;
		for (size_t i = 0; i < b->s->nr_rows; i++) {
			if (!block_hist(b, b->s->rows[i])->count)
				continue;
			cell_format(b, i, &columns[c], cell);
			if (strlen(cell) > width)
				width = strlen(cell);
		}
		l->width[c] = (unsigned int)width;
		used += l->width[c] + l->gap;
	}
	return used;
}

/* The roomiest layout that leaves the histogram what it wants, or else the tightest. */
static void layout_choose(struct layout *l, const struct block *b)
{
	static const struct {
		bool brief;
		unsigned int gap;
	} tries[] = {{false, 2}, {false, 1}, {true, 1}};
	unsigned int span = b->high - b->low, room = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tries); i++) {
		unsigned int used;

		l->brief = tries[i].brief;
		l->gap = tries[i].gap;
		used = layout_measure(l, b);
		room = used < b->width ? b->width - used : 0;
		if (room * OCTAVES_WANTED >= span)
			break;
	}
	if (room < HISTOGRAM_MIN)
		room = HISTOGRAM_MIN;
	for (l->octaves = 1; room * l->octaves < span; l->octaves++)
		;
}

static void histogram_draw(const struct block *b, const struct hist *h, unsigned int octaves,
			   FILE *f)
{
	uint64_t counts[VIEW_OCTAVES], sums[VIEW_OCTAVES] = {0}, most = 0;
	unsigned int last = 0;

	octaves_count(h, counts);
	for (unsigned int o = b->low; o < b->high; o++) {
		unsigned int at = (o - b->low) / octaves;

		sums[at] += counts[o];
		if (sums[at] > most)
			most = sums[at];
		if (sums[at])
			last = at;
	}
	if (!most)
		return;
	for (unsigned int i = 0; i <= last; i++)
		fputs(bar_level((double)sums[i] / (double)most, b->unicode), f);
}

static void caption_print(const struct block *b, unsigned int octaves, FILE *f)
{
	char low[VIEW_DURATION], high[VIEW_DURATION];

	/* What a character stands for is a power of two, hence the last bound is rounded up. */
	unsigned int end = b->low + (b->high - b->low + octaves - 1) / octaves * octaves;

	if (b->low == b->high)
		return;
	fprintf(f, "histograms: %s to %s, a factor of %u each character\n",
		octave_bound(low, sizeof(low), b->low),
		octave_bound(high, sizeof(high), end < VIEW_OCTAVES ? end : VIEW_OCTAVES),
		1u << octaves);
}

static void legend_print(const struct block *b, FILE *f)
{
	const char *what = b->s->side == NT_HOST ? "subsystem NQN" : "host NQN";
	const struct stats_row *row, *last = NULL;
	char label[CELL];

	for (size_t i = 0; i < b->s->nr_rows; i++) {
		row = b->s->rows[i];
		if (!block_hist(b, row)->count || !row->peer[0])
			continue;
		if (last && !strcmp(last->controller, row->controller) &&
		    !strcmp(last->peer, row->peer))
			continue;
		last = row;
		row_label(b->s, i, label, sizeof(label));
		fprintf(f, "%s: ", label);
		text_print(f, row->peer, TEXT_MARK);
		fprintf(f, " (%s)\n", what);
	}
}

static void cell_print(const struct layout *l, size_t c, const char *text, FILE *f)
{
	if (c)
		fprintf(f, "%*s", (int)l->gap, "");
	fprintf(f, column_has_names(&columns[c]) ? "%-*s" : "%*s", (int)l->width[c], text);
}

static void row_print(const struct block *b, const struct layout *l, size_t index, FILE *f)
{
	char cell[CELL];

	for (size_t c = 0; c < COLUMNS; c++) {
		if (!column_is_shown(&columns[c], b))
			continue;
		cell_format(b, index, &columns[c], cell);
		cell_print(l, c, cell, f);
	}
	fprintf(f, "%*s", (int)l->gap, "");
	histogram_draw(b, block_hist(b, b->s->rows[index]), l->octaves, f);
	fputs("\n", f);
}

void block_rows(const struct block *b, FILE *f, FILE *legend)
{
	struct layout l = {0};
	bool any = false;

	for (size_t i = 0; i < b->s->nr_rows && !any; i++)
		any = block_hist(b, b->s->rows[i])->count;
	if (!any) {
		fputs("no commands\n", f);
		return;
	}
	layout_choose(&l, b);
	for (size_t c = 0; c < COLUMNS; c++) {
		if (column_is_shown(&columns[c], b))
			cell_print(&l, c, column_title(&columns[c], l.brief), f);
	}
	fputs("\n", f);
	for (size_t i = 0; i < b->s->nr_rows; i++) {
		if (block_hist(b, b->s->rows[i])->count)
			row_print(b, &l, i, f);
	}
	caption_print(b, l.octaves, legend);
	legend_print(b, legend);
}
