// SPDX-License-Identifier: GPL-2.0-only
#include "view/rows.h"

#include <errno.h>
#include <math.h>
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
	QUEUE_CONTROLLER, QUEUE_TRANSPORT, QUEUE_DEVICES,    QUEUE_ADDRESS, QUEUE_QUEUE,
	QUEUE_OP,	  QUEUE_IOPS,	   QUEUE_THROUGHPUT, QUEUE_WAITING, QUEUE_OLDEST,
	QUEUE_AT_DEVICE,  QUEUE_WINDOW,	   QUEUE_P50,	     QUEUE_P90,	    QUEUE_P99,
	QUEUE_P99_9,	  QUEUE_MAX,
};

static const unsigned char summary_columns[] = {
	QUEUE_CONTROLLER, QUEUE_TRANSPORT, QUEUE_QUEUE,	 QUEUE_OP,
	QUEUE_COMMANDS,	  QUEUE_MEASURED,  QUEUE_IOPS,	 QUEUE_THROUGHPUT,
	QUEUE_IN_FLIGHT,  QUEUE_LEFT,	   QUEUE_OLDEST, QUEUE_P50,
	QUEUE_P90,	  QUEUE_P99,	   QUEUE_P99_9,	 QUEUE_MAX,
};

/*
 * A line that is too long for the terminal leaves out these columns, in this order. The summary,
 * which scrolls, only leaves out the first two.
 */
static const unsigned char dispensable_columns[] = {
	QUEUE_ADDRESS, QUEUE_DEVICES,	 QUEUE_P90,	  QUEUE_P99_9,	 QUEUE_WINDOW,
	QUEUE_P50,     QUEUE_THROUGHPUT, QUEUE_AT_DEVICE, QUEUE_WAITING, QUEUE_MAX,
};
#define SUMMARY_DISPENSABLE 4
/* So many of them give way to the history. */
#define HISTORY_DISPENSABLE 4
/* Columns of the history, with a blank before them. */
#define HISTORY_WIDE (1 + RECENT_HISTORY)
#define HISTORY_NARROW (1 + RECENT_HISTORY / 2)
/* Below this factor between its lowest and highest p99 a history is level. */
#define HISTORY_FACTOR_MIN 2.0

/**
 * struct shown - what is shown
 * @row: @nr rows
 * @total: the sum, above all rows; or NULL
 * @table: the columns
 * @margin: there is a column for a mark, which the row @marked has
 * @octaves: powers of two in one character of the histogram
 * @has_history: rows have the p99 of the last intervals; @history: columns for it
 */
struct shown {
	const struct queue_row *row;
	size_t nr;
	const struct queue_row *total;
	struct table table;
	bool margin;
	size_t marked;
	unsigned int octaves;
	bool has_history;
	unsigned int history;
};

static bool any_waits(const struct block *b)
{
	for (size_t i = 0; i < b->s->nr_rows; i++)
		if (b->s->rows[i]->waiting.commands)
			return true;
	return false;
}

static bool any_has(const struct shown *s, unsigned int column)
{
	struct value v;

	for (size_t i = 0; i < s->nr; i++) {
		columns_get(columns_queues_screen(), column, &s->row[i], &v);
		if (!v.none)
			return true;
	}
	return false;
}

/* Whether a row is of another transport than TCP. */
static bool any_of_others(const struct shown *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->row[i].row->transport != NT_TRANSPORT_TCP)
			return true;
	return false;
}

/* Whether a column has values here. */
static bool column_tells(const struct block *b, const struct shown *s, unsigned int column)
{
	switch (column) {
	case QUEUE_AT_DEVICE:
		return b->s->waiting_at_device;
	case QUEUE_MEASURED:
		return b->s->sample > 1 && b->s->counted;
	case QUEUE_LEFT:
		return any_waits(b);
	case QUEUE_OLDEST:
		return !b->summary || any_waits(b);
	case QUEUE_WINDOW:
		/* Not the latencies of the interval, or at a screen whose rows may have others. */
		return s->has_history ||
		       (s->total && !b->summary && s->total->base.h != &s->total->row->interval);
	case QUEUE_TRANSPORT:
		return any_of_others(s);
	case QUEUE_DEVICES:
	case QUEUE_ADDRESS:
		return any_has(s, column);
	default:
		return true;
	}
}

