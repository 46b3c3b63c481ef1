// SPDX-License-Identifier: GPL-2.0-only
#include "cli/journal.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text.h"

/*
 * Whether standard error goes to the journal. JOURNAL_STREAM is "DEVICE:INODE" of a journal's
 * descriptor, but standard error may have been redirected since: systemd.exec(5).
 */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;
	char *end;

	if (!stream || fstat(STDERR_FILENO, &st))
		return false;
	device = strtoull(stream, &end, 10);
	if (*end != ':')
		return false;
	inode = strtoull(end + 1, &end, 10);
	return !*end && device == st.st_dev && inode == st.st_ino;
}

void journal(enum journal_priority priority, const char *format, ...)
{
	char line[8192];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	text_harmless(line);
	/* One call for the whole line, because other threads and processes write there, too. */
	if (is_journal())
		fprintf(stderr, "<%d>%s\n", (int)priority, line);
	else
		fprintf(stderr, "ntprof-bpf: %s\n", line);
}
