// SPDX-License-Identifier: GPL-2.0-only
#include "core/text.h"

void text_print(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (*s >= ' ' && *s <= '~' && *s != '\\')
			fputc(*s, f);
		else
			fprintf(f, "\\x%02x", (unsigned char)*s);
	}
}
