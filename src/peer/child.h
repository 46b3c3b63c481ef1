/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A peer's command, in a process group of its own. It inherits nothing from us but two pipes.
 * Signals go to the whole group, and the whole group is gone when the command is ended.
 */
#ifndef NTPROF_PEER_CHILD_H
#define NTPROF_PEER_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "peer/guard.h"
#include "peer/user.h"

/**
 * struct child - a command that was started
 * @group: its process group, which is the process id of its guard. No other process gets that id
 *         before child_end().
 * @report_fd: socket of the guard; -1 when no process of the group is left
 * @out, @err: pipes of the command's output; belong to the caller, which may close them and set
 *             them to -1
 */
struct child {
	pid_t group;
	int report_fd;
	int out;
	int err;
};

/**
 * child_start() - run a command
 * @c: filled; the caller calls child_end(), also if this fails
 * @source: a shell command; or a file, which is read as it grows; or a FIFO
 * @user: user that the command runs as; a file or a FIFO is opened before the user changes
 *
 * Its standard input is empty. It inherits no descriptor, no blocked or ignored signal, no
 * capability and no service manager from us, but SIGUSR1 is ignored. The disposition of SIGCHLD in
 * this process becomes the default one. Otherwise the kernel would reap children by itself, and
 * other processes could get their ids.
 *
 * Return: 0 or a negative errno.
 */
int child_start(struct child *c, const char *source, const struct peer_user *user);

/**
 * child_is_file() - whether a source is a file that is read as it grows; started again, it would
 * send the same data again
 */
bool child_is_file(const char *source);

/**
 * child_report() - receive a message of the guard; Return: whether there was one. @c->report_fd may
 * be -1 afterwards.
 */
bool child_report(struct child *c, struct guard_report *r);

/**
 * child_signal() - send a signal to all processes of the group, even if some or all of them have
 * ended
 */
void child_signal(const struct child *c, int signal);

/**
 * child_kill() - kill all processes of the group, and release; the guard's parent has to wait for
 * the guard. @c may be all zeroes
 */
void child_kill(struct child *c);

/**
 * child_end() - make sure that all processes of the group have ended, and release; @c may be all
 * zeroes
 */
void child_end(struct child *c);

#endif /* NTPROF_PEER_CHILD_H */
