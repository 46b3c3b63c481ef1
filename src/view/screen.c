// SPDX-License-Identifier: GPL-2.0-only
/* A screenful: text in named parts, written at once, as it is or fitted into a terminal. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "view/bars.h"
#include "view/screen.h"

/* ECMA-48: CUP to the upper left corner; EL to the end of the line; ED to the end of the screen. */
#define CURSOR_HOME "\033[H"
#define ERASE_LINE "\033[K"
#define ERASE_BELOW "\033[J"

struct part_kind {
	const char *word;
	size_t titles;
};

#define PART_KIND(id, word, titles) {word, titles},
static const struct part_kind kinds[] = {FRAME_PARTS(PART_KIND)};

int frame_open(struct frame *f)
{
	memset(f, 0, sizeof(*f));
	for (int p = 0; p < FRAME_PARTS_NR; p++) {
		f->part[p] = open_memstream(&f->text[p], &f->size[p]);
		if (!f->part[p])
			return -ENOMEM;
	}
	return 0;
}

int frame_close(struct frame *f)
{
	int err = 0;

	for (int p = 0; p < FRAME_PARTS_NR; p++) {
		if (ferror(f->part[p]))
			err = -ENOMEM;
		if (fclose(f->part[p]))
			err = -ENOMEM;
		f->part[p] = NULL;
	}
	return err;
}

void frame_free(struct frame *f)
{
	for (int p = 0; p < FRAME_PARTS_NR; p++) {
		if (f->part[p])
			fclose(f->part[p]);
		free(f->text[p]);
	}
	memset(f, 0, sizeof(*f));
}

void frame_print(const struct frame *f, FILE *out)
{
	for (int p = 0; p < FRAME_PARTS_NR; p++)
		fwrite(f->text[p], 1, f->size[p], out);
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
	bool settled[FRAME_PARTS_NR] = {false};
	size_t open = 0, share;
	bool again = true;

	for (int p = 0; p < FRAME_PARTS_NR; p++) {
		settled[p] = !kinds[p].word || !need[p];
		got[p] = kinds[p].word ? 0 : need[p];
		open += !settled[p];
	}
	while (open && again) {
		again = false;
		share = room / open;
		for (int p = 0; p < FRAME_PARTS_NR; p++) {
			if (settled[p] || need[p] > share)
				continue;
			got[p] = need[p];
			room -= need[p];
			settled[p] = true;
			open--;
			again = true;
		}
	}
	for (int p = 0; p < FRAME_PARTS_NR; p++) {
		if (settled[p])
			continue;
		got[p] = room / open;
		room -= got[p];
		open--;
	}
}

/* Where the text of the next line goes, and how much room there is for it. */
struct screen {
	FILE *out;
	size_t columns;
	size_t lines;
	size_t used;
};

static void screen_line(struct screen *s, const char *text, size_t len)
{
	size_t cut = text_cut(text, len, s->columns);

	if (s->used == s->lines)
		return;
	/* No newline after the last line: it would scroll the first one away. */
	if (s->used++)
		fputc('\n', s->out);
	fwrite(text, 1, cut, s->out);
	/* After a full line the cursor still is on its last character, which must stay. */
	if (text_columns(text, cut) < s->columns)
		fputs(ERASE_LINE, s->out);
}

static void screen_part(struct screen *s, const struct part_kind *kind, const char *text,
			size_t need, size_t got)
{
	size_t shown = need;
	char note[64];

	if (got < need)
		shown = got ? got - 1 : 0;
	for (size_t i = 0; i < shown; i++) {
		const char *end = strchr(text, '\n');

		screen_line(s, text, (size_t)(end - text));
		text = end + 1;
	}
	if (got == need || !got)
		return;
	need -= shown > kind->titles ? shown : kind->titles;
	snprintf(note, sizeof(note), "... %zu %s left out", need, kind->word);
	screen_line(s, note, strlen(note));
}

void frame_redraw(const struct frame *f, FILE *out, unsigned int columns, unsigned int lines)
{
	struct screen s = {.out = out, .columns = columns, .lines = lines ? lines : SIZE_MAX};
	size_t need[FRAME_PARTS_NR], got[FRAME_PARTS_NR];
	size_t total = 0, fixed = 0, parts = 0;
	bool spaced;

	for (int p = 0; p < FRAME_PARTS_NR; p++) {
		need[p] = lines_count(f->text[p], f->size[p]);
		total += need[p];
		fixed += kinds[p].word ? 0 : need[p];
		parts += need[p] != 0;
	}
	spaced = parts && total + parts - 1 <= s.lines;
	room_share(need, got, fixed < s.lines ? s.lines - fixed : 0);
	if (total <= s.lines)
		memcpy(got, need, sizeof(got));

	fputs(CURSOR_HOME, out);
	for (int p = 0; p < FRAME_PARTS_NR; p++) {
		if (!need[p])
			continue;
		if (spaced && s.used)
			screen_line(&s, "", 0);
		screen_part(&s, &kinds[p], f->text[p], need[p], got[p]);
	}
	/* From a line of its own: on a full line it would erase that line's last character. */
	if (s.used < s.lines)
		fputs("\n" ERASE_BELOW, out);
}
