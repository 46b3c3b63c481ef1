// SPDX-License-Identifier: GPL-2.0-only
#include "view/screen.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ECMA-48: CUP to the upper left corner; EL to the end of the line; ED to the end of the screen. */
#define CURSOR_HOME "\033[H"
#define ERASE_LINE "\033[K"
#define ERASE_BELOW "\033[J"

struct part_kind {
	const char *word;
	size_t titles;
};

#define PART_KIND(id, word, titles) {word, titles},
static const struct part_kind kinds[] = {SCREEN_PARTS(PART_KIND)};

int screen_open(struct screen *s)
{
	memset(s, 0, sizeof(*s));
	for (int p = 0; p < SCREEN_PARTS_NR; p++) {
		s->part[p] = open_memstream(&s->text[p], &s->size[p]);
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
		free(s->text[p]);
	}
	memset(s, 0, sizeof(*s));
}

void screen_print(const struct screen *s, FILE *out)
{
	for (int p = 0; p < SCREEN_PARTS_NR; p++)
		fwrite(s->text[p], 1, s->size[p], out);
}

static size_t lines_count(const char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++)
		n += text[i] == '\n';
	return n;
}

/*
 * Who needs less than an equal share gets it all and leaves the rest to the others; so a long table
 * of rows cannot push the stages off the screen.
 */
static void room_share(const size_t *need, size_t *got, size_t room)
{
	bool settled[SCREEN_PARTS_NR] = {false};
	size_t open = 0, share;
	bool again = true;

	for (int p = 0; p < SCREEN_PARTS_NR; p++) {
		settled[p] = !kinds[p].word || !need[p];
		got[p] = kinds[p].word ? 0 : need[p];
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
}

/* Where the text of the next line goes, and how much room there is for it. */
struct cursor {
	FILE *out;
	size_t columns;
	size_t lines;
	size_t used;
};

static bool starts_character(char c)
{
	/* RFC 3629: bytes after the first of a character are 10xxxxxx. */
	return ((unsigned char)c & 0xc0) != 0x80;
}

/* Columns that @len bytes of UTF-8 take, one a character. */
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

static void cursor_line(struct cursor *c, const char *text, size_t len)
{
	size_t cut = text_cut(text, len, c->columns);

	if (c->used == c->lines)
		return;
	/* No newline after the last line: it would scroll the first one away. */
	if (c->used++)
		fputc('\n', c->out);
	fwrite(text, 1, cut, c->out);
	/* After a full line the cursor still is on its last character, which must stay. */
	if (text_columns(text, cut) < c->columns)
		fputs(ERASE_LINE, c->out);
}

static void cursor_part(struct cursor *c, const struct part_kind *kind, const char *text,
			size_t need, size_t got)
{
	size_t shown = need;
	char note[64];

	if (got < need)
		shown = got ? got - 1 : 0;
	for (size_t i = 0; i < shown; i++) {
		const char *end = strchr(text, '\n');

		cursor_line(c, text, (size_t)(end - text));
		text = end + 1;
	}
	if (got == need || !got)
		return;
	need -= shown > kind->titles ? shown : kind->titles;
	snprintf(note, sizeof(note), "... %zu %s left out", need, kind->word);
	cursor_line(c, note, strlen(note));
}

void screen_redraw(const struct screen *s, FILE *out, unsigned int columns, unsigned int lines)
{
	struct cursor c = {.out = out, .columns = columns, .lines = lines ? lines : SIZE_MAX};
	size_t need[SCREEN_PARTS_NR], got[SCREEN_PARTS_NR];
	size_t total = 0, fixed = 0, parts = 0;
	bool spaced;

	for (int p = 0; p < SCREEN_PARTS_NR; p++) {
		need[p] = lines_count(s->text[p], s->size[p]);
		total += need[p];
		fixed += kinds[p].word ? 0 : need[p];
		parts += need[p] != 0;
	}
	spaced = parts && total + parts - 1 <= c.lines;
	room_share(need, got, fixed < c.lines ? c.lines - fixed : 0);
	if (total <= c.lines)
		memcpy(got, need, sizeof(got));

	fputs(CURSOR_HOME, out);
	for (int p = 0; p < SCREEN_PARTS_NR; p++) {
		if (!need[p])
			continue;
		if (spaced && c.used)
			cursor_line(&c, "", 0);
		cursor_part(&c, &kinds[p], s->text[p], need[p], got[p]);
	}
	/* From a line of its own: on a full line it would erase that line's last character. */
	if (c.used < c.lines)
		fputs("\n" ERASE_BELOW, out);
}
