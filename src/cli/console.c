// SPDX-License-Identifier: GPL-2.0-only
#include "cli/console.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "core/output.h"

#define CONSOLE_BUFFER (1u << 20)
/* How long a message waits for room, as --verbose prints much at once. */
#define ROOM_PATIENCE_NS 100000000ULL
/* How long the last messages wait for a terminal if the end is in a hurry. */
#define END_PATIENCE_NS 100000000ULL

/*
 * File-wide, as a process has one standard error.
 * @lost: bytes that found no room since the last message about lost bytes
 * @waited_at: bytes written when a message last waited for room; until more is written, no other
 *             message waits
 */
static struct {
	struct output *output;
	FILE *before;
	uint64_t lost;
	uint64_t waited_at;
} console;

/* The message about lost bytes stands where they are missing. */
static int tell_lost(struct output *o)
{
	char text[80];
	int n, err;

	if (!console.lost)
		return 0;
	n = snprintf(text, sizeof(text),
		     "\n(messages of %" PRIu64 " bytes were lost: nobody took them)\n",
		     console.lost);
	err = output_put(o, text, (size_t)n, 0);
	if (!err)
		console.lost = 0;
	return err;
}

static int put(struct output *o, const char *text, size_t n)
{
	return tell_lost(o) ?: output_put(o, text, n, 0);
}

static ssize_t console_write(void *cookie, const char *text, size_t n)
{
	struct output *o = cookie;
	int err = put(o, text, n);

	if (err == -EAGAIN && console.waited_at != output_written(o)) {
		output_settle(o, -1, ROOM_PATIENCE_NS);
		console.waited_at = output_written(o);
		err = put(o, text, n);
	}
	if (err)
		console.lost += n;
	output_flush(o);
	/* Return success also for lost bytes, because a stream with an error flag takes no more. */
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
	/*
	 * Write whole lines: a line is put together from parts, and other processes write to the
	 * terminal, too.
	 */
	setvbuf(f, NULL, _IOLBF, BUFSIZ);
	console.output = o;
	console.lost = 0;
	console.waited_at = UINT64_MAX;
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
	int err;

	if (!console.output)
		return;
	stderr = console.before;
	fclose(f);
	err = output_settle(console.output, hurry_fd, END_PATIENCE_NS);
	if (!err && console.lost && !tell_lost(console.output))
		output_settle(console.output, hurry_fd, END_PATIENCE_NS);
	output_free(console.output);
	console.output = NULL;
}