/* Columns do not get narrower from one block to the next. */
static void widths_keep(struct table *t, struct view_state *state, unsigned int width)
{
	if (state->widest_columns != t->columns->name || state->widest_width != width)
		memset(state->widest, 0, sizeof(state->widest));
	state->widest_columns = t->columns->name;
	state->widest_width = width;
	for (unsigned int i = 0; i < t->nr; i++) {
		size_t *widest = &state->widest[t->column[i].column];

		if (*widest < t->widest[i])
			*widest = t->widest[i];
		t->widest[i] = *widest;
	}
}

/* Columns that a layout leaves for the history. */
static unsigned int history_of(const struct shown *s, unsigned int layout)
{
	if (!s->has_history || layout >= TABLE_BRIEF + HISTORY_DISPENSABLE)
		return 0;
	return layout < TABLE_BRIEF ? HISTORY_WIDE : HISTORY_NARROW;
}

/*
 * Chooses the widest layout that leaves enough room for the history and the histogram, or else the
 * narrowest one.
 */
static void layout_choose(struct shown *s, const struct block *b, struct view_state *state)
{
	unsigned int span = b->high - b->low, room = 0;
	struct table *t = &s->table;

	if (s->total)
		table_measure(t, s->total);
	for (size_t i = 0; i < s->nr; i++)
		table_measure(t, &s->row[i]);
	if (state)
		widths_keep(t, state, b->width);
	for (unsigned int i = TABLE_WIDE; i <= TABLE_BRIEF + t->nr_dispensable; i++) {
		unsigned int used = table_lay_out(t, i) + s->margin;

		s->history = history_of(s, i);
		used += (unsigned int)strlen(t->gap) + s->history;
		room = used < b->width ? b->width - used : 0;
		if (room * OCTAVES_WANTED >= span)
			break;
		/* Rather make the histogram narrow than leave out a column. */
		if (t->brief && room >= HISTOGRAM_MIN)
			break;
	}
	/* Columns that had to give way may have left room for it after all. */
	if (s->has_history && !s->history && room >= HISTORY_NARROW + HISTOGRAM_MIN) {
		s->history = HISTORY_NARROW;
		room -= s->history;
	}
	if (room < HISTOGRAM_MIN)
		room = HISTOGRAM_MIN;
	for (s->octaves = 1; room * s->octaves < span; s->octaves++)
		;
}

/*
 * Draws the p99 of the last intervals, the latest at the right. Heights are on a logarithmic scale
 * from the lowest to the highest one.
 */
static void history_draw(const struct block *b, const struct shown *s, const struct recent *recent,
			 FILE *f)
{
	unsigned int nr = s->history - 1;
	double low = 0, high = 0, span;

	for (unsigned int i = 0; recent && i < nr; i++) {
		double p99 = (double)recent->p99[i];

		low = p99 > 0 && (low == 0 || p99 < low) ? p99 : low;
		high = p99 > high ? p99 : high;
	}
	span = high > low * HISTORY_FACTOR_MIN ? log(high / low) : log(HISTORY_FACTOR_MIN);
	for (unsigned int i = nr; i-- > 0;) {
		double p99 = recent ? (double)recent->p99[i] : 0;

		/* The lowest one is seen, too. */
		fputs(bar_level(p99 > 0 ? log(p99 / low) / span * 0.9 + 0.1 : 0, b->unicode), f);
	}
	fputs(" ", f);
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
		PHRASE("histograms: ", SCALE_FROM, .style = LINE_CELL),
		PHRASE(" to ", SCALE_TO, .style = LINE_CELL),
	};
	/* A character stands for a power of two, so the last bound is rounded up. */
	const struct scale_row span = octaves_row(
		b->low, b->low + (b->high - b->low + octaves - 1) / octaves * octaves, 0);

	if (b->low == b->high)
		return;
	LINE_PRINT(f, &scale_columns, caption, &span);
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
	if (b->s->side == NT_TARGET && row->row->other[0]) {
		text_print(f, row->row->other, TEXT_MARK);
		fputs(" (subsystem NQN), for ", f);
	}
	text_print(f, peer.text, TEXT_MARK);
	fprintf(f, " (%s)\n", b->s->side == NT_HOST ? "subsystem NQN" : "host NQN");
}

static const struct group_name *group_at(const void *rows, size_t i)
{
	return ((const struct queue_row *)rows)[i].group;
}

static void legend_print(const struct block *b, const struct shown *t, FILE *f)
{
	for (size_t i = 0; i < t->nr; i++) {
		const struct stats_row *r = t->row[i].row;
		bool told = false;

		if (t->row[i].group) {
			group_print_names_once(group_at, t->row, i, TEXT_MARK, f);
			continue;
		}
		for (size_t k = i; k > 0 && !told; k--)
			told = !strcmp(t->row[k - 1].row->controller, r->controller) &&
			       !strcmp(t->row[k - 1].row->peer, r->peer) &&
			       !strcmp(t->row[k - 1].row->other, r->other);
		if (!told)
			legend_print_row(b, &t->row[i], f);
	}
}

