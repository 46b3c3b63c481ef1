// SPDX-License-Identifier: GPL-2.0-only
#include "view/screen.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "core/text.h"
#include "view/connections.h"
#include "view/histograms.h"
#include "view/lines.h"
#include "view/losses.h"
#include "view/rows.h"
#include "view/stages.h"
#include "view/tcp_table.h"
#include "view/why.h"

/* ECMA-48: CUP to the upper left corner; EL to the end of the line; ED to the end of the screen. */
#define CURSOR_HOME "\033[H"
#define ERASE_LINE "\033[K"
#define ERASE_BELOW "\033[J"

/* ECMA-48, SGR: bold, underlined, negative image, red; and all of them off. */
#define BOLD "\033[1m"
#define UNDERLINE "\033[4m"
#define REVERSE "\033[7m"
#define RED "\033[31m"
#define PLAIN "\033[m"

struct part_kind {
	const char *word;
	enum screen_room room;
	size_t titles;
};

#define PART_KIND(id, word, room, titles) {word, SCREEN_##room, titles},
static const struct part_kind kinds[] = {SCREEN_PARTS(PART_KIND)};

static ssize_t part_write(void *cookie, const char *more, size_t n)
{
	struct screen_text *t = cookie;
	char *grown = realloc(t->at, t->size + n + 1);

	if (!grown)
		return 0;
	memcpy(grown + t->size, more, n);
	t->at = grown;
	t->size += n;
	grown[t->size] = '\0';
	return (ssize_t)n;
}

/* For ftell() alone. */
static int part_seek(void *cookie, off64_t *offset, int whence)
{
	const struct screen_text *t = cookie;

	if (*offset || whence != SEEK_CUR)
		return -1;
	*offset = (off64_t)t->size;
	return 0;
}

/* open_memstream() would clear 8 KiB for each part, and most parts stay empty. */
int screen_open(struct screen *s)
{
	const cookie_io_functions_t functions = {.write = part_write, .seek = part_seek};

	memset(s, 0, sizeof(*s));
	s->marked = SCREEN_NO_MARK;
	s->focus = SCREEN_ROWS;
	for (int p = 0; p < SCREEN_PARTS_NR; p++) {
		s->part[p] = fopencookie(&s->text[p], "w", functions);
		if (!s->part[p])
			return -ENOMEM;
	}
	return 0;
}

int screen_close(struct screen *s)
{
	int err = 0;

	for (int p = 0; p < SCREEN_PARTS_NR; p++) {
		if (ferror(s->part[p]))
			err = -ENOMEM;
		if (fclose(s->part[p]))
			err = -ENOMEM;
		s->part[p] = NULL;
	}
	return err;
}

void screen_free(struct screen *s)
{
	for (int p = 0; p < SCREEN_PARTS_NR; p++) {
		if (s->part[p])
			fclose(s->part[p]);
		free(s->text[p].at);
	}
	memset(s, 0, sizeof(*s));
}

void screen_print(const struct screen *s, FILE *out)
{
	for (int p = 0; p < SCREEN_PARTS_NR; p++)
		if (s->text[p].size)
			fwrite(s->text[p].at, 1, s->text[p].size, out);
}

static size_t lines_count(const char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++)
		n += text[i] == '\n';
	return n;
}

/*
 * Shares the room among the parts of kind @which. A part that needs less than an equal share gets
 * all it needs, and the others share the rest. So a long table of rows cannot push the stages off
 * the screen. Return: the remaining room.
 */
static size_t room_share(const size_t *need, size_t *got, size_t room, enum screen_room which)
{
	bool settled[SCREEN_PARTS_NR] = {false};
	size_t open = 0, share;
	bool again = true;

	for (int p = 0; p < SCREEN_PARTS_NR; p++) {
		settled[p] = kinds[p].room != which || !need[p];
		open += !settled[p];
	}
	while (open && again) {
		again = false;
		share = room / open;
		for (int p = 0; p < SCREEN_PARTS_NR; p++) {
			if (settled[p] || need[p] > share)
				continue;
			got[p] = need[p];
			room -= need[p];
			settled[p] = true;
			open--;
			again = true;
		}
	}
	for (int p = 0; p < SCREEN_PARTS_NR; p++) {
		if (settled[p])
			continue;
		got[p] = room / open;
		room -= got[p];
		open--;
	}
	return room;
}

