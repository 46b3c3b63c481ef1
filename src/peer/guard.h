/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process between this program and a peer's command: leader of the command's process group, told of by one
 * end of a socket, and of the death of this program, by whatever it dies, by that socket's end. None of the
 * command's processes outlives it.
 */
#ifndef NTPROF_PEER_GUARD_H
#define NTPROF_PEER_GUARD_H

#include <sys/types.h>

/* How long a process has after SIGTERM; then SIGKILL comes. docs/merging.md says so, too. */
#define PEER_STOP_NS 2000000000ULL

enum guard_report_kind {
	GUARD_ENDED, /* the command has; @value: exit status, or the negative number of a signal */
	GUARD_STOPPED, /* a process of the group has, see there; @value: by which signal */
	GUARD_INTERRUPTED /* at the terminal, which the group has now; @value: SIGINT, SIGQUIT or SIGHUP */
};

/**
 * struct guard_report - a message of a guard
 *
 * A group that may not use the terminal is stopped when one of its processes tries to: SIGTTIN and SIGTTOU,
 * termios(3). Ctrl-Z is SIGTSTP.
 */
struct guard_report {
	int kind;
	int value;
};

/**
 * guard_run() - in a child that leads a process group and in which all signals are blocked: be the guard
 * @report_fd: a socket of type SOCK_SEQPACKET; takes struct guard_report, and has ended when the program has
 * @start: in a child of that, which is in the group: become the command; does not return
 *
 * Ends when no process of the group is left. Does not return.
 */
void __attribute__((noreturn))
guard_run(int report_fd, void (*start)(void *context), void *context);

#endif /* NTPROF_PEER_GUARD_H */
