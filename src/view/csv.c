// SPDX-License-Identifier: GPL-2.0-only
#include "view/csv.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"
#include "core/time.h"
#include "view/columns_queues.h"

/*
 * Room for the functions of a path. They are longer than an NQN in which each byte becomes U+FFFD.
 */
#define TEXT_LEN 40960
/* Room for the digits that a double always keeps (DBL_DIG). */
#define REAL_LEN 32

/* A line that is being written. @begun: it has a field. */
struct line {
	bool begun;
	struct text_line line;
};

static void begin(struct line *l, FILE *f)
{
	l->begun = false;
	l->line.f = f;
	l->line.used = 0;
}

static void separate(struct line *l)
{
	if (l->begun)
		text_line_char(&l->line, ',');
	l->begun = true;
}

static void end(struct line *l)
{
	text_line_put(&l->line, "\r\n", 2);
	text_line_flush(&l->line);
}

/* A spreadsheet takes a text that begins so for a formula, full-width forms included (OWASP, "CSV
 * Injection"). */
static bool is_formula(const char *text)
{
	static const char *const begins[] = {"=",      "+",	 "-",	   "@",
					     "\uff1d", "\uff0b", "\uff0d", "\uff20"};

	if (isalnum((unsigned char)*text))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (!strncmp(text, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/*
 * A field with a separator is quoted, and quotes in it are doubled (RFC 4180, 2). A formula may
 * send neighbouring cells elsewhere; an apostrophe in front makes it a text. Some spreadsheets take
 * a semicolon for the separator, so that is quoted as well.
 */
static void put_quoted(struct line *l, const char *s)
{
	char text[TEXT_LEN];
	bool formula;

	text_copy(text, sizeof(text), s, TEXT_SEEN);
	formula = is_formula(text);
	separate(l);
	if (!formula && !strpbrk(text, ",;\"")) {
		text_line_puts(&l->line, text);
		return;
	}
	text_line_puts(&l->line, formula ? "\"'" : "\"");
	for (const char *c = text; *c; c++) {
		if (*c == '"')
			text_line_char(&l->line, '"');
		text_line_char(&l->line, *c);
	}
	text_line_char(&l->line, '"');
}

/* Most texts are words, which put_quoted() would leave as they are. */
static void put_text(struct line *l, const char *s)
{
	size_t n = 0;

	if (is_formula(s)) {
		put_quoted(l, s);
		return;
	}
	while (s[n] >= ' ' && s[n] <= '~' && s[n] != ',' && s[n] != ';' && s[n] != '"')
		n++;
	if (s[n]) {
		put_quoted(l, s);
		return;
	}
	separate(l);
	text_line_put(&l->line, s, n);
}

static void put_natural(struct line *l, uint64_t n)
{
	separate(l);
	text_line_natural(&l->line, n);
}

static void put_integer(struct line *l, int64_t n)
{
	separate(l);
	text_line_integer(&l->line, n);
}

static void put_value(struct line *l, const struct column *c, const struct value *v)
{
	char real[REAL_LEN];

	if (c->unit == UNIT_FLAG) {
		put_integer(l, !v->none && v->natural);
		return;
	}
	if (!v->none && v->type == VALUE_TEXT) {
		put_text(l, v->text);
		return;
	}
	if ((!v->none || v->zero) && v->type == VALUE_INTEGER) {
		put_integer(l, v->integer);
		return;
	}
	if ((!v->none || v->zero) && v->type == VALUE_NATURAL) {
		put_natural(l, v->natural);
		return;
	}
	separate(l);
	if (v->none || !isfinite(v->real))
		return;
	snprintf(real, sizeof(real), "%.15g", v->real);
	text_line_puts(&l->line, real);
}

static void put_row(struct line *l, const struct columns *t, const void *row)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		struct value v;

		columns_get(t, i, row, &v);
		put_value(l, &t->column[i], &v);
	}
}

static void put_names(struct line *l, const struct columns *t)
{
	for (unsigned int i = 0; i < t->nr; i++)
		put_text(l, t->column[i].name);
}

/*
 * A line with the fields @first and @second in front, unless they are NULL. @row: NULL for a header
 */
static void put_line(FILE *f, const char *first, const char *second, const struct columns *t,
		     const void *row)
{
	struct line l;

	begin(&l, f);
	if (first)
		put_text(&l, first);
	if (second)
		put_text(&l, second);
	if (row)
		put_row(&l, t, row);
	else
		put_names(&l, t);
	end(&l);
}

void csv_row(FILE *f, const struct columns *t, const void *row)
{
	put_line(f, NULL, NULL, t, row);
}

void csv_header(FILE *f, const struct columns *t)
{
	put_line(f, NULL, NULL, t, NULL);
}

void csv_header_of(const char *name, const struct columns *t, FILE *f)
{
	put_line(f, name, NULL, t, NULL);
}

void csv_row_of(const char *what, const struct columns *t, const void *row, FILE *f)
{
	put_line(f, what, NULL, t, row);
}

void csv_block_header(FILE *f, const struct columns *t)
{
	put_line(f, "time", "type", t, NULL);
}

void csv_block_row(FILE *f, const char *now, bool summary, const struct columns *t, const void *row)
{
	put_line(f, now, summary ? "summary" : "interval", t, row);
}

void csv_queues(FILE *f, const struct stats *s, bool summary)
{
	struct queue_row row = {.row = NULL};
	char now[RFC3339_LEN];

	rfc3339_now(now);
	while (columns_queues_next(&row, s, summary))
		if (columns_queues_any(&row))
			csv_block_row(f, now, summary, &queue_columns, &row);
}

static void put_point_names(struct line *l, enum nt_side side)
{
	char name[64];

	for (unsigned int i = 0; i < points_nr(side); i++) {
		snprintf(name, sizeof(name), "%s.%s", side_name(side), point_name(side, i));
		put_text(l, name);
	}
}

/*
 * The name of column @i of the stages of a side; NT_SIDES: of a report: the ten, then those that
 * only one side has. NULL: there are no more.
 */
static const char *stage_column(enum nt_side side, unsigned int i)
{
	static const struct {
		enum nt_side side;
		unsigned int stage;
	} own[] = {{NT_HOST, NT_HS_NETWORK_AND_TARGET},
		   {NT_TARGET, NT_TS_NETWORK_AND_HOST},
		   {NT_TARGET, NT_TS_SEND_RESPONSE}};

	if (side != NT_SIDES)
		return i < stages_nr(side) ? stage_name(side, i) : NULL;
	if (i < NT_MERGED_STAGES_NR)
		return merged_stage_name(i);
	i -= NT_MERGED_STAGES_NR;
	return i < ARRAY_SIZE(own) ? stage_name(own[i].side, own[i].stage) : NULL;
}

void csv_commands_header(FILE *f, enum nt_side side, bool has_origin)
{
	struct line l;

	begin(&l, f);
	put_text(&l, "type");
	put_names(&l, &command_columns);
	for (unsigned int i = 0; i < NT_SIDES; i++)
		if (side == NT_SIDES || side == i)
			put_point_names(&l, (enum nt_side)i);
	for (unsigned int i = 0; stage_column(side, i); i++)
		put_text(&l, stage_column(side, i));
	if (has_origin)
		put_names(&l, &origin_columns);
	end(&l);
}

/* @r: NULL if nothing is known of the side */
static void put_points(struct line *l, enum nt_side side, const struct nt_record *r)
{
	unsigned int nr = points_nr(side);
	int64_t at;

	for (unsigned int i = 0; i < nr; i++) {
		if (r && columns_point(r, i, &at))
			put_integer(l, at);
		else
			separate(l);
	}
}

/* @side: side of the columns; NT_SIDES: those of a report */
static void put_stages(struct line *l, enum nt_side side, const struct command_line *c)
{
	const struct command_stages *s = &c->stages;
	unsigned int next = 0;
	const char *name;

	for (unsigned int i = 0; (name = stage_column(side, i)); i++) {
		unsigned int at = 0;

		/* Stages of the same side have the same numbers, in the same order. */
		if (c->stages_of == side)
			at = next < s->nr && s->stage[next] == i ? next++ : s->nr;
		while (at < s->nr && c->stages_of != side &&
		       strcmp(name, stage_column(c->stages_of, s->stage[at])))
			at++;
		if (at < s->nr)
			put_integer(l, s->row[at].ns);
		else
			separate(l);
	}
}

void csv_command(FILE *f, const struct command_line *c)
{
	enum nt_side side = c->row.c ? NT_SIDES : c->row.r->side;
	struct line l;

	begin(&l, f);
	put_text(&l, c->in_flight ? "in_flight" : "command");
	put_row(&l, &command_columns, &c->row);
	for (unsigned int i = 0; i < NT_SIDES; i++)
		if (side == NT_SIDES || side == i)
			put_points(&l, (enum nt_side)i, c->record[i]);
	put_stages(&l, side, c);
	if (c->origin)
		put_row(&l, &origin_columns, c->origin);
	else
		for (size_t i = 0; c->has_origin && i < origin_columns.nr; i++)
			separate(&l);
	end(&l);
}
