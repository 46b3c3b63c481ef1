// SPDX-License-Identifier: GPL-2.0-only
#include "core/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

/* The longest escape of one character with its terminating 0: two \u escapes of JSON. */
#define ESCAPED_MAX sizeof("\\ud800\\udc00")
/* Size of the buffer for one write; most texts fit. */
#define PRINT_LEN 512

#define REPLACEMENT "\xef\xbf\xbd"
_Static_assert(sizeof(REPLACEMENT) - 1 == TEXT_UTF8_GROWS, "what a byte becomes at most");

static bool printable(char c)
{
	return c >= ' ' && c <= '~';
}

/* [n]: the least code point that needs n bytes. A longer form than needed is not valid. */
static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

/*
 * Return: length in bytes of the character that @s begins with, with @code set; 0 if @s does not
 * begin with a valid one. RFC 3629, 4.
 */
static size_t utf8_length(const char *text, uint32_t *code)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;

	*code = n == 1 ? *s : *s & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	/* Surrogates of UTF-16 are not characters. */
	if (!n || *code < least[n] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return n;
}

/*
 * Whether the character controls a terminal, changes the direction of writing, or has no width. A
 * reader would not see that it is there. All with the property Default_Ignorable_Code_Point of
 * Unicode are among them.
 */
static bool is_hidden(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} hidden[] = {
		{0, 0x1f},	    {0x7f, 0x9f},	{0xad, 0xad},	    {0x34f, 0x34f},
		{0x61c, 0x61c},	    {0x115f, 0x1160},	{0x17b4, 0x17b5},   {0x180b, 0x180f},
		{0x200b, 0x200f},   {0x2028, 0x202e},	{0x2060, 0x206f},   {0x2800, 0x2800},
		{0x3164, 0x3164},   {0xfe00, 0xfe0f},	{0xfeff, 0xfeff},   {0xffa0, 0xffa0},
		{0xfff0, 0xfffb},   {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
		{0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		if (code >= hidden[i].first && code <= hidden[i].last)
			return true;
	return false;
}

static void escape_json(uint32_t code, char out[ESCAPED_MAX])
{
	const uint16_t high = (uint16_t)(0xd7c0 + (code >> 10)), low = 0xdc00 + (code & 0x3ff);

	if (code < 0x10000)
		snprintf(out, ESCAPED_MAX, "\\u%04hx", (uint16_t)code);
	else
		snprintf(out, ESCAPED_MAX, "\\u%04hx\\u%04hx", high, low);
}

/* Length of the beginning of @s that stays as it is, at most @max. */
static size_t plain_length(const char *s, enum text_style style, size_t max)
{
	size_t n = 0;

	while (n < max && printable(s[n]) && (style > TEXT_WORD || s[n] != '\\') &&
	       (style != TEXT_WORD || s[n] != ' '))
		n++;
	return n;
}

/* Escapes the first character of @s, which does not stay as it is. Return: its length in @s in
 * bytes. */
static size_t escape(const char *s, enum text_style style, char out[ESCAPED_MAX])
{
	const bool characters = style >= TEXT_UTF8;
	uint32_t code;
	size_t n;

	if (!characters) {
		snprintf(out, ESCAPED_MAX, style <= TEXT_WORD ? "\\x%02x" : "?", (unsigned char)*s);
		return 1;
	}
	n = utf8_length(s, &code);
	if (!n || (style == TEXT_SEEN && is_hidden(code)))
		snprintf(out, ESCAPED_MAX, REPLACEMENT);
	else if (style == TEXT_JSON && code > '~' && is_hidden(code))
		escape_json(code, out);
	else
		snprintf(out, ESCAPED_MAX, "%.*s", (int)n, s);
	return n ?: 1;
}

/* Return: the number of decimal digits of @n; 1 of 0. */
static unsigned int digits_of(uint64_t n)
{
	static const uint64_t power[] = {0,
					 10,
					 100,
					 1000,
					 10000,
					 100000,
					 1000000,
					 10000000,
					 100000000,
					 1000000000,
					 10000000000,
					 100000000000,
					 1000000000000,
					 10000000000000,
					 100000000000000,
					 1000000000000000,
					 10000000000000000,
					 100000000000000000,
					 1000000000000000000,
					 10000000000000000000ULL};
	/* A number of so many bits has at least so many digits less one: 1233 / 4096 is log10(2).
	 */
	unsigned int less = (64 - (unsigned int)__builtin_clzll(n | 1)) * 1233 >> 12;

	return less + (n >= power[less]);
}

/* Two digits at a time: a division takes longest. */
size_t text_natural(char buf[NATURAL_LEN], uint64_t n)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	unsigned int nr = digits_of(n);
	char *at = buf + nr;

	for (; n >= 100; n /= 100)
		memcpy(at -= 2, pairs + n % 100 * 2, 2);
	if (n >= 10)
		memcpy(at - 2, pairs + n * 2, 2);
	else
		at[-1] = (char)('0' + n);
	return nr;
}

void text_line_flush(struct text_line *l)
{
	fwrite(l->text, 1, l->used, l->f);
	l->used = 0;
}

void text_line_long(struct text_line *l, const char *s, size_t n)
{
	text_line_flush(l);
	if (n > sizeof(l->text)) {
		fwrite(s, 1, n, l->f);
		return;
	}
	memcpy(l->text, s, n);
	l->used = n;
}

/* Collects characters before it writes, as a stream may be unbuffered, such as standard error. */
void text_print(FILE *f, const char *s, enum text_style style)
{
	char out[PRINT_LEN];
	size_t used = 0, n;

	while (*s) {
		if (used + ESCAPED_MAX > sizeof(out)) {
			fwrite(out, 1, used, f);
			used = 0;
		}
		n = plain_length(s, style, sizeof(out) - used);
		if (n) {
			memcpy(out + used, s, n);
			s += n;
			used += n;
		} else {
			s += escape(s, style, out + used);
			used += strlen(out + used);
		}
	}
	if (used)
		fwrite(out, 1, used, f);
}

char *text_copy(char *buf, size_t size, const char *s, enum text_style style)
{
	char out[ESCAPED_MAX];
	size_t used = 0, n;

	while (*s && used + 1 < size) {
		n = plain_length(s, style, size - 1 - used);
		if (n) {
			memcpy(buf + used, s, n);
			s += n;
		} else {
			s += escape(s, style, out);
			n = strlen(out);
			if (used + n >= size)
				break;
			memcpy(buf + used, out, n);
		}
		used += n;
	}
	buf[used] = '\0';
	return buf;
}

char *text_harmless(char *s)
{
	uint32_t code;
	size_t n;

	for (char *c = s; *c; c += n ?: 1) {
		n = utf8_length(c, &code);
		if (!n || is_hidden(code))
			memset(c, '?', n ?: 1);
	}
	return s;
}

bool text_is_printable(const char *s)
{
	while (printable(*s))
		s++;
	return !*s;
}

bool text_is_plain(const char *s)
{
	if (!*s || *s == '-')
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("/._-+:,@%=", *s))
			return false;
	return true;
}

