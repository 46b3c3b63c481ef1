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

/* ECMA-48, SGR: bold, negative image, red; and all of them off. */
#define BOLD "\033[1m"
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

int screen_open(struct screen *s)
{
	memset(s, 0, sizeof(*s));
	s->marked = SCREEN_NO_MARK;
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
	if (line < kinds[part].titles)
		return BOLD;
	if (part == SCREEN_ROWS && line - kinds[part].titles == s->marked)
		return REVERSE;
	return NULL;
}

/*
 * Return: how many lines after the titles are scrolled off the top, if @room of them are visible.
 */
static size_t lines_above(struct screen *s, int part, size_t lines, size_t room)
{
	size_t most = lines > room ? lines - room : 0;

	if (part == SCREEN_PAGE) {
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
	const char *text = s->text[part];

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
	size_t total = 0, fixed = 0, parts = 0, left;
	bool spaced;

	for (int p = 0; p < SCREEN_PARTS_NR; p++) {
		need[p] = lines_count(s->text[p], s->size[p]);
		got[p] = kinds[p].room == SCREEN_WHOLE ? need[p] : 0;
		total += need[p];
		fixed += got[p];
		parts += need[p] != 0;
	}
	spaced = parts && total + parts - 1 <= most;
	left = room_share(need, got, fixed < most ? most - fixed : 0, SCREEN_SHARE);
	room_share(need, got, left, SCREEN_SPARE);
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
