// SPDX-License-Identifier: GPL-2.0-only
#include "view/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "view/columns_groups.h"
#include "view/columns_queues.h"
#include "view/groups.h"
#include "view/histograms.h"
#include "view/lines.h"

/* Least width of the histogram, in columns, even on a narrow terminal. */
#define HISTOGRAM_MIN 4
/* Octaves in one character: at most 2, as long as shorter titles and gaps can make enough room. */
#define OCTAVES_WANTED 2

/*
 * Columns of an interval and of the summary. In an interval the rate already contains the count.
 * The mean in flight is computed from commands that ended, so it describes the run, but not a queue
 * that waits right now. So an interval has the number in flight at its end instead.
 */
static const unsigned char interval_columns[] = {
	QUEUE_CONTROLLER, QUEUE_QUEUE,	QUEUE_OP,	 QUEUE_IOPS, QUEUE_THROUGHPUT,
	QUEUE_WAITING,	  QUEUE_OLDEST, QUEUE_AT_DEVICE, QUEUE_P50,  QUEUE_P90,
	QUEUE_P99,	  QUEUE_P99_9,	QUEUE_MAX,
};

static const unsigned char summary_columns[] = {
	QUEUE_CONTROLLER, QUEUE_QUEUE,	    QUEUE_OP,	     QUEUE_COMMANDS, QUEUE_MEASURED,
	QUEUE_IOPS,	  QUEUE_THROUGHPUT, QUEUE_IN_FLIGHT, QUEUE_LEFT,     QUEUE_OLDEST,
	QUEUE_P50,	  QUEUE_P90,	    QUEUE_P99,	     QUEUE_P99_9,    QUEUE_MAX,
};

/* A line that is too long for the terminal leaves out these columns, in this order. */
static const unsigned char dispensable_columns[] = {QUEUE_P90, QUEUE_P99_9};

/* Enough for queues and for groups. */
#define COLUMNS_MAX \
	(GROUP_COLUMNS_MAX > QUEUE_COLUMNS_NR ? GROUP_COLUMNS_MAX : (unsigned int)QUEUE_COLUMNS_NR)

/**
 * struct layout - how the table fits the width
 * @brief: short titles
 * @gap: text between columns
 * @left_out: number of dispensable columns that are left out
 * @phrase: @nr columns that are shown, with their widths
 * @octaves: powers of two in one character of the histogram
 */
struct layout {
	bool brief;
	const char *gap;
	unsigned int left_out;
	unsigned int nr;
	struct phrase phrase[COLUMNS_MAX];
	unsigned int octaves;
};

/* Columns of a line: @nr columns of @columns, and the dispensable ones among them. */
struct shown {
	const struct columns *columns;
	const unsigned char *column;
	size_t nr;
	const unsigned char *dispensable;
	size_t nr_dispensable;
};

/**
 * struct table - what is shown
 * @row: @nr rows
 * @total: the sum, above all rows; or NULL
 * @shown: the columns
 * @margin: there is a column for a mark, which the row @marked has
 */
struct table {
	const struct queue_row *row;
	size_t nr;
	const struct queue_row *total;
	struct shown shown;
	bool margin;
	size_t marked;
};

static bool any_waits(const struct block *b)
{
	for (size_t i = 0; i < b->s->nr_rows; i++)
		if (b->s->rows[i]->waiting.commands)
			return true;
	return false;
}

/* Whether a column is shown: it is not left out, and it has values here. */
static bool column_tells(const struct layout *l, const struct block *b, const struct shown *s,
			 unsigned int column)
{
	for (unsigned int i = 0; i < l->left_out && i < s->nr_dispensable; i++)
		if (s->dispensable[i] == column)
			return false;
	/* The table of groups has only columns that have values. */
	if (s->columns != &queue_columns)
		return true;
	switch (column) {
	case QUEUE_AT_DEVICE:
		return b->s->waiting_at_device;
	case QUEUE_MEASURED:
		return b->s->sample > 1 && b->s->counted;
	case QUEUE_LEFT:
		return any_waits(b);
	case QUEUE_OLDEST:
		return !b->summary || any_waits(b);
	default:
		return true;
	}
}

