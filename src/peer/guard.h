/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guard is the process between this program and a peer's command. It leads the command's process
 * group and sends reports through a socket. When this program ends, for whatever reason, the other
 * end of the socket is closed; then the guard ends all processes of the command.
 */
#ifndef NTPROF_PEER_GUARD_H
#define NTPROF_PEER_GUARD_H

#include <sys/types.h>

/* How long a process has between SIGTERM and SIGKILL. docs/merging.md names this time, too. */
#define PEER_STOP_NS 2000000000ULL

enum guard_report_kind {
	GUARD_ENDED,   /* the command ended; @value: exit status, or negative number of a signal */
	GUARD_STOPPED, /* a process of the group was stopped, see below; @value: the signal */
	GUARD_INTERRUPTED /* a key at the group's terminal; @value: SIGINT, SIGQUIT or SIGHUP */
};

/**
 * struct guard_report - a message of a guard
 *
 * A process group that may not use the terminal is stopped when one of its processes tries to use
 * it: by SIGTTIN or SIGTTOU, termios(3). Ctrl-Z is SIGTSTP.
 */
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
 * It ends when no process of the group is left. It does not return.
 */
void __attribute__((noreturn))
guard_run(int report_fd, void (*start)(void *context), void *context);

#endif /* NTPROF_PEER_GUARD_H */