/*
 * The total, the worst row and the number of the others are there, unless the keys have another
 * table.
 */
#define ROWS_MIN (kinds[SCREEN_ROWS].titles + 2)

static void rows_keep(const struct screen *s, const size_t *need, size_t *got)
{
	size_t least = need[SCREEN_ROWS] < ROWS_MIN ? need[SCREEN_ROWS] : ROWS_MIN;

	if (s->focus != SCREEN_ROWS)
		return;
	for (int p = SCREEN_ROWS + 1; p < SCREEN_PARTS_NR && got[SCREEN_ROWS] < least; p++) {
		while (kinds[p].room != SCREEN_WHOLE && got[p] && got[SCREEN_ROWS] < least) {
			got[p]--;
			got[SCREEN_ROWS]++;
		}
	}
}

/* A stage that is not visible may be the slow one: its table gets what rows can do without. */
static void stages_keep(const struct screen *s, const size_t *need, size_t *got)
{
	size_t least = need[SCREEN_ROWS] < ROWS_MIN ? need[SCREEN_ROWS] : ROWS_MIN;

	for (int p = SCREEN_STAGES; p <= SCREEN_MERGED; p++) {
		while (s->focus == SCREEN_ROWS && got[p] < need[p] && got[SCREEN_ROWS] > least) {
			got[SCREEN_ROWS]--;
			got[p]++;
		}
	}
}

/* The position of the next line: its output, the room for it, and whether it may have a style. */
struct cursor {
	FILE *out;
	bool colour;
	size_t columns;
	size_t lines;
	size_t used;
};

static bool starts_character(char c)
{
	/* RFC 3629: bytes after the first of a character are 10xxxxxx. */
	return ((unsigned char)c & 0xc0) != 0x80;
}

/* Columns of @len bytes of UTF-8; each character takes one. */
static size_t text_columns(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += starts_character(text[i]);
	return n;
}

/* Bytes of the longest beginning of @text that takes at most @columns. */
static size_t text_cut(const char *text, size_t len, size_t columns)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (!starts_character(text[i]))
			continue;
		if (!columns--)
			break;
	}
	return i;
}

/* @style: of the line, or NULL. */
static void cursor_line(struct cursor *c, const char *style, const char *text, size_t len)
{
	size_t cut = text_cut(text, len, c->columns);
	bool styled = style && c->colour && cut;

	if (c->used == c->lines)
		return;
	/* No newline after the last line: it would scroll the first one away. */
	if (c->used++)
		fputc('\n', c->out);
	if (styled)
		fputs(style, c->out);
	fwrite(text, 1, cut, c->out);
	if (styled)
		fputs(PLAIN, c->out);
	/*
	 * After a full line the cursor is still on its last character. Erasing would remove that
	 * character.
	 */
	if (text_columns(text, cut) < c->columns)
		fputs(ERASE_LINE, c->out);
}

static const char *line_style(const struct screen *s, int part, size_t line)
{
	if (part == SCREEN_KEYS)
		return REVERSE;
	if (part == SCREEN_LOSSES)
		return s->alarm ? RED : NULL;
	if (part == SCREEN_ALARMS)
		return RED;
	if (line < kinds[part].titles)
		return part == (int)s->focus && part != SCREEN_ROWS && part != SCREEN_PAGE
			       ? BOLD UNDERLINE
			       : BOLD;
	if (part == SCREEN_ROWS && line - kinds[part].titles == s->marked)
		return line - kinds[part].titles < s->stalled ? RED REVERSE : REVERSE;
	if (part == SCREEN_ROWS && line - kinds[part].titles < s->stalled)
		return RED;
	return NULL;
}

/*
 * Return: how many lines after the titles are scrolled off the top, if @room of them are visible.
 */
static size_t lines_above(struct screen *s, int part, size_t lines, size_t room)
{
	size_t most = lines > room ? lines - room : 0;

	if (part == (int)s->focus && part != SCREEN_ROWS) {
		if (s->top > most)
			s->top = most;
		return s->top;
	}
	if (part != SCREEN_ROWS || s->marked >= lines || s->marked < room)
		return 0;
	return room ? s->marked - room + 1 : 0;
}

