/* SPDX-License-Identifier: GPL-2.0-only */
/* The signals of a run, which are read from a descriptor. */
#ifndef NTPROF_CLI_SIGNALS_H
#define NTPROF_CLI_SIGNALS_H

#include <signal.h>

/**
 * signals_that_end() - the signals that end a run
 *
 * SIGHUP is one of them only with its default action: nohup(1) sets it to be ignored, which a
 * signalfd would not respect, and a verb that has a use for it sets a handler.
 */
void signals_that_end(sigset_t *set);

/**
 * signals_open() - block these signals and SIGWINCH. Return: a signalfd for them, or -1 with errno
 * set
 */
int signals_open(void);

#endif /* NTPROF_CLI_SIGNALS_H */
