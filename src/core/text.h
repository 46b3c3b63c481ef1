/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings that somebody else chose: names in a recorded stream, of a peer, of a file. A terminal obeys
 * what it is sent, so they are not shown as they are.
 */
#ifndef NTPROF_CORE_TEXT_H
#define NTPROF_CORE_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* What becomes of bytes that may not be shown. */
enum text_style {
	TEXT_HEX,  /* all but printable ASCII, and the backslash: \xHH */
	TEXT_MARK, /* all but printable ASCII: a question mark, so that the length stays */
	TEXT_JSON, /* RFC 8259, 7: quotes, backslashes and control characters; UTF-8 stays */
};

/** text_print() - print @s to @f so that it cannot do more than be read */
void text_print(FILE *f, const char *s, enum text_style style);

/** text_copy() - the same into @buf of @size bytes, cut where it ends; Return: @buf */
char *text_copy(char *buf, size_t size, const char *s, enum text_style style);

/** text_harmless() - control characters of @s become question marks, all else stays as it is; Return: @s */
char *text_harmless(char *s);

/* What text_utf8() makes of a byte at most: U+FFFD. */
#define TEXT_UTF8_GROWS 3

/**
 * text_utf8() - copy @s into @buf of @size bytes as UTF-8 (RFC 3629), cut where it ends
 *
 * A byte that does not belong to a character becomes U+FFFD, the replacement character.
 * Return: @buf.
 */
char *text_utf8(char *buf, size_t size, const char *s);

#endif /* NTPROF_CORE_TEXT_H */