static void note_print(struct cursor *c, const char *word, size_t above, size_t below)
{
	char note[96];

	if (!above)
		snprintf(note, sizeof(note), "... %zu more %s", below, word);
	else if (below)
		snprintf(note, sizeof(note), "... %zu %s above, %zu below", above, word, below);
	else
		snprintf(note, sizeof(note), "... %zu %s above", above, word);
	cursor_line(c, NULL, note, strlen(note));
}

static void cursor_part(struct cursor *c, struct screen *s, int part, size_t need, size_t got)
{
	size_t shown = got < need ? (got ? got - 1 : 0) : need;
	size_t titles = kinds[part].titles < need ? kinds[part].titles : need;
	size_t room = shown > titles ? shown - titles : 0;
	size_t above = lines_above(s, part, need - titles, room);
	const char *text = s->text[part].at;

	for (size_t i = 0; i < need; i++) {
		const char *end = strchr(text, '\n');

		if (i < titles ? i < shown : i - titles >= above && i - titles < above + room)
			cursor_line(c, line_style(s, part, i), text, (size_t)(end - text));
		text = end + 1;
	}
	if (got < need && got)
		note_print(c, kinds[part].word, above, need - titles - above - room);
}

/* Adds empty lines, so that the last part ends at the bottom of the screen. */
static void cursor_bottom(struct cursor *c, size_t lines, size_t need)
{
	c->lines = lines;
	while (lines != SIZE_MAX && c->used + need < lines)
		cursor_line(c, NULL, "", 0);
}

void screen_redraw(struct screen *s, FILE *out, unsigned int columns, unsigned int lines)
{
	struct cursor c = {.out = out, .colour = s->colour, .columns = columns};
	size_t most = lines ? lines : SIZE_MAX, need[SCREEN_PARTS_NR], got[SCREEN_PARTS_NR];
	size_t total = 0, fixed = 0, parts = 0, focused = 0, left;
	bool spaced;

	for (int p = 0; p < SCREEN_PARTS_NR; p++) {
		need[p] = lines_count(s->text[p].at, s->text[p].size);
		got[p] = kinds[p].room == SCREEN_WHOLE ? need[p] : 0;
		total += need[p];
		fixed += got[p];
		parts += need[p] != 0;
	}
	spaced = parts && total + parts - 1 <= most;
	left = fixed < most ? most - fixed : 0;
	if (s->focus != SCREEN_ROWS && kinds[s->focus].room != SCREEN_WHOLE) {
		focused = need[s->focus];
		got[s->focus] = focused < left ? focused : left;
		left -= got[s->focus];
		need[s->focus] = 0;
	}
	left = room_share(need, got, left, SCREEN_SHARE);
	room_share(need, got, left, SCREEN_SPARE);
	rows_keep(s, need, got);
	stages_keep(s, need, got);
	if (focused)
		need[s->focus] = focused;
	/* Always keep the key line visible, even if other parts are long. */
	c.lines = need[SCREEN_KEYS] < most ? most - need[SCREEN_KEYS] : most;

	fputs(CURSOR_HOME, out);
	for (int p = 0; p < SCREEN_PARTS_NR; p++) {
		if (!need[p])
			continue;
		if (p == SCREEN_KEYS)
			cursor_bottom(&c, most, need[p]);
		else if (spaced && c.used)
			cursor_line(&c, NULL, "", 0);
		cursor_part(&c, s, p, need[p], got[p]);
	}
	/*
	 * Erase from a new line: at the end of a full line this would erase the line's last
	 * character.
	 */
	if (c.used < c.lines)
		fputs("\n" ERASE_BELOW, out);
}

static void name_print(const struct view_row *k, FILE *f)
{
	char name[sizeof(k->controller)];

	text_copy(name, sizeof(name), k->controller[0] ? k->controller : "all", TEXT_MARK);
	fprintf(f, "%s, ", name);
	if (k->shared)
		fputs("all queues, ", f);
	else
		fprintf(f, "queue %u, ", k->qid);
	fprintf(f, "%s\n", k->op < NT_OPS_NR ? op_name(k->op) : "all operations");
}