/* Says what the column "over" says, which groups of --by do not have. */
static void window_print(const struct block *b, const struct shown *s, FILE *f)
{
	uint64_t ns = 0;
	char text[16];

	for (size_t i = 0; i < s->nr && !b->summary; i++)
		if (s->row[i].base.h != &s->row[i].row->interval && s->row[i].window_ns > ns)
			ns = s->row[i].window_ns;
	if (ns && s->table.columns != columns_queues_screen())
		fprintf(f, "latencies of rows with fewer than 100 commands are of the last %s\n",
			duration_format(text, sizeof(text), (double)ns));
}

static void row_print(const struct block *b, const struct shown *s, const struct queue_row *row,
		      const char *margin, FILE *f)
{
	fputs(margin, f);
	table_line(&s->table, row, f);
	fputs(s->table.gap, f);
	if (s->history)
		history_draw(b, s, row->row->recent, f);
	histogram_draw(b, row->base.h, s->octaves, f);
	fputs("\n", f);
}

static void shown_print(const struct block *b, struct shown *s, struct view_state *state, FILE *f,
			FILE *legend)
{
	const char *margin = s->margin ? " " : "";

	layout_choose(s, b, state);
	fputs(margin, f);
	table_heading(&s->table, f);
	if (s->history)
		fprintf(f, "%s%-*shistogram", s->table.gap, (int)s->history, "history");
	fputs("\n", f);
	if (s->total)
		row_print(b, s, s->total, margin, f);
	for (size_t i = 0; i < s->nr; i++)
		row_print(b, s, &s->row[i], s->margin && i == s->marked ? ">" : margin, f);
	window_print(b, s, legend);
	if (s->history)
		fprintf(legend, "history: p99 of the last %u blocks, the latest at the right\n",
			s->history - 1);
	caption_print(b, s->octaves, legend);
	legend_print(b, s, legend);
}

static void show_queues(struct shown *s, const struct block *b)
{
	struct table *t = &s->table;
	const unsigned char *column = b->summary ? summary_columns : interval_columns;
	size_t nr = b->summary ? ARRAY_SIZE(summary_columns) : ARRAY_SIZE(interval_columns);

	*t = (struct table){
		.columns = columns_queues_screen(),
		.dispensable = dispensable_columns,
		.nr_dispensable =
			b->summary ? SUMMARY_DISPENSABLE : ARRAY_SIZE(dispensable_columns),
	};
	for (size_t i = 0; i < nr; i++)
		if (column_tells(b, s, column[i]))
			table_add(t, column[i], NULL, 0);
}

int rows_print(const struct block *b, FILE *f, FILE *legend)
{
	struct queue_row *row = calloc(b->s->nr_rows + 1, sizeof(*row));
	struct queue_row next = {.row = NULL};
	struct shown s = {.row = row};

	if (!row)
		return -ENOMEM;
	while (columns_queues_next(&next, b->s, b->summary))
		if (columns_queues_any(&next))
			row[s.nr++] = next;
	show_queues(&s, b);
	if (s.nr)
		shown_print(b, &s, NULL, f, legend);
	else
		fputs("no commands\n", f);
	free(row);
	return 0;
}

/* What stands behind the heading of the sorted column: which way it goes. */
static const char *sort_mark(const struct view_state *state, bool unicode)
{
	bool down = state->reverse == (state->sort == VIEW_SORT_NAME);

	if (unicode)
		return down ? "\u25bc" : "\u25b2";
	return down ? "v" : "^";
}

void rows_print_visible(const struct block *b, const struct visible_rows *p,
			struct view_state *state, FILE *f, FILE *legend)
{
	struct shown s = {
		.row = p->row,
		.nr = p->nr,
		.total = &p->total,
		.margin = state && state->keys,
		.marked = state ? state->cursor : 0,
	};

	for (size_t i = 0; state && i < p->nr; i++)
		s.has_history |= p->row[i].row->recent && p->row[i].row->recent->nr;
	if (p->table)
		group_table_show(&s.table, p->table);
	else
		show_queues(&s, b);
	if (s.margin) {
		s.table.sorted = visible_rows_sorted(state->sort);
		s.table.mark = sort_mark(state, b->unicode);
	}
	shown_print(b, &s, state, f, legend);
}
