// SPDX-License-Identifier: GPL-2.0-only
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie() */
#endif
#include "cli/console.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "core/output.h"

#define CONSOLE_BUFFER (1u << 20)
/* How long a message waits for room: --verbose tells much at once. */
#define ROOM_PATIENCE_NS 100000000ULL
/* How long the last messages wait for a terminal when there is no time. */
#define END_PATIENCE_NS 100000000ULL

/* There is one standard error. */
static struct {
	struct output *output;
	FILE *before;
} console;

static ssize_t console_write(void *cookie, const char *text, size_t n)
{
	struct output *o = cookie;

	if (output_put(o, text, n, 0) == -EAGAIN) {
		output_settle(o, -1, ROOM_PATIENCE_NS);
		output_put(o, text, n, 0);
	}
	output_flush(o);
	/* A stream with an error would take nothing any more. */
	return (ssize_t)n;
}

int console_open(void)
{
	const cookie_io_functions_t functions = {.write = console_write};
	struct output *o = output_new(STDERR_FILENO, CONSOLE_BUFFER);
	FILE *f;

	if (!o)
		return -errno;
	f = fopencookie(o, "w", functions);
	if (!f) {
		output_free(o);
		return -ENOMEM;
	}
	setvbuf(f, NULL, _IONBF, 0);
	console.output = o;
	console.before = stderr;
	stderr = f;
	return 0;
}

bool console_idle(void)
{
	return !console.output || output_idle(console.output);
}

void console_close(int hurry_fd)
{
	FILE *f = stderr;

	if (!console.output)
		return;
	stderr = console.before;
	fclose(f);
	output_settle(console.output, hurry_fd, END_PATIENCE_NS);
	output_free(console.output);
	console.output = NULL;
}
