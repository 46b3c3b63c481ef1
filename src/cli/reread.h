/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the command line again, with the present contents of the file of --config. */
#ifndef NTPROF_CLI_REREAD_H
#define NTPROF_CLI_REREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/config.h"

/** reread_set() - remember the arguments of config_read(), which have to stay valid */
void reread_set(const struct verb *const *verbs, const struct verb *verb, int argc, char **argv);

/**
 * reread_searches() - whether reading the file again needs CAP_DAC_READ_SEARCH
 *
 * This is so if the file is in a folder of another user, such as the one that called sudo, or if
 * only that user may read it.
 */
bool reread_searches(void);

/**
 * reread_read() - read the command line again, in a process of its own
 * @read: called in that process with the line; fills @result, of @size bytes, which must not
 *        contain pointers
 *
 * An error in the line prints a message and ends that process only, as it would end this program at
 * its start. The caller waits for the process, for about a second at most.
 *
 * Return: 0 with @result filled, or a negative errno, -ECANCELED if a message has been printed.
 */
int reread_read(void (*read)(int argc, char **argv, void *context, void *result), void *context,
		void *result, size_t size);

#endif /* NTPROF_CLI_REREAD_H */
