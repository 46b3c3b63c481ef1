// SPDX-License-Identifier: GPL-2.0-only
#include "cli/standard_output.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The error was reported, or its caller reports it. Only one thread prints. */
static bool told;

/* Return: 0 or a negative errno. */
static int finish(void)
{
	if (fflush(stdout))
		return -errno;
	if (!ferror(stdout))
		return 0;
	/*
	 * The error of an earlier write was not kept. Another write fails for the same reason, and
	 * gives errno.
	 */
	return write(STDOUT_FILENO, "\n", 1) < 0 ? -errno : -EIO;
}

int standard_output_finish(void)
{
	int err = finish();

	told |= err;
	return err;
}

static void is_closed(int signal)
{
	_exit(EXIT_SUCCESS);
}

void standard_output_may_close(void)
{
	struct sigaction a = {.sa_handler = is_closed};

	sigaction(SIGPIPE, &a, NULL);
}

/* Called by exit(), which argp calls after it has printed a help text. */
static void check(void)
{
	int err = told ? 0 : finish();

	if (!err)
		return;
	fprintf(stderr, "ntprof-bpf: cannot write to standard output: %s\n", strerror(-err));
	_exit(EXIT_FAILURE);
}

void standard_output_watch(void)
{
	atexit(check);
}
