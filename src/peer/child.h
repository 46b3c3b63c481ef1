/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A peer's command as a process group of its own: started with nothing of ours but two pipes, signalled as a
 * whole, and gone when it is ended.
 */
#ifndef NTPROF_PEER_CHILD_H
#define NTPROF_PEER_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "peer/guard.h"
#include "peer/user.h"

/**
 * struct child - a command that was started
 * @group: of its processes, and the process id of its guard, which stays ours until child_end()
 * @report_fd: of the guard; -1 when no process of the group is left
 * @out, @err: what the command writes; belong to the caller, who may close them and set them to -1
 */
struct child {
	pid_t group;
	int report_fd;
	int out;
	int err;
};

/**
 * child_start() - run a command
 * @c: filled; child_end() is due, also where this fails
 * @source: a shell command; or a file, which is read as it grows; or a FIFO
 * @user: as whom; a file or a FIFO is opened before that
 *
 * Its standard input is empty. No descriptor, blocked or ignored signal, no capability and no service manager of ours is passed
 * on; SIGUSR1 is ignored.
 * The disposition of SIGCHLD becomes the default one: else the kernel would forget children by itself, and their
 * ids be those of others.
 *
 * Return: 0 or a negative errno.
 */
int child_start(struct child *c, const char *source, const struct peer_user *user);

/** child_is_file() - whether a source is a file that is read as it grows: it begins with what it began with */
bool child_is_file(const char *source);

/** child_report() - take a message; Return: whether there was one. @c->report_fd may be -1 afterwards. */
bool child_report(struct child *c, struct guard_report *r);

/** child_signal() - to all processes of the group; also when some, or all, have ended */
void child_signal(const struct child *c, int signal);

/** child_kill() - kill all of them, and release; who its guard is a child of has to wait for that. Fine for a zeroed one */
void child_kill(struct child *c);

/** child_end() - make sure that all have ended, and release; fine for a zeroed one */
void child_end(struct child *c);

#endif /* NTPROF_PEER_CHILD_H */
