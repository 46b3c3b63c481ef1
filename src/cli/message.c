// SPDX-License-Identifier: GPL-2.0-only
#include "cli/message.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/text.h"

/* Room for two paths, and the words around them. */
#define MESSAGE_LEN (2 * PATH_MAX + 256)

void message(const char *format, ...)
{
	char text[MESSAGE_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "ntprof-bpf: %s\n", text_harmless(text));
}
