// SPDX-License-Identifier: GPL-2.0-only
#include "core/text.h"

#include <stdbool.h>
#include <stdint.h>
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

char *text_harmless(char *s)
{
	for (char *c = s; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return s;
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

/* The least code point that takes so many bytes: a longer form of a smaller one is none. */
static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

/* Return: bytes of the character that @s begins with, 0 if it begins with none. RFC 3629, 4. */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;
	uint32_t code = n == 1 ? *s : *s & (0xffu >> (n + 1));

	for (size_t i = 1; i < n; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	/* Halves of UTF-16's pairs are no characters. */
	if (!n || code < least[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return n;
}

char *text_utf8(char *buf, size_t size, const char *s)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t used = 0;

	while (*s) {
		size_t n = utf8_length((const unsigned char *)s);
		size_t add = n ?: sizeof(replacement) - 1;

		if (used + add >= size)
			break;
		memcpy(buf + used, n ? s : replacement, add);
		used += add;
		s += n ?: 1;
	}
	buf[used] = '\0';
	return buf;
}
