// SPDX-License-Identifier: GPL-2.0-only
#include "core/text.h"

#include <stdbool.h>
#include <string.h>

/* The longest that one byte becomes, and its terminating 0. */
#define ESCAPED_MAX sizeof("\\u00ff")
/* What is written at once: mostly all of a text. */
#define PRINT_LEN 512

static bool printable(char c)
{
	return c >= ' ' && c <= '~';
}

static void escape(char c, enum text_style style, char out[ESCAPED_MAX])
{
	unsigned char byte = (unsigned char)c;

	if (style == TEXT_HEX && (!printable(c) || c == '\\'))
		snprintf(out, ESCAPED_MAX, "\\x%02x", byte);
	else if (style == TEXT_MARK && !printable(c))
		snprintf(out, ESCAPED_MAX, "?");
	else if (style == TEXT_JSON && byte < ' ')
		snprintf(out, ESCAPED_MAX, "\\u%04x", byte);
	else if (style == TEXT_JSON && (c == '"' || c == '\\'))
		snprintf(out, ESCAPED_MAX, "\\%c", c);
	else
		memcpy(out, (char[]){c, '\0'}, 2);
}

/* Not byte by byte, as a stream may have no buffer: standard error has none. */
void text_print(FILE *f, const char *s, enum text_style style)
{
	char out[PRINT_LEN];
	size_t used = 0;

	for (; *s; s++) {
		if (used + ESCAPED_MAX > sizeof(out)) {
			fwrite(out, 1, used, f);
			used = 0;
		}
		escape(*s, style, out + used);
		used += strlen(out + used);
	}
	if (used)
		fwrite(out, 1, used, f);
}

char *text_copy(char *buf, size_t size, const char *s, enum text_style style)
{
	char out[ESCAPED_MAX];
	size_t used = 0, n;

	for (; *s; s++) {
		escape(*s, style, out);
		n = strlen(out);
		if (used + n >= size)
			break;
		memcpy(buf + used, out, n);
		used += n;
	}
	buf[used] = '\0';
	return buf;
}