static size_t cell_measure(const struct columns *t, const struct queue_row *row,
			   unsigned int column)
{
	const struct column *c = &t->column[column];
	char cell[CELL_LEN];
	struct value v;

	columns_get(t, column, row, &v);
	return strlen(cell_format(cell, sizeof(cell), c, &v));
}

/* Return: width of the widest cell of a column, including its title. */
static size_t column_measure(const struct table *t, unsigned int column, bool brief)
{
	const struct columns *s = t->shown.columns;
	const struct column *c = &s->column[column];
	size_t width = strlen(brief && c->brief ? c->brief : c->title), len;

	for (size_t i = 0; i < t->nr; i++) {
		len = cell_measure(s, &t->row[i], column);
		if (len > width)
			width = len;
	}
	len = t->total ? cell_measure(s, t->total, column) : 0;
	return len > width ? len : width;
}

/* Return: width of all columns, with a gap after each. */
static unsigned int layout_measure(struct layout *l, const struct block *b, const struct table *t)
{
	const struct shown *s = &t->shown;
	const unsigned char *columns = s->column;
	unsigned int used = 0;

	l->nr = 0;
	for (size_t i = 0; i < s->nr; i++) {
		int width;

		if (!column_tells(l, b, s, columns[i]))
			continue;
		width = (int)column_measure(t, columns[i], l->brief);
		l->phrase[l->nr++] = (struct phrase){
			.before = i ? l->gap : NULL,
			.column = columns[i],
			.style = LINE_CELL,
			.width = cell_is_left(&s->columns->column[columns[i]]) ? -width : width,
		};
		used += (unsigned int)width + (unsigned int)strlen(l->gap);
	}
	return used;
}

/*
 * Chooses the widest layout that leaves enough room for the histogram, or else the narrowest one.
 */
static void layout_choose(struct layout *l, const struct block *b, const struct table *t)
{
	static const struct {
		bool brief;
		const char *gap;
		unsigned int left_out;
	} tries[] = {{false, "  ", 0}, {false, " ", 0}, {true, " ", 0},
		     {true, " ", 1},   {true, " ", 2},	{true, " ", 3}};
	unsigned int span = b->high - b->low, room = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tries); i++) {
		unsigned int used;

		l->brief = tries[i].brief;
		l->gap = tries[i].gap;
		l->left_out = tries[i].left_out;
		used = layout_measure(l, b, t) + t->margin;
		room = used < b->width ? b->width - used : 0;
		if (room * OCTAVES_WANTED >= span)
			break;
		/* Rather make the histogram narrow than leave out a column. */
		if (l->brief && room >= HISTOGRAM_MIN)
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
	uint64_t counts[OCTAVES_NR], sums[OCTAVES_NR] = {0}, most = 0;
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
	static const struct phrase caption[] = {
		PHRASE("histograms: ", OCTAVES_FROM, .style = LINE_CELL),
		PHRASE(" to ", OCTAVES_TO, .style = LINE_CELL),
	};
	/* A character stands for a power of two, so the last bound is rounded up. */
	const struct octaves_row span = {
		.low = b->low,
		.high = b->low + (b->high - b->low + octaves - 1) / octaves * octaves,
	};

	if (b->low == b->high)
		return;
	LINE_PRINT(f, &octaves_columns, caption, &span);
	fprintf(f, ", a factor of %u each character\n", 1u << octaves);
}

void legend_print_row(const struct block *b, const struct queue_row *row, FILE *f)
{
	static const struct phrase controller[] = {PHRASE(NULL, QUEUE_CONTROLLER, .after = ": ")};
	struct value peer;

	if (row->group) {
		group_print_names(row->group, TEXT_MARK, f);
		return;
	}
	columns_get(&queue_columns, QUEUE_PEER, row, &peer);
	if (peer.none)
		return;
	LINE_PRINT(f, &queue_columns, controller, row);
	text_print(f, peer.text, TEXT_MARK);
	fprintf(f, " (%s)\n", b->s->side == NT_HOST ? "subsystem NQN" : "host NQN");
}

