// SPDX-License-Identifier: GPL-2.0-only
#include "view/lines.h"

#include <string.h>

#include "core/text.h"
#include "view/cells.h"

static void words_print(FILE *f, const char *words)
{
	if (words)
		fputs(words, f);
}

/* Return: @buf, or the value's own text where that is whole and safe. */
static const char *phrase_value(const struct phrase *p, const struct column *c,
				const struct value *v, char *buf, size_t size)
{
	if (v->type == VALUE_TEXT && c->unit != UNIT_TEXT && !v->none)
		return v->text;
	if (p->style == LINE_CELL)
		return cell_format(buf, size, c, v);
	if (p->style == LINE_EXACT)
		return cell_exact(buf, size, c, v, p->digits);
	snprintf(buf, size, "%.3f", value_number(v) / 1e3);
	return buf;
}

/* A text of others may be longer than any buffer. */
static void value_print(FILE *f, const struct phrase *p, const struct column *c,
			const struct value *v)
{
	char buf[CELL_LEN];

	if (p->width)
		fprintf(f, "%*s", p->width, phrase_value(p, c, v, buf, sizeof(buf)));
	else if (c->unit == UNIT_TEXT && !v->none)
		text_print(f, v->text, TEXT_HEX);
	else
		fputs(phrase_value(p, c, v, buf, sizeof(buf)), f);
}

static bool phrase_is_plural(const struct phrase *p, const struct value *v)
{
	return p->plural && value_number(v) != 1;
}

static void phrase_print(FILE *f, const struct columns *t, const struct phrase *p, const void *row)
{
	struct value v;

	columns_get(t, p->column, row, &v);
	if (v.none && p->style != LINE_CELL)
		return;
	words_print(f, p->before);
	value_print(f, p, &t->column[p->column], &v);
	words_print(f, p->after);
	if (phrase_is_plural(p, &v))
		fputs("s", f);
}

void line_print(FILE *f, const struct columns *t, const struct phrase *p, size_t nr,
		const void *row)
{
	for (size_t i = 0; i < nr; i++)
		phrase_print(f, t, &p[i], row);
}

char *line_format(char *buf, size_t size, const struct columns *t, const struct phrase *p,
		  size_t nr, const void *row)
{
	buf[0] = '\0';
	for (size_t i = 0; i < nr; i++) {
		const struct column *c = &t->column[p[i].column];
		size_t used = strlen(buf);
		char value[CELL_LEN];
		struct value v;

		columns_get(t, p[i].column, row, &v);
		if (v.none && p[i].style != LINE_CELL)
			continue;
		snprintf(buf + used, size - used, "%s%*s%s%s", p[i].before ?: "", p[i].width,
			 phrase_value(&p[i], c, &v, value, sizeof(value)), p[i].after ?: "",
			 phrase_is_plural(&p[i], &v) ? "s" : "");
	}
	return buf;
}

void line_titles(FILE *f, const struct columns *t, const struct phrase *p, size_t nr, bool brief)
{
	for (size_t i = 0; i < nr; i++) {
		const struct column *c = &t->column[p[i].column];

		words_print(f, p[i].before);
		fprintf(f, "%*s", p[i].width, brief && c->brief ? c->brief : c->title);
	}
}

void line_values(FILE *f, const char *word, const struct columns *t, const unsigned char *columns,
		 size_t nr, const void *row)
{
	fputs(word, f);
	for (size_t i = 0; i < nr; i++) {
		const struct phrase p = {.column = columns[i]};
		struct value v;

		/* Every line has as many words, whatever there is to tell. */
		columns_get(t, columns[i], row, &v);
		v.none = false;
		fputs(" ", f);
		value_print(f, &p, &t->column[columns[i]], &v);
	}
	fputs("\n", f);
}
