/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A peer's command, in a process group of its own. It inherits nothing from us but two pipes.
 * Signals go to the whole group, and all processes that it has started are gone when the command is
 * ended, whichever group or session they are in.
 */
#ifndef NTPROF_PEER_CHILD_H
#define NTPROF_PEER_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The user that a peer's command runs as. Under sudo this is the user who called sudo, so that ssh
 * finds that user's keys, known hosts and agent, and a command that does not need root does not run
 * as root.
 */

/* NGROUPS_MAX of Linux is 65,536; of a user with more groups than this, the first ones are kept. */
#define PEER_GROUPS_MAX 1024

/**
 * struct peer_user - the user that commands run as
 * @other: a command runs as the user below. Otherwise it runs as this process does, but without the
 *         capabilities that it would inherit.
 * @bare: it also runs without the capabilities that root has by itself, and can never get new
 *        privileges
 * @terminal: it has the terminal of this program, if there is one
 * @name: "" if the user has none
 * @home, @shell: of the password file, or "/" and "/bin/sh"
 */
struct peer_user {
	bool other;
	bool bare;
	bool terminal;
	uid_t uid;
	gid_t gid;
	gid_t groups[PEER_GROUPS_MAX];
	int nr_groups;
	char name[256];
	char home[4096];
	char shell[4096];
};

/**
 * peer_user_find() - find the user who called sudo, by SUDO_UID, SUDO_GID and the password file
 * @u: filled; &peer_user.other is false if this process is not root, was not started by sudo, or
 *     was started by root
 *
 * Return: 0, or -EINVAL if SUDO_UID or SUDO_GID is not a number, so that the user is unknown.
 */
int peer_user_find(struct peer_user *u);

/**
 * peer_user_become() - become that user, for good, before a command is executed
 *
 * Return: 0 or a negative errno.
 */
int peer_user_become(const struct peer_user *u);

/*
 * A guard is the process between this program and a peer's command. It leads the command's process
 * group and sends reports through a socket. When this program ends, for whatever reason, the other
 * end of the socket is closed; then the guard ends all processes of the command. A byte that comes
 * through the socket says that they have had their time: the guard kills them at once.
 */

/*
 * How long a process has between SIGTERM and SIGKILL, and how long a guard tries to kill a command
 * that starts new processes all the time. docs/merging.md names this time, too.
 */
#define PEER_STOP_NS 2000000000ULL
/* A guard that was asked to kill has ended by then. One that was stopped is killed. */
#define GUARD_END_NS (2 * PEER_STOP_NS)

enum guard_report_kind {
	GUARD_ENDED, /* the command ended; @value: exit status, or negative number of a signal */
	GUARD_INTERRUPTED /* a key at the group's terminal; @value: SIGINT, SIGQUIT or SIGHUP */
};

/** struct guard_report - a message of a guard */
struct guard_report {
	int kind;
	int value;
};

/**
 * guard_run() - be the guard; call it in a child that leads a process group and has all signals
 * blocked
 * @report_fd: a socket of type SOCK_SEQPACKET; struct guard_report are sent to it, and it reads as
 *             ended when the program has ended
 * @start: called in a child of the guard, in the same group, to become the command; does not return
 *
 * It ends when no process is left that the command has started. It does not return.
 */
void __attribute__((noreturn))
guard_run(int report_fd, void (*start)(void *context), void *context);

/**
 * struct child - a command that was started
 * @group: its process group, which is the process id of its guard. No other process gets that id
 *         before child_end().
 * @report_fd: socket of the guard; -1 when no process of the command is left
 * @out, @err: pipes of the command's output; belong to the caller, which may close them and set
 *             them to -1
 * @until_ns: after child_kill(): until when the guard has time, CLOCK_MONOTONIC
 */
struct child {
	pid_t group;
	int report_fd;
	int out;
	int err;
	uint64_t until_ns;
};

enum source_kind { SOURCE_COMMAND, SOURCE_FILE, SOURCE_FIFO };

/**
 * source_kind() - what a source is; call it once, so that others cannot change it: a file or a
 * FIFO, if one is there, and else a shell command
 *
 * A path, which is a word with a slash and without a character that is special in a shell, is never
 * a command. It is a FIFO that may be made later.
 */
enum source_kind source_kind(const char *source);

/**
 * child_start() - run a command
 * @c: filled; the caller calls child_end(), also if this fails
 * @source: a shell command; or a file, which is read as it grows; or a FIFO. It is refused, with a
 *          message on @c->err, if it is not of that @kind, or if another user may have made it in
 *          order that we read it (trust_planted()), or a link or folder on the way to it
 * @user: user that the command runs as; a file or a FIFO is opened before the user changes
 *
 * Its standard input is empty. It inherits no descriptor, no blocked or ignored signal, no
 * capability and no service manager from us, but SIGUSR1 is ignored. The disposition of SIGCHLD in
 * this process becomes the default one. Otherwise the kernel would reap children by itself, and
 * other processes could get their ids.
 *
 * Return: 0 or a negative errno.
 */
int child_start(struct child *c, const char *source, enum source_kind kind,
		const struct peer_user *user);

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
 * child_kill() - have all processes of the command killed by its guard; only once. child_end() has
 * to follow, or the guard's parent calls guard_wait(). @c may be all zeroes
 */
void child_kill(struct child *c);

/**
 * guard_wait() - wait for a guard of child_kill(), in its parent, without sleeping
 * @until_ns: if it has not ended by then, it and its group are killed; CLOCK_MONOTONIC
 *
 * Return: whether it has ended; then its id is free.
 */
bool guard_wait(pid_t guard, uint64_t until_ns);

/**
 * child_end() - make sure that all processes of the command have ended, and release; @c may be all
 * zeroes
 */
void child_end(struct child *c);

#endif /* NTPROF_PEER_CHILD_H */
