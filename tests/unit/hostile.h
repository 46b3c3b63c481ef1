/* SPDX-License-Identifier: GPL-2.0-only */
/* A name that does to a terminal, a parser and a spreadsheet what it can, and what no output may
 * have of it. */
#ifndef NTPROF_TESTS_HOSTILE_H
#define NTPROF_TESTS_HOSTILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <json-c/json.h>

/*
 * A formula, that a name is hostile in the first bytes and in the last; ESC, C1 as UTF-8 and as a
 * byte, the line ended, a quote, right to left, no room, no UTF-8, a tag of Unicode past U+FFFF.
 */
#define HOSTILE_MARK "HYPERLINK"
#define HOSTILE                                         \
	"=" HOSTILE_MARK "(\"x\")\x1b[2J\xc2\x9b"       \
	"2J\x9b"                                        \
	"2J\r\nFAKE 1,2;3\t'\\\xe2\x80\xae\xe2\x80\x8b" \
	"\xff\xf3\xa0\x81\x81\x7f\x07"                  \
	"E"

/* Of characters of UTF-8, apart from core/text.c. */
static inline uint32_t hostile_next(const unsigned char **at)
{
	const unsigned char *c = *at;
	unsigned int more = c[0] < 0x80 ? 0 : c[0] >> 5 == 6 ? 1 : c[0] >> 4 == 14 ? 2 : 3;
	uint32_t code = more ? c[0] & (0x3fu >> more) : c[0];

	if (c[0] >= 0x80 && (c[0] < 0xc2 || c[0] > 0xf4))
		fail_msg("0x%02x begins no character, in: %s", c[0], (const char *)c - 1);
	for (unsigned int i = 1; i <= more; i++) {
		if (c[i] >> 6 != 2)
			fail_msg("0x%02x is in no character, in: %s", c[i], (const char *)c);
		code = code << 6 | (c[i] & 0x3f);
	}
	*at += 1 + more;
	return code;
}

/* @allowed: control characters that the output has by itself */
static inline void assert_seen(const char *text, const char *allowed)
{
	for (const unsigned char *c = (const unsigned char *)text; *c;) {
		const char *at = (const char *)c;
		uint32_t code = hostile_next(&c);
		bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
		bool turns = (code >= 0x200b && code <= 0x200f) ||
			     (code >= 0x202a && code <= 0x202e) ||
			     (code >= 0x2060 && code <= 0x2069) || code == 0x61c;
		bool empty = code == 0xad || code == 0xfeff || code >> 7 == 0xe0000 >> 7;

		if ((control && !strchr(allowed, (int)code)) || turns || empty)
			fail_msg("U+%04x is there: %.80s", code, at);
	}
	assert_null(strstr(text, "\nFAKE"));
}

/* Text for people, and lines for scripts. */
static inline void assert_text_is_harmless(const char *text)
{
	assert_seen(text, "\n");
}

/* Each cell is a number or begins with nothing that makes a formula, and its quotes are closed. */
static inline void assert_csv_is_harmless(const char *text)
{
	bool quoted = false, begins = true;

	assert_seen(text, "\r\n");
	for (const char *c = text; *c; c++) {
		char *end;

		if (begins) {
			quoted = *c == '"';
			strtod(c, &end);
			if (strchr("=+-@", c[quoted]) && (end == c || !strchr(",\r", *end)))
				fail_msg("a formula: %.40s", c);
			begins = false;
			c += quoted;
		}
		if (quoted && c[0] == '"' && c[1] == '"')
			c++;
		else if (*c == '"')
			quoted = false;
		else if (!quoted && (*c == ',' || *c == '\n'))
			begins = true;
		assert_true(*c);
	}
	assert_true(begins && !quoted);
}

/* Each line is an object, whose strings have all that the name has. */
static inline void assert_json_is_harmless(const char *text)
{
	assert_seen(text, "\n");
	while (*text) {
		const char *end = strchr(text, '\n');
		struct json_tokener *t = json_tokener_new();
		struct json_object *o;

		assert_non_null(end);
		o = json_tokener_parse_ex(t, text, (int)(end - text));
		if (!o)
			fail_msg("no JSON: %.200s", text);
		json_object_put(o);
		json_tokener_free(t);
		text = end + 1;
	}
}

#endif /* NTPROF_TESTS_HOSTILE_H */
