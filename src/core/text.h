/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings that somebody else chose: names in a recorded stream, of a peer, of a file. A terminal obeys what it is sent, a
 * spreadsheet what it opens, so they are not shown as they are. Each output has its style: tables and messages TEXT_HEX, or TEXT_MARK
 * where the width counts, CSV and labels of metrics TEXT_SEEN, JSON TEXT_UTF8 for its values and TEXT_JSON for what is made of them.
 */
#ifndef NTPROF_CORE_TEXT_H
#define NTPROF_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What text_copy() makes of a byte at most in TEXT_UTF8 and TEXT_SEEN: U+FFFD, the replacement character. */
#define TEXT_UTF8_GROWS 3

/*
 * What becomes of bytes that may not be shown. Of the last three all bytes are UTF-8 (RFC 3629): one that belongs to no character becomes
 * U+FFFD. Hidden are control characters (U+0000 to U+001F, U+007F to U+009F), those that turn the direction of writing or
 * take no room.
 */
enum text_style {
	TEXT_HEX,  /* all but printable ASCII, and the backslash: \xHH */
	TEXT_MARK, /* all but printable ASCII: a question mark, so that the length stays */
	TEXT_UTF8, /* all characters as they are */
	TEXT_SEEN, /* hidden ones: U+FFFD */
	TEXT_JSON, /* hidden ones from U+007F on: \uHHHH, as JSON has it in strings (RFC 8259, 7), where they are only */
};

/** text_print() - print @s to @f so that it cannot do more than be read */
void text_print(FILE *f, const char *s, enum text_style style);

/** text_copy() - the same into @buf of @size bytes, cut where it ends; Return: @buf */
char *text_copy(char *buf, size_t size, const char *s, enum text_style style);

/** text_harmless() - bytes of @s that are hidden or no UTF-8 become question marks, all else stays as it is; Return: @s */
char *text_harmless(char *s);

/** text_is_printable() - whether all of @s is printable ASCII */
bool text_is_printable(const char *s);

#endif /* NTPROF_CORE_TEXT_H */
