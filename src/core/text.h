/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text as it is shown, and as users write it.
 *
 * Strings that others chose: names in a recorded stream, of a peer or in a file. A terminal obeys
 * control characters, and a spreadsheet runs formulas, so such strings are not shown as they are.
 * Each output has its style: tables and messages TEXT_HEX, or TEXT_MARK where the width matters;
 * CSV and labels of metrics TEXT_SEEN; JSON TEXT_UTF8 for its values and TEXT_JSON for the text
 * made of them.
 */
#ifndef NTPROF_CORE_TEXT_H
#define NTPROF_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * The most bytes that text_copy() makes of one byte in TEXT_UTF8 and TEXT_SEEN: those of U+FFFD,
 * the replacement character.
 */
#define TEXT_UTF8_GROWS 3

/*
 * What replaces bytes that may not be shown. The last three styles write only UTF-8 (RFC 3629): a
 * byte that belongs to no character becomes U+FFFD. Hidden characters are control characters
 * (U+0000 to U+001F, U+007F to U+009F), and those that change the direction of writing or have no
 * width.
 */
enum text_style {
	TEXT_HEX,  /* all but printable ASCII, and the backslash, become \xHH */
	TEXT_WORD, /* blanks as well, so that a line of words keeps them apart */
	TEXT_MARK, /* all but printable ASCII become a question mark, so that the length stays */
	TEXT_UTF8, /* all characters stay as they are */
	TEXT_SEEN, /* hidden characters become U+FFFD */
	TEXT_JSON, /* hidden ones from U+007F on, which are in strings only: \uHHHH (RFC 8259, 7) */
};

/* Room for the digits of any uint64_t. */
#define NATURAL_LEN 20

/** text_natural() - the decimal digits of @n, without a 0 behind them; Return: their number */
size_t text_natural(char buf[NATURAL_LEN], uint64_t n);

/* Most lines of CSV and JSON are shorter. */
#define TEXT_LINE_BYTES 4096

/**
 * struct text_line - text that is collected before it is written to @f: where there are millions of
 * lines, a call of the library for each number takes longer than its digits
 * @used: bytes of @text that are not written yet
 */
struct text_line {
	FILE *f;
	size_t used;
	char text[TEXT_LINE_BYTES];
};

/** text_line_flush() - write what was collected; an error is that of the file */
void text_line_flush(struct text_line *l);

/** text_line_long() - add what finds no room in the line any more */
void text_line_long(struct text_line *l, const char *s, size_t n);

/** text_line_put() - add @n bytes of @s */
static inline void text_line_put(struct text_line *l, const char *s, size_t n)
{
	if (n > sizeof(l->text) - l->used) {
		text_line_long(l, s, n);
		return;
	}
	memcpy(l->text + l->used, s, n);
	l->used += n;
}

/** text_line_puts(), text_line_char() - add a string, or one character */
static inline void text_line_puts(struct text_line *l, const char *s)
{
	text_line_put(l, s, strlen(s));
}

static inline void text_line_char(struct text_line *l, char c)
{
	if (l->used == sizeof(l->text))
		text_line_flush(l);
	l->text[l->used++] = c;
}

/** text_line_natural(), text_line_integer() - add the digits of a number */
static inline void text_line_natural(struct text_line *l, uint64_t n)
{
	if (sizeof(l->text) - l->used < NATURAL_LEN)
		text_line_flush(l);
	l->used += text_natural(l->text + l->used, n);
}

static inline void text_line_integer(struct text_line *l, int64_t n)
{
	if (n < 0)
		text_line_char(l, '-');
	text_line_natural(l, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

/** text_print() - print @s to @f in a harmless form */
void text_print(FILE *f, const char *s, enum text_style style);

/**
 * text_copy() - copy @s in such a form to @buf of @size bytes, cut if it is too long; Return: @buf
 */
char *text_copy(char *buf, size_t size, const char *s, enum text_style style);

/**
 * text_harmless() - replace bytes of @s that are hidden or not UTF-8 by question marks; Return: @s
 */
char *text_harmless(char *s);

/** text_is_printable() - whether all of @s is printable ASCII */
bool text_is_printable(const char *s);

/** text_is_plain() - whether a shell takes @s as one word as it is, and no program as an option */
bool text_is_plain(const char *s);

/* Times and sizes as users write them: a number and a unit. */

/**
 * parse_seconds() - parse a time
 * @text: a decimal number and optionally a unit: ns, us, ms, s (the default), m or h
 * @ns: filled with nanoseconds
 *
 * Return: 0, -EINVAL if the text is not a time, -ERANGE if it is negative or beyond 2^63 ns.
 */
int parse_seconds(const char *text, uint64_t *ns);

/**
 * parse_size() - parse a size
 * @text: a whole number and optionally K, M or G, in either case, or KiB, MiB or GiB: powers of
 *        1024. kB is not accepted, because it is 1000 to some programs and 1024 to others
 * @bytes: filled
 *
 * Return: 0, -EINVAL if the text is not a size, -ERANGE if it does not fit.
 */
int parse_size(const char *text, uint64_t *bytes);

/* Lists and conditions as users write them: words, and characters between them. */

/* Longer than any word that means something; the longest is a range of two numbers. */
#define WORD_LEN 48

/**
 * struct words - a text that is read
 * @p: what comes next
 * @at: where that began which was read last
 * @blanks: blanks may stand before each word and character
 */
struct words {
	const char *p;
	const char *at;
	bool blanks;
};

/**
 * words_next() - take a word of letters, digits, points and underscores
 * @word: filled; "" if no such character comes, "?" if the word is too long
 */
void words_next(struct words *w, char word[WORD_LEN]);

/**
 * words_item() - take a word of a list, up to a comma, and the comma; @word: as words_next() has it
 *
 * Return: whether there was a comma: one more word comes.
 */
bool words_item(struct words *w, char word[WORD_LEN]);

/**
 * words_each() - call @fn for each word of a list, as words_item() takes it
 * @fn: returns NULL, or what is wrong with the word
 *
 * Return: NULL, or what @fn returned of the first wrong word; then @fn is not called any more.
 */
const char *words_each(const char *text, const char *(*fn)(void *context, char *word),
		       void *context);

/** words_take() - whether @c comes next, which is taken then; 0: nothing comes any more */
bool words_take(struct words *w, char c);

/* The name that a user may have meant. */

/**
 * struct nearest - a search among names
 * @word: what the user wrote
 * @name: the name that is most like it; NULL: none is
 * @distance: letters to insert, leave out, replace or swap to make one of the other
 */
struct nearest {
	const char *word;
	const char *name;
	unsigned int distance;
};

/** nearest_try() - compare with one more name. A word that a name begins with is like it, too */
void nearest_try(struct nearest *n, const char *name);

#endif /* NTPROF_CORE_TEXT_H */
