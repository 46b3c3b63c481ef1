/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A shell that leads a session with a terminal, for tests that use a terminal. It has one job,
 * which has the terminal. When the job was stopped, the shell gives it the terminal again.
 */
#ifndef NTPROF_UNIT_TERMINAL_H
#define NTPROF_UNIT_TERMINAL_H

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Runs in a child of forkpty(). Exits with the value that @job returns, or with 128 plus the number
 * of the signal that ended the job.
 */
static void __attribute__((noreturn)) run_shell(int (*job)(void *context), void *context)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		/*
		 * A shell that starts the tests in the background may have set them to be ignored.
		 */
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		setpgid(0, 0);
		while (tcgetpgrp(STDIN_FILENO) != getpgrp())
			poll(NULL, 0, 1);
		_exit(job(context));
	}
	signal(SIGTTOU, SIG_IGN);
	setpgid(pid, pid);
	tcsetpgrp(STDIN_FILENO, pid);
	while (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status)) {
		tcsetpgrp(STDIN_FILENO, getpgrp());
		dprintf(STDOUT_FILENO, "stopped by %d\n", WSTOPSIG(status));
		tcsetpgrp(STDIN_FILENO, pid);
		kill(-pid, SIGCONT);
	}
	if (WIFSIGNALED(status))
		_exit(128 + WTERMSIG(status));
	_exit(WEXITSTATUS(status));
}

#endif /* NTPROF_UNIT_TERMINAL_H */
