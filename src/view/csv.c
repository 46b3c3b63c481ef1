// SPDX-License-Identifier: GPL-2.0-only
#include "view/csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"
#include "core/time.h"
#include "view/columns_queues.h"
#include "view/commands.h"

/*
 * Room for the functions of a path. They are longer than an NQN in which each byte becomes U+FFFD.
 */
#define TEXT_LEN 40960

/* A line that is being written. @begun: it has a field. */
struct line {
	FILE *f;
	bool begun;
};

static void separate(struct line *l)
{
	if (l->begun)
		fputc(',', l->f);
	l->begun = true;
}

static void end(const struct line *l)
{
	fputs("\r\n", l->f);
}

/* A spreadsheet takes a text that begins so for a formula, full-width forms included (OWASP, "CSV
 * Injection"). */
static bool is_formula(const char *text)
{
	static const char *const begins[] = {"=",      "+",	 "-",	   "@",
					     "\uff1d", "\uff0b", "\uff0d", "\uff20"};

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
static void put_text(struct line *l, const char *s)
{
	char text[TEXT_LEN];
	bool formula, quoted;

	text_copy(text, sizeof(text), s, TEXT_SEEN);
	formula = is_formula(text);
	quoted = formula || strpbrk(text, ",;\"");
	separate(l);
	if (quoted)
		fputc('"', l->f);
	if (formula)
		fputc('\'', l->f);
	for (const char *c = text; *c; c++) {
		if (*c == '"')
			fputc('"', l->f);
		fputc(*c, l->f);
	}
	if (quoted)
		fputc('"', l->f);
}

static void put_integer(struct line *l, int64_t n)
{
	separate(l);
	fprintf(l->f, "%" PRId64, n);
}

static void put_value(struct line *l, const struct column *c, const struct value *v)
{
	if (c->unit == UNIT_FLAG) {
		put_integer(l, !v->none && v->natural);
		return;
	}
	if (!v->none && v->type == VALUE_TEXT) {
		put_text(l, v->text);
		return;
	}
	if (!v->none && v->type == VALUE_INTEGER) {
		put_integer(l, v->integer);
		return;
	}
	separate(l);
	if (v->none)
		return;
	if (v->type == VALUE_NATURAL)
		fprintf(l->f, "%" PRIu64, v->natural);
	else if (isfinite(v->real))
		fprintf(l->f, "%.15g", v->real);
}

static void put_row(struct line *l, const struct columns *t, const void *row)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		struct value v;

		columns_get(t, i, row, &v);
		put_value(l, &t->column[i], &v);
	}
}

void csv_row(FILE *f, const struct columns *t, const void *row)
{
	struct line l = {.f = f};

	put_row(&l, t, row);
	end(&l);
}

static void put_names(struct line *l, const struct columns *t)
{
	for (unsigned int i = 0; i < t->nr; i++)
		put_text(l, t->column[i].name);
}

void csv_header(FILE *f, const struct columns *t)
{
	struct line l = {.f = f};

	put_names(&l, t);
	end(&l);
}

void csv_header_of(const char *name, const struct columns *t, FILE *f)
{
	struct line l = {.f = f};

	put_text(&l, name);
	put_names(&l, t);
	end(&l);
}

void csv_row_of(const char *what, const struct columns *t, const void *row, FILE *f)
{
	struct line l = {.f = f};

	put_text(&l, what);
	put_row(&l, t, row);
	end(&l);
}

void csv_block_header(FILE *f, const struct columns *t)
{
	struct line l = {.f = f};

	put_text(&l, "time");
	put_text(&l, "type");
	put_names(&l, t);
	end(&l);
}

void csv_block_row(FILE *f, const char *now, bool summary, const struct columns *t, const void *row)
{
	struct line l = {.f = f};

	put_text(&l, now);
	put_text(&l, summary ? "summary" : "interval");
	put_row(&l, t, row);
	end(&l);
}

void csv_queues_header(FILE *f)
{
	struct line l = {.f = f};

	put_text(&l, "time");
	put_text(&l, "type");
	put_names(&l, &queue_columns);
	end(&l);
}