/* Prints each name once, because several groups may have the same one. */
static void legend_print_group(const struct table *t, size_t at, FILE *f)
{
	struct group_name name;

	memcpy(&name, t->row[at].group, sizeof(name));
	for (size_t i = 0; i < at; i++) {
		if (!strcmp(t->row[i].group->nqn, name.nqn))
			name.nqn[0] = '\0';
		if (!strcmp(t->row[i].group->host, name.host))
			name.host[0] = '\0';
	}
	group_print_names(&name, TEXT_MARK, f);
}

static void legend_print(const struct block *b, const struct table *t, FILE *f)
{
	for (size_t i = 0; i < t->nr; i++) {
		const struct stats_row *r = t->row[i].row;
		bool told = false;

		if (t->row[i].group) {
			legend_print_group(t, i, f);
			continue;
		}
		for (size_t k = i; k > 0 && !told; k--)
			told = !strcmp(t->row[k - 1].row->controller, r->controller) &&
			       !strcmp(t->row[k - 1].row->peer, r->peer);
		if (!told)
			legend_print_row(b, &t->row[i], f);
	}
}

static void row_print(const struct block *b, const struct layout *l, const struct columns *t,
		      const struct queue_row *row, const char *margin, FILE *f)
{
	fputs(margin, f);
	line_print(f, t, l->phrase, l->nr, row);
	fputs(l->gap, f);
	histogram_draw(b, row->base.h, l->octaves, f);
	fputs("\n", f);
}

static void table_print(const struct block *b, const struct table *t, FILE *f, FILE *legend)
{
	const char *margin = t->margin ? " " : "";
	struct layout l = {0};

	layout_choose(&l, b, t);
	fputs(margin, f);
	line_titles(f, t->shown.columns, l.phrase, l.nr, l.brief);
	fputs("\n", f);
	if (t->total)
		row_print(b, &l, t->shown.columns, t->total, margin, f);
	for (size_t i = 0; i < t->nr; i++)
		row_print(b, &l, t->shown.columns, &t->row[i],
			  t->margin && i == t->marked ? ">" : margin, f);
	caption_print(b, l.octaves, legend);
	legend_print(b, t, legend);
}

static struct shown shown_queues(const struct block *b)
{
	return (struct shown){
		.columns = &queue_columns,
		.column = b->summary ? summary_columns : interval_columns,
		.nr = b->summary ? ARRAY_SIZE(summary_columns) : ARRAY_SIZE(interval_columns),
		.dispensable = dispensable_columns,
		.nr_dispensable = ARRAY_SIZE(dispensable_columns),
	};
}

/* All columns, in the order of the table. */
static struct shown shown_groups(const struct group_table *t, unsigned char all[GROUP_COLUMNS_MAX])
{
	for (unsigned int i = 0; i < t->columns.nr; i++)
		all[i] = (unsigned char)i;
	return (struct shown){
		.columns = &t->columns,
		.column = all,
		.nr = t->columns.nr,
		.dispensable = t->dispensable,
		.nr_dispensable = t->nr_dispensable,
	};
}

int rows_print(const struct block *b, FILE *f, FILE *legend)
{
	struct queue_row *row = calloc(b->s->nr_rows + 1, sizeof(*row));
	struct table t = {.row = row, .shown = shown_queues(b)};

	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < b->s->nr_rows; i++) {
		columns_queues_row(&row[t.nr], b->s, i, b->summary);
		t.nr += columns_queues_any(&row[t.nr]);
	}
	if (t.nr)
		table_print(b, &t, f, legend);
	else
		fputs("no commands\n", f);
	free(row);
	return 0;
}

void rows_print_visible(const struct block *b, const struct visible_rows *p, bool margin,
			size_t marked, FILE *f, FILE *legend)
{
	unsigned char all[GROUP_COLUMNS_MAX];
	const struct table t = {
		.shown = p->table ? shown_groups(p->table, all) : shown_queues(b),
		.row = p->row,
		.nr = p->nr,
		.total = &p->total,
		.margin = margin,
		.marked = marked,
	};

	table_print(b, &t, f, legend);
}
