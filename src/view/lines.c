// SPDX-License-Identifier: GPL-2.0-only
#include "view/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/array.h"
#include "core/text.h"

/*
 * Decimals that give a number of three significant digits. The limits are below 10 and 100, because
 * 9.995 would be printed as 10.00.
 */
static int decimals(double v)
{
	return v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
}

char *duration_format(char *buf, size_t size, double ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	const size_t last = ARRAY_SIZE(units) - 1;
	size_t u = 0;
	double v;

	if (ns <= -0.5) {
		buf[0] = '-';
		duration_format(buf + 1, size - 1, -ns);
		return buf;
	}
	/* 999.5 or more of a unit would be printed as 1000, so it is printed in the next unit. */
	if (ns < 999.5) {
		snprintf(buf, size, "%.0fns", ns > 0 ? ns : 0);
		return buf;
	}
	while (u < last && ns / units[u].ns >= 999.5)
		u++;
	v = ns / units[u].ns;
	if (v >= 9999999.5) /* not a realistic latency, but the columns must stay aligned */
		snprintf(buf, size, "%.1e%s", v, units[u].name);
	else
		snprintf(buf, size, "%.*f%s", decimals(v), v, units[u].name);
	return buf;
}

/* Three significant digits below 100, whole numbers above. Return: @buf. */
static char *number_format(char *buf, size_t size, double n)
{
	if (n == 0)
		snprintf(buf, size, "0");
	else
		snprintf(buf, size, "%.*f", decimals(n), n);
	return buf;
}

#define NS_PER_S 1000000000

/* Same result as "%s%llu", but faster, because outputs have many numbers. */
static void digits_format(char *buf, size_t size, bool negative, uint64_t n)
{
	char text[24], *at = text + sizeof(text);

	*--at = '\0';
	do {
		*--at = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	if (negative)
		*--at = '-';
	memccpy(buf, at, '\0', size);
	buf[size - 1] = '\0';
}

char *cell_exact(char *buf, size_t size, const struct column *c, const struct value *v,
		 unsigned int digits)
{
	buf[0] = '\0';
	if (c->unit == UNIT_FLAG)
		return buf; /* the words around a flag have its meaning */
	if (v->type == VALUE_TEXT)
		text_copy(buf, size, v->text, TEXT_HEX);
	else if (c->unit == UNIT_CODE)
		snprintf(buf, size, "0x%0*" PRIx64, (int)c->digits, v->natural);
	else if (c->unit == UNIT_INSTANT)
		snprintf(buf, size, "%" PRIu64 ".%09" PRIu64, v->natural / NS_PER_S,
			 v->natural % NS_PER_S);
	else if (v->type == VALUE_NATURAL)
		digits_format(buf, size, false, v->natural);
	else if (v->type == VALUE_INTEGER)
		digits_format(buf, size, v->integer < 0,
			      v->integer < 0 ? -(uint64_t)v->integer : (uint64_t)v->integer);
	else
		snprintf(buf, size, "%.*f", (int)digits, v->real);
	return buf;
}

char *cell_format(char *buf, size_t size, const struct column *c, const struct value *v)
{
	if (v->none) {
		snprintf(buf, size, "-");
		return buf;
	}
	if (v->type == VALUE_TEXT)
		return cell_exact(buf, size, c, v, 0);
	switch (c->unit) {
	case UNIT_NANOSECONDS:
		return duration_format(buf, size, value_number(v));
	case UNIT_PER_SECOND:
		return number_format(buf, size, value_number(v));
	case UNIT_BYTES_PER_SECOND:
		return number_format(buf, size, value_number(v) / 1e6);
	case UNIT_SHARE:
		snprintf(buf, size, "%.1f %%", value_number(v) * 100);
		return buf;
	default:
		if (v->type == VALUE_REAL)
			return number_format(buf, size, v->real);
		return cell_exact(buf, size, c, v, 0);
	}
}

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
	if (p->style == LINE_CELL || v->none)
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
		if (v.none && p[i].style != LINE_CELL && !p[i].width)
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

static const char *title_of(const struct column *c, bool brief)
{
	return brief && c->brief ? c->brief : c->title;
}

void line_titles(FILE *f, const struct columns *t, const struct phrase *p, size_t nr, bool brief)
{
	for (size_t i = 0; i < nr; i++)
		fprintf(f, "%s%*s", p[i].before ?: "", p[i].width,
			title_of(&t->column[p[i].column], brief));
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

/* Decimals of times in seconds: they are in whole milliseconds. */
#define SECONDS_DIGITS 3

void table_add(struct table *t, unsigned int column, const char *before, int width)
{
	bool seconds = t->columns->column[column].unit == UNIT_SECONDS;

	t->column[t->nr++] = (struct phrase){
		.before = before,
		.column = (unsigned char)column,
		.style = seconds ? LINE_EXACT : LINE_CELL,
		.digits = SECONDS_DIGITS,
		.width = width,
	};
}

void table_measure(struct table *t, const void *row)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		const struct phrase *p = &t->column[i];
		char buf[CELL_LEN];
		struct value v;
		size_t len;

		if (p->width)
			continue;
		columns_get(t->columns, p->column, row, &v);
		len = strlen(phrase_value(p, &t->columns->column[p->column], &v, buf, sizeof(buf)));
		if (len > t->widest[i])
			t->widest[i] = len;
	}
}

