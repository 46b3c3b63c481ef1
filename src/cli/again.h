/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line once more, with what the file of --config says by now. */
#ifndef NTPROF_CLI_AGAIN_H
#define NTPROF_CLI_AGAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/config.h"

/** again_set() - what config_read() is given, which stays valid */
void again_set(const struct verb *const *verbs, const struct verb *verb, int argc, char **argv);

/**
 * again_searches() - whether reading it again takes CAP_DAC_READ_SEARCH: the file is in a folder of somebody else's, such as that
 * of the one who called sudo, or is readable to nobody else
 */
bool again_searches(void);

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
