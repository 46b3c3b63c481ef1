/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line once more, with what the file of --config says by now. */
#ifndef NTPROF_CLI_AGAIN_H
#define NTPROF_CLI_AGAIN_H

#include <stddef.h>

#include "cli/config.h"

/** again_set() - what config_read() is given, which stays valid */
void again_set(const struct verb *const *verbs, const struct verb *verb, int argc, char **argv);

/**
 * again_read() - read the line again, in a process of its own: what is wrong ends that one, with a message, as it would
 * end this program
 * @read: called there with the line, and what it is to make of it: @result, of @size bytes, without pointers
 *
 * It is waited for, but not for long.
 * Return: 0 with @result filled, or a negative errno, -ECANCELED where a message has been printed.
 */
int again_read(void (*read)(int argc, char **argv, void *context, void *result), void *context,
	       void *result, size_t size);

#endif /* NTPROF_CLI_AGAIN_H */