/* Whose stages follow. @merged: "merged ", or ""; @when: " since tracing began", or "" */
static void stages_title(const struct view_row *k, enum stages_scope scope, const char *merged,
			 const char *when, FILE *f)
{
	const char *op = k->op < NT_OPS_NR ? op_name(k->op) : "commands";
	char name[sizeof(k->controller)];

	text_copy(name, sizeof(name), k->controller, TEXT_MARK);
	if (scope == STAGES_OF_ALL)
		fprintf(f, "\nstages of all %s%s of ALL CONTROLLERS%s:\n", merged, op, when);
	else if (scope == STAGES_OF_ROWS)
		fprintf(f, "\nstages of these %s%s%s:\n", merged, op, when);
	else
		fprintf(f, "\nstages of the %s%s of all queues of %s%s:\n", merged, op,
			name[0] ? name : "these controllers", when);
}

/*
 * The stages of one side. Where no command has ended in the block, those of all before. Return: 0
 * or -ENOMEM.
 */
static int side_stages_print(const struct block *b, const struct visible_rows *p,
			     const struct stats_row *row, const struct view_state *l,
			     const struct figures *figures, FILE *f)
{
	struct stages_sum *sum = visible_rows_stages(p, b->s, row, false);
	enum stages_scope none = STAGES_OF_NONE;
	const char *when = "";

	if (sum && sum->scope == STAGES_OF_NONE) {
		free(sum);
		sum = visible_rows_stages(p, b->s, row, true);
		when = " since tracing began";
		fputs("\n" STAGES_NONE_ENDED, f);
		/* Those of all others say nothing of these. */
		none = STAGES_OF_ALL;
	}
	if (!sum)
		return -ENOMEM;
	if (sum->scope != STAGES_OF_NONE && sum->scope != none) {
		stages_title(&l->row, sum->scope, "", when, f);
		stages_print_op(b->s, NULL, sum, l->row.op, figures, f, b->width, b->unicode);
	}
	free(sum);
	return 0;
}

/*
 * Prints the means of a queue's ten stages one by one, because as a row they would be wider than a
 * screen.
 */
static void means_print(const struct merged_row *m, FILE *f, unsigned int width)
{
	static const struct phrase heading[] = {
		PHRASE("of this queue, means of ", MERGED_COMMANDS, .after = " merged commands:"),
	};
	struct wrap w = {.f = f, .width = width};

	WRAP_LINE(&w, &merged_columns, heading, m);
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++) {
		const struct column *c = &merged_columns.column[MERGED_MEANS + i];
		char cell[CELL_LEN], item[2 * CELL_LEN];
		struct value v;

		columns_get(&merged_columns, MERGED_MEANS + i, m, &v);
		if (v.none)
			continue;
		snprintf(item, sizeof(item), "%s %s", c->name,
			 cell_format(cell, sizeof(cell), c, &v));
		wrap_text(&w, item);
	}
	fputs("\n", f);
}

/* Return: 0 or -ENOMEM. */
static int queue_means_print(const struct totals *m, const struct stats *s,
			     const struct stats_row *row, FILE *f, unsigned int width)
{
	unsigned int nr;
	struct merged_row *rows = columns_merged_rows(m, &nr);

	if (!rows)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++) {
		if (rows[i].t->op == row->op && visible_rows_is_of(s, row, rows[i].connection))
			means_print(&rows[i], f, width);
	}
	free(rows);
	return 0;
}

int page_row_print(const struct block *b, const struct visible_rows *p, const struct view_state *l,
		   const struct totals *m, FILE *f)
{
	const struct queue_row *row = visible_rows_find(p, l);
	struct visible_rows one = *p;
	const struct figures *figures = l->choice ? &l->choice->figures : NULL;
	bool merged = m && m->commands;
	enum stages_scope scope = STAGES_OF_NONE;
	struct totals some;
	int err = 0;

	name_print(&l->row, f);
	if (!row) {
		fputs("no commands in this interval\n", f);
		return 0;
	}
	/* Print only the row, as the total at the top of the table. */
	one.nr = 0;
	one.total = *row;
	rows_print_visible(b, &one, NULL, f, f);
	legend_print_row(b, row, f);
	if (merged) {
		err = visible_rows_merged(p, b->s, row->row, m, &some, &scope);
		if (!err && scope != STAGES_OF_NONE) {
			stages_title(&l->row, scope, "merged ", "", f);
			stages_print_op(b->s, &some, NULL, l->row.op, figures, f, b->width,
					b->unicode);
			err = queue_means_print(m, b->s, row->row, f, b->width);
		}
		totals_free(&some);
	}
	/* Commands are merged later than they end. */
	if (!err && scope == STAGES_OF_NONE)
		err = side_stages_print(b, p, row->row, l, figures, f);
	fputs("\n", f);
	histogram_print(b, row, f);
	return err;
}

