// SPDX-License-Identifier: GPL-2.0-only
#include "view/wrap.h"

#include <string.h>

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
