// SPDX-License-Identifier: GPL-2.0-only
#include "view/html_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "view/lines.h"

void html_text(FILE *f, const char *s)
{
	size_t size = TEXT_UTF8_GROWS * strlen(s) + 1;
	char *seen = malloc(size);

	if (!seen)
		return;
	text_copy(seen, size, s, TEXT_SEEN);
	for (const char *p = seen; *p; p++) {
		if (*p == '<')
			fputs("&lt;", f);
		else if (*p == '&')
			fputs("&amp;", f);
		else if (*p == '"')
			fputs("&quot;", f);
		else if (*p == '\'')
			fputs("&#39;", f);
		else if (*p == '>')
			fputs("&gt;", f);
		else
			fputc(*p, f);
	}
	free(seen);
}

int html_print_begin(struct html_print *p)
{
	*p = (struct html_print){0};
	p->f = open_memstream(&p->text, &p->size);
	return p->f ? 0 : -ENOMEM;
}

int html_print_end(struct html_print *p, FILE *f, const char *class)
{
	int err = fclose(p->f) ? -ENOMEM : 0;

	for (char *line = p->text, *next; !err && line && *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		fprintf(f, "<p class=%s>", class);
		html_text(f, line);
		fputs("</p>\n", f);
	}
	free(p->text);
	return err;
}

void html_table_begin(FILE *f, const char *id, const char *name)
{
	fprintf(f,
		"<div class=scroll tabindex=0 role=region aria-label='%s'><table id='%s-%s' class=sort>"
		"<thead><tr>",
		name, id, name);
}

void html_table_end(FILE *f)
{
	fputs("</table></div>\n", f);
}

void html_heads(FILE *f, const struct columns *t, const unsigned char *shown, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct column *c = &t->column[shown ? shown[i] : i];

		fprintf(f, "<th scope=col class=%s data-c=%s>%s", cell_is_left(c) ? "t" : "n",
			c->name, c->title);
	}
}

void html_cells(FILE *f, const struct columns *t, const unsigned char *shown, size_t nr,
		const void *row)
{
	char buf[CELL_LEN];
	struct value v;

	for (size_t i = 0; i < nr; i++) {
		unsigned int at = shown ? shown[i] : (unsigned int)i;
		const struct column *c = &t->column[at];

		columns_get(t, at, row, &v);
		fprintf(f, "<td class=%s", cell_is_left(c) ? "t" : "n");
		if (!v.none && v.type == VALUE_TEXT) {
			fputs(">", f);
			html_text(f, v.text);
			continue;
		}
		if (!v.none)
			fprintf(f, " data-v=%s", cell_exact(buf, sizeof(buf), c, &v, 9));
		fprintf(f, ">%s%s", v.none ? "-" : cell_format(buf, sizeof(buf), c, &v),
			c->unit == UNIT_SECONDS && !v.none ? " s" : "");
	}
}

void html_table(FILE *f, const char *id, const char *name, const struct columns *t,
		const char *rows, size_t nr, size_t size)
{
	html_table_begin(f, id, name);
	html_heads(f, t, HTML_ALL(t));
	fputs("<tbody>\n", f);
	for (size_t i = 0; i < nr; i++) {
		fputs("<tr>", f);
		html_cells(f, t, HTML_ALL(t), rows + i * size);
	}
	html_table_end(f);
}