void page_losses_print(const struct block *b, FILE *f)
{
	fputs("what was counted beside the figures, and what to do about it\n", f);
	losses_print_advice(b->s, f, b->width);
}

void page_tcp_print(const struct block *b, FILE *f)
{
	fputs("TCP connections of the queues\n", f);
	if (b->s->tcp.asked)
		tcp_print(&b->s->tcp, f, b->width);
	else
		fputs("they are not read: start with --tcp\n", f);
}

static void words_explain(const char *const (*word)[2], size_t nr, FILE *f, unsigned int width)
{
	for (size_t i = 0; i < nr; i++) {
		struct wrap w = {.f = f, .width = width, .used = 10};

		fprintf(f, "%-10s", word[i][0]);
		wrap_words(&w, word[i][1]);
		fputs("\n", f);
	}
}

void page_why_print(const struct live_merge *l, unsigned int width, FILE *f)
{
	fputs("why slow commands are slow, of the whole run\n", f);
	if (l)
		why_print_live(l, f, width, false);
	else
		fputs("it takes both machines: start with --peer, or record both and report --why\n",
		      f);
}

void page_help_print(FILE *f, unsigned int width)
{
	static const char *const keys[][2] = {
		{"Tab", "the keys go to the next table: rows, stages, connections, histograms; up "
			"and down scroll it"},
		{"s", "sort by the next of IOPS, p99, commands in flight, age of the oldest, "
		      "MB/s, name"},
		{"r", "reverse the order"},
		{"g", "group by the next of none, controller, queue, operation, NQN"},
		{"/", "filter: words that controller, NQN, queue (q3) or operation have to match; "
		      "Enter takes them, Escape leaves what was"},
		{"Enter", "the row that is marked: its stages and its whole histogram"},
		{"Escape", "back to the table"},
		{"up, down", "mark another row, or scroll a page; also j, k, Page up, Page down, "
			     "Home, End"},
		{"p", "pause, and go on: what happens meanwhile is in the next block"},
		{"+ -", "a longer, a shorter interval"},
		{"l", "what losses mean, and what to do"},
		{"t w", "TCP connections (--tcp); why slow commands are slow (--peer)"},
		{"? h", "this page, and back"},
		{"q", "quit, with the summary; of a page: back. Ctrl-C quits"},
	};
	static const char *const columns[][2] = {
		{"infl", "commands in flight now; in a summary, on average"},
		{"oldest", "how long the oldest of them has been in flight"},
		{"over", "the time that percentiles are of: ten seconds if a block has fewer than "
			 "100 commands"},
		{"history", "p99 of the last blocks, the latest at the right"},
		{"share", "of the time of all commands of the operation"},
		{"dev", "of a target: commands of those in flight that its disk has"},
		{"-", "not known: too few commands for this percentile"},
		{"red", "a command has been in flight for a second or longer: such rows are first"},
	};

	fputs("keys\n", f);
	words_explain(keys, ARRAY_SIZE(keys), f, width);
	fputs("columns\n", f);
	words_explain(columns, ARRAY_SIZE(columns), f, width);
}

void keys_print(const struct view_state *l, FILE *f)
{
	char filter[VIEW_FILTER_LEN], every[16] = "bursts";

	text_copy(filter, sizeof(filter), l->filter, TEXT_MARK);
	if (l->typing) {
		fprintf(f, "filter: %s_  Enter:take Esc:leave\n", filter);
		return;
	}
	if (l->interval_ns)
		duration_format(every, sizeof(every), (double)l->interval_ns);
	fputs(l->paused ? "PAUSED p:go on " : "", f);
	if (l->page == VIEW_TABLE) {
		fprintf(f, "?:help q:quit s:%s g:%s /:%s ", view_sort_name(l->sort),
			view_group_name(l->group), filter[0] ? filter : "filter");
		fprintf(f, "Tab:%s Enter:row %sl:loss -/+:%s\n", view_focus_name(l->focus),
			l->paused ? "" : "p:pause ", every);
	} else {
		fprintf(f, "?:help q:back up/down:scroll %sl:losses -/+:%s\n",
			l->paused ? "" : "p:pause ", every);
	}
}
