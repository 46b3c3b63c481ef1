// SPDX-License-Identifier: GPL-2.0-only
#include "cli/signals.h"

#include <stddef.h>
#include <sys/signalfd.h>

void signals_that_end(sigset_t *set)
{
	struct sigaction hup = {.sa_handler = SIG_DFL};

	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaction(SIGHUP, NULL, &hup);
	if (hup.sa_handler == SIG_DFL)
		sigaddset(set, SIGHUP);
}

int signals_open(void)
{
	sigset_t set;

	signals_that_end(&set);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}