static bool is_left_out(const struct table *t, unsigned int column, unsigned int left_out)
{
	for (unsigned int i = 0; i < left_out && i < t->nr_dispensable; i++)
		if (t->dispensable[i] == column)
			return true;
	return false;
}

static bool is_sorted(const struct table *t, const struct column *c)
{
	return t->sorted && !strcmp(t->sorted, c->name);
}

unsigned int table_lay_out(struct table *t, unsigned int layout)
{
	unsigned int left_out = layout > TABLE_BRIEF ? layout - TABLE_BRIEF : 0;
	size_t used = 0;

	t->brief = layout >= TABLE_BRIEF;
	t->gap = layout == TABLE_WIDE ? "  " : " ";
	t->shown = 0;
	for (unsigned int i = 0; i < t->nr; i++) {
		struct phrase p = t->column[i];
		const struct column *c = &t->columns->column[p.column];
		size_t title = strlen(title_of(c, t->brief)) + is_sorted(t, c);

		if (is_left_out(t, p.column, left_out))
			continue;
		if (!p.width)
			p.width = (int)(title > t->widest[i] ? title : t->widest[i]);
		if (!p.before)
			p.before = t->shown ? t->gap : "";
		used += strlen(p.before) + (size_t)p.width;
		if (cell_is_left(c))
			p.width = -p.width;
		t->phrase[t->shown++] = p;
	}
	return (unsigned int)used;
}

void table_heading(const struct table *t, FILE *f)
{
	for (unsigned int i = 0; i < t->shown; i++) {
		const struct phrase *p = &t->phrase[i];
		const struct column *c = &t->columns->column[p->column];
		const char *title = title_of(c, t->brief);
		const char *mark = is_sorted(t, c) ? t->mark : "";
		/* A mark has any number of bytes and is one character wide. */
		int used = (int)strlen(title) + (mark[0] != '\0');
		int width = p->width < 0 ? -p->width : p->width;
		int blanks = width > used ? width - used : 0;

		fprintf(f, "%s%*s%s%s%*s", p->before ?: "", p->width < 0 ? 0 : blanks, "", title,
			mark, p->width < 0 ? blanks : 0, "");
	}
}

void table_titles(const struct table *t, FILE *f)
{
	table_heading(t, f);
	fputs("\n", f);
}

void table_line(const struct table *t, const void *row, FILE *f)
{
	line_print(f, t->columns, t->phrase, t->shown, row);
}

void table_row(const struct table *t, const void *row, FILE *f)
{
	table_line(t, row, f);
	fputs("\n", f);
}

/*
 * Longer than any item: a kernel's release has at most 64 bytes, and escaping makes it at most four
 * times as long.
 */
#define ITEM_LEN 512

void wrap_text(struct wrap *w, const char *text)
{
	unsigned int len = (unsigned int)strlen(text);

	if (w->used && w->used + 2 + len > w->width) {
		fputs("\n", w->f);
		w->used = 0;
		w->more = true;
	}
	fprintf(w->f, "%s%s", w->used || w->more ? "  " : "", text);
	w->used += len + (w->used || w->more ? 2 : 0);
}

/* Blanks at the beginning of a continuation line. */
#define INDENT 2u

static void wrap_break(struct wrap *w)
{
	fputs("\n  ", w->f);
	w->used = INDENT;
	w->more = true;
}

void wrap_words(struct wrap *w, const char *text)
{
	while (*text) {
		unsigned int blanks = (unsigned int)strspn(text, " "), room;
		unsigned int len = (unsigned int)strcspn(text + blanks, " ");

		if (w->used + blanks + len > w->width && w->used > INDENT) {
			wrap_break(w);
			text += blanks;
			blanks = 0;
		}
		room = w->width > w->used ? w->width - w->used : 1;
		len += blanks;
		if (len > room)
			len = room;
		fwrite(text, 1, len, w->f);
		w->used += len;
		text += len;
	}
}

void wrap_line(struct wrap *w, const struct columns *t, const struct phrase *p, size_t nr,
	       const void *row)
{
	char text[ITEM_LEN];

	wrap_text(w, line_format(text, sizeof(text), t, p, nr, row));
}
