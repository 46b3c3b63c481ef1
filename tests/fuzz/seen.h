/* SPDX-License-Identifier: GPL-2.0-only */
/* What no output may have of a name: see tests/unit/hostile.h, which has the same for tests. */
#ifndef NTPROF_FUZZ_SEEN_H
#define NTPROF_FUZZ_SEEN_H

#include <stddef.h>
#include <stdint.h>

#include "asserts.h"

/* RFC 3629. Return: how long the character is, 0 where it is none. */
static inline unsigned int seen_character(const unsigned char *c, uint32_t *code)
{
	unsigned int n = c[0] < 0x80 ? 1 : c[0] >> 5 == 6 ? 2 : c[0] >> 4 == 14 ? 3 : 4;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

	*code = n == 1 ? c[0] : c[0] & (0x7f >> n);
	if (n == 4 && c[0] >> 3 != 30)
		return 0;
	for (unsigned int i = 1; i < n; i++) {
		if (c[i] >> 6 != 2)
			return 0;
		*code = *code << 6 | (c[i] & 0x3f);
	}
	return *code < least[n] || *code > 0x10ffff || *code >> 11 == 0x1b ? 0 : n;
}

/* All of @text is UTF-8, and nothing of it controls a terminal or the direction of writing, or
 * takes no room. */
static inline void seen_check(const char *text, size_t n)
{
	const unsigned char *c = (const unsigned char *)text, *end = c + n;
	uint32_t code;

	while (c < end) {
		unsigned int length = seen_character(c, &code);

		ASSERT(length && length <= (size_t)(end - c));
		ASSERT(code >= 0x20 || code == '\n' || code == '\r');
		ASSERT(code < 0x7f || code > 0x9f);
		ASSERT((code < 0x200b || code > 0x200f) && (code < 0x202a || code > 0x202e));
		ASSERT((code < 0x2060 || code > 0x2069) && code != 0xfeff && code != 0x61c);
		c += length;
	}
}

#endif /* NTPROF_FUZZ_SEEN_H */
