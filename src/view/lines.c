// SPDX-License-Identifier: GPL-2.0-only
#include "view/lines.h"

#include <string.h>

#include "core/text.h"
#include "view/cells.h"

/* Longer than most lines. */
#define OUT_LEN 1024

/*
 * Buffer for a line. With @f, a full buffer is written to @f. Without @f, the line is cut at the
 * end of @buf. The buffer makes output fast: a line of a command has a hundred parts, and there may
 * be a million lines.
 */
struct out {
	FILE *f;
	char *buf;
	size_t size;
	size_t used;
};

static void out_flush(struct out *o)
{
	fwrite(o->buf, 1, o->used, o->f);
	o->used = 0;
}

/* Makes room for @len bytes. Return: @len, or less if there is not so much room. */
static size_t out_room(struct out *o, size_t len)
{
	if (o->f && o->used + len > o->size)
		out_flush(o);
	return len < o->size - o->used ? len : o->size - o->used;
}

static void out_add(struct out *o, const char *text)
{
	size_t len = out_room(o, strlen(text));

	memcpy(o->buf + o->used, text, len);
	o->used += len;
}

/* @width: as in printf(): negative ones are aligned to the left. */
static void out_pad(struct out *o, const char *text, int width)
{
	size_t len = strlen(text), least = (size_t)(width < 0 ? -width : width);
	size_t blanks = least > len ? least - len : 0;

	if (width < 0)
		out_add(o, text);
	blanks = out_room(o, blanks);
	memset(o->buf + o->used, ' ', blanks);
	o->used += blanks;
	if (width >= 0)
		out_add(o, text);
}

/* Decimals of seconds with nanosecond precision. */
#define DECIMALS 9

static const char *number_needed(char *buf, size_t size, double number, unsigned int digits)
{
	size_t length = (size_t)snprintf(buf, size, "%.*f", DECIMALS, number);
	unsigned int decimals = DECIMALS;

	if (length >= size)
		return buf;
	for (; decimals > digits && buf[length - 1] == '0'; decimals--)
		buf[--length] = '\0';
	return buf;
}

/* Return: @buf, or the value's own text if it is complete and needs no escaping. */
static const char *phrase_value(const struct phrase *p, const struct column *c,
				const struct value *v, char *buf, size_t size)
{
	if (v->type == VALUE_TEXT && c->unit != UNIT_TEXT && !v->none && text_is_printable(v->text))
		return v->text;
	if (p->style == LINE_CELL)
		return cell_format(buf, size, c, v);
	if (p->style == LINE_EXACT)
		return cell_exact(buf, size, c, v, p->digits);
	if (p->style == LINE_NEEDED)
		return number_needed(buf, size, value_number(v), p->digits);
	snprintf(buf, size, "%.3f", value_number(v) / 1e3);
	return buf;
}

static void value_add(struct out *o, const struct phrase *p, const struct column *c,
		      const struct value *v)
{
	char buf[CELL_LEN];

	if (c->unit == UNIT_TEXT && o->f && !p->width && !v->none) {
		/* A text from outside the program may be longer than any buffer. */
		out_flush(o);
		text_print(o->f, v->text, TEXT_HEX);
	} else {
		out_pad(o, phrase_value(p, c, v, buf, sizeof(buf)), p->width);
	}
}

static void phrases_add(struct out *o, const struct columns *t, const struct phrase *p, size_t nr,
			const void *row)
{
	struct value v;

	for (size_t i = 0; i < nr; i++) {
		columns_get(t, p[i].column, row, &v);
		if (v.none && p[i].style != LINE_CELL)
			continue;
		if (p[i].before)
			out_add(o, p[i].before);
		value_add(o, &p[i], &t->column[p[i].column], &v);
		if (p[i].after)
			out_add(o, p[i].after);
		if (p[i].plural && value_number(&v) != 1)
			out_add(o, "s");
	}
}

void line_print(FILE *f, const struct columns *t, const struct phrase *p, size_t nr,
		const void *row)
{
	char buf[OUT_LEN];
	struct out o = {.f = f, .buf = buf, .size = sizeof(buf)};

	phrases_add(&o, t, p, nr, row);
	out_flush(&o);
}

char *line_format(char *buf, size_t size, const struct columns *t, const struct phrase *p,
		  size_t nr, const void *row)
{
	struct out o = {.buf = buf, .size = size - 1};

	phrases_add(&o, t, p, nr, row);
	buf[o.used] = '\0';
	return buf;
}

void line_titles(FILE *f, const struct columns *t, const struct phrase *p, size_t nr, bool brief)
{
	for (size_t i = 0; i < nr; i++) {
		const struct column *c = &t->column[p[i].column];

		fprintf(f, "%s%*s", p[i].before ?: "", p[i].width,
			brief && c->brief ? c->brief : c->title);
	}
}

void line_values(FILE *f, const char *word, const struct columns *t, const unsigned char *columns,
		 size_t nr, const void *row)
{
	char buf[OUT_LEN];
	struct out o = {.f = f, .buf = buf, .size = sizeof(buf)};

	out_add(&o, word);
	for (size_t i = 0; i < nr; i++) {
		const struct phrase p = {.column = columns[i]};
		struct value v;

		/* Every line has the same number of words, even if a value is missing. */
		columns_get(t, columns[i], row, &v);
		out_add(&o, " ");
		if (v.none)
			out_add(&o, "-");
		else
			value_add(&o, &p, &t->column[columns[i]], &v);
	}
	out_add(&o, "\n");
	out_flush(&o);
}
