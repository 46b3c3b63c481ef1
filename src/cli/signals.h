/* SPDX-License-Identifier: GPL-2.0-only */
/* The signals of a run, which are waited for like all else. */
#ifndef NTPROF_CLI_SIGNALS_H
#define NTPROF_CLI_SIGNALS_H

#include <signal.h>

/**
 * signals_that_end() - those that end a run. nohup(1) has SIGHUP ignored, which a signalfd would not heed, and a verb may
 * have a use for it: then it has a handler
 */
void signals_that_end(sigset_t *set);

/** signals_open() - block these and SIGWINCH. Return: a signalfd of them, or -1 with errno set */
int signals_open(void);

#endif /* NTPROF_CLI_SIGNALS_H */