void csv_queues(FILE *f, const struct stats *s, bool summary)
{
	char now[RFC3339_LEN];

	rfc3339_now(now);
	for (size_t i = 0; i < s->nr_rows; i++) {
		struct line l = {.f = f};
		struct queue_row row;

		columns_queues_row(&row, s, i, summary);
		if (!columns_queues_any(&row))
			continue;
		put_text(&l, now);
		put_text(&l, summary ? "summary" : "interval");
		put_row(&l, &queue_columns, &row);
		end(&l);
	}
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
 * The name of column @i of a report's stages: the ten, then those that only one side has. NULL:
 * there are no more.
 */
static const char *report_stage(unsigned int i)
{
	static const struct {
		enum nt_side side;
		unsigned int stage;
	} own[] = {{NT_HOST, NT_HS_NETWORK_AND_TARGET},
		   {NT_TARGET, NT_TS_NETWORK_AND_HOST},
		   {NT_TARGET, NT_TS_SEND_RESPONSE}};

	if (i < NT_MERGED_STAGES_NR)
		return merged_stage_name(i);
	i -= NT_MERGED_STAGES_NR;
	return i < ARRAY_SIZE(own) ? stage_name(own[i].side, own[i].stage) : NULL;
}

void csv_commands_header(FILE *f, enum nt_side side)
{
	struct line l = {.f = f};

	put_text(&l, "type");
	put_names(&l, &command_columns);
	for (unsigned int i = 0; i < NT_SIDES; i++)
		if (side == NT_SIDES || side == i)
			put_point_names(&l, (enum nt_side)i);
	for (unsigned int i = 0; side != NT_SIDES && i < stages_nr(side); i++)
		put_text(&l, stage_name(side, i));
	for (unsigned int i = 0; side == NT_SIDES && report_stage(i); i++)
		put_text(&l, report_stage(i));
	end(&l);
}

/* @r: NULL if nothing is known of the side */
static void put_points(struct line *l, enum nt_side side, const struct nt_record *r)
{
	struct point_row row[NT_POINTS_MAX];
	unsigned int nr = r ? columns_points(row, r) : 0, at = 0;

	for (unsigned int i = 0; i < points_nr(side); i++) {
		if (at < nr && row[at].point == i)
			put_integer(l, row[at++].at);
		else
			separate(l);
	}
}

static void put_stages(struct line *l, unsigned int nr, const struct command_stages *s)
{
	unsigned int at = 0;

	for (unsigned int i = 0; i < nr; i++) {
		if (at < s->nr && s->stage[at] == i)
			put_integer(l, s->row[at++].ns);
		else
			separate(l);
	}
}

/* @side: side of the stages; NT_SIDES: the ten */
static void put_report_stages(struct line *l, enum nt_side side, const struct command_stages *s)
{
	const char *name;

	for (unsigned int i = 0; (name = report_stage(i)); i++) {
		unsigned int at = 0;

		while (at < s->nr &&
		       strcmp(name, side == NT_SIDES ? merged_stage_name(s->stage[at])
						     : stage_name(side, s->stage[at])) != 0)
			at++;
		if (at < s->nr)
			put_integer(l, s->row[at].ns);
		else
			separate(l);
	}
}

static void put_side(FILE *f, const char *type, const struct command_row *row,
		     const struct command_stages *stages)
{
	struct line l = {.f = f};

	put_text(&l, type);
	put_row(&l, &command_columns, row);
	put_points(&l, row->r->side, row->r);
	put_stages(&l, stages_nr(row->r->side), stages);
	end(&l);
}

void csv_command_of_side(FILE *f, const char *controller, const struct nt_record *r,
			 uint32_t missing)
{
	struct command_stages stages;
	struct command_row row;

	columns_command_of_side(&row, controller, r);
	columns_stages_of_command(&stages, r, missing, row.latency);
	put_side(f, "command", &row, &stages);
}

void csv_command_in_flight(FILE *f, const char *controller, const struct nt_record *r, uint64_t now)
{
	const struct command_stages none = {.nr = 0};
	struct command_row row;

	columns_command_of_side(&row, controller, r);
	row.latency = now - row.first;
	put_side(f, "in_flight", &row, &none);
}

void csv_command_merged(FILE *f, const struct machines *m, const struct merge_connection *c,
			const struct nt_record *host, const struct nt_record *target,
			bool ambiguous)
{
	struct command_stages stages;
	struct line l = {.f = f};
	struct command_row row;

	columns_command_merged(&row, c, host, target, ambiguous);
	put_text(&l, "command");
	put_row(&l, &command_columns, &row);
	put_points(&l, NT_HOST, host);
	put_points(&l, NT_TARGET, target);
	columns_stages_of_streams(&stages, m, c, host, target, row.latency);
	put_report_stages(&l, host && target ? NT_SIDES : row.r->side, &stages);
	end(&l);
}