int parse_seconds(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"", 1e9},	 {"ns", 1},	  {"us", 1e3},	    {"ms", 1e6},
		     {"s", 1e9}, {"m", 60 * 1e9}, {"h", 3600 * 1e9}};
	double value;
	char *end;

	/* strtod() would also take hexadecimal, infinity and leading space. */
	if (!*text || strspn(text, "0123456789.") == 0)
		return *text == '-' ? -ERANGE : -EINVAL;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return -EINVAL;
	value = strtod(text, &end);
	if (end == text)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].unit))
			continue;
		value *= units[i].ns;
		if (!(value < 9.2e18))
			return -ERANGE;
		*ns = (uint64_t)llround(value);
		return 0;
	}
	return -EINVAL;
}

int parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGkmg";
	unsigned long long n;
	const char *unit;
	int shift = 0;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno)
		return -ERANGE;
	if (*end) {
		unit = strchr(units, *end);
		if (!unit || (end[1] && strcmp(end + 1, "iB") != 0))
			return -EINVAL;
		shift = 10 * (int)((unit - units) % 3 + 1);
	}
	if (n > UINT64_MAX >> shift)
		return -ERANGE;
	*bytes = n << shift;
	return 0;
}

static void begin(struct words *w)
{
	if (w->blanks)
		w->p += strspn(w->p, " \t");
	w->at = w->p;
}

static void take(struct words *w, char word[WORD_LEN], size_t length)
{
	snprintf(word, WORD_LEN, "%.*s", length < WORD_LEN ? (int)length : 1,
		 length < WORD_LEN ? w->p : "?");
	w->p += length;
}

void words_next(struct words *w, char word[WORD_LEN])
{
	size_t length = 0;

	begin(w);
	while (isalnum((unsigned char)w->p[length]) || w->p[length] == '.' || w->p[length] == '_')
		length++;
	take(w, word, length);
}

bool words_item(struct words *w, char word[WORD_LEN])
{
	begin(w);
	take(w, word, strcspn(w->p, ","));
	return words_take(w, ',');
}

const char *words_each(const char *text, const char *(*fn)(void *context, char *word),
		       void *context)
{
	struct words w = {.p = text};
	const char *wrong = NULL;
	char word[WORD_LEN];
	bool more;

	do {
		more = words_item(&w, word);
		wrong = fn(context, word);
	} while (more && !wrong);
	return wrong;
}

bool words_take(struct words *w, char c)
{
	begin(w);
	if (*w->p != c)
		return false;
	w->p += c != '\0';
	return true;
}

static unsigned int least_of(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* As of optimal string alignment; WORD_LEN if one is too long for a name. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int d[WORD_LEN][WORD_LEN];
	size_t n = strlen(a), m = strlen(b);

	if (n >= WORD_LEN || m >= WORD_LEN)
		return WORD_LEN;
	for (unsigned int i = 0; i <= n; i++) {
		for (unsigned int j = 0; j <= m; j++) {
			if (!i || !j) {
				d[i][j] = i + j;
				continue;
			}
			d[i][j] = least_of(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
					   least_of(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least_of(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[n][m];
}

void nearest_try(struct nearest *n, const char *name)
{
	size_t length = strlen(n->word);
	unsigned int far =
		length > 1 && !strncmp(name, n->word, length) ? 1 : distance(n->word, name);

	/* Of a word of three letters one may be wrong, of six two. */
	if (far > length / 3 || far >= WORD_LEN || (n->name && far >= n->distance))
		return;
	n->name = name;
	n->distance = far;
}
